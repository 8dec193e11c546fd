import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// Flash, torch and the switch of cameras, from the button to the picture.
final class LightTests: XCTestCase {
    func testAFlashIsProvenByThePicture() throws {
        var settings = SessionSettings()
        settings.light.flash = .on
        let studio = Studio(settings: settings, light: { SimulatedLight(world: $0) })
        studio.world.set(lux: 3)
        studio.run(for: .seconds(2))
        _ = studio.events()
        for _ in 0..<5 {
            try studio.press(for: .milliseconds(80))
            studio.run(for: .milliseconds(2317))
            let events = studio.events()
            XCTAssertEqual(
                events.map(\.name), ["photo.requested", "light.changed", "light.changed", "photo.saved"])
            XCTAssertEqual(events.last?["flash_fired"], .bool(true))
        }
    }

    /// Low light's long frames would leave automatic exposure a few frames only.
    func testAFlashInTheDarkIsExposedAsItShould() throws {
        for isEnabled in [true, false] {
            for lux in [0.5, 2, 5, 10, 50] {
                for phase in [0, 70] {
                    var settings = SessionSettings()
                    settings.optics.lowLight = isEnabled
                    let studio = Studio(settings: settings, light: { SimulatedLight(world: $0) })
                    studio.world.set(lux: lux)
                    studio.run(for: .milliseconds(3000 + phase))
                    let wasLow = studio.desk.status.isInLowLight
                    XCTAssertEqual(wasLow, isEnabled && lux < 10)
                    _ = studio.events()
                    XCTAssertTrue(studio.submit(.shot(studio.desk.newToken(), .api, flash: .on)))
                    studio.run(for: .seconds(3))
                    let events = studio.events()
                    XCTAssertEqual(
                        events.map(\.name), ["photo.requested", "light.changed", "light.changed", "photo.saved"])
                    XCTAssertEqual(events.last?["flash_fired"], .bool(true))
                    let luma = try XCTUnwrap(studio.store.photos.first?.bytes)
                    let mean = luma.reduce(0) { $0 + Int($1) } / max(1, luma.count)
                    XCTAssertTrue((80...170).contains(mean), "\(lux) lux, low light \(isEnabled): \(mean)")
                    XCTAssertEqual(studio.desk.status.isInLowLight, wasLow, "the flash isn't the scene's light")
                    XCTAssertEqual(
                        studio.cameras[0].controls.longestFrame,
                        wasLow ? .milliseconds(100) : settings.frameInterval, "long frames are back")
                }
            }
        }
    }

    func testAShotMayAskForItsOwnFlash() throws {
        for (set, asked, fires) in [(FlashMode.off, FlashMode.on, true), (.on, .off, false), (.off, .auto, true)] {
            var settings = SessionSettings()
            settings.light.flash = set
            let studio = Studio(settings: settings, light: { SimulatedLight(world: $0) })
            studio.world.set(lux: 3)
            studio.run(for: .seconds(2))
            _ = studio.events()
            XCTAssertTrue(studio.submit(.shot(studio.desk.newToken(), .api, flash: asked)))
            studio.run(for: .seconds(2))
            let saved = studio.events().last { $0.name == "photo.saved" }
            XCTAssertEqual(saved?["flash_fired"], .bool(fires), "\(asked) while \(set) is set")
            XCTAssertEqual(studio.desk.status.flash, set, "the setting stays")
        }
    }

    func testADeadLightIsNeverClaimed() throws {
        var settings = SessionSettings()
        settings.light.flash = .on
        let studio = Studio(settings: settings, light: { _ in BrokenLight() })
        studio.world.set(lux: 3)
        studio.run(for: .seconds(2))
        _ = studio.events()
        try studio.press(for: .milliseconds(80))
        studio.run(for: .seconds(5))
        XCTAssertEqual(studio.events().last { $0.name == "photo.saved" }?["flash_fired"], .bool(false))
    }

    func testTheTorchIsOffBeforeTheClipIsToldStopped() throws {
        var settings = SessionSettings()
        settings.light.torch = .on
        let studio = Studio(settings: settings, light: { SimulatedLight(world: $0) })
        studio.run(for: .seconds(1))
        _ = studio.events()
        try studio.press(for: .seconds(2))
        studio.run(for: .seconds(4))
        let events = studio.events()
        XCTAssertEqual(
            events.map(\.name),
            [
                "recording.requested", "recording.started", "light.changed", "light.changed", "recording.stopped",
                "clip.saved",
            ])
        XCTAssertEqual(events[3]["level"], .number(0))
    }

    func testAClipWhoseLightMustCoolSaysSo() throws {
        var settings = SessionSettings()
        settings.light.torch = .on
        settings.light.maximumTorch = .seconds(3)
        let studio = Studio(settings: settings, light: { SimulatedLight(world: $0) })
        studio.run(for: .seconds(1))
        XCTAssertTrue(studio.submit(.command(.torch(1), studio.desk.newToken(), .cli)))
        studio.run(for: .milliseconds(3050))
        XCTAssertTrue(studio.submit(.command(.torchAutomatically, studio.desk.newToken(), .cli)))
        _ = studio.events()
        XCTAssertTrue(studio.submit(.record(studio.desk.newToken(), .cli, maximum: nil)))
        studio.run(for: .seconds(2))
        let told = studio.events().first { $0.name == "light.changed" }
        XCTAssertEqual(told?["level"], .number(0))
        XCTAssertEqual(told?["reason"], .string(studio.desk.status.light.reason))
        XCTAssertEqual(studio.desk.status.light.reason, "it has been on for long and must cool first")
    }

    func testASecondPressSwitchesTheCameraAndTheNextPhotoComesFromIt() throws {
        var settings = SessionSettings()
        settings.doublePressAction = .switchCamera
        let studio = Studio(settings: settings, cameras: 2)
        studio.run(for: .seconds(1))
        _ = studio.events()
        try studio.press(for: .milliseconds(80))
        studio.run(for: .milliseconds(200))
        try studio.press(for: .milliseconds(80))
        studio.run(for: .seconds(2))
        let events = studio.events()
        XCTAssertEqual(events.map(\.name), ["camera.up", "camera.switched"])
        XCTAssertEqual(events.first?["role"], .string("front"))
        try studio.press(for: .milliseconds(80))
        studio.run(for: .seconds(1))
        XCTAssertEqual(studio.events().map(\.name), ["photo.requested", "photo.saved"])
    }

    func testAHundredSwitchesLoseNoPress() throws {
        let studio = Studio(size: Size(width: 64, height: 48), cameras: 2)
        studio.run(for: .seconds(1))
        var saved = 0
        for _ in 0..<100 {
            XCTAssertTrue(studio.desk.submit(.command(.switchCamera(nil), studio.desk.newToken(), .cli)))
            try studio.press(for: .milliseconds(60))
            studio.run(for: .milliseconds(800))
            saved += studio.events().filter { $0.name == "photo.saved" }.count
        }
        XCTAssertEqual(saved, 100)
    }

    func testAShotThatWaitsKeepsItsFrameWhenTheCameraIsGivenUp() throws {
        let studio = Studio()
        studio.run(for: .seconds(1))
        _ = studio.events()
        for _ in 0..<6 { XCTAssertTrue(studio.desk.submit(.shot(studio.desk.newToken(), .api))) }
        XCTAssertTrue(studio.desk.submit(.command(.release, studio.desk.newToken(), .cli)))
        studio.run(for: .seconds(2))
        let ends = studio.events().filter { $0.name == "photo.saved" || $0.name == "photo.failed" }
        XCTAssertEqual(ends.count, 6)
        XCTAssertFalse(ends.contains { $0["reason"] == .string("internal") })
    }

    func testStandbyAndBack() throws {
        let studio = Studio()
        studio.run(for: .seconds(1))
        _ = studio.events()
        XCTAssertTrue(studio.desk.submit(.command(.standby, studio.desk.newToken(), .cli)))
        studio.run(for: .seconds(2))
        try studio.press(for: .milliseconds(60))
        studio.run(for: .seconds(4))
        XCTAssertTrue(studio.events().contains { $0.name == "photo.saved" })
    }
}
