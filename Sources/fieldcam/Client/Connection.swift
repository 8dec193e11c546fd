import FieldcamDirector
import FieldcamLinux
import FieldcamServer
import Glibc

/// One connection to the service: a request out, an answer in.
final class Connection {
    struct Head {
        var status: Int
        var length: Int?
    }

    let descriptor: Int32
    private let socketPath: String
    private var waiting: [UInt8] = []
    /// No answer of the service is larger.
    private static let largest = 4 << 20

    init(socketPath: String) throws(CommandFailure) {
        self.socketPath = socketPath
        guard var address = UnixAddress(path: socketPath) else {
            throw .usage("the socket's path must have 1 to \(UnixAddress.longestPath) bytes; choose a shorter one.")
        }
        descriptor = address.connect()
        switch -descriptor {
        case ...0: break
        case ENOENT, ECONNREFUSED, ENOTDIR:
            throw CommandFailure(
                .unreachable,
                "no service answers at \(socketPath): start it with `fieldcam serve`, or name its socket with --socket."
            )
        case EACCES, EPERM:
            throw CommandFailure(
                .unreachable,
                "\(socketPath) may not be used by this user: use sudo, or add the user to the group that owns it.")
        default:
            throw CommandFailure(.unreachable, "\(socketPath) can't be reached: \(errorText(-descriptor)).")
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func send(_ method: String, _ path: String, body: JSON?) throws(CommandFailure) {
        let text = body?.text ?? ""
        var request = "\(method) \(path) HTTP/1.0\r\nHost: fieldcam\r\nX-Fieldcam-Source: cli\r\n"
        if body != nil { request += "Content-Type: application/json\r\nContent-Length: \(text.utf8.count)\r\n" }
        request += "\r\n" + text
        let bytes = Array(request.utf8)
        let code = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
        // A service that refuses closes early; what it says is still there to be read.
        guard code == 0 || code == EPIPE || code == ECONNRESET else {
            throw CommandFailure(.unreachable, "\(socketPath) can't be written: \(errorText(code)).")
        }
    }

    /// Reads status line and headers.
    func readHead() throws(CommandFailure) -> Head {
        while true {
            if let end = waiting.firstRange(of: Array("\r\n\r\n".utf8)) {
                let lines = String(decoding: waiting[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
                waiting.removeSubrange(..<end.upperBound)
                let words = lines.first?.split(separator: " ") ?? []
                guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { break }
                var length: Int?
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    if parts.count == 2, parts[0].lowercased() == "content-length" {
                        length = Int(parts[1].drop { $0 == " " })
                    }
                }
                return Head(status: status, length: length)
            }
            guard waiting.count < 1 << 16 else { break }
            guard try receive() else {
                guard waiting.isEmpty else { break }
                throw CommandFailure(
                    .unreachable, "the service at \(socketPath) ended without an answer; its log says why.")
            }
        }
        throw CommandFailure(.failed, "\(socketPath) doesn't speak HTTP; is it fieldcam's socket?")
    }

    /// The body, to the end of the connection.
    func readToEnd(expecting length: Int?) throws(CommandFailure) -> [UInt8] {
        while try receive() {
            guard waiting.count < Self.largest else {
                throw CommandFailure(.failed, "\(socketPath) answers without an end; is it fieldcam's socket?")
            }
        }
        if let length, waiting.count < length {
            throw CommandFailure(
                .unreachable, "the service at \(socketPath) ended within its answer; its log says why.")
        }
        return waiting
    }

    /// The next line without its end, if it is there already.
    func takeLine() -> String? {
        guard let end = waiting.firstIndex(of: 0x0a) else { return nil }
        let line = String(decoding: waiting[..<end], as: UTF8.self)
        waiting.removeSubrange(...end)
        return line
    }

    /// Waits for more bytes; false at the end of the connection.
    func receive() throws(CommandFailure) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 {
                waiting.append(contentsOf: buffer[..<count])
                return true
            }
            if count == 0 || errno == ECONNRESET { return false }
            if errno != EINTR {
                throw CommandFailure(.unreachable, "\(socketPath) can't be read: \(errorText(errno)).")
            }
        }
    }
}
