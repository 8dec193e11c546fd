import FieldcamCore
import FieldcamPorts

/// A line that notes when it was switched.
public final class NotedLine: OutputLine, @unchecked Sendable {
    // Proof of Sendable: in tests with inline labour one thread does everything.
    public struct Change: Hashable, Sendable {
        public var at: Instant
        public var isOn: Bool
    }

    private let clock: ManualClock
    public private(set) var changes: [Change] = []

    init(_ clock: ManualClock) { self.clock = clock }

    private var shines = false

    public func set(_ on: Bool) throws(HardwareError) {
        shines = on
        changes.append(Change(at: clock.now, isOn: on))
    }
    public func isOn() throws(HardwareError) -> Bool { shines }
    public func close() {}
    public func forget() { changes.removeAll() }

    /// How long it shone, each time, in ms; a light that is still on counts up to `end`.
    public func flashes(until end: Instant) -> [Int64] {
        var lengths: [Int64] = []
        var since: Instant?
        for change in changes {
            if change.isOn { since = since ?? change.at }
            guard !change.isOn, let start = since else { continue }
            lengths.append((change.at - start).inNanoseconds / 1_000_000)
            since = nil
        }
        if let since { lengths.append((end - since).inNanoseconds / 1_000_000) }
        return lengths
    }
}
