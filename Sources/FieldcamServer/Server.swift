import FieldcamDirector
import FieldcamLinux
import Synchronization

/// HTTP on the service's unix socket (contract §7), on a thread of its own, `fc-http`.
public final class Server: Sendable {
    private let desk: FrontDesk
    private let socket: ListeningSocket
    private let stopping = EventFD()
    private let thread = Mutex<Thread?>(nil)

    /// Takes the socket, before anything else is opened: a second service ends here. Clients wait until `start`.
    public init(socketPath: String, desk: FrontDesk) throws(SocketError) {
        self.desk = desk
        socket = try ListeningSocket(path: socketPath)
    }

    public func start(_ configuration: ServerConfiguration) {
        let (desk, socket, stopping) = (desk, socket, stopping)
        thread.withLock {
            guard $0 == nil else { return }
            $0 = Thread(name: "fc-http") {
                ServerLoop(desk: desk, configuration: configuration, socket: socket, stopping: stopping).run()
            }
        }
    }

    /// After the director's last event: tells it to whoever waits for it, ends all answers, and returns.
    public func stop() {
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let running else { return socket.remove() }
        stopping.signal()
        running.join()
    }
}
