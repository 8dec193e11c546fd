import FieldcamCore
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// The scene and the sensor: light, exposure, grain, and rows that are read one after another.
final class SensorTests: XCTestCase {
    /// Mean luma of a rectangle given in hundredths of the picture.
    private func mean(_ image: Image, x: Range<Int>, y: Range<Int>) -> Double {
        let layout = image.layout
        let columns = (x.lowerBound * layout.width / 100)..<(x.upperBound * layout.width / 100)
        let rows = (y.lowerBound * layout.height / 100)..<(y.upperBound * layout.height / 100)
        var sum = 0
        for row in rows {
            for column in columns { sum += Int(image.plane(0)[row * layout.first.stride + column]) }
        }
        return Double(sum) / Double(rows.count * columns.count)
    }

    func testAutomaticExposureConvergesAfterTheLightChanges() throws {
        let rig = try CameraRig(slots: 4)
        rig.world.set(moving: false)
        func brightness() throws -> (Frame, Double) {
            var brightness = 0.0
            let frame = try XCTUnwrap(
                rig.next { _, lease in brightness = mean(lease.still, x: 0..<100, y: 31..<50) })
            return (frame, brightness)
        }
        let (first, right) = try brightness()
        XCTAssertEqual(first.exposureSettled, true, "the first light is the one it starts with")
        XCTAssertEqual(try XCTUnwrap(first.lux), 100, accuracy: 0.1)

        for (lux, expectedGain) in [(10.0, 5.0...8.0), (3000, 1.0...1.0), (100, 1.0...1.1)] {
            rig.world.set(lux: lux)
            var (frame, value) = try brightness()
            // The step's own frame may lie before it; the next one sees it whole and isn't settled.
            (frame, value) = try brightness()
            XCTAssertEqual(frame.exposureSettled, false, "\(lux) lux")
            XCTAssertGreaterThan(abs(value - right), 25, "\(lux) lux")
            var frames = 0
            while frame.exposureSettled == false, frames < 60 {
                (frame, value) = try brightness()
                frames += 1
            }
            XCTAssertLessThan(frames, 45, "\(lux) lux: settled within 1.5 s")
            XCTAssertEqual(value, right, accuracy: 8, "\(lux) lux")
            XCTAssertTrue(expectedGain.contains(try XCTUnwrap(frame.gain)), "\(lux) lux: gain \(frame.gain ?? 0)")
            for _ in 0..<20 {
                (frame, value) = try brightness()
                XCTAssertEqual(frame.exposureSettled, true, "it stays settled")
                XCTAssertEqual(value, right, accuracy: 8)
            }
        }
    }

    func testInTheDarkItSettlesAtItsLimits() throws {
        let rig = try CameraRig(slots: 4)
        rig.world.set(lux: 0.01)
        var frame: Frame?
        for _ in 0..<60 { frame = rig.next() }
        XCTAssertEqual(try XCTUnwrap(frame?.gain), 16, accuracy: 0.5)
        XCTAssertEqual(frame?.exposureSettled, true)
    }

    func testAControlTakesHoldThreeFramesLater() throws {
        let rig = try CameraRig(slots: 4)
        let before = try XCTUnwrap(rig.next())
        rig.control {
            $0.shutter = .milliseconds(5)
            $0.gain = 4
        }
        var exposures: [Duration?] = []
        for _ in 0..<5 { exposures.append(rig.next()?.exposure) }
        XCTAssertEqual(
            exposures,
            [before.exposure, before.exposure, before.exposure, .milliseconds(5), .milliseconds(5)])
    }

    func testGrainGrowsWithGain() throws {
        func grain(gain: Double) throws -> Double {
            let rig = try CameraRig(slots: 4)
            rig.world.set(moving: false)
            // As much light at any gain.
            rig.control {
                $0.shutter = .nanoseconds(Int64(20e6 / gain))
                $0.gain = gain
            }
            for _ in 0..<6 { rig.next() }
            // Along a row the wall has one brightness.
            var sum = 0.0
            rig.next { _, lease in
                for y in 130..<140 {
                    let row = lease.still.plane(0) + y * lease.still.layout.first.stride
                    let mean = (0..<100).reduce(0.0) { $0 + Double(row[$1]) } / 100
                    for x in 0..<100 { sum += (Double(row[x]) - mean) * (Double(row[x]) - mean) }
                }
            }
            return (sum / 1000).squareRoot()
        }
        let grains = try [1.0, 4, 16].map(grain)
        XCTAssertGreaterThan(grains[0], 0.3)
        XCTAssertGreaterThan(grains[1], grains[0] * 1.4)
        XCTAssertGreaterThan(grains[2], grains[1] * 1.4)
    }

    func testGrainChangesFromFrameToFrame() throws {
        let rig = try CameraRig(slots: 4)
        rig.world.set(moving: false)
        var pictures: [[UInt8]] = []
        for _ in 0..<2 {
            rig.next { _, lease in
                // Below the strip, above the lamp.
                let image = lease.still
                let from = image.layout.height / 3 * image.layout.first.stride
                pictures.append((0..<20_000).map { image.plane(0)[from + $0] })
            }
        }
        let changed = zip(pictures[0], pictures[1]).filter { $0 != $1 }.count
        XCTAssertGreaterThan(changed, 5_000)
    }

    /// Left edge of the subject's dark rim in a row.
    private func edge(_ image: Image, row: Int) -> Int? {
        let pixels = image.plane(0) + row * image.layout.first.stride
        return (0..<image.layout.width - 8).first { x in (x..<(x + 6)).allSatisfy { pixels[$0] < 34 } }
    }

    /// Rows that show the subject, between the strip and the lamp.
    private func subjectHeight(_ image: Image) -> Int {
        let rows = (image.layout.height * 19 / 100)..<(image.layout.height * 83 / 100)
        return rows.filter { edge(image, row: $0) != nil }.count
    }

    func testAMovingSubjectIsShearedByTheRollingReadOut() throws {
        let size = Size(width: 1920, height: 1080)
        let rig = try CameraRig(still: size, video: size, slots: 4)
        var leans: [Int] = []
        for _ in 0..<50 {
            try rig.next { _, lease in
                // The subject at 1 m reaches from 38 % to 78 % of the height.
                let top = try XCTUnwrap(edge(lease.still, row: 1080 * 42 / 100))
                let bottom = try XCTUnwrap(edge(lease.still, row: 1080 * 74 / 100))
                leans.append(bottom - top)
            }
        }
        // It walks 1704 pixels a second, to and fro; 32 % of a read-out of 20 ms are 6.4 ms: 10.9 pixels.
        let right = leans.filter { (9...13).contains($0) }.count
        let left = leans.filter { (-13 ... -9).contains($0) }.count
        XCTAssertGreaterThan(right, 15, "\(leans)")
        XCTAssertGreaterThan(left, 15, "\(leans)")
        XCTAssertGreaterThanOrEqual(right + left, 47, "all but the turns: \(leans)")

        rig.world.set(moving: false)
        rig.next()
        try rig.next { _, lease in
            XCTAssertEqual(
                try XCTUnwrap(edge(lease.still, row: 1080 * 42 / 100)),
                try XCTUnwrap(edge(lease.still, row: 1080 * 74 / 100)), "who stands isn't sheared")
        }
    }

    func testANearSubjectIsLarger() throws {
        let rig = try CameraRig(slots: 4)
        rig.world.set(distance: 1, moving: false)
        func height() throws -> Int {
            var height = 0
            rig.next { _, lease in height = subjectHeight(lease.still) }
            return height
        }
        let near = try height()
        rig.world.set(distance: 4)
        XCTAssertGreaterThan(near, try height() * 2)
    }

    func testALightThatChangesDuringTheReadOutMakesABand() throws {
        let rig = try CameraRig(slots: 4)
        rig.world.set(moving: false)
        rig.control {
            $0.shutter = .milliseconds(1)
            $0.gain = 16
        }
        for _ in 0..<8 { rig.next() }
        // The next frame's first row ends its exposure 20 ms before it is handed over; half-way the light goes out.
        let delivery = try XCTUnwrap(rig.clock.nextDue)
        rig.clock.advance(to: delivery - .milliseconds(10))
        rig.world.set(lux: 1)
        rig.next { _, lease in
            let above = mean(lease.still, x: 80..<100, y: 32..<46)
            let below = mean(lease.still, x: 80..<100, y: 54..<80)
            XCTAssertGreaterThan(above, 60)
            XCTAssertLessThan(below, 25)
        }
    }

    func testALightReachesThePictureOnlyWhileItIsOn() throws {
        let rig = try CameraRig(slots: 4)
        rig.world.set(lux: 20, moving: false)
        let light = SimulatedLight(world: rig.world, lux: 200)
        rig.control {
            $0.shutter = .milliseconds(5)
            $0.gain = 4
        }
        func brightness() -> Double {
            var value = 0.0
            rig.next { _, lease in value = mean(lease.still, x: 0..<100, y: 31..<50) }
            return value
        }
        for _ in 0..<6 { _ = brightness() }
        let dark = brightness()
        try light.turnOn(level: 1, deadline: rig.clock.now + .seconds(5))
        _ = brightness()
        let lit = brightness()
        try light.turnOn(level: 0.25, deadline: rig.clock.now + .seconds(5))
        _ = brightness()
        let dim = brightness()
        try light.turnOff()
        _ = brightness()
        XCTAssertGreaterThan(lit, dark * 1.8)
        XCTAssertGreaterThan(lit, dim * 1.2)
        XCTAssertGreaterThan(dim, dark * 1.2)
        XCTAssertEqual(brightness(), dark, accuracy: 2)
    }

    func testALightGoesOffAtItsDeadlineInTheMiddleOfARow() throws {
        let rig = try CameraRig(slots: 4)
        rig.world.set(lux: 1, moving: false)
        rig.control {
            $0.shutter = .milliseconds(1)
            $0.gain = 16
        }
        let light = SimulatedLight(world: rig.world, lux: 300)
        for _ in 0..<8 { rig.next() }
        // Half-way through the next frame's read-out of 20 ms.
        let end = try XCTUnwrap(rig.clock.nextDue) - .milliseconds(10)
        try light.turnOn(level: 1, deadline: end)
        XCTAssertEqual(try light.level(), 1)
        XCTAssertEqual(rig.world.illumination, 301, accuracy: 0.1)
        rig.next { _, lease in
            XCTAssertGreaterThan(mean(lease.still, x: 80..<100, y: 32..<46), 60)
            XCTAssertLessThan(mean(lease.still, x: 80..<100, y: 54..<80), 30)
        }
        XCTAssertEqual(try light.level(), 0)
        XCTAssertEqual(rig.world.illumination, 1, accuracy: 0.1)
        for level in [0, 1.1, -1, Double.nan] {
            XCTAssertThrowsError(try light.turnOn(level: level, deadline: rig.clock.now + .seconds(1)))
        }
        light.close()
        light.close()
        XCTAssertThrowsError(try light.turnOn(level: 1, deadline: rig.clock.now + .seconds(1)))
    }

    func testTheLampOfTheWholeSecondShinesWhenTheMicrophoneBeeps() throws {
        let rig = try CameraRig(framerate: 60, slots: 4)
        var lit = 0
        for _ in 0..<120 {
            rig.next { frame, lease in
                let value = mean(lease.still, x: 5..<11, y: 90..<92)
                // The lamp's rows are exposed 90 % of the read-out later.
                let rows = frame.middle + .microseconds(9_100)
                let phase = rows.nanoseconds % 1_000_000_000
                let isMark = phase < 100_000_000
                // Frames whose rows see the change itself may show either.
                if phase > 2_000_000, abs(phase - 100_000_000) > 2_000_000 {
                    XCTAssertEqual(value > 200, isMark, "\(phase) ns into the second")
                }
                if value > 200 { lit += 1 }
            }
        }
        XCTAssertTrue((11...13).contains(lit), "100 ms of each second: \(lit) of 120 frames")
    }

    // MARK: - Controls

    func testExposureCompensationBrightensThePicture() throws {
        let rig = try CameraRig(slots: 4)
        rig.world.set(moving: false)
        func settled() throws -> Double {
            var value = 0.0
            for _ in 0..<30 { rig.next { _, lease in value = mean(lease.still, x: 0..<100, y: 31..<50) } }
            return value
        }
        let right = try settled()
        rig.control { $0.exposureValue = 1 }
        // Twice the light is 1.37 times the value.
        XCTAssertEqual(try settled(), right * 1.37, accuracy: 6)
        rig.control { $0.exposureValue = -1 }
        let dark = try settled()
        XCTAssertEqual(dark, right / 1.37, accuracy: 6)
        XCTAssertEqual(rig.next()?.exposureSettled, true)
    }

    func testInTheDarkFramesMayTakeLonger() throws {
        let rig = try CameraRig(slots: 4)
        rig.control { $0.longestFrame = .milliseconds(100) }
        rig.world.set(lux: 2)
        for _ in 0..<40 { rig.next() }
        let first = try XCTUnwrap(rig.next())
        let second = try XCTUnwrap(rig.next())
        XCTAssertEqual(try XCTUnwrap(second.exposure), .milliseconds(95))
        XCTAssertEqual(
            Double((second.exposureEnd - first.exposureEnd).inNanoseconds), 100e6, accuracy: 1e5)
        XCTAssertEqual(second.ref.sequence, first.ref.sequence + 1)
        rig.world.set(lux: 200)
        for _ in 0..<40 { rig.next() }
        let third = try XCTUnwrap(rig.next())
        let fourth = try XCTUnwrap(rig.next())
        XCTAssertEqual(
            Double((fourth.exposureEnd - third.exposureEnd).inNanoseconds), 33_333_333, accuracy: 1e4)
    }

    func testZoomShowsAPartOfTheFieldLarger() throws {
        let rig = try CameraRig(slots: 4)
        rig.world.set(distance: 4, moving: false)
        func subject() throws -> (height: Int, crop: UnitRect?) {
            var height = 0
            let frame = try XCTUnwrap(
                rig.next { frame, lease in
                    height = subjectHeight(lease.still)
                    XCTAssertEqual(StripReader.read(lease.still)?.exposureEnd, frame.exposureEnd)
                })
            return (height, frame.crop)
        }
        let whole = try subject()
        XCTAssertEqual(whole.crop, .whole)
        // The subject stands near the left quarter, its middle at 58 % of the height.
        let part = UnitRect(x: 0.1, y: 0.33, width: 0.5, height: 0.5)
        rig.control { $0.crop = part }
        let near = try subject()
        XCTAssertEqual(near.crop, part)
        XCTAssertEqual(near.height, whole.height * 2, accuracy: 4)
        rig.control { $0.crop = UnitRect(x: 0.6, y: 0, width: 0.4, height: 0.3) }
        let elsewhere = try subject()
        XCTAssertEqual(elsewhere.height, 0, "it lies outside")
        XCTAssertEqual(
            try XCTUnwrap(elsewhere.crop).width, 0.3, accuracy: 0.001, "the picture's shape stays: 30 % each way")
    }

    func testAPictureOfAnotherShapeShowsTheMiddleOfTheField() throws {
        let rig = try CameraRig(still: Size(width: 640, height: 480), video: Size(width: 640, height: 360), slots: 4)
        let crop = try XCTUnwrap(rig.next()?.crop)
        XCTAssertEqual(crop.x, 0.125, accuracy: 0.001)
        XCTAssertEqual(crop.width, 0.75, accuracy: 0.001)
        XCTAssertEqual(crop.height, 1)
        XCTAssertEqual(rig.mode.abilities.streamAspect, 4.0 / 3, accuracy: 0.001)
        XCTAssertEqual(rig.mode.abilities.nativeZoom, 2.25, accuracy: 0.001)
    }

    func testContinuousFocusFollowsTheSubject() throws {
        let rig = try CameraRig(slots: 4)
        let first = try XCTUnwrap(rig.next())
        XCTAssertEqual(first.focus, .focused)
        XCTAssertEqual(try XCTUnwrap(first.lensPosition), 1, accuracy: 0.01)
        rig.world.set(distance: 0.25)
        XCTAssertEqual(rig.next()?.focus, .scanning)
        var frames = 1
        while rig.next()?.focus == .scanning { frames += 1 }
        XCTAssertLessThan(frames, 8)
        let there = try XCTUnwrap(rig.next())
        XCTAssertEqual(there.focus, .focused)
        XCTAssertEqual(try XCTUnwrap(there.lensPosition), 4, accuracy: 0.01)

        rig.world.set(distance: 0.05)
        for _ in 0..<20 { rig.next() }
        XCTAssertEqual(rig.next()?.focus, .failed, "nearer than the lens can go")
        rig.world.set(distance: 2)
        for _ in 0..<20 { rig.next() }
        XCTAssertEqual(rig.next()?.focus, .focused)
    }

    func testOneShotFocusScansWhenItIsToldAndManualFocusStays() throws {
        let rig = try CameraRig(slots: 4)
        rig.control { $0.focus = .oneShot }
        rig.next()
        rig.world.set(distance: 0.5)
        for _ in 0..<10 { XCTAssertNotEqual(rig.next()?.focus, .scanning) }
        rig.control { $0.focusScan += 1 }
        XCTAssertEqual(rig.next()?.focus, .scanning)
        for _ in 0..<10 { rig.next() }
        XCTAssertEqual(rig.next()?.focus, .focused)
        XCTAssertEqual(try XCTUnwrap(rig.next()?.lensPosition), 2, accuracy: 0.01)
        rig.control { $0.focus = .manual(7.5) }
        for _ in 0..<20 { rig.next() }
        let manual = try XCTUnwrap(rig.next())
        XCTAssertEqual(manual.focus, .idle)
        XCTAssertEqual(try XCTUnwrap(manual.lensPosition), 7.5, accuracy: 0.01)
    }

    func testASubjectOutOfFocusIsBlurred() throws {
        let size = Size(width: 1280, height: 720)
        let rig = try CameraRig(still: size, video: size, slots: 4)
        rig.world.set(moving: false)
        // The steepest step from one pixel to the next in a row through the subject, noise aside.
        func sharpness() throws -> Int {
            var steepest = 0
            rig.next { _, lease in
                let row = lease.still.plane(0) + 720 * 45 / 100 * lease.still.layout.first.stride
                steepest = (1..<1280).map { abs(Int(row[$0]) - Int(row[$0 - 1])) }.max() ?? 0
            }
            return steepest
        }
        let sharp = try sharpness()
        rig.control { $0.focus = .manual(4) }
        for _ in 0..<20 { rig.next() }
        XCTAssertLessThan(try sharpness(), sharp / 2)
        rig.control { $0.focus = .manual(1) }
        for _ in 0..<20 { rig.next() }
        XCTAssertEqual(try sharpness(), sharp, accuracy: 12)
    }
}
