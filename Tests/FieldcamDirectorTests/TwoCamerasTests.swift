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
