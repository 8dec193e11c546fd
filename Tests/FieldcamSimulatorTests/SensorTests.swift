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
        rig.camera.control(exposure: .milliseconds(5), gain: 4)
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
            rig.camera.control(exposure: .nanoseconds(Int64(20e6 / gain)), gain: gain)
            for _ in 0..<6 { rig.next() }
            var rows: [[Int]] = []
            for _ in 0..<2 {
                rig.next { _, lease in
                    let row = lease.still.plane(0) + 130 * lease.still.layout.first.stride
                    rows.append((0..<100).map { Int(row[$0]) })
                }
            }
            let mean = rows[0].reduce(0, +) / rows[0].count
            let variance = rows[0].map { Double(($0 - mean) * ($0 - mean)) }.reduce(0, +) / Double(rows[0].count)
            return variance.squareRoot()
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
        return (0..<image.layout.width - 8).first { x in (x..<(x + 6)).allSatisfy { pixels[$0] < 45 } }
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
            rig.next { _, lease in
                height = (0..<lease.still.layout.height).filter { edge(lease.still, row: $0) != nil }.count
            }
            return height
        }
        let near = try height()
        rig.world.set(distance: 4)
        XCTAssertGreaterThan(near, try height() * 2)
    }

    func testALightThatChangesDuringTheReadOutMakesABand() throws {
        let rig = try CameraRig(slots: 4)
        rig.world.set(moving: false)
        rig.camera.control(exposure: .milliseconds(1), gain: 16)
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

    func testALampReachesThePictureOnlyWhileItIsOn() throws {
        let rig = try CameraRig(slots: 4)
        rig.world.set(lux: 20, moving: false)
        let light = SimulatedLight(world: rig.world, lux: 200)
        rig.camera.control(exposure: .milliseconds(5), gain: 4)
        func brightness() -> Double {
            var value = 0.0
            rig.next { _, lease in value = mean(lease.still, x: 0..<100, y: 31..<50) }
            return value
        }
        for _ in 0..<6 { _ = brightness() }
        let dark = brightness()
        try light.set(true)
        _ = brightness()
        let lit = brightness()
        try light.set(false)
        _ = brightness()
        XCTAssertGreaterThan(lit, dark * 1.8)
        XCTAssertEqual(brightness(), dark, accuracy: 2)
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
}
