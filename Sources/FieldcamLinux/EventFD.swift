import CFieldcamLinux
import Glibc

/// A counter that another thread can wait for with `poll`: a callback signals it, the owner drains what was left for it.
public final class EventFD: Sendable {
    public let descriptor: Int32

    /// - Throws: nothing; a process without one free descriptor at start-up can't run and stops here.
    public init() {
        descriptor = fc_eventfd()
        precondition(descriptor >= 0, "no file descriptor left for an eventfd")
    }

    deinit { close(descriptor) }

    public func signal() {
        _ = fc_eventfd_signal(descriptor)
    }

    /// Clears it; true if it had been signalled.
    @discardableResult
    public func clear() -> Bool {
        fc_eventfd_clear(descriptor) > 0
    }
}
