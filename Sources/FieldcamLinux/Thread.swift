import CFieldcamLinux
import Glibc

/// A named thread that is joined. Its body owns what it works on; blocking is its business alone.
public final class Thread: @unchecked Sendable {
    // Proof of Sendable: `handle` is written once in init, before any other thread can see the object, and only read after;
    // `joined` is touched by the owner alone.
    private var handle = pthread_t()
    private var joined = false
    public let name: String

    private final class Start {
        let name: String
        let nice: Int32
        let body: @Sendable () -> Void
        init(name: String, nice: Int32, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.nice = nice
            self.body = body
        }
    }

    /// - Parameters:
    ///   - name: as `top -H` shows it; 15 bytes at most.
    ///   - nice: -20 … 19, for this thread only; ignored where the process may not raise itself.
    public init(name: String, nice: Int32 = 0, stackBytes: Int = 1 << 20, body: @escaping @Sendable () -> Void) {
        self.name = name
        let start = Unmanaged.passRetained(Start(name: name, nice: nice, body: body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, stackBytes)
        let error = pthread_create(
            &handle, &attributes,
            { raw in
                let start = Unmanaged<Start>.fromOpaque(raw!).takeRetainedValue()
                fc_thread_set_name(start.name)
                if start.nice != 0 { _ = fc_thread_set_nice(start.nice) }
                start.body()
                return nil
            }, start.toOpaque())
        pthread_attr_destroy(&attributes)
        precondition(error == 0, "no thread can be made: \(name)")
    }

    /// Waits until the body has returned. Once only.
    public func join() {
        guard !joined else { return }
        joined = true
        pthread_join(handle, nil)
    }
}
