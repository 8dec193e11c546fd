import Glibc

/// One thread waits until another has opened it. Opened once.
final class Gate: @unchecked Sendable {
    // Proof of Sendable: a POSIX semaphore is made for being shared; it doesn't move.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func open() { sem_post(semaphore) }

    func wait() {
        while sem_wait(semaphore) != 0 && errno == EINTR {}
    }
}
