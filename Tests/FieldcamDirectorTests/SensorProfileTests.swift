import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// Every setting and command of contract §4 on every sensor of the simulator: applied, or answered by name.
final class SensorProfileTests: XCTestCase {
    private var profiles: [SensorProfile] {
        CameraModel.allCases.flatMap { model in CameraPipeline.allCases.map { SensorProfile.of(model, on: $0) } }
    }

    private func studio(_ profile: SensorProfile, _ change: (inout SessionSettings) -> Void = { _ in }) -> Studio {
        var settings = SessionSettings()
        change(&settings)
        let studio = Studio(settings: settings, size: Size(width: 320, height: 240), slots: 12, profile: profile)
        studio.run(for: .seconds(1))
        return studio
    }

    /// What came of a tap.
    private func tap(_ studio: Studio, for span: Duration = .milliseconds(600)) throws -> [Event] {
        _ = studio.events()
        try studio.press(for: .milliseconds(60))
        studio.run(for: span)
        return studio.events()
    }

    private func answer(_ studio: Studio, _ command: ControlCommand) -> Answer? {
        let token = studio.desk.newToken()
        XCTAssertTrue(studio.desk.submit(.command(command, token, .api), at: studio.now))
        studio.run(for: .milliseconds(50))
        while let reply = studio.desk.takeReply() {
            if reply.token == token { return reply.answer }
        }
        return nil
    }

    private func refusals(_ studio: Studio) -> [String] { studio.desk.status.refusals.map(\.key) }

    func testEachSensorStreamsAndItsAbilitiesAreTold() throws {
        for profile in profiles {
            let name = "\(profile.model) on \(profile.pipeline)"
            let studio = studio(profile)
            XCTAssertEqual(studio.desk.status.camera.state, "up", name)
            XCTAssertEqual(studio.desk.status.camera.model, profile.model.rawValue)
            let abilities = try XCTUnwrap(studio.desk.status.abilities, name)
            XCTAssertEqual(abilities.focus == nil, ![CameraModel.imx708, .imx708Wide].contains(profile.model), name)
            XCTAssertEqual(abilities.readout == .zero, [CameraModel.imx296, .ov9281].contains(profile.model), name)
            XCTAssertEqual(abilities.gain, profile.gain, name)
            XCTAssertEqual(refusals(studio), [], name)
            XCTAssertEqual(try tap(studio).map(\.name), ["photo.requested", "photo.saved"], name)
        }
    }

    func testEachCommandIsAnswered() throws {
        for profile in profiles {
            let name = "\(profile.model) on \(profile.pipeline)"
            let studio = studio(profile)
            let hasFocus = profile.focus != nil
            XCTAssertEqual(
                answer(studio, .focus(UnitPoint(x: 0.5, y: 0.5))), .effective(.focus(UnitPoint(x: 0.5, y: 0.5))), name)
            XCTAssertEqual(answer(studio, .focus(UnitPoint(x: 1.5, y: 0.5))), .rejected(.outOfRange), name)
            XCTAssertEqual(
                answer(studio, .focusManually(1)), hasFocus ? .effective(.dioptres(1)) : .rejected(.unsupported), name)
            XCTAssertEqual(
                answer(studio, .focusManually(99)), .rejected(hasFocus ? .outOfRange : .unsupported), name)
            XCTAssertEqual(answer(studio, .focusAutomatically), .effective(.focus(nil)), name)
            XCTAssertEqual(answer(studio, .zoom(1.5)), .effective(.zoom(1.5)), name)
            XCTAssertEqual(answer(studio, .zoom(0.5)), .rejected(.outOfRange), name)
            XCTAssertEqual(answer(studio, .zoom(999)), .rejected(.outOfRange), name)
            XCTAssertEqual(answer(studio, .flash(.on)), .rejected(.unsupported), name)
            XCTAssertEqual(answer(studio, .torch(0.5)), .rejected(.unsupported), name)
            XCTAssertEqual(try tap(studio).last?.name, "photo.saved", name)
        }
    }

    func testEachSettingIsAppliedOrRefusedByName() throws {
        for profile in profiles {
            let name = "\(profile.model) on \(profile.pipeline)"
            let hasFocus = profile.focus != nil
            let cases: [(keys: [String], change: (inout OpticsSettings) -> Void)] = [
                (hasFocus ? [] : ["focus.mode"], { $0.focusMode = .manual }),
                (hasFocus ? [] : ["focus.mode"], { $0.focusMode = .auto }),
                ([], { $0.focusWhileRecording = .lock }), ([], { $0.resumeAfter = .seconds(1) }),
                ([], { $0.compensation = 2 }), ([], { $0.compensation = -8 }), ([], { $0.metering = .spot }),
                ([], { $0.metering = .matrix }), ([], { $0.shutter = .milliseconds(4) }),
                (["exposure.shutter"], { $0.shutter = .nanoseconds(100) }),
                (["exposure.shutter"], { $0.shutter = .seconds(3600) }), ([], { $0.gain = 2 }),
                (["exposure.gain"], { $0.gain = 999 }),
                (profile.gain.lowerBound > 1 ? ["exposure.gain"] : [], { $0.gain = 1 }),
                ([], { $0.lowLight = false }),
                (
                    [],
                    {
                        $0.enterLux = 200; $0.leaveLux = 400
                    }
                ),
                ([], { $0.zoom = false }), ([], { $0.zoomMaximum = 8 }),
                (
                    ["exposure.shutter", "exposure.gain"],
                    {
                        $0.shutter = .seconds(3600); $0.gain = 999
                    }
                ),
            ]
            let studio = studio(profile)
            for (index, one) in cases.enumerated() {
                var settings = SessionSettings()
                one.change(&settings.optics)
                let live = LiveSettings(
                    session: settings, requests: [studio.request], photoQuality: 92, encoders: ["counting"],
                    videoBitRate: nil, everyFrameIsKey: false, framerate: 30, recordsSound: true)
                _ = studio.events()
                XCTAssertTrue(studio.desk.submit(.configure(live), at: studio.now))
                studio.run(for: .milliseconds(50))
                XCTAssertEqual(refusals(studio), one.keys, "\(name), case \(index)")
                XCTAssertEqual(
                    studio.events().filter { $0.name == "quality.fallback" }.count, one.keys.count,
                    "\(name), case \(index)")
                for refusal in studio.desk.status.refusals {
                    XCTAssertTrue(refusal.sentence.contains(refusal.key), refusal.sentence)
                }
            }
        }
    }

    func testAShutterThatIsGrantedIsExposed() throws {
        for model in [CameraModel.imx219, .imx708, .imx296, .ov9281] {
            let studio = studio(.of(model, on: .vc4)) {
                $0.optics.shutter = .milliseconds(4)
                $0.optics.gain = 2
            }
            let photo = try XCTUnwrap(try tap(studio).last)
            XCTAssertEqual(photo.fields.first { $0.key == "exposure_ns" }?.value, .integer(4_000_000), "\(model)")
            XCTAssertEqual(photo.fields.first { $0.key == "gain" }?.value, .number(2), "\(model)")
        }
    }

    func testTheFullSensorOfEachIsReadByAModeSwitch() throws {
        for model in [CameraModel.ov9281, .imx296, .imx708] {
            let profile = SensorProfile.of(model, on: .pisp)
            let studio = studio(profile) {
                $0.photoSource = .sensor
                $0.focusWait = .short
            }
            let events = try tap(studio, for: .seconds(2))
            let photo = try XCTUnwrap(events.last { $0.name == "photo.saved" }, "\(model): \(events.map(\.name))")
            XCTAssertEqual(
                photo.fields.first { $0.key == "width" }?.value, .integer(Int64(profile.pixels.width)), "\(model)")
            XCTAssertEqual(
                photo.fields.first { $0.key == "height" }?.value, .integer(Int64(profile.pixels.height)), "\(model)")
        }
    }

    func testAModeIsChosenBySizeAndLimitsTheRate() {
        let hq = SensorProfile.of(.imx477, on: .pisp)
        XCTAssertEqual(hq.mode(for: Size(width: 1920, height: 1080)).framerate, 50.03)
        XCTAssertEqual(hq.mode(for: Size(width: 1280, height: 720)).bits, 10)
        XCTAssertEqual(hq.mode(for: Size(width: 4056, height: 3040)).framerate, 10)
        XCTAssertEqual(hq.mode(for: Size(width: 9000, height: 9000)).framerate, 10)
        let wide = SensorProfile.of(.imx708Wide, on: .vc4)
        XCTAssertEqual(wide.mode(for: Size(width: 1920, height: 1080)).size, Size(width: 2304, height: 1296))
        XCTAssertEqual(wide.focus, 0...35)
    }

    func testAMonochromeSensorHasNoColour() throws {
        let studio = studio(.of(.ov9281, on: .vc4))
        let camera = SimulatedCamera(
            world: studio.clock.makeWorld(), properties: .init(profile: .of(.ov9281, on: .vc4), variant: 7))
        try camera.open()
        let size = Size(width: 320, height: 240)
        let mode = try camera.configure(CameraRequest(still: size, video: size, framerate: 30, slots: 4))
        try camera.start()
        studio.run(for: .milliseconds(200))
        var colours: Set<UInt8> = []
        var frames = 0
        camera.drain { fact in
            guard case .frame(let frame) = fact else { return }
            frames += 1
            let image = mode.pool.lease(frame.ref).still
            for index in 0..<(160 * 120) { colours.insert(image.plane(1)[index]) }
        }
        XCTAssertGreaterThan(frames, 2)
        XCTAssertEqual(colours, [128])
        camera.close()
    }
}
