import FieldcamCore
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// `POST /v1/simulator` in names and values.
final class SimulatorRequestTests: XCTestCase {
    private func value(_ name: String, of world: SimulatedWorld) -> SimulatorValue? {
        world.values.first { $0.name == name }?.value
    }

    func testTheSceneAndEveryFaultCanBeNamed() throws {
        let world = ManualClock().makeWorld()
        let wanted: [(name: String, value: SimulatorValue)] = [
            ("lux", .number(7.5)), ("distance_m", .number(0.4)), ("moving", .boolean(false)), ("stall", .boolean(true)),
            ("disconnect", .boolean(true)), ("cancel_frames", .number(4)), ("slow_start", .text("1500ms")),
            ("lost_edge", .number(2)), ("bounce", .text("4ms")), ("microphone_gone", .boolean(true)),
            ("microphone_skew_ppm", .number(-150)), ("disk_full", .boolean(true)), ("encoder_stall", .boolean(true)),
            ("camera", .text("busy")), ("microphone", .text("denied")),
        ]
        try world.apply(wanted)
        for (name, wanted) in wanted { XCTAssertEqual(value(name, of: world), wanted, name) }
        try world.apply([("fault", .text("none"))])
        XCTAssertEqual(value("lux", of: world), .number(7.5), "the scene stays")
        XCTAssertEqual(value("stall", of: world), .boolean(false))
        XCTAssertEqual(value("camera", of: world), .text("ok"))
        XCTAssertEqual(value("bounce", of: world), .text("0ms"))
    }

    func testSubjectWindowAndRoomCanBeNamed() throws {
        let world = ManualClock().makeWorld()
        let wanted: [(name: String, value: SimulatorValue)] = [
            ("window_ev", .number(-2)), ("window", .text("0.1,0.2,0.3,0.25")), ("subject", .text("0.5,0.5,0.1,0.2")),
            ("backdrop", .number(3)),
        ]
        try world.apply(wanted)
        for (name, wanted) in wanted { XCTAssertEqual(value(name, of: world), wanted, name) }
        try world.apply([("window", .text("none")), ("subject", .text("walks"))])
        XCTAssertEqual(value("window", of: world), .text("none"))
        XCTAssertEqual(value("subject", of: world), .text("walks"))
        for wrong in ["0.1,0.2,0.3", "0.9,0.9,0.2,0.1", "left", "0,0,0,0"] {
            XCTAssertThrowsError(try world.apply([("window", .text(wrong))]), wrong)
        }
        XCTAssertThrowsError(try world.apply([("backdrop", .number(8))]))
    }

    func testAFaultByItsNameHasItsUsualMeasure() throws {
        let usual: [(String, SimulatorValue)] = [
            ("stall", .boolean(true)), ("disconnect", .boolean(true)), ("cancel_frames", .number(3)),
            ("slow_start", .text("2000ms")), ("lost_edge", .number(1)), ("bounce", .text("5ms")),
            ("microphone_gone", .boolean(true)), ("microphone_skew_ppm", .number(200)), ("disk_full", .boolean(true)),
            ("encoder_stall", .boolean(true)),
        ]
        for (name, expected) in usual {
            let world = ManualClock().makeWorld()
            try world.apply([("fault", .text(name))])
            XCTAssertEqual(value(name, of: world), expected, name)
        }
    }

    func testWrongValuesAreNamedWithWhatIsExpectedAndNothingIsDone() throws {
        let world = ManualClock().makeWorld()
        let wrong: [([(name: String, value: SimulatorValue)], String)] = [
            ([], "Nothing to change was given"),
            ([("lux", .text("bright"))], "'lux' is a number from 0 to 200000, not \"bright\"."),
            ([("lux", .number(-1))], "'lux' is a number from 0 to 200000, not -1."),
            ([("lux", .number(.nan))], "'lux' is a number from 0 to 200000, not nan."),
            ([("moving", .number(1))], "'moving' is true or false, not 1."),
            ([("bounce", .number(5))], "'bounce' is a duration with its unit, such as \"5ms\""),
            ([("bounce", .text("5"))], "'bounce' is a duration with its unit"),
            ([("bounce", .text("-5ms"))], "'bounce' is a duration with its unit"),
            ([("slow_start", .text("2h"))], "'slow_start' is a duration with its unit"),
            ([("cancel_frames", .number(1.5))], "'cancel_frames' is a whole number, not 1.5."),
            ([("fault", .text("fire"))], "'fault' is one of stall, disconnect"),
            ([("camera", .text("ill"))], "'camera' is one of ok, absent, busy, denied, not \"ill\"."),
            ([("gravity", .boolean(true))], "The simulator knows no 'gravity'; known are: lux, distance_m"),
            ([("press", .text("100ms"))], "The board has no simulated button."),
        ]
        for (values, sentence) in wrong {
            XCTAssertThrowsError(try world.apply([("distance_m", .number(9))].prefix(values.isEmpty ? 0 : 1) + values))
            { error in
                guard let error = error as? SimulatorRequestError else { return XCTFail("\(error)") }
                XCTAssertTrue(error.detail.hasPrefix(sentence), error.detail)
                XCTAssertEqual(error.name, values.first?.name ?? "")
            }
            XCTAssertEqual(world.distance, 1, "\(values)")
        }
    }

    func testAPressAndALinesLossReachTheButton() throws {
        let clock = ManualClock()
        let world = clock.makeWorld()
        let buttons = SimulatedButtons(world: world)
        var facts: [ButtonFact] = []
        buttons.drain(now: clock.now) { facts.append($0) }
        let at = clock.now
        try world.apply([("press", .text("120ms"))])
        clock.advance(by: .milliseconds(200))
        facts = []
        buttons.drain(now: clock.now) { facts.append($0) }
        XCTAssertEqual(
            facts,
            [
                .edge(ButtonID(0), pressed: true, at: at),
                .edge(ButtonID(0), pressed: false, at: at + .milliseconds(120)),
            ])
        try world.apply([("line", .text("lost"))])
        buttons.drain(now: clock.now) { facts.append($0) }
        guard case .lost(ButtonID(0), let error, _) = facts.last else { return XCTFail("\(facts)") }
        XCTAssertEqual(error.kind, .absent)
        try world.apply([("line", .text("found"))])
        buttons.drain(now: clock.now) { facts.append($0) }
        XCTAssertEqual(facts.last, .found(ButtonID(0), pressed: false, at: clock.now))
    }
}
