import CFieldcamHTTP
import CFieldcamLinux
import FieldcamLinux
import Glibc
import Synchronization

/// Why the service's socket can't be had.
public enum SocketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A living process listens there.
    case held(path: String, process: Int32, name: String)
    /// It can't be made: missing folder, no permission, a file of another kind in its place.
    case impossible(path: String, detail: String)

    public var description: String {
        switch self {
        case .held(let path, let process, let name):
            let who = process > 0 ? "process \(process) (\(name))" : "another process"
            return "\(path) is served by \(who) already: stop it, or choose another --socket."
        case .impossible(let path, let detail):
            return "the socket \(path) can't be made: \(detail)."
        }
    }
}

/// The service's own listening unix socket, mode 0660. What a dead service left is replaced; a living one is named.
final class ListeningSocket: Sendable {
    let path: String
    let descriptor: Int32
    /// Held as long as the service runs: of two that start at the same moment, one gets it.
    private let lock: Int32
    private let isRemoved = Atomic(false)

    init(path: String) throws(SocketError) {
        self.path = path
        guard var address = UnixAddress(path: path) else {
            throw .impossible(
                path: path,
                detail: "its path must have 1 to \(UnixAddress.longestPath) bytes; choose a shorter --socket")
        }
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        if !folder.isEmpty && mkdir(folder, 0o755) != 0 && errno != EEXIST {
            throw .impossible(path: path, detail: "the folder \(folder) can't be made (\(errorText(errno)))")
        }
        let lock = try Self.lock(path)
        var information = stat()
        if lstat(path, &information) == 0 {
            guard information.st_mode & S_IFMT == S_IFSOCK else {
                close(lock)
                throw .impossible(path: path, detail: "a file that is no socket stands there; move it away")
            }
            if let holder = UnixAddress.listener(at: path) {
                close(lock)
                throw .held(path: path, process: holder, name: processName(holder))
            }
            unlink(path)
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else {
            let code = errno
            close(lock)
            throw .impossible(path: path, detail: errorText(code))
        }
        // The socket is made with its mode, so that no one gets in between.
        let mask = umask(0o117)
        let bound = address.withPointer { bind(descriptor, $0, $1) }
        let code = errno
        umask(mask)
        guard bound == 0, listen(descriptor, 64) == 0 else {
            close(descriptor)
            close(lock)
            throw .impossible(path: path, detail: errorText(code))
        }
        self.descriptor = descriptor
        self.lock = lock
    }

    /// A waiting client, non-blocking; nil if none waits.
    func accept() -> Int32? {
        let client = fc_http_accept(descriptor)
        return client >= 0 ? client : nil
    }

    /// No one can connect any more. Only the first call does something.
    func remove() {
        guard !isRemoved.exchange(true, ordering: .relaxed) else { return }
        unlink(path)
        close(descriptor)
        unlink(path + ".lock")
        close(lock)
    }

    private static func lock(_ path: String) throws(SocketError) -> Int32 {
        while true {
            let lock = fc_open(path + ".lock", O_RDWR | O_CREAT, 0o600)
            guard lock >= 0 else {
                throw .impossible(path: path, detail: "its lock file can't be opened (\(errorText(-lock)))")
            }
            if flock(lock, LOCK_EX | LOCK_NB) != 0 {
                close(lock)
                let holder = UnixAddress.listener(at: path)
                throw .held(path: path, process: holder ?? 0, name: holder.map(processName) ?? "")
            }
            // The holder before may have removed the file between its being opened and being locked here.
            var (held, named) = (stat(), stat())
            if fstat(lock, &held) == 0, stat(path + ".lock", &named) == 0, held.st_ino == named.st_ino { return lock }
            close(lock)
        }
    }
}

private func processName(_ process: Int32) -> String {
    let descriptor = fc_open("/proc/\(process)/comm", O_RDONLY, 0)
    guard descriptor >= 0 else { return "unknown" }
    defer { close(descriptor) }
    var name = [UInt8](repeating: 0, count: 32)
    let count = read(descriptor, &name, name.count)
    return String(decoding: name.prefix(max(0, count)).prefix { $0 != 0x0a }, as: UTF8.self)
}
