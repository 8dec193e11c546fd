import CFieldcamCameraTable
import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import XCTest

@testable import FieldcamCamera

/// What the libcamera adapter makes of controls: each once, with the next request, and only what the camera has.
final class CameraControlTests: XCTestCase {
    private var pipeline = CameraPipelineDouble(buffers: 8, hasFramerate: true)
    private var camera: LibcameraCamera!
    private var mode: CameraMode!
    private var now = Instant(nanoseconds: 0)
    private static let everything = FC_CAMERA_NIGHT.rawValue * 2 - 1

    /// A sensor of 4:3 whose stream is 2:1, at half the sensor's width.
    private func start(advertising controls: UInt32 = everything) throws {
        pipeline = CameraPipelineDouble(buffers: 8, hasFramerate: true)
        pipeline.change = { mode in
            mode.controls = controls
            mode.has_focus = controls & FC_CAMERA_FOCUS_MODE.rawValue != 0 ? 1 : 0
            mode.field_width = 128
            mode.field_height = 96
            mode.lens_position = fc_camera_range(from: 0, to: 15)
            mode.exposure = fc_camera_range(from: 20_000, to: 2e9)
            mode.gain = fc_camera_range(from: 1, to: 16)
            mode.frame = fc_camera_range(from: 10e6, to: 5e8)
            mode.reports_lux = 1
        }
        camera = pipeline.camera()
        try camera.open()
        mode = try camera.configure(
            CameraRequest(still: nil, video: Size(width: 64, height: 32), framerate: 25, slots: 8))
        try camera.start()
        now = SystemClock.now
    }

    override func tearDown() {
        camera?.close()
        camera = nil
    }

    /// One frame comes, and one request goes with what was told.
    private func turn() {
        now = now + .milliseconds(40)
        pipeline.complete(at: now)
        // Seen and let go of.
        camera.drain { if case .frame(let frame) = $0 { _ = mode.pool.lease(frame.ref) } }
        camera.requeue(now: now)
        now = now + .milliseconds(2)
        camera.requeue(now: now)
    }

    private func told(_ controls: CameraControls) -> fc_camera_controls? {
        let before = pipeline.changes.count
        camera.control(controls)
        turn()
        turn()
        let new = pipeline.changes.dropFirst(before)
        XCTAssertLessThanOrEqual(new.count, 1, "told more than once")
        return new.first
    }

    private func bits(_ controls: fc_camera_control...) -> UInt32 { controls.reduce(0) { $0 | $1.rawValue } }

    func testAShotOfTheFullSensorIsAskedForAsAPhotoOnlyAndItsFirstFrameHasTheStreamsExposure() throws {
        try start()
        XCTAssertEqual(pipeline.wish.only_still, 0)
        XCTAssertEqual(pipeline.wish.buffers, 8)
        camera.stop()
        var request = CameraRequest(
            still: nil, video: Size(width: 64, height: 32), framerate: 25, slots: 3)
        request.isStillOnly = true
        request.buffers = 1
        mode = try camera.configure(request)
        XCTAssertEqual(pipeline.wish.only_still, 1)
        XCTAssertEqual(pipeline.wish.still_width, 0, "the largest that there is")
        XCTAssertEqual(pipeline.wish.buffers, 1)
        var controls = CameraControls()
        controls.shutter = .milliseconds(4)
        controls.gain = 2
        controls.focus = .manual(3)
        controls.crop = mode.abilities.crop(zoom: 2)
        camera.control(controls)
        try camera.start()
        let first = pipeline.first
        XCTAssertEqual(first.exposure_ns, 4_000_000)
        XCTAssertEqual(first.gain, 2)
        XCTAssertEqual(first.focus_mode, Int32(FC_CAMERA_FOCUS_MANUAL.rawValue))
        XCTAssertEqual(first.lens_position, 3)
        XCTAssertEqual(first.crop.width, mode.abilities.crop(zoom: 2).width, accuracy: 1e-9)
    }

    func testTheAbilitiesAreWhatIsAdvertised() throws {
        try start()
        let abilities = mode.abilities
        XCTAssertEqual(abilities.focus, 0...15)
        XCTAssertEqual(abilities.exposure, .microseconds(20) ... .seconds(2))
        XCTAssertEqual(abilities.gain, 1...16)
        XCTAssertEqual(abilities.frame, .milliseconds(10) ... .milliseconds(500))
        XCTAssertEqual(abilities.readout, .milliseconds(10))
        XCTAssertTrue(abilities.canZoom)
        XCTAssertEqual(abilities.nativeZoom, 2)
        XCTAssertEqual(abilities.fieldAspect, 4.0 / 3, accuracy: 1e-9)
        XCTAssertEqual(abilities.streamAspect, 2)
        XCTAssertTrue(abilities.hasExposureValue && abilities.hasMetering && abilities.hasLongExposure)
        XCTAssertTrue(abilities.hasDenoise && abilities.hasNightMode && abilities.reportsLux)
        XCTAssertFalse(abilities.reportsExposureState)
        XCTAssertEqual(abilities.controlDelay, 7, "four requests wait in front, and the sensor takes three frames")
    }

    func testACameraWithoutControlsHasNoAbilitiesAndIsToldNothing() throws {
        try start(advertising: 0)
        XCTAssertNil(mode.abilities.focus)
        XCTAssertNil(mode.abilities.exposure)
        XCTAssertNil(mode.abilities.gain)
        XCTAssertNil(mode.abilities.frame)
        XCTAssertFalse(mode.abilities.canZoom)
        XCTAssertEqual(mode.abilities.nativeZoom, 1)
        XCTAssertEqual(pipeline.first.set, 0)
        var controls = CameraControls()
        controls.focus = .manual(3)
        controls.shutter = .milliseconds(5)
        controls.focusScan = 2
        controls.crop = UnitRect(x: 0.25, y: 0.25, width: 0.5, height: 0.5)
        XCTAssertNil(told(controls))
    }

    func testAnUnknownRangeIsNoRange() throws {
        pipeline = CameraPipelineDouble(buffers: 4, hasFramerate: true)
        pipeline.change = { mode in
            mode.controls = Self.everything
            for range in [\fc_camera_mode.lens_position, \.exposure, \.gain, \.frame] {
                mode[keyPath: range] = fc_camera_range(from: 1, to: 0)
            }
        }
        camera = pipeline.camera()
        try camera.open()
        let mode = try camera.configure(
            CameraRequest(still: nil, video: Size(width: 64, height: 32), framerate: 25, slots: 4))
        XCTAssertNil(mode.abilities.focus)
        XCTAssertNil(mode.abilities.exposure)
        XCTAssertFalse(mode.abilities.canZoom, "without a field there are no parts of it")
    }

    func testItStartsWithItsFrameRateAndContinuousFocus() throws {
        try start()
        XCTAssertEqual(pipeline.first.set, bits(FC_CAMERA_FRAME_DURATION, FC_CAMERA_FOCUS_MODE))
        XCTAssertEqual(pipeline.first.shortest_frame_ns, 40_000_000)
        XCTAssertEqual(pipeline.first.longest_frame_ns, 40_000_000)
        XCTAssertEqual(pipeline.first.focus_mode, Int32(FC_CAMERA_FOCUS_CONTINUOUS.rawValue))
    }

    func testOnlyWhatChangedIsToldAndOnlyOnce() throws {
        try start()
        var controls = CameraControls()
        XCTAssertNotNil(told(controls))
        XCTAssertNil(told(controls), "nothing changed")
        controls.exposureValue = -1.5
        var record = try XCTUnwrap(told(controls))
        XCTAssertEqual(record.set, bits(FC_CAMERA_EXPOSURE_VALUE))
        XCTAssertEqual(record.exposure_value, -1.5)
        controls.crop = UnitRect(x: 0.25, y: 0.375, width: 0.5, height: 0.25)
        controls.metering = .spot
        record = try XCTUnwrap(told(controls))
        XCTAssertEqual(record.set, bits(FC_CAMERA_CROP, FC_CAMERA_METERING))
        XCTAssertEqual(record.crop.y, 0.375)
        XCTAssertEqual(record.metering, Int32(FC_CAMERA_SPOT.rawValue))
        controls.longestFrame = .milliseconds(100)
        controls.prefersLongExposure = true
        controls.denoisesMost = true
        controls.nightMode = true
        record = try XCTUnwrap(told(controls))
        XCTAssertEqual(
            record.set,
            bits(FC_CAMERA_FRAME_DURATION, FC_CAMERA_LONG_EXPOSURE, FC_CAMERA_DENOISE, FC_CAMERA_NIGHT))
        XCTAssertEqual(record.longest_frame_ns, 100_000_000)
    }

    func testOfSeveralCallsBeforeARequestTheLatestCounts() throws {
        try start()
        _ = told(CameraControls())
        let before = pipeline.changes.count
        for value in [1.0, 2, 0.5] {
            var controls = CameraControls()
            controls.exposureValue = value
            camera.control(controls)
        }
        turn()
        XCTAssertEqual(pipeline.changes.dropFirst(before).map(\.exposure_value), [0.5])
    }

    func testTheWholeFieldIsStreamedInTheStreamsShape() throws {
        try start()
        let record = try XCTUnwrap(told(CameraControls()))
        XCTAssertEqual(record.crop.width, 1)
        XCTAssertEqual(record.crop.height, 2.0 / 3, accuracy: 1e-9)
        XCTAssertEqual(record.crop.y, 1.0 / 6, accuracy: 1e-9)
    }

    func testAScanComesWithItsWindowAndModeInOneRequest() throws {
        try start()
        var controls = CameraControls()
        _ = told(controls)
        controls.focus = .oneShot
        controls.focusWindow = UnitRect(x: 0.5, y: 0.5, width: 0.1, height: 0.1)
        controls.focusScan = 1
        var record = try XCTUnwrap(told(controls))
        XCTAssertEqual(record.set, bits(FC_CAMERA_FOCUS_WINDOW, FC_CAMERA_FOCUS_MODE, FC_CAMERA_FOCUS_SCAN))
        XCTAssertEqual(record.focus_mode, Int32(FC_CAMERA_FOCUS_ONE_SHOT.rawValue))
        XCTAssertEqual(record.focus_window.width, 0.1)
        // At the same point again.
        controls.focusScan = 2
        record = try XCTUnwrap(told(controls))
        XCTAssertEqual(record.set, bits(FC_CAMERA_FOCUS_SCAN))
        // Back to the camera's own choice.
        controls.focus = .continuous
        controls.focusWindow = nil
        record = try XCTUnwrap(told(controls))
        XCTAssertEqual(record.set, bits(FC_CAMERA_FOCUS_WINDOW, FC_CAMERA_FOCUS_MODE))
        XCTAssertEqual(record.focus_window.width, 0)
    }

    func testPausesAreOfContinuousFocusAndManualFocusStaysInRange() throws {
        try start()
        var controls = CameraControls()
        _ = told(controls)
        controls.focusIsPaused = true
        XCTAssertEqual(told(controls)?.set, bits(FC_CAMERA_FOCUS_PAUSE))
        controls.focus = .manual(99)
        var record = try XCTUnwrap(told(controls))
        XCTAssertEqual(record.set, bits(FC_CAMERA_FOCUS_MODE, FC_CAMERA_LENS_POSITION))
        XCTAssertEqual(record.lens_position, 15)
        controls.focusIsPaused = false
        XCTAssertNil(told(controls), "a pause means nothing here")
        controls.focusIsPaused = true
        controls.focus = .continuous
        record = try XCTUnwrap(told(controls))
        XCTAssertEqual(record.set, bits(FC_CAMERA_FOCUS_MODE, FC_CAMERA_FOCUS_PAUSE))
        XCTAssertEqual(record.focus_pause, 1)
    }

    func testManualExposureAndBackToAutomatic() throws {
        try start()
        var controls = CameraControls()
        _ = told(controls)
        controls.shutter = .milliseconds(4)
        controls.gain = 40
        var record = try XCTUnwrap(told(controls))
        XCTAssertEqual(record.set, bits(FC_CAMERA_EXPOSURE_TIME, FC_CAMERA_GAIN))
        XCTAssertEqual(record.exposure_ns, 4_000_000)
        XCTAssertEqual(record.gain, 16)
        controls.shutter = nil
        controls.gain = nil
        record = try XCTUnwrap(told(controls))
        XCTAssertEqual(record.set, bits(FC_CAMERA_EXPOSURE_TIME, FC_CAMERA_GAIN))
        XCTAssertEqual(record.exposure_ns, 0)
        XCTAssertEqual(record.gain, 0)
    }

    func testACameraThatStartsAgainHasItsControlsFromTheFirstFrameOnWithoutAnotherScan() throws {
        try start()
        var controls = CameraControls()
        controls.focus = .oneShot
        controls.focusScan = 5
        controls.exposureValue = 1
        _ = told(controls)
        camera.stop()
        try camera.start()
        XCTAssertEqual(pipeline.first.exposure_value, 1)
        XCTAssertEqual(pipeline.first.set & bits(FC_CAMERA_FOCUS_SCAN), 0)
        XCTAssertEqual(pipeline.first.set & bits(FC_CAMERA_CROP, FC_CAMERA_GAIN), bits(FC_CAMERA_CROP, FC_CAMERA_GAIN))
        now = SystemClock.now
        XCTAssertNil(told(controls), "it has them")
    }

    func testRequestsInFrontOfAControlAreFewWhereThereIsSomethingToControl() throws {
        try start()
        XCTAssertEqual(pipeline.queued.count, 4)
        for _ in 0..<3 { turn() }
        XCTAssertEqual(pipeline.queued.count, 4)
        XCTAssertNil(camera.nextDeadline)
        camera.close()
        try start(advertising: FC_CAMERA_FRAME_DURATION.rawValue)
        XCTAssertEqual(pipeline.queued.count, 8)
    }

    func testAFrameTellsItsPartOfTheField() throws {
        try start()
        pipeline.complete(at: now) { $0.crop = fc_camera_part(x: 0.25, y: 0.25, width: 0.5, height: 0.5) }
        pipeline.complete(at: now + .milliseconds(40))
        var crops: [UnitRect?] = []
        camera.drain { if case .frame(let frame) = $0 { crops.append(frame.crop) } }
        XCTAssertEqual(crops, [UnitRect(x: 0.25, y: 0.25, width: 0.5, height: 0.5), nil])
    }

    func testLuxOnceSeenIsAnAbility() throws {
        try start(advertising: 0)
        pipeline.change = { $0.reports_lux = 0 }
        pipeline.complete(at: now) {
            $0.lux = 30
            $0.exposure_settled = 0
        }
        camera.drain { _ in }
        camera.stop()
        let mode = try camera.configure(
            CameraRequest(still: nil, video: Size(width: 64, height: 32), framerate: 25, slots: 4))
        XCTAssertTrue(mode.abilities.reportsLux)
        XCTAssertTrue(mode.abilities.reportsExposureState)
    }
}
