import FieldcamCore
import FieldcamLinux
import Glibc
import Synchronization
import XCTest

@testable import FieldcamDirector
@testable import FieldcamServer

/// A server on a socket of its own, with a scripted director behind its desk.
final class Bench: @unchecked Sendable {
    // Proof of Sendable: what changes is behind `state`; the rest is set once in init.
    let desk = FrontDesk()
    let folder: String
    let server: Server
    var path: String { folder + "/fieldcam.sock" }

    struct Order {
        var order: FieldcamDirector.Order
        var at: Instant
    }
    private let state = Mutex<(orders: [Order], ends: Bool)>(([], false))
    private let heard = EventFD()
    private var director: FieldcamLinux.Thread?

    /// - Parameter script: what the director does with an order, on its thread.
    init(
        _ configure: (inout ServerConfiguration) -> Void = { _ in },
        script: @escaping @Sendable (Bench, FieldcamDirector.Order) -> Void = { _, _ in }
    ) throws {
        folder = try temporaryFolder()
        server = try Server(socketPath: folder + "/fieldcam.sock", desk: desk)
        var configuration = ServerConfiguration(
            board: .members(["name": .string("test")]), versions: [.init("fieldcam", .string("1.2.3"))],
            buttons: [.init(role: "shutter", id: ButtonID(0)), .init(role: "flash", id: ButtonID(1))])
        configure(&configuration)
        server.start(configuration)
        director = FieldcamLinux.Thread(name: "script") { [self] in
            var descriptor = pollfd(fd: desk.arrived.descriptor, events: Int16(POLLIN), revents: 0)
            while !state.withLock({ $0.ends }) {
                _ = poll(&descriptor, 1, -1)
                desk.arrived.clear()
                while let arrival = desk.takeOrder() {
                    state.withLock { $0.orders.append(Order(order: arrival.order, at: arrival.at)) }
                    heard.signal()
                    script(self, arrival.order)
                }
            }
        }
    }

    func close() {
        state.withLock { $0.ends = true }
        desk.arrived.signal()
        director?.join()
        server.stop()
        removeFolder(folder)
    }

    /// The first `count` orders, once they are there.
    func orders(_ count: Int) -> [Order] {
        var descriptor = pollfd(fd: heard.descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let orders = state.withLock { $0.orders }
            if orders.count >= count { return Array(orders.prefix(count)) }
            guard poll(&descriptor, 1, 20_000) > 0 else {
                XCTFail("only \(orders.count) of \(count) orders came")
                return orders
            }
            heard.clear()
        }
    }

    func send(_ name: String, _ number: Int? = nil, _ fields: KeyValuePairs<String, JSON> = [:]) {
        desk.events.append(
            name, number: number.map { MediaNumber($0) }, fields: fields.map { .init($0.key, $0.value) },
            monotonic: Instant(nanoseconds: 7), wallNanoseconds: 1_764_514_167_120_000_000)
        desk.changed.signal()
    }

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

func temporaryFolder() throws -> String {
    var template = Array("/tmp/fieldcam-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw TestConnection.Ended() }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Removes a folder of plain files.
func removeFolder(_ folder: String) {
    guard let listing = opendir(folder) else { return }
    while let entry = readdir(listing) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        unlink(folder + "/" + name)
    }
    closedir(listing)
    rmdir(folder)
}
