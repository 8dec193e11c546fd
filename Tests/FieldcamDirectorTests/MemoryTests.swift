import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// Cameras on machines with little contiguous memory.
final class MemoryTests: XCTestCase {
    private func field(_ event: Event, _ name: String) -> JSON? { event.fields.first { $0.key == name }?.value }

    /// A Zero 2 W with a Camera Module 3.
    private func studio(free: Int64?, _ change: (inout SessionSettings) -> Void = { _ in }) -> Studio {
        var settings = SessionSettings()
        change(&settings)
        let studio = Studio(
            settings: settings, size: Size(width: 1920, height: 1080), slots: 12, startsCamera: false,
            profile: .of(.imx708, on: .vc4))
        studio.world.contiguousMemory = free.map { $0 << 20 }
        XCTAssertTrue(
            studio.desk.submit(.command(.start, studio.desk.newToken(), .api), at: studio.now))
        studio.run(for: .seconds(2))
        return studio
    }

    func testWhatFitsIsNotTouched() {
        let studio = studio(free: nil)
        XCTAssertEqual(studio.desk.status.camera.memory, "")
        XCTAssertEqual(studio.desk.status.camera.videoWidth, 1920)
        XCTAssertFalse(studio.events().contains { $0.name == "quality.fallback" })
        let roomy = self.studio(free: 200)
        XCTAssertTrue(roomy.desk.status.camera.memory.hasPrefix("1920x1080 with 12 buffers"))
        XCTAssertFalse(roomy.events().contains { $0.name == "quality.fallback" })
    }

    func testWhatDoesNotFitIsSteppedDownAndTold() throws {
        let studio = studio(free: 26)
        let status = studio.desk.status.camera
        XCTAssertEqual(status.state, "up")
        XCTAssertEqual(status.videoWidth, 1280)
        XCTAssertTrue(status.memory.contains("of 26 MB of contiguous memory"), status.memory)
        let told = studio.events().filter { $0.name == "quality.fallback" }
        XCTAssertEqual(told.count, 1, "\(told)")
        XCTAssertEqual(field(told[0], "requested"), .string("1920x1080"))
        XCTAssertEqual(field(told[0], "effective"), .string("1280x720"))
        try studio.press(for: .milliseconds(60))
        studio.run(for: .milliseconds(500))
        XCTAssertEqual(studio.events().last?.name, "photo.saved")
    }

    func testAShotOfTheFullSensorFitsByItselfAndTheStreamComesBack() throws {
        let studio = studio(free: 58) { $0.photoSource = .sensor }
        _ = studio.events()
        try studio.press(for: .milliseconds(60))
        studio.run(for: .seconds(2))
        let events = studio.events()
        XCTAssertEqual(events.map(\.name), ["photo.requested", "photo.saved"])
        XCTAssertEqual(field(events[1], "width"), .integer(4608))
        XCTAssertEqual(studio.desk.status.camera.state, "up")
    }

    func testAShotOfTheFullSensorThatDoesNotFitIsSmallerAndTold() throws {
        let studio = studio(free: 26) { $0.photoSource = .sensor }
        // What is free beside the stream's buffers.
        studio.world.contiguousMemory = 13 << 20
        _ = studio.events()
        try studio.press(for: .milliseconds(60))
        studio.run(for: .seconds(2))
        let events = studio.events()
        XCTAssertEqual(events.filter { $0.name == "quality.fallback" }.count, 1, "\(events.map(\.name))")
        let photo = try XCTUnwrap(events.last { $0.name == "photo.saved" })
        XCTAssertEqual(field(photo, "width"), .integer(2304))
        XCTAssertEqual(studio.desk.status.camera.state, "up")
    }
}
