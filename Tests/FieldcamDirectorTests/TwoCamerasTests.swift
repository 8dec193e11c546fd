import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// What each of two cameras keeps for itself across switches (contract §4, §6).
final class TwoCamerasTests: XCTestCase {
    private func order(_ studio: Studio, _ command: ControlCommand) {
        XCTAssertTrue(studio.desk.submit(.command(command, studio.desk.newToken(), .api), at: studio.now))
        studio.run(for: .seconds(2))
    }

    func testZoomAndFocusAreEachCamerasOwn() {
        let studio = Studio(
            size: Size(width: 320, height: 240), cameras: 2, sensor: Size(width: 1280, height: 960))
        studio.run(for: .seconds(1))
        order(studio, .zoom(2))
        order(studio, .focusManually(3))
        XCTAssertEqual(studio.desk.status.lens.zoom, 2)
        order(studio, .switchCamera(nil))
        XCTAssertEqual(studio.desk.status.camera.role, "front")
        XCTAssertEqual(studio.desk.status.lens.zoom, 1)
        XCTAssertEqual(studio.desk.status.lens.focus, .continuous)
        order(studio, .zoom(3))
        order(studio, .switchCamera(nil))
        XCTAssertEqual(studio.desk.status.lens.zoom, 2)
        XCTAssertEqual(studio.desk.status.lens.focus, .manual(3))
        order(studio, .switchCamera(nil))
        XCTAssertEqual(studio.desk.status.lens.zoom, 3)
    }

    func testUpIsToldBeforeSwitched() throws {
        let studio = Studio(size: Size(width: 320, height: 240), cameras: 2)
        studio.run(for: .seconds(1))
        XCTAssertEqual(studio.events().map(\.name), ["camera.up"])
        order(studio, .switchCamera(nil))
        let events = studio.events()
        XCTAssertEqual(events.map(\.name), ["camera.up", "camera.switched"])
        for event in events { XCTAssertEqual(event.fields.first { $0.key == "role" }?.value, .string("front")) }
    }

    private func zoomed(_ studio: Studio) -> [JSON?] {
        studio.events().filter { $0.name == "zoom.changed" }.map { $0["zoom"] }
    }

    func testAZoomUnderWayEndsWhereItWasAskedThoughTheCameraRestarts() throws {
        let studio = Studio(
            size: Size(width: 320, height: 240), cameras: 2, sensor: Size(width: 1280, height: 960))
        studio.run(for: .seconds(1))
        for restart in [
            [ControlCommand.switchCamera(nil), .switchCamera(nil)], [.standby, .start], [.release, .start],
        ] {
            _ = studio.events()
            XCTAssertTrue(studio.submit(.command(.zoom(4), studio.desk.newToken(), .api)))
            studio.run(for: .milliseconds(100))
            XCTAssertLessThan(studio.desk.status.lens.zoom, 2)
            for command in restart { order(studio, command) }
            XCTAssertEqual(studio.desk.status.lens.zoom, 4, "\(restart)")
            XCTAssertEqual(zoomed(studio), [.number(4)], "\(restart)")
            order(studio, .zoom(1))
        }
    }

    func testLowLightStaysOverRestartsAndIsToldOnlyWhenItChanges() throws {
        let studio = Studio(size: Size(width: 320, height: 240), cameras: 2)
        studio.world.set(lux: 2)
        studio.run(for: .seconds(3))
        func told() -> [JSON?] {
            studio.events().filter { $0.name == "low_light.changed" }.map { $0["active"] }
        }
        XCTAssertEqual(told(), [.bool(true)])
        for restart in [[ControlCommand.standby, .start], [.release, .start]] {
            order(studio, restart[0])
            XCTAssertTrue(studio.submit(.command(restart[1], studio.desk.newToken(), .api)))
            studio.run(for: .milliseconds(700))
            XCTAssertGreaterThan(try XCTUnwrap(studio.cameras[0].last?.exposure), .milliseconds(90))
            XCTAssertTrue(studio.desk.status.isInLowLight)
        }
        XCTAssertEqual(told(), [])
        // The other camera finds out by itself; each remembers.
        order(studio, .switchCamera(nil))
        XCTAssertEqual(told(), [.bool(false), .bool(true)])
        order(studio, .switchCamera(nil))
        order(studio, .switchCamera(nil))
        XCTAssertEqual(told(), [])
        studio.world.set(lux: 300)
        studio.run(for: .seconds(3))
        XCTAssertEqual(told(), [.bool(false)])
    }

    func testAReleasedCameraIsNotTakenBackByASwitch() {
        let studio = Studio(size: Size(width: 64, height: 64), cameras: 2)
        studio.run(for: .seconds(1))
        order(studio, .release)
        _ = studio.events()
        order(studio, .switchCamera(nil))
        XCTAssertEqual(studio.desk.status.camera.state, "released")
        XCTAssertEqual(studio.events().filter { $0.name == "rejected" }.map { $0["reason"] }, [.string("unsupported")])
        order(studio, .start)
        XCTAssertEqual(studio.desk.status.camera.role, "rear")
        XCTAssertEqual(studio.desk.status.camera.state, "up")
    }

    func testEachLightIsHeldToItsOwnLimit() {
        var settings = SessionSettings()
        settings.light.limits = [
            .init(light: 0, maximumFlash: .milliseconds(800), maximumTorch: .seconds(2)),
            .init(light: 1, maximumFlash: .milliseconds(800), maximumTorch: .seconds(6)),
        ]
        let studio = Studio(
            settings: settings, size: Size(width: 320, height: 240), cameras: 2, light: { SimulatedLight(world: $0) })
        studio.run(for: .seconds(1))
        func spanOfTorch() -> Duration {
            order(studio, .torch(1))
            let began = studio.now - .seconds(2)
            while studio.desk.status.light.level > 0, studio.now - began < .seconds(20) {
                studio.run(for: .milliseconds(50))
            }
            return studio.now - began
        }
        XCTAssertLessThan(spanOfTorch(), .milliseconds(2600))
        order(studio, .switchCamera(nil))
        // The other light is cool.
        let span = spanOfTorch()
        XCTAssertGreaterThan(span, .milliseconds(5400))
        XCTAssertLessThan(span, .milliseconds(6700))
    }
}
