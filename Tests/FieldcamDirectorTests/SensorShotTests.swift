import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// Shots of the full sensor by a mode switch: contract §4 `photo.source`, §5.2, §5.7, §5.8.
final class SensorShotTests: XCTestCase {
    private let sensor = Size(width: 1280, height: 960)

    private func studio(_ change: (inout SessionSettings) -> Void = { _ in }, light: Bool = false) -> Studio {
        var settings = SessionSettings()
        settings.photoSource = .sensor
        change(&settings)
        let studio = Studio(
            settings: settings, size: Size(width: 320, height: 240), light: light ? { SimulatedLight(world: $0) } : nil,
            sensor: sensor)
        studio.run(for: .seconds(2))
        _ = studio.events()
        return studio
    }

    private func saved(_ events: [Event]) -> [Event] { events.filter { $0.name == "photo.saved" } }

    private func integer(_ event: Event, _ name: String) -> Int64? {
        for field in event.fields where field.key == name {
            if case .integer(let value) = field.value { return value }
        }
        return nil
    }

    func testATapGivesTheWholeSensorAndTheStreamComesBack() throws {
        let studio = studio()
        try studio.press(for: .milliseconds(120))
        studio.run(for: .seconds(3))
        let events = studio.events()
        XCTAssertEqual(events.map(\.name), ["photo.requested", "photo.saved"])
        let photo = try XCTUnwrap(saved(events).first)
        XCTAssertEqual(integer(photo, "width"), 1280)
        XCTAssertEqual(integer(photo, "height"), 960)
        let offset = try XCTUnwrap(integer(photo, "press_offset_ns"))
        XCTAssertGreaterThan(offset, 100_000_000, "it is exposed after the commit, and says so")
        XCTAssertLessThan(offset, 1_000_000_000)
        XCTAssertEqual(studio.desk.status.camera.state, "up")
        let before = studio.desk.status.counters.frames
        studio.run(for: .seconds(1))
        XCTAssertGreaterThanOrEqual(studio.desk.status.counters.frames - before, 28, "the stream runs again")
    }

    func testThreePressesMeanwhileAreThreePhotosOfTheSensor() throws {
        let studio = studio()
        for _ in 0..<4 {
            try studio.press(for: .milliseconds(60))
            studio.run(for: .milliseconds(100))
        }
        studio.run(for: .seconds(4))
        let photos = saved(studio.events())
        XCTAssertEqual(photos.count, 4)
        XCTAssertEqual(photos.map { integer($0, "width") }, [1280, 1280, 1280, 1280])
        XCTAssertTrue(studio.director.session.isIdle)
    }

    func testAHoldMeanwhileIsAClipOfTheStream() throws {
        let studio = studio()
        try studio.press(for: .milliseconds(60))
        studio.run(for: .milliseconds(120))
        try studio.press(for: .seconds(2))
        studio.run(for: .seconds(5))
        let events = studio.events()
        XCTAssertEqual(saved(events).map { integer($0, "width") }, [1280])
        XCTAssertEqual(events.filter { $0.name == "clip.saved" }.count, 1)
        XCTAssertEqual(events.first { $0.name == "recording.started" }.flatMap { integer($0, "width") }, 320)
    }

    func testDuringAClipItComesFromTheStreamAndSaysSo() throws {
        let studio = studio()
        let desk = studio.desk
        XCTAssertTrue(desk.submit(.record(desk.newToken(), .cli, maximum: nil), at: studio.now))
        studio.run(for: .seconds(1))
        try studio.press(for: .milliseconds(100))
        studio.run(for: .seconds(1))
        XCTAssertTrue(desk.submit(.stop(desk.newToken(), .cli), at: studio.now))
        studio.run(for: .seconds(2))
        let events = studio.events()
        XCTAssertEqual(saved(events).map { integer($0, "width") }, [320])
        XCTAssertEqual(events.filter { $0.name == "quality.fallback" }.count, 1)
        XCTAssertEqual(events.filter { $0.name == "clip.saved" }.count, 1)
    }

    func testTheFlashKeepsTheStreamAndItIsTold() throws {
        let studio = studio({ $0.light.flash = .on }, light: true)
        try studio.press(for: .milliseconds(100))
        studio.run(for: .seconds(4))
        let events = studio.events()
        XCTAssertEqual(saved(events).map { integer($0, "width") }, [320])
        XCTAssertEqual(events.filter { $0.name == "quality.fallback" }.count, 1)
    }

    func testACameraLostOnTheWayGivesTheStreamsPictureAndIsBroughtBack() throws {
        for delay in [40, 90, 150, 200, 260, 330] {
            let studio = studio()
            try studio.press(for: .milliseconds(50))
            studio.run(for: .milliseconds(delay))
            studio.world.inject(.disconnect(nil))
            studio.run(for: .seconds(2))
            studio.world.inject(.reconnect)
            studio.run(for: .seconds(8))
            let events = studio.events()
            XCTAssertEqual(
                events.filter { $0.name == "photo.saved" || $0.name == "photo.failed" }.count, 1, "\(delay) ms")
            XCTAssertEqual(studio.desk.status.camera.state, "up", "\(delay) ms: \(events.map(\.name))")
            XCTAssertTrue(studio.director.session.isIdle, "\(delay) ms")
            try studio.press(for: .milliseconds(50))
            studio.run(for: .seconds(3))
            XCTAssertEqual(saved(studio.events()).map { integer($0, "width") }, [1280], "\(delay) ms")
        }
    }

    func testASlowModeSwitchIsWaitedForAndAnEndlessOneIsNot() throws {
        let studio = studio()
        studio.world.inject(.slowStart(.seconds(2)))
        try studio.press(for: .milliseconds(50))
        studio.run(for: .seconds(9))
        XCTAssertEqual(saved(studio.events()).map { integer($0, "width") }, [1280])
    }

    func testInTheDarkItIsExposedAsLongAsTheStreamWasAndTellsThatItIsNotMerged() throws {
        let studio = studio { $0.optics.stack = 4 }
        studio.world.set(lux: 2)
        studio.run(for: .seconds(4))
        XCTAssertEqual(studio.events().filter { $0.name == "low_light.changed" }.map { $0["active"] }, [.bool(true)])
        for _ in 0..<3 {
            try studio.press(for: .milliseconds(60))
            studio.run(for: .seconds(4))
            let events = studio.events()
            let photo = try XCTUnwrap(saved(events).first)
            XCTAssertEqual(integer(photo, "width"), 1280)
            XCTAssertGreaterThan(try XCTUnwrap(integer(photo, "exposure_ns")), 90_000_000)
            let fallbacks = events.filter { $0.name == "quality.fallback" }
            XCTAssertEqual(fallbacks.map { $0["key"] }, [.string("low_light.stack")])
            XCTAssertFalse(events.contains { $0.name == "low_light.changed" }, "it stays dark")
        }
    }

    func testInTheDarkACameraThatWasJustStartedTakesTheTimeThatIsNeeded() throws {
        let studio = studio()
        studio.world.set(lux: 2)
        studio.run(for: .seconds(4))
        XCTAssertTrue(studio.submit(.command(.release, studio.desk.newToken(), .api)))
        studio.run(for: .seconds(1))
        XCTAssertTrue(studio.submit(.command(.start, studio.desk.newToken(), .api)))
        studio.run(for: .milliseconds(10))
        _ = studio.events()
        for _ in 0..<3 { XCTAssertTrue(studio.submit(.shot(studio.desk.newToken(), .api))) }
        studio.run(for: .seconds(5))
        XCTAssertTrue(studio.submit(.shot(studio.desk.newToken(), .api)))
        studio.run(for: .seconds(5))
        let photos = saved(studio.events())
        XCTAssertEqual(photos.map { integer($0, "width") }, [1280, 1280, 1280, 1280])
        for photo in photos { XCTAssertGreaterThan(try XCTUnwrap(integer(photo, "exposure_ns")), 60_000_000) }
    }

    func testAFocusThatWasWaitedForIsTold() throws {
        let studio = studio { $0.focusWait = .strict }
        try studio.press(for: .milliseconds(60))
        studio.run(for: .seconds(4))
        let photo = try XCTUnwrap(saved(studio.events()).first)
        XCTAssertEqual(integer(photo, "width"), 1280)
        XCTAssertEqual(photo["focus"], .string("focused"))
    }

    func testFramesOfBothModesNeverShareAName() throws {
        let studio = studio()
        for round in 0..<20 {
            try studio.press(for: .milliseconds(30 + round * 7 % 90))
            studio.run(for: .milliseconds(350 + round * 13))
        }
        studio.run(for: .seconds(4))
        XCTAssertEqual(saved(studio.events()).count, 20)
        XCTAssertTrue(studio.director.session.isIdle)
    }
}
