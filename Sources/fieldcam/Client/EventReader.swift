import FieldcamDirector
import FieldcamServer
import Glibc

/// Reads the service's event stream.
final class EventReader {
    enum Next {
        /// The event's JSON as it came, and what it says.
        case event(String, JSON)
        /// The descriptor that was watched besides has something.
        case interrupted
    }

    private let connection: Connection

    init(connection: Connection) {
        self.connection = connection
    }

    /// Waits for the next event.
    /// - Parameter stop: a descriptor that ends the wait when it is readable; nil: none.
    func next(orReadable stop: Int32? = nil) throws(CommandFailure) -> Next {
        while true {
            while let line = connection.takeLine() {
                guard line.hasPrefix("data: ") else { continue }
                let text = String(line.dropFirst(6))
                guard let json = try? JSON(parsing: text.utf8) else { continue }
                return .event(text, json)
            }
            if let stop {
                var descriptors = [
                    pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
                ]
                while poll(&descriptors, 2, -1) < 0 {}
                if descriptors[1].revents != 0 { return .interrupted }
            }
            guard try connection.receive() else {
                throw CommandFailure(.unreachable, "the service ended; its log says why.")
            }
        }
    }
}
