import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc

/// What every bench of a contract suite has: a clock, and waiting on it. A real bench waits for the descriptor; a bench
/// with a virtual clock moves it.
public protocol Bench: AnyObject, Sendable {
    var now: Instant { get }
    /// Returns when the descriptor is readable, or the span has passed; `nil` waits out the span.
    func wait(_ span: Duration, for descriptor: Int32?)
    /// How many times slower than a real machine this one may answer; limits (never demands) are multiplied by it.
    var slowness: Double { get }
}

/// A bench on the machine's own clock.
public protocol RealBench: Bench {}

extension RealBench {
    public var now: Instant { SystemClock.now }

    public func wait(_ span: Duration, for descriptor: Int32?) {
        guard span > .zero else { return }
        let end = now + span
        repeat {
            let left = (end - now).inNanoseconds
            var watched = pollfd(fd: descriptor ?? -1, events: Int16(POLLIN), revents: 0)
            let ready = poll(&watched, 1, Int32(max(0, (left + 999_999) / 1_000_000)))
            if ready > 0 { return }
        } while now < end
    }
}
