import FieldcamLinux
import FieldcamPorts
import Glibc

/// Holds a folder (state, media) for one service. The kernel lets go of it when the process ends, however it ends.
public final class StateLock: Sendable {
    public let folder: String
    private let descriptor: Int32

    /// Makes the folder if need be, and takes it.
    ///
    /// - Throws: `busy` with the process that holds it; `denied`, `full`, `io` if it can't be made or written.
    ///
    /// - Parameters:
    ///   - purpose: `state` or `media`: the word for it, and the option that chooses another.
    ///   - file: the lock's name in the folder.
    public init(folder: String, purpose: String = "state", file: String = "lock") throws(HardwareError) {
        self.folder = folder
        let operation = "use the \(purpose) folder '\(folder)'"
        do {
            try LinuxFileSystem().makeFolders(folder)
        } catch {
            throw .storage(error, "make the \(purpose) folder '\(folder)'")
        }
        let path = folder + "/" + file
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .storage(SystemFailure(errno), operation) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            let holder = code == EWOULDBLOCK ? Self.holder(descriptor) : nil
            close(descriptor)
            guard code == EWOULDBLOCK else { throw .storage(SystemFailure(code), operation) }
            throw HardwareError(
                .busy, operation, code: code,
                detail: "\(holder ?? "another process") uses it; stop that, or choose another folder with --\(purpose)")
        }
        // Who holds it is for people to read; the lock itself is what counts.
        var text = "\(getpid())\n"
        _ = ftruncate(descriptor, 0)
        _ = text.withUTF8 { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    deinit { close(descriptor) }

    /// "the process 123 (fieldcam)"
    private static func holder(_ descriptor: Int32) -> String? {
        guard let pid = Int(text(descriptor)), pid > 0 else { return nil }
        let comm = open("/proc/\(pid)/comm", O_RDONLY | O_CLOEXEC)
        guard comm >= 0 else { return "the process \(pid)" }
        defer { close(comm) }
        return "the process \(pid) (\(text(comm)))"
    }

    /// The first line of a small file.
    private static func text(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)).prefix { $0 >= 0x20 }, as: UTF8.self)
    }
}
