import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import Glibc
import XCTest

/// The faults of contacts and lines; the everyday is the port contract's.
final class SimulatedButtonsTests: XCTestCase {
    private struct Rig {
        let clock = ManualClock()
        let world: SimulatedWorld
        let buttons: SimulatedButtons
        init() {
            world = clock.makeWorld()
            buttons = SimulatedButtons(world: world)
            _ = drain()
        }
        func drain() -> [ButtonFact] {
            var facts: [ButtonFact] = []
            buttons.drain(now: clock.now) { facts.append($0) }
            return facts
        }
    }

    func testBounceIsMoreEdgesAroundEachThatEndAtItsLevel() throws {
        for milliseconds in [1, 5, 12] {
            let rig = Rig()
            let bounce = Duration.milliseconds(milliseconds)
            rig.world.inject(.bounce(bounce))
            let press = rig.clock.now + .milliseconds(10)
            let release = press + .milliseconds(100)
            try rig.buttons.press(at: press, for: .milliseconds(100))
            rig.clock.advance(by: .seconds(1))
            let edges = rig.drain().compactMap { fact -> (pressed: Bool, at: Instant)? in
                guard case .edge(_, let pressed, let at) = fact else { return nil }
                return (pressed, at)
            }
            XCTAssertGreaterThanOrEqual(edges.count, 6)
            for (before, after) in zip(edges, edges.dropFirst()) {
                XCTAssertLessThan(before.at, after.at)
                XCTAssertNotEqual(before.pressed, after.pressed)
            }
            let pressing = edges.filter { $0.at < release }
            let releasing = edges.filter { $0.at >= release }
            XCTAssertEqual(pressing.first?.at, press)
            XCTAssertEqual(pressing.last?.pressed, true)
            XCTAssertLessThan(try XCTUnwrap(pressing.last?.at), press + bounce)
            XCTAssertEqual(releasing.first?.at, release)
            XCTAssertEqual(releasing.last?.pressed, false)
            XCTAssertLessThan(try XCTUnwrap(releasing.last?.at), release + bounce)
        }
    }

    func testALostReleaseShowsInTheLevelAndIsToldAtTheNextPress() throws {
        let rig = Rig()
        rig.world.inject(.lostEdges(1))
        let press = rig.clock.now
        try rig.buttons.press(for: .milliseconds(50))
        rig.clock.advance(by: .milliseconds(60))
        XCTAssertEqual(rig.drain(), [.edge(ButtonID(0), pressed: true, at: press)])
        XCTAssertEqual(rig.buttons.level(of: ButtonID(0)), false)
        rig.clock.advance(by: .milliseconds(40))
        let again = rig.clock.now
        try rig.buttons.press(for: .milliseconds(50))
        XCTAssertEqual(
            rig.drain(),
            [
                .edgesLost(ButtonID(0), count: 1, at: again), .edge(ButtonID(0), pressed: true, at: again),
                .level(ButtonID(0), pressed: true, at: again),
            ])
        rig.clock.advance(by: .milliseconds(60))
        XCTAssertEqual(rig.drain(), [.edge(ButtonID(0), pressed: false, at: again + .milliseconds(50))])
    }

    func testMoreEdgesThanItHoldsAreRefused() throws {
        let rig = Rig()
        for _ in 0..<(SimulatedButtons.capacity / 2) { try rig.buttons.press(for: .milliseconds(1)) }
        XCTAssertThrowsError(try rig.buttons.press(for: .milliseconds(1))) {
            XCTAssertEqual(($0 as? HardwareError)?.kind, .full)
        }
        rig.clock.advance(by: .milliseconds(1))
        XCTAssertGreaterThan(rig.drain().count, SimulatedButtons.capacity / 2)
        try rig.buttons.press(for: .milliseconds(1))
    }

    func testALivePressWakesTheDirectorAtItsInstants() throws {
        let buttons = SimulatedButtons(world: SimulatedWorld())
        var edges: [(Bool, Instant)] = []
        buttons.drain(now: SystemClock.now) { _ in }
        let press = SystemClock.now + .milliseconds(20)
        try buttons.press(at: press, for: .milliseconds(30))
        while edges.count < 2 {
            var ready = pollfd(fd: buttons.descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, 5000) == 1 else { return XCTFail("no edge came: \(edges)") }
            let now = SystemClock.now
            buttons.drain(now: now) { fact in
                guard case .edge(_, let pressed, let at) = fact else { return }
                XCTAssertGreaterThanOrEqual(now, at)
                edges.append((pressed, at))
            }
        }
        XCTAssertEqual(edges.map(\.0), [true, false])
        XCTAssertEqual(edges.map(\.1), [press, press + .milliseconds(30)])
    }
}
