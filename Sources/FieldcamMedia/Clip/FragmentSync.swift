import FieldcamLinux
import FieldcamPorts
import Glibc
import Synchronization

/// Brings written fragments to the disk on a thread of its own (`fc-clip-sync`), so that a power cut takes only the last of them
/// and the encoder never waits for the disk. Owned by one thread.
final class FragmentSync {
    private final class Shared: Sendable {
        let fragments = Mailbox<Bool>(capacity: 1)
        let error = Atomic<Int32>(0)
    }
    private let shared = Shared()
    private var thread: Thread?

    /// - Parameter descriptor: stays the caller's; a copy of it is used.
    init(descriptor: Int32) {
        let copy = dup(descriptor)
        guard copy >= 0 else { return }
        thread = Thread(name: "fc-clip-sync") { [shared] in
            while shared.fragments.take() != nil {
                // Memory files and pipes can't be synced, and needn't.
                if fdatasync(copy) < 0 && errno != EINVAL && errno != EROFS {
                    shared.error.store(errno, ordering: .relaxed)
                }
            }
            close(copy)
        }
    }

    deinit { stop() }

    /// A fragment was written. If one is being brought to the disk, this one is next, together with all that come meanwhile.
    func request() {
        _ = shared.fragments.post(true)
    }

    /// The disk's refusal, an error number; 0: none.
    var error: Int32 { shared.error.load(ordering: .relaxed) }

    /// Waits for what was requested. Idempotent.
    func stop() {
        shared.fragments.close()
        thread?.join()
        thread = nil
    }
}
