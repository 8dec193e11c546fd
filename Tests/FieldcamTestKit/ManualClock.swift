import FieldcamCore
import FieldcamLinux
import FieldcamSimulator
import Synchronization

/// A clock that stands still until a test moves it, together with the worlds that hang on it. Any thread.
public final class ManualClock: Sendable {
    private struct State {
        var now: Instant
        var worlds: [SimulatedWorld] = []
    }
    private let state: Mutex<State>

    /// - Parameter start: an odd instant, so that nothing works by starting at 0.
    public init(start: Instant = Instant(nanoseconds: 1_000_123_456_789)) {
        state = Mutex(State(now: start))
    }

    public var now: Instant { state.withLock { $0.now } }

    /// A world that this clock moves.
    public func makeWorld() -> SimulatedWorld {
        state.withLock { state in
            let world = SimulatedWorld(clock: .manual(state.now))
            state.worlds.append(world)
            return world
        }
    }

    /// When a world has something to do next.
    public var nextDue: Instant? { state.withLock { $0.worlds }.compactMap(\.nextDue).min() }

    /// Moves on to `instant` and makes what is due until then; going back is a mistake of the test.
    public func advance(to instant: Instant) {
        let worlds = state.withLock { state in
            precondition(instant >= state.now, "time doesn't go back")
            return state.worlds
        }
        for world in worlds { world.advance(to: instant) }
        state.withLock { $0.now = instant }
    }

    public func advance(by span: Duration) { advance(to: now + span) }
}
