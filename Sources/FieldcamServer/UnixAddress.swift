import Glibc

/// The address of a unix socket in the file system.
public struct UnixAddress {
    private var address = sockaddr_un()

    /// In bytes, without the closing 0 (`sun_path` has 108).
    public static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Nil: the path is empty, too long, or contains a 0.
    public init?(path: String) {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.longestPath, !bytes.contains(0) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    }

    public mutating func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
        }
    }

    /// A connected socket, or a negative errno: with `flags` O_NONBLOCK -EAGAIN if the listener's queue is full.
    public mutating func connect(flags: Int32 = 0) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | flags, 0)
        guard descriptor >= 0 else { return -errno }
        guard withPointer({ Glibc.connect(descriptor, $0, $1) }) == 0 else {
            let code = errno
            close(descriptor)
            return -code
        }
        return descriptor
    }

    /// The process that listens at the path; 0 if it doesn't say; nil if none listens.
    static func listener(at path: String) -> Int32? {
        guard var address = UnixAddress(path: path) else { return nil }
        let descriptor = address.connect(flags: O_NONBLOCK)
        if descriptor == -EAGAIN || descriptor == -EACCES { return 0 }
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // pid, uid, gid: `struct ucred` is hidden behind _GNU_SOURCE.
        var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return 0 }
        return credentials.pid
    }
}
