import CFieldcamLinux
import Glibc

/// Calls on files that the C library's module doesn't give to Swift.
public enum Files {
    /// Moves a file to a name that must not exist yet; `-EEXIST` if it does. Other errors as negative errno.
    public static func renameWithoutReplacing(_ from: String, to: String) -> Int32 {
        fc_rename_noreplace(from, to)
    }

    /// A small file as a whole, 64 KiB at most; empty if it can't be read.
    public static func contents(of path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + count, $0.count - count) }
            guard got > 0 else { break }
            count += got
        }
        return Array(bytes[..<count])
    }

    /// Free bytes for unprivileged users where the path lies; negative errno.
    public static func freeBytes(at path: String) -> Int64 {
        fc_free_bytes(path)
    }
}
