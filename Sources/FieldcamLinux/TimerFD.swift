import CFieldcamLinux
import FieldcamCore
import Glibc

/// A one-shot alarm on the monotonic clock that can be waited for with `poll`. Owned by one thread.
public final class TimerFD {
    public let descriptor: Int32
    private var armed: Instant?

    public init() {
        descriptor = fc_timerfd()
        precondition(descriptor >= 0, "no file descriptor left for a timerfd")
    }

    deinit { close(descriptor) }

    /// Fires at `instant` (at once if it is past); `nil` disarms. Setting the same instant again costs no system call.
    public func arm(at instant: Instant?) {
        guard instant != armed else { return }
        armed = instant
        _ = fc_timerfd_arm(descriptor, instant.map { max(1, $0.nanoseconds) } ?? 0)
    }

    public func clear() {
        if fc_timerfd_clear(descriptor) > 0 { armed = nil }
    }
}
