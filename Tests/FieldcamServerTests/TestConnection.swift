import FieldcamDirector
import FieldcamServer
import FieldcamServiceKit
import Glibc
import XCTest

extension ScriptedService {
    func connect() throws -> TestConnection { try TestConnection(path: path) }

    /// One request on a connection of its own.
    func ask(_ method: String, _ path: String, _ body: String = "", headers: [String] = []) throws -> TestAnswer {
        let connection = try connect()
        try connection.send(method, path, body, headers: headers)
        return try connection.answer()
    }
}

struct TestAnswer {
    var status: Int
    var headers: [String: String]
    var text: String
    var json: JSON { (try? JSON(parsing: text.utf8)) ?? .null }
    var code: JSON? { json["code"] }
    var detail: String? { if case .string(let text) = json["detail"] { text } else { nil } }
}

/// The endless wait of a failed test ends here.
private var guardTime: timeval { timeval(tv_sec: 20, tv_usec: 0) }

/// A client's socket.
final class TestConnection {
    struct Ended: Error {}
    let descriptor: Int32
    private var waiting: [UInt8] = []

    init(path: String) throws {
        var address = try XCTUnwrap(UnixAddress(path: path))
        descriptor = address.connect()
        guard descriptor >= 0 else { throw Ended() }
        var time = guardTime
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout.size(ofValue: time)))
    }

    deinit { Glibc.close(descriptor) }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = Glibc.send(descriptor, Array(bytes[done...]), bytes.count - done, Int32(MSG_NOSIGNAL))
            guard count > 0 else { return }
            done += count
        }
    }

    func send(_ method: String, _ path: String, _ body: String = "", headers: [String] = []) throws {
        let all = headers + (body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"])
        write("\(method) \(path) HTTP/1.1\r\nHost: test\r\n\(all.map { $0 + "\r\n" }.joined())\r\n\(body)")
    }

    /// False: the server closed.
    private func receive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = read(descriptor, &buffer, buffer.count)
        if count > 0 { waiting.append(contentsOf: buffer[..<count]) }
        if count < 0 && errno != ECONNRESET { throw Ended() }
        return count > 0
    }

    func until(_ mark: String) throws -> String {
        let bytes = Array(mark.utf8)
        while true {
            if let range = waiting.firstRange(of: bytes) {
                defer { waiting.removeSubrange(..<range.upperBound) }
                return String(decoding: waiting[..<range.lowerBound], as: UTF8.self)
            }
            guard try receive() else { throw Ended() }
        }
    }

    func rest() throws -> String {
        while try receive() {}
        defer { waiting = [] }
        return String(decoding: waiting, as: UTF8.self)
    }

    func head() throws -> TestAnswer {
        let lines = try until("\r\n\r\n").split(separator: "\r\n")
        let status = try XCTUnwrap(Int(lines[0].split(separator: " ")[1]))
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts[1].trimmingPrefix(" ").description
        }
        return TestAnswer(status: status, headers: headers, text: "")
    }

    func answer() throws -> TestAnswer {
        var answer = try head()
        if let length = answer.headers["content-length"].flatMap({ Int($0) }) {
            while waiting.count < length { guard try receive() else { throw Ended() } }
            answer.text = String(decoding: waiting.prefix(length), as: UTF8.self)
            waiting.removeFirst(length)
        } else {
            answer.text = try rest()
        }
        return answer
    }
}
