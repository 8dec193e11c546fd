import FieldcamCore
import FieldcamDirector
import FieldcamLinux
import FieldcamServer
import FieldcamServiceKit
import Glibc

/// `fieldcam serve` on the simulated board, with folders and a socket of its own.
final class RunningService {
    let folder: String
    private(set) var process: ChildProcess
    var socket: String { folder + "/fieldcam.sock" }
    var media: String { folder + "/media" }

    private let board: String

    /// - Parameter settings: the text of its settings file.
    init(settings: String = "", board: String = "simulator") throws {
        self.board = board
        folder = try temporaryFolder()
        try writeText(settings, to: folder + "/fieldcam.toml")
        process = try Self.start(folder, board)
        try waitUntilUp()
    }

    deinit {
        process.send(SIGKILL)
        _ = try? process.wait()
        removeFolder(folder)
    }

    static func arguments(_ folder: String, board: String = "simulator") -> [String] {
        [
            "serve", "--board", board, "--settings", folder + "/fieldcam.toml", "--state", folder + "/state",
            "--media", folder + "/media", "--socket", folder + "/fieldcam.sock",
        ]
    }

    private static func start(_ folder: String, _ board: String) throws -> ChildProcess {
        try ChildProcess(arguments(folder, board: board))
    }

    /// Starts it again on the same folders, after its end.
    func restart() throws {
        process = try Self.start(folder, board)
        try waitUntilUp()
    }

    /// The socket answers and frames come.
    private func waitUntilUp() throws {
        while true {
            if waitReadable(process.life, milliseconds: 20) {
                throw KitError("the service ended with \(try process.wait())")
            }
            let outcome = try ChildProcess.run(["status", "--json", "--socket", socket])
            if outcome.code == 69 { continue }
            let status = try JSON(parsing: outcome.output.utf8)
            if status["camera"]?["running"] == .bool(true) { return }
        }
    }

    /// Runs a client command to its end.
    @discardableResult
    func run(_ arguments: String...) throws -> ChildProcess.Outcome {
        try ChildProcess.run(arguments + ["--socket", socket])
    }

    /// Starts a client command.
    func start(_ arguments: String...) throws -> ChildProcess {
        try ChildProcess(arguments + ["--socket", socket])
    }

    /// The event stream, open before this returns.
    /// - Parameter after: the event after which it begins; `nil`: now.
    func events(after: Int? = nil) throws -> Events {
        try Events(socket: socket, after: after)
    }

    /// The media files, in order of their names, with their folders.
    var files: [String] {
        names(in: media).filter { $0 != ".partial" }.flatMap { day in
            names(in: media + "/" + day).map { day + "/" + $0 }
        }
    }
    var partial: [String] { names(in: media + "/.partial") }

    /// Until so many fragments of a clip lie on the disk: a fact, however slow the encoder is.
    func waitForFragments(_ count: Int) throws {
        let deadline = SystemClock.now + .seconds(60)
        while fragmentsInPartial < count {
            guard SystemClock.now < deadline else { throw KitError("no clip has \(count) fragments after a minute") }
            _ = try run("status")
        }
    }

    /// How many fragments of clips have been begun in the folder of unfinished files.
    private var fragmentsInPartial: Int {
        var count = 0
        for name in partial where name.hasSuffix(".mp4") {
            let file = open(media + "/.partial/" + name, O_RDONLY)
            guard file >= 0 else { continue }
            defer { close(file) }
            var status = stat()
            guard fstat(file, &status) == 0, status.st_size > 0 else { continue }
            let size = Int(status.st_size)
            guard let bytes = mmap(nil, size, PROT_READ, MAP_SHARED, file, 0), bytes != MAP_FAILED else { continue }
            defer { munmap(bytes, size) }
            var rest = UnsafeRawPointer(bytes)
            let end = rest + size
            while let found = memchr(rest, 0x6d, end - rest), end - UnsafeRawPointer(found) >= 4 {
                if memcmp(found, "moof", 4) == 0 { count += 1 }
                rest = UnsafeRawPointer(found) + 1
            }
        }
        return count
    }
}

/// `GET /v1/events`, read one by one.
final class Events {
    private let descriptor: Int32
    private var waiting: [UInt8] = []

    init(socket: String, after: Int? = nil) throws {
        guard var address = UnixAddress(path: socket) else { throw KitError("\(socket) is too long") }
        descriptor = address.connect()
        guard descriptor >= 0 else { throw KitError("no connection to \(socket)") }
        let last = after.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        let request = Array("GET /v1/events HTTP/1.0\r\n\(last)\r\n".utf8)
        guard write(descriptor, request, request.count) == request.count else { throw KitError("can't write") }
        // The stream's first comment: from now on nothing is missed.
        while try line() != ": fieldcam events" {}
    }

    deinit { close(descriptor) }

    private func line() throws -> String {
        while true {
            if let end = waiting.firstIndex(of: 0x0a) {
                defer { waiting.removeSubrange(...end) }
                return String(decoding: waiting[..<end].filter { $0 != 0x0d }, as: UTF8.self)
            }
            guard waitReadable(descriptor, milliseconds: 60_000) else { throw KitError("no event came") }
            var buffer = [UInt8](repeating: 0, count: 65536)
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { throw KitError("the event stream ended") }
            waiting.append(contentsOf: buffer[..<count])
        }
    }

    /// The stream's comments, which keep it alive, are no event: a minute of them alone is an error.
    func next() throws -> JSON {
        let deadline = SystemClock.now + .seconds(60)
        while true {
            guard SystemClock.now < deadline else { throw KitError("no event came") }
            let line = try line()
            if line.hasPrefix("data: ") { return try JSON(parsing: line.utf8.dropFirst(6)) }
        }
    }

    /// All up to and with the first of this name.
    func until(_ name: String) throws -> [JSON] {
        var events: [JSON] = []
        repeat { events.append(try next()) } while events.last?["event"] != .string(name)
        return events
    }
}

func writeText(_ text: String, to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard file >= 0 else { throw KitError("\(path) can't be made") }
    defer { close(file) }
    var text = text
    let written = text.withUTF8 { write(file, $0.baseAddress, $0.count) }
    guard written == text.utf8.count else { throw KitError("\(path) can't be written") }
}
