import FieldcamCore
import FieldcamDirector
import FieldcamLinux
import FieldcamServer
import Glibc
import Synchronization

/// What went wrong in a test's own machinery.
public struct KitError: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}

/// A server on a socket of its own, with a scripted director behind its desk.
public final class ScriptedService: @unchecked Sendable {
    // Proof of Sendable: what changes is behind `state`; `director` is set in init and joined in `close`, by the owner.
    public let desk = FrontDesk()
    public let folder: String
    public let server: Server
    public var path: String { folder + "/fieldcam.sock" }

    private let state = Mutex<(orders: [FrontDesk.Arrival], ends: Bool)>(([], false))
    private let heard = EventFD()
    private var director: Thread?

    /// - Parameter script: what the director does with an order, on its thread.
    public init(
        _ configure: (inout ServerConfiguration) -> Void = { _ in },
        script: @escaping @Sendable (ScriptedService, Order) -> Void = { _, _ in }
    ) throws {
        folder = try temporaryFolder()
        server = try Server(socketPath: folder + "/fieldcam.sock", desk: desk)
        var configuration = ServerConfiguration(
            board: .members(["name": .string("test")]), versions: [.init("fieldcam", .string("1.2.3"))],
            buttons: [.init(role: "shutter", id: ButtonID(0)), .init(role: "flash", id: ButtonID(1))],
            cameras: ["rear", "front"])
        configure(&configuration)
        server.start(configuration)
        director = Thread(name: "script") { [self] in
            while !state.withLock({ $0.ends }) {
                waitReadable(desk.arrived.descriptor)
                desk.arrived.clear()
                while let arrival = desk.takeOrder() {
                    state.withLock { $0.orders.append(arrival) }
                    heard.signal()
                    script(self, arrival.order)
                }
            }
        }
    }

    public func close() {
        state.withLock { $0.ends = true }
        desk.arrived.signal()
        director?.join()
        server.stop()
        removeFolder(folder)
    }

    /// The first `count` orders and when they were due, once they are there.
    public func orders(_ count: Int) throws -> [(order: Order, at: Instant)] {
        while true {
            let orders = state.withLock { $0.orders }
            if orders.count >= count { return orders.prefix(count).map { ($0.order, $0.at) } }
            guard waitReadable(heard.descriptor, milliseconds: 20_000) else {
                throw KitError("only \(orders.count) of \(count) orders came")
            }
            heard.clear()
        }
    }

    public func reply(_ token: RequestToken, _ answer: Answer) { desk.reply(token, answer) }

    public func update(_ body: (inout Status) -> Void) { desk.update(body) }

    /// Sends an event, at a fixed time.
    public func send(_ name: String, _ number: Int? = nil, _ fields: KeyValuePairs<String, JSON> = [:]) {
        desk.events.append(
            name, number: number.map { MediaNumber($0) }, fields: fields.map { .init($0.key, $0.value) },
            monotonic: Instant(nanoseconds: 7), wallNanoseconds: 1_764_514_167_120_000_000)
        desk.changed.signal()
    }
}

/// Waits until the descriptor has something to read; false: it had nothing in time.
@discardableResult
public func waitReadable(_ descriptor: Int32, milliseconds: Int32 = -1) -> Bool {
    var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, 1, milliseconds) > 0
}

/// A new folder under /tmp.
public func temporaryFolder() throws -> String {
    var template = Array("/tmp/fieldcam-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw KitError("no folder can be made in /tmp: \(errorText(errno))") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The names in a folder, in order.
public func names(in folder: String) -> [String] {
    guard let listing = opendir(folder) else { return [] }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
}

/// Removes a folder and all in it.
public func removeFolder(_ folder: String) {
    for name in names(in: folder) {
        let path = folder + "/" + name
        if unlink(path) != 0 { removeFolder(path) }
    }
    rmdir(folder)
}
