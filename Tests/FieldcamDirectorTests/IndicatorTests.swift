import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// The small status LED, row by row of contract §9, as its line shines.
final class IndicatorTests: XCTestCase {
    private func studio(
        light: ((SimulatedWorld) -> any Light)? = nil, _ change: (inout SessionSettings) -> Void = { _ in }
    ) -> Studio {
        var settings = SessionSettings()
        change(&settings)
        let studio = Studio(settings: settings, size: Size(width: 160, height: 120), light: light)
        studio.run(for: .seconds(1))
        return studio
    }

    /// How long the line shines each time during a span.
    private func flashes(_ studio: Studio, _ span: Duration) -> [Int64] {
        studio.indicator.forget()
        studio.run(for: span)
        return studio.indicator.flashes(until: studio.now)
    }

    func testOffUntilThereIsACameraThenASlowPulse() {
        let studio = Studio(size: Size(width: 160, height: 120), startsCamera: false)
        XCTAssertEqual(flashes(studio, .seconds(4)), [])
        XCTAssertTrue(studio.submit(.command(.start, studio.desk.newToken(), .cli)))
        studio.run(for: .seconds(1))
        XCTAssertEqual(flashes(studio, .seconds(9)), [100, 100, 100])
        XCTAssertTrue(studio.submit(.command(.standby, studio.desk.newToken(), .cli)))
        studio.run(for: .seconds(1))
        XCTAssertEqual(flashes(studio, .seconds(9)), [100, 100, 100], "a press would be served")
        XCTAssertTrue(studio.submit(.command(.release, studio.desk.newToken(), .cli)))
        studio.run(for: .seconds(1))
        XCTAssertEqual(flashes(studio, .seconds(9)), [])
    }

    func testSolidWhileRecordingAndFastInTheLastThreeSeconds() throws {
        let studio = studio(light: nil) { $0.maximumDuration = .seconds(6) }
        let press = studio.now
        try studio.press(for: .seconds(8))
        studio.run(for: .milliseconds(500))
        studio.indicator.forget()
        studio.run(for: .milliseconds(2300))
        XCTAssertEqual(studio.indicator.changes, [], "it shines all the time")
        XCTAssertTrue(try studio.indicator.isOn())
        studio.run(until: press + .seconds(6))
        let blinks = studio.indicator.flashes(until: studio.now)
        XCTAssertTrue((14...16).contains(blinks.count), "five a second for three seconds: \(blinks)")
        let first = try XCTUnwrap(studio.indicator.changes.first)
        XCTAssertEqual((first.at - press).inNanoseconds / 1_000_000, 3100, accuracy: 60)
    }

    func testOneBlinkForAShotAndTwoForWhatWasRefusedOrFailed() throws {
        let studio = studio()
        // Behind a pulse of `ready`, so that none comes between.
        while !(try studio.indicator.isOn()) { studio.run(for: .milliseconds(10)) }
        studio.run(for: .milliseconds(200))
        studio.indicator.forget()
        try studio.press(for: .milliseconds(60))
        XCTAssertEqual(flashes(studio, .milliseconds(1500)), [120])
        while !(try studio.indicator.isOn()) { studio.run(for: .milliseconds(10)) }
        studio.run(for: .milliseconds(200))
        XCTAssertTrue(studio.submit(.stop(studio.desk.newToken(), .cli)))
        XCTAssertEqual(flashes(studio, .milliseconds(1500)), [120, 120], "no clip runs")
        while !(try studio.indicator.isOn()) { studio.run(for: .milliseconds(10)) }
        studio.run(for: .milliseconds(200))
        XCTAssertTrue(studio.submit(.command(.release, studio.desk.newToken(), .cli)))
        studio.run(for: .milliseconds(500))
        try studio.press(for: .milliseconds(60))
        XCTAssertEqual(flashes(studio, .milliseconds(1500)), [], "released: not running")
    }

    func testThreeBlinksForALostCameraAndFourForTheDisk() throws {
        let studio = studio()
        studio.world.inject(.disconnect(nil))
        studio.run(for: .seconds(4))
        XCTAssertEqual(flashes(studio, .seconds(8)).count, 12, "three every two seconds")
        studio.world.inject(.reconnect)
        studio.run(for: .seconds(12))
        studio.store.setHeadroom(0)
        studio.run(for: .seconds(2))
        XCTAssertEqual(flashes(studio, .seconds(8)).count, 16, "four every two seconds")
    }

    /// From the commit to the end of the exposure nothing shines; the blink for what was saved comes behind it.
    func testDarkWhileAShotIsExposedAfterItsCommit() throws {
        let cases: [(String, (SimulatedWorld) -> any Light, (inout SessionSettings) -> Void)] = [
            ("flash", { SimulatedLight(world: $0) }, { $0.light.flash = .on }),
            ("stack", { SimulatedLight(world: $0) }, { $0.optics.stack = 8 }),
            ("focus", { SimulatedLight(world: $0) }, { $0.focusWait = .short }),
            ("sensor", { SimulatedLight(world: $0) }, { $0.photoSource = .sensor }),
        ]
        for (name, light, change) in cases {
            let studio = self.studio(light: light, change)
            studio.world.set(lux: 2)
            studio.run(for: .seconds(4))
            // A first shot, so that the second's commit comes while its blink is due.
            let press = studio.now
            try studio.press(for: .milliseconds(60))
            studio.run(for: .milliseconds(70))
            _ = studio.events()
            studio.indicator.forget()
            var saved: (at: Instant, offset: Int64, exposure: Int64)?
            while saved == nil, studio.now < press + .seconds(8) {
                studio.run(for: .milliseconds(5))
                for event in studio.events() where event.name == "photo.saved" {
                    guard case .integer(let offset)? = event["press_offset_ns"],
                        case .integer(let exposure)? = event["exposure_ns"]
                    else { continue }
                    saved = (studio.now, offset, exposure)
                }
            }
            let end = press + .nanoseconds(try XCTUnwrap(saved, name).offset + (saved?.exposure ?? 0) / 2)
            for change in studio.indicator.changes where change.isOn {
                XCTAssertGreaterThanOrEqual(change.at, end, "\(name): it shone into the exposure")
            }
            studio.run(for: .seconds(1))
            XCTAssertTrue(
                studio.indicator.flashes(until: studio.now).contains(120), "\(name): the blink comes behind it")
        }
    }
}
