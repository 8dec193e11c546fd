import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// Focus, metering and low light, from the command to what the camera does.
final class ControlTests: XCTestCase {
    private func answer(_ studio: Studio, _ command: ControlCommand) -> Answer? {
        let token = studio.desk.newToken()
        XCTAssertTrue(studio.submit(.command(command, token, .cli)))
        studio.run(for: .milliseconds(50))
        while let reply = studio.desk.takeReply() {
            if reply.token == token { return reply.answer }
        }
        return nil
    }

    private func focused(resumeOnChange: Bool = true) -> Studio {
        var settings = SessionSettings()
        settings.optics.resumeOnChange = resumeOnChange
        let studio = Studio(settings: settings, size: Size(width: 160, height: 120))
        studio.world.set(moving: false)
        studio.run(for: .seconds(1))
        XCTAssertEqual(answer(studio, .focus(UnitPoint(x: 0.5, y: 0.5))), .effective(.focus(UnitPoint(x: 0.5, y: 0.5))))
        studio.run(for: .seconds(1))
        XCTAssertEqual(studio.desk.status.lens.focus, .held(UnitPoint(x: 0.5, y: 0.5)))
        return studio
    }

    func testAnotherSceneBringsContinuousFocusBack() {
        let studio = focused()
        studio.run(for: .seconds(4))
        XCTAssertEqual(studio.desk.status.lens.focus, .held(UnitPoint(x: 0.5, y: 0.5)), "noise is no change")
        studio.world.set(backdrop: 2)
        studio.run(for: .milliseconds(600))
        XCTAssertEqual(studio.desk.status.lens.focus, .continuous)
        XCTAssertEqual(studio.cameras[0].controls.focus, .continuous)
        XCTAssertNil(studio.cameras[0].controls.focusWindow)
    }

    func testWithoutItOnlyTimeDoes() {
        let studio = focused(resumeOnChange: false)
        studio.world.set(backdrop: 2)
        studio.run(for: .seconds(7))
        XCTAssertEqual(studio.desk.status.lens.focus, .held(UnitPoint(x: 0.5, y: 0.5)))
        studio.run(for: .seconds(4))
        XCTAssertEqual(studio.desk.status.lens.focus, .continuous)
    }

    /// A bright window darkens the whole picture as far as the metering looks at it.
    func testMeteringChangesWhatAutomaticExposureDoes() throws {
        func exposure(_ metering: CameraControls.Metering, window x: Double) throws -> Double {
            var settings = SessionSettings()
            settings.optics.metering = metering
            let studio = Studio(settings: settings, size: Size(width: 160, height: 120))
            studio.world.set(moving: false)
            studio.world.set(window: UnitRect(x: x, y: 0.4, width: 0.2, height: 0.2), value: 3)
            studio.run(for: .seconds(2))
            let frame = try XCTUnwrap(studio.cameras[0].last)
            return Double(try XCTUnwrap(frame.exposure).inNanoseconds) * (frame.gain ?? 1)
        }
        let (spot, centre, matrix) = (
            try exposure(.spot, window: 0.4), try exposure(.centre, window: 0.4), try exposure(.matrix, window: 0.4)
        )
        XCTAssertLessThan(spot, centre / 2)
        XCTAssertLessThan(centre, matrix * 0.9)
        XCTAssertGreaterThan(try exposure(.spot, window: 0.75), spot * 6, "a window beside the spot isn't seen")
    }

    func testLowLightModesAreAppliedAndNamedOnlyWhereOffered() throws {
        var profile = SensorProfile.of(.imx708, on: .pisp)
        for offered in [true, false] {
            profile.advertisesNightMode = offered
            let studio = Studio(size: Size(width: 160, height: 120), profile: profile)
            studio.run(for: .seconds(1))
            XCTAssertEqual(studio.desk.status.camera.image.noiseReduction, "standard")
            XCTAssertEqual(studio.desk.status.camera.image.hdr, offered ? "off" : nil)
            studio.world.set(lux: 3)
            studio.run(for: .seconds(3))
            let image = studio.desk.status.camera.image
            XCTAssertEqual(image.noiseReduction, "high_quality")
            XCTAssertEqual(image.exposure, "long")
            XCTAssertEqual(image.hdr, offered ? "night" : nil)
            XCTAssertEqual(studio.cameras[0].controls.nightMode, offered)
            XCTAssertTrue(studio.submit(.record(studio.desk.newToken(), .cli, maximum: nil)))
            studio.run(for: .seconds(1))
            XCTAssertEqual(
                studio.desk.status.camera.image.hdr, offered ? "off" : nil, "clips aren't merged of brackets")
        }
        let plain = Studio(size: Size(width: 160, height: 120))
        plain.world.set(lux: 3)
        plain.run(for: .seconds(3))
        XCTAssertTrue(plain.desk.status.isInLowLight)
        XCTAssertNil(plain.desk.status.camera.image.noiseReduction)
        XCTAssertFalse(plain.cameras[0].controls.denoisesMost || plain.cameras[0].controls.prefersLongExposure)
    }

    /// A shutter time is what it is said to be; where a clip's frames are too short for it, that is told.
    func testAShutterTimeIsKeptOrToldOtherwise() throws {
        for (asked, given) in [(33, 33), (40, 40), (500, 500), (950, 950), (1000, 950)] {
            var settings = SessionSettings()
            settings.optics.shutter = .milliseconds(asked)
            let studio = Studio(settings: settings, size: Size(width: 160, height: 120))
            studio.run(for: .seconds(8))
            XCTAssertEqual(studio.cameras[0].last?.exposure, .milliseconds(given))
            XCTAssertEqual(studio.desk.status.refusals.map(\.effective), asked == given ? [] : ["950ms"])
            _ = studio.events()
            guard asked == 500 else { continue }
            XCTAssertTrue(studio.submit(.record(studio.desk.newToken(), .cli, maximum: nil)))
            studio.run(for: .seconds(5))
            let told = studio.events().first { $0.name == "quality.fallback" }
            XCTAssertEqual(told?["key"], .string("exposure.shutter"))
            let exposure = try XCTUnwrap(studio.cameras[0].last?.exposure)
            XCTAssertLessThan(exposure, .milliseconds(32))
            XCTAssertEqual(told?["effective"], .string(exposure.text))
            XCTAssertEqual(studio.desk.status.refusals.map(\.effective), [exposure.text])
            XCTAssertTrue(studio.submit(.stop(studio.desk.newToken(), .cli)))
            studio.run(for: .seconds(5))
            XCTAssertEqual(studio.desk.status.refusals, [])
            XCTAssertEqual(studio.cameras[0].last?.exposure, .milliseconds(500))
        }
    }

    func testACameraThatIsOffSaysSoAndKeepsItsControls() {
        let studio = Studio(size: Size(width: 160, height: 120), light: { SimulatedLight(world: $0) })
        studio.run(for: .seconds(1))
        let commands: [ControlCommand] = [
            .focus(UnitPoint(x: 0.5, y: 0.5)), .focusManually(2), .zoom(1),
        ]
        for off in [ControlCommand.standby, .release] {
            XCTAssertNotNil(answer(studio, off))
            let before = studio.desk.status.lens
            for command in commands { XCTAssertEqual(answer(studio, command), .rejected(.cameraOff), "\(command)") }
            XCTAssertEqual(studio.desk.status.lens, before)
            XCTAssertEqual(studio.desk.status.light.level, 0)
            // The light needs no camera.
            XCTAssertEqual(answer(studio, .torch(1)), .effective(.torch(1)))
            XCTAssertEqual(studio.desk.status.light.level, 1)
            XCTAssertNotNil(answer(studio, .start))
            studio.run(for: .seconds(1))
            for command in commands { XCTAssertNotEqual(answer(studio, command), .rejected(.cameraOff), "\(command)") }
            XCTAssertNotNil(answer(studio, .torch(0)))
        }
    }
}
