import FieldcamDirector
import FieldcamLinux
import FieldcamServer
import Glibc

/// Asks the service over its unix socket. HTTP/1.0, one request a connection: the answer ends with the connection.
struct ServiceClient {
    struct Answer {
        var status: Int
        var body: JSON
    }

    let socketPath: String

    /// Sends a request and waits for its answer, however long it takes.
    /// - Throws: what the service refuses, in its words, with the exit code of its kind.
    @discardableResult
    func request(_ method: String, _ path: String, body: JSON? = nil) throws(CommandFailure) -> Answer {
        let connection = try Connection(socketPath: socketPath)
        try connection.send(method, path, body: body)
        let head = try connection.readHead()
        let bytes = try connection.readToEnd(expecting: head.length)
        let json: JSON
        do {
            json = try JSON(parsing: bytes)
        } catch {
            throw CommandFailure(.failed, "\(socketPath) answered something that isn't JSON; is it fieldcam's socket?")
        }
        guard (200..<300).contains(head.status) else { throw Self.failure(head.status, json) }
        return Answer(status: head.status, body: json)
    }

    /// Opens the event stream: what is sent from its return on is in it.
    func events() throws(CommandFailure) -> EventReader {
        let connection = try Connection(socketPath: socketPath)
        try connection.send("GET", "/v1/events", body: nil)
        let head = try connection.readHead()
        guard head.status == 200 else {
            let bytes = try connection.readToEnd(expecting: head.length)
            throw Self.failure(head.status, (try? JSON(parsing: bytes)) ?? .null)
        }
        return EventReader(connection: connection)
    }

    /// The exit code of a problem, and its sentence.
    private static func failure(_ status: Int, _ problem: JSON) -> CommandFailure {
        let message = problem["detail"]?.string ?? "the service answered with status \(status)."
        let code = problem["code"]?.string ?? ""
        let exit: ExitCode =
            switch status {
            case 409: .refused
            case 503 where code.hasPrefix("service."): .refused
            case 400, 413, 431: .usage
            case 404 where code == "button.unknown": .usage
            default: .failed
            }
        return CommandFailure(exit, message, problem: code)
    }
}

extension JSON {
    /// The text of a string.
    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }
    var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }
    var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }
}
