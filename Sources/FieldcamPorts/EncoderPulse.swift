import FieldcamCore
import FieldcamLinux
import Synchronization

/// Whether a call into an encoder has come back: drivers can hang in one for ever. Any thread.
public final class EncoderPulse: Sendable {
    /// Nanoseconds of the monotonic clock; 0: no call is under way.
    private let since = Atomic<Int64>(0)

    public init() {}

    public func begin() { since.store(SystemClock.now.nanoseconds, ordering: .relaxed) }
    public func end() { since.store(0, ordering: .relaxed) }

    /// When the call that is under way began.
    public var calledSince: Instant? {
        let nanoseconds = since.load(ordering: .relaxed)
        return nanoseconds == 0 ? nil : Instant(nanoseconds: nanoseconds)
    }
}
