import CFieldcamLinux
import FieldcamLinux
import Glibc

/// The built program as a child; its stdout is read here, its stderr is kept in a file.
public final class ChildProcess {
    public struct Outcome: Sendable {
        /// The exit code, or minus the signal that ended it.
        public var code: Int32
        public var output: String
        public var errors: String
    }

    public let identifier: pid_t
    /// The reading end of its stdout.
    public let output: Int32
    /// Becomes readable when it ends: nothing is ever written there.
    public let life: Int32
    private let errors: Int32
    private var waiting: [UInt8] = []
    private var ended: Outcome?
    private var outputIsClosed = false

    /// The program that was built along with the tests, beside them.
    public static var program: String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes {
            readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
        }
        let own = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return own[..<(own.lastIndex(of: "/") ?? own.startIndex)] + "/fieldcam"
    }

    /// Starts `fieldcam` with these arguments and only this environment.
    public init(_ arguments: [String], environment: [String] = []) throws {
        var pipe: [Int32] = [-1, -1]
        var lifeline: [Int32] = [-1, -1]
        guard Glibc.pipe(&pipe) == 0, Glibc.pipe(&lifeline) == 0 else { throw KitError("no pipe: \(errorText(errno))") }
        for end in pipe + lifeline { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var template = Array("/tmp/fieldcam-stderr-XXXXXX".utf8CString)
        errors = mkstemp(&template)
        guard errors >= 0 else { throw KitError("no file: \(errorText(errno))") }
        unlink(template)
        _ = fcntl(errors, F_SETFD, FD_CLOEXEC)
        output = pipe[0]
        life = lifeline[0]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, pipe[1], 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        posix_spawn_file_actions_adddup2(&actions, lifeline[1], 9)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var argv = ([Self.program] + arguments).map { strdup($0) } + [nil]
        var envp = environment.map { strdup($0) } + [nil]
        defer { for string in argv + envp { free(string) } }
        var child = pid_t()
        let code = posix_spawn(&child, Self.program, &actions, nil, &argv, &envp)
        identifier = child
        close(pipe[1])
        close(lifeline[1])
        guard code == 0 else { throw KitError("\(Self.program) can't be run: \(errorText(code))") }
    }

    deinit {
        if ended == nil {
            kill(identifier, SIGKILL)
            var status: Int32 = 0
            waitpid(identifier, &status, 0)
        }
        closeOutput()
        close(life)
        close(errors)
    }

    /// As `| head` does when it has seen enough.
    public func closeOutput() {
        guard !outputIsClosed else { return }
        outputIsClosed = true
        close(output)
    }

    public func send(_ signal: Int32) { kill(identifier, signal) }

    /// The next line of stdout, without its end.
    public func line() throws -> String {
        while true {
            if let end = waiting.firstIndex(of: 0x0a) {
                defer { waiting.removeSubrange(...end) }
                return String(decoding: waiting[..<end], as: UTF8.self)
            }
            guard try receive() else { throw KitError("stdout ended; stderr: \(errorsSoFar)") }
        }
    }

    private func receive() throws -> Bool {
        guard waitReadable(output, milliseconds: 120_000) else {
            throw KitError("nothing more came on stdout; stderr: \(errorsSoFar)")
        }
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = read(output, &buffer, buffer.count)
        if count > 0 { waiting.append(contentsOf: buffer[..<count]) }
        return count > 0
    }

    /// What it wrote on stderr up to now.
    public var errorsSoFar: String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = pread(errors, &buffer, buffer.count, bytes.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(contentsOf: buffer[..<count])
        }
    }

    /// Waits for its end.
    @discardableResult
    public func wait() throws -> Outcome {
        if let ended { return ended }
        while try !outputIsClosed && receive() {}
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        let outcome = Outcome(
            code: signal == 0 ? (status >> 8) & 0xff : -signal, output: String(decoding: waiting, as: UTF8.self),
            errors: errorsSoFar)
        ended = outcome
        return outcome
    }

    /// Runs it to its end.
    public static func run(_ arguments: [String], environment: [String] = []) throws -> Outcome {
        try ChildProcess(arguments, environment: environment).wait()
    }
}
