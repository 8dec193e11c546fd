import Glibc

/// A bounded queue into a thread that may block: any thread posts, one thread takes. All memory is allocated at the start.
public final class Mailbox<Element: ~Copyable>: @unchecked Sendable {
    // Proof of Sendable: every access to the ring happens under `mutex`.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let arrived = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let ring: UnsafeMutablePointer<Element>
    private let capacity: Int
    private var first = 0
    private var held = 0
    private var isClosed = false

    public init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
        ring = .allocate(capacity: capacity)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(arrived, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        while held > 0 {
            (ring + first).deinitialize(count: 1)
            first = (first + 1) % capacity
            held -= 1
        }
        ring.deallocate()
        pthread_cond_destroy(arrived)
        pthread_mutex_destroy(mutex)
        arrived.deallocate()
        mutex.deallocate()
    }

    /// Puts an element in. Comes back with the element if the mailbox is full or closed; never blocks.
    public func post(_ element: consuming Element) -> Element? {
        pthread_mutex_lock(mutex)
        guard held < capacity, !isClosed else {
            pthread_mutex_unlock(mutex)
            return element
        }
        (ring + (first + held) % capacity).initialize(to: element)
        held += 1
        pthread_cond_signal(arrived)
        pthread_mutex_unlock(mutex)
        return nil
    }

    /// Waits for an element; `nil` once the mailbox is closed and empty.
    public func take() -> Element? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while held == 0 {
            if isClosed { return nil }
            pthread_cond_wait(arrived, mutex)
        }
        return remove()
    }

    /// Takes an element if one is there.
    public func takeIfAny() -> Element? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return held == 0 ? nil : remove()
    }

    public var count: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return held
    }

    /// Closed, and all that was in has been taken.
    public var isFinished: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return isClosed && held == 0
    }

    /// No further element is accepted; what is in is still given out.
    public func close() {
        pthread_mutex_lock(mutex)
        isClosed = true
        pthread_cond_broadcast(arrived)
        pthread_mutex_unlock(mutex)
    }

    private func remove() -> Element {
        let element = (ring + first).move()
        first = (first + 1) % capacity
        held -= 1
        return element
    }
}
