import XCTest

@testable import FieldcamCore

/// Focus, exposure at a point, low light and zoom, frame by frame.
final class OpticsTests: XCTestCase {
    /// A camera whose frames answer the controls after their delay, with automatic exposure that moves a third of the way.
    private struct Rig {
        var optics = Optics()
        var settings = OpticsSettings()
        var effects = Effects()
        var told: [Announcement] = []
        var controls = CameraControls()
        var region: UnitRect?
        var pending: [CameraControls] = []
        var now = Instant(nanoseconds: 1_000_000_000)
        var sequence: UInt64 = 0
        /// Linear luminance of the region relative to the whole picture's middle grey.
        var regionBrightness = 1.0
        var aeValue = 0.0
        var lux: Double? = 500
        var focusStates: [FocusState] = []
        var sceneChange = 0.0

        init(_ change: (inout CameraAbilities) -> Void = { _ in }) {
            var abilities = CameraAbilities()
            abilities.focus = 0...10
            abilities.canZoom = true
            abilities.nativeZoom = 2.4
            abilities.hasExposureValue = true
            abilities.frame = .microseconds(8333)...(.seconds(1))
            change(&abilities)
            optics.adopt(abilities, settings, frameInterval: .nanoseconds(33_333_333), into: &effects)
            drain()
        }

        mutating func drain() {
            for effect in effects.list {
                switch effect {
                case .control(let controls): self.controls = controls
                case .measureRegion(let region): self.region = region
                case .announce(let announcement): told.append(announcement)
                default: break
                }
            }
            effects.removeAll()
        }

        mutating func frame() {
            now = now + .nanoseconds(33_333_333)
            sequence += 1
            pending.append(controls)
            let shown = pending.count > 3 ? pending.removeFirst() : CameraControls()
            aeValue += (shown.exposureValue - aeValue) * 0.4
            var frame = Frame(
                ref: FrameRef(slot: 0, sequence: sequence), exposureStart: now - .milliseconds(10), exposureEnd: now,
                exposure: .nanoseconds(Int64(10e6 * power(2, aeValue))), gain: 1, lux: lux)
            if !focusStates.isEmpty { frame.focus = focusStates.removeFirst() }
            frame.sceneChange = sceneChange
            if region != nil {
                let linear = power(PointExposure.target, 2.2) * regionBrightness * power(2, aeValue)
                frame.regionLuma = min(1, power(linear, 1 / 2.2))
            }
            optics.take(frame, isLit: false, settings, into: &effects)
            optics.passTime(now, settings, into: &effects)
            drain()
        }

        var regionError: Double {
            let linear = power(PointExposure.target, 2.2) * regionBrightness * power(2, aeValue)
            return PointExposure.error(min(1, power(linear, 1 / 2.2)))
        }

        mutating func focus(_ x: Double, _ y: Double) -> Answer {
            defer { drain() }
            return optics.focus(at: UnitPoint(x: x, y: y), settings, now: now, into: &effects)
        }
    }

    func testAScanIsToldFromStartToEndAndGoesBackWhenTheSceneChanges() {
        var rig = Rig()
        XCTAssertEqual(rig.focus(0.25, 0.75), .effective(.focus(UnitPoint(x: 0.25, y: 0.75))))
        XCTAssertEqual(rig.controls.focus, .oneShot)
        XCTAssertEqual(rig.controls.focusScan, 1)
        // What was focused before the scan is no news.
        rig.focusStates = [.focused, .focused, .focused, .scanning, .scanning, .focused]
        for _ in 0..<6 { rig.frame() }
        let point = UnitPoint(x: 0.25, y: 0.75)
        XCTAssertEqual(rig.told, [.focusStarted(point), .focusEnded(point, .focused)])
        rig.sceneChange = 0.2
        for _ in 0..<4 { rig.frame() }
        XCTAssertEqual(rig.controls.focus, .oneShot)
        rig.frame()
        XCTAssertEqual(rig.controls.focus, .continuous)
        XCTAssertNil(rig.controls.focusWindow)
    }

    func testAScanThatIsOvertakenIsToldEnded() {
        var rig = Rig()
        _ = rig.focus(0.2, 0.2)
        rig.frame()
        _ = rig.focus(0.8, 0.8)
        rig.frame()
        XCTAssertEqual(rig.optics.focusAutomatically(rig.settings, into: &rig.effects), .effective(.focus(nil)))
        rig.drain()
        let (first, second) = (UnitPoint(x: 0.2, y: 0.2), UnitPoint(x: 0.8, y: 0.8))
        XCTAssertEqual(
            rig.told,
            [
                .focusStarted(first), .focusEnded(first, .failed), .focusStarted(second), .focusEnded(second, .failed),
            ])
    }

    func testAScanThatNeverEndsTimesOutAndTimeBringsContinuousFocusBack() {
        var rig = Rig()
        _ = rig.focus(0.5, 0.5)
        rig.focusStates = Array(repeating: .scanning, count: 200)
        for _ in 0..<95 { rig.frame() }
        XCTAssertEqual(rig.told.last, .focusEnded(UnitPoint(x: 0.5, y: 0.5), .timedOut))
        for _ in 0..<305 { rig.frame() }
        XCTAssertEqual(rig.controls.focus, .continuous)
    }

    func testACameraWithoutFocusSaysSoAndExposesAllTheSame() {
        var rig = Rig { $0.focus = nil }
        rig.regionBrightness = 0.25
        _ = rig.focus(0.5, 0.5)
        let point = UnitPoint(x: 0.5, y: 0.5)
        XCTAssertEqual(rig.told, [.focusStarted(point), .focusEnded(point, .unsupported)])
        for _ in 0..<20 { rig.frame() }
        XCTAssertLessThanOrEqual(abs(rig.regionError), 0.3)
    }

    func testExposureAtAPointSettlesWithinTwentyFramesAndRests() {
        for brightness in [0.15, 0.3, 0.7, 1.0, 1.6, 3, 5] {
            var rig = Rig()
            rig.regionBrightness = brightness
            _ = rig.focus(0.5, 0.5)
            for _ in 0..<20 { rig.frame() }
            XCTAssertLessThanOrEqual(abs(rig.regionError), 0.3, "\(brightness)")
            let settled = rig.told.count
            for _ in 0..<100 { rig.frame() }
            XCTAssertLessThanOrEqual(rig.told.count - settled, 1, "no oscillation at \(brightness)")
            XCTAssertLessThanOrEqual(abs(rig.regionError), 0.3, "\(brightness)")
        }
    }

    func testTheWindowLiesWhereThePointIsSeenForAllOrientationsAndZooms() {
        for orientation in Orientation.all {
            for zoom in [1.0, 2, 4] {
                for x in [0.1, 0.5, 0.9] {
                    for y in [0.1, 0.5, 0.9] {
                        var rig = Rig {
                            $0.rotation = orientation.rotation
                            $0.mirror = orientation.mirror
                            $0.nativeZoom = 4
                        }
                        XCTAssertEqual(
                            rig.optics.zoom(to: zoom, rig.settings, into: &rig.effects), .effective(.zoom(zoom)))
                        for _ in 0..<60 { rig.frame() }
                        _ = rig.focus(x, y)
                        guard let window = rig.controls.focusWindow else { return XCTFail("no window") }
                        // From the field to what the viewer sees, by the other way round.
                        let crop = rig.controls.crop
                        let inStream = UnitRect(
                            x: (window.x - crop.x) / crop.width, y: (window.y - crop.y) / crop.height,
                            width: window.width / crop.width, height: window.height / crop.height)
                        let seen = orientation.upright(inStream)
                        XCTAssertTrue(
                            seen.x - 1e-9 <= x && x <= seen.x + seen.width + 1e-9 && seen.y - 1e-9 <= y
                                && y <= seen.y + seen.height + 1e-9, "\(orientation) zoom \(zoom) at \(x),\(y): \(seen)"
                        )
                        XCTAssertTrue(window.isInside)
                    }
                }
            }
        }
    }

    func testZoomRampsToItsTargetAndIsToldOnce() {
        var rig = Rig()
        XCTAssertEqual(rig.optics.zoom(to: 2, rig.settings, into: &rig.effects), .effective(.zoom(2)))
        var sizes: [Double] = []
        for _ in 0..<20 {
            rig.frame()
            sizes.append(rig.controls.crop.width)
        }
        XCTAssertEqual(sizes, sizes.sorted(by: >))
        XCTAssertGreaterThan(sizes[0], 0.9)
        XCTAssertEqual(sizes.last!, 0.5, accuracy: 1e-9)
        XCTAssertEqual(rig.told, [.zoomChanged(2)])
    }

    func testWhatCantBeIsRefusedAndChangesNothing() {
        var rig = Rig()
        let before = rig.controls
        XCTAssertEqual(rig.focus(1.2, 0.5), .rejected(.outOfRange))
        XCTAssertEqual(rig.focus(.nan, 0.5), .rejected(.outOfRange))
        XCTAssertEqual(rig.optics.zoom(to: 0.9, rig.settings, into: &rig.effects), .rejected(.outOfRange))
        XCTAssertEqual(rig.optics.zoom(to: 2.5, rig.settings, into: &rig.effects), .rejected(.outOfRange))
        XCTAssertEqual(rig.optics.zoom(to: .infinity, rig.settings, into: &rig.effects), .rejected(.outOfRange))
        XCTAssertEqual(rig.optics.focusManually(11, rig.settings, into: &rig.effects), .rejected(.outOfRange))
        rig.drain()
        for _ in 0..<3 { rig.frame() }
        XCTAssertEqual(rig.controls, before)
        var fixed = Rig {
            $0.focus = nil
            $0.canZoom = false
        }
        XCTAssertEqual(fixed.optics.zoom(to: 2, fixed.settings, into: &fixed.effects), .rejected(.unsupported))
        XCTAssertEqual(fixed.optics.focusManually(1, fixed.settings, into: &fixed.effects), .rejected(.unsupported))
    }

    func testLowLightIsEnteredAndLeftOnceThoughTheLightFlickers() {
        var rig = Rig()
        for step in 0..<300 {
            // Down through both thresholds and up again, with a flicker of a third.
            let base = step < 150 ? 40.0 - Double(step) * 0.25 : 2.5 + Double(step - 150) * 0.25
            rig.lux = base * (step % 2 == 0 ? 1.15 : 0.85)
            rig.frame()
        }
        XCTAssertEqual(rig.told, [.lowLightChanged(true), .lowLightChanged(false)])
    }

    func testLowLightKeepsTheFloorOfTheFramerateWhileRecording() {
        var rig = Rig()
        rig.lux = 2
        rig.optics.setRecording(true, rig.settings, into: &rig.effects)
        for _ in 0..<20 { rig.frame() }
        XCTAssertEqual(rig.controls.longestFrame, .milliseconds(100))
        rig.optics.setRecording(false, rig.settings, into: &rig.effects)
        rig.drain()
        XCTAssertEqual(rig.controls.longestFrame, .milliseconds(100))
    }

    func testWithoutLuxExposureAndGainTellTheLight() {
        var dark = Frame(
            ref: FrameRef(slot: 0, sequence: 1), exposureStart: Instant(nanoseconds: 0),
            exposureEnd: Instant(nanoseconds: 1),
            exposure: .milliseconds(33), gain: 16)
        XCTAssertEqual(LowLight.lux(dark)!, 5.05, accuracy: 0.01)
        dark.gain = nil
        XCTAssertNil(LowLight.lux(dark))
    }

    func testFocusWhileRecordingFollowsTheSetting() {
        var rig = Rig()
        rig.optics.setRecording(true, rig.settings, into: &rig.effects)
        rig.drain()
        XCTAssertTrue(rig.controls.focusIsSlow)
        rig.settings.focusWhileRecording = .lock
        rig.optics.apply(rig.settings, into: &rig.effects)
        rig.drain()
        XCTAssertTrue(rig.controls.focusIsPaused)
        rig.optics.setRecording(false, rig.settings, into: &rig.effects)
        rig.drain()
        XCTAssertFalse(rig.controls.focusIsPaused)
    }
}

/// x to the power y for positive x, by logarithm and exponential series: the tests import no mathematics library either.
private func power(_ x: Double, _ y: Double) -> Double {
    var exponent = 0.0
    var mantissa = x
    while mantissa > 1.5 {
        mantissa /= 2
        exponent += 1
    }
    while mantissa < 0.75 {
        mantissa *= 2
        exponent -= 1
    }
    let t = (mantissa - 1) / (mantissa + 1)
    var logarithm = 0.0
    var term = t
    for n in stride(from: 1.0, to: 60, by: 2) {
        logarithm += 2 * term / n
        term *= t * t
    }
    let z = y * (logarithm + exponent * 0.693_147_180_559_945_3)
    var sum = 1.0
    var part = 1.0
    // Halved until the series is short, then squared back.
    let halvings = 10
    let small = z / 1024
    for n in 1..<20 {
        part *= small / Double(n)
        sum += part
    }
    for _ in 0..<halvings { sum *= sum }
    return sum
}
