import FieldcamCore
import FieldcamLinux
import Synchronization

/// The last 256 events. The director appends; any thread reads from where it left off.
public final class EventLog: Sendable {
    /// How many events can be replayed (contract §7).
    public static let kept = 256

    private struct State {
        var next: UInt64 = 1
        var ring: [Event] = []
    }
    private let state = Mutex(State())

    public init() {}

    /// The sequence number of the newest event; 0 before the first.
    public var newest: UInt64 { state.withLock { $0.next - 1 } }

    /// Appends an event and gives it its number.
    @discardableResult
    public func append(
        _ name: String, number: MediaNumber? = nil, fields: [JSON.Member], monotonic: Instant, wallNanoseconds: Int64
    ) -> Event {
        state.withLock { state in
            let event = Event(
                sequence: state.next, name: name, monotonic: monotonic, wallNanoseconds: wallNanoseconds,
                number: number, fields: fields)
            state.next += 1
            if state.ring.count == Self.kept { state.ring.removeFirst() }
            state.ring.append(event)
            return event
        }
    }

    /// The kept events with a number above `sequence`, oldest first; at most `limit`.
    public func events(after sequence: UInt64, limit: Int = EventLog.kept) -> [Event] {
        state.withLock { state in
            guard sequence + 1 < state.next else { return [] }
            return Array(state.ring.lazy.filter { $0.sequence > sequence }.prefix(limit))
        }
    }
}
