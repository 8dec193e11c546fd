import FieldcamPorts
import Glibc

/// One attribute of a device in /sys: a file that holds a line of text. Kept open, so that a process without a free
/// descriptor can still write it.
final class SysfsFile: @unchecked Sendable {
    // Proof of Sendable: `descriptor` is touched by who owns the attribute's device, under that device's lock.
    let path: String
    private var descriptor: Int32 = -1

    private let access: Int32

    /// - Parameter access: `O_RDWR`, or `O_WRONLY` for what can't be read.
    init(_ path: String, access: Int32 = O_RDWR) {
        self.path = path
        self.access = access
    }

    deinit { close() }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    func write(_ text: String, _ operation: String) throws(HardwareError) {
        try open(operation)
        // With an end of line, as a shell writes it.
        let line = text + "\n"
        guard pwrite(descriptor, line, line.utf8.count, 0) == line.utf8.count else { throw failure(operation) }
    }

    /// The text without its end of line.
    func read(_ operation: String) throws(HardwareError) -> String {
        try open(operation)
        let text: String? = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
            guard count >= 0 else { return nil }
            return String(decoding: buffer.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        }
        guard let text else { throw failure(operation) }
        return text
    }

    func readNumber(_ operation: String) throws(HardwareError) -> Int {
        let text = try read(operation)
        guard let number = Int(text) else {
            throw HardwareError(.io, operation, code: EIO, detail: "\(path) holds '\(text)', expected a whole number")
        }
        return number
    }

    /// Makes this process the attribute's only holder among those that ask.
    func claim(_ operation: String) throws(HardwareError) {
        try open(operation)
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return }
        throw .errno(
            EBUSY, operation,
            detail: "another program holds it; stop that, or name another LED in the board's board.toml")
    }

    private func open(_ operation: String) throws(HardwareError) {
        guard descriptor < 0 else { return }
        descriptor = Glibc.open(path, access | O_CLOEXEC)
        if descriptor < 0 { throw failure(operation) }
    }

    private func failure(_ operation: String) -> HardwareError {
        let code = errno
        switch code {
        case EACCES, EPERM:
            return .errno(
                code, operation,
                detail: "\(path) isn't open to this user; start as root, or let a udev rule give it to the group 'gpio'"
            )
        case ENOENT, ENODEV, ENXIO:
            close()
            return .errno(code, operation, detail: "\(path) isn't there")
        default: return .errno(code, operation, detail: "\(path): \(String(cString: strerror(code)))")
        }
    }
}
