import FieldcamCore
import Glibc

/// Tells threads that wait that something has changed; what it is, they look at themselves.
public final class Bell: @unchecked Sendable {
    // Proof of Sendable: the count is touched under `mutex` only.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let rung = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var rings: UInt64 = 0

    public init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(rung, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(rung)
        pthread_mutex_destroy(mutex)
        rung.deallocate()
        mutex.deallocate()
    }

    /// How often it was rung: taken before a look at what may change, so that no change in between is missed.
    public var count: UInt64 {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return rings
    }

    public func ring() {
        pthread_mutex_lock(mutex)
        rings &+= 1
        pthread_cond_broadcast(rung)
        pthread_mutex_unlock(mutex)
    }

    /// Waits until it was rung more often than that. False: the time is over.
    public func wait(after count: UInt64, until deadline: Instant) -> Bool {
        var end = timespec(
            tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while rings == count {
            guard pthread_cond_timedwait(rung, mutex, &end) != ETIMEDOUT else { return rings != count }
        }
        return true
    }
}
