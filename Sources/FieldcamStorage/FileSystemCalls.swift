import FieldcamLinux
import FieldcamPorts
import Glibc

extension FileSystem {
    /// Writes everything.
    func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemFailure) {
        var done = 0
        while done < bytes.count {
            done += try write(descriptor, UnsafeRawBufferPointer(rebasing: bytes[done...]))
        }
    }

    func writeAll(_ descriptor: Int32, at offset: Int64, _ bytes: [UInt8]) throws(SystemFailure) {
        var done = 0
        while done < bytes.count { done += try write(descriptor, at: offset + Int64(done), bytes[done...]) }
    }

    /// Reads `count` bytes; fewer at the end of the file.
    func readAll(_ descriptor: Int32, at offset: Int64, _ count: Int) throws(SystemFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let piece = try read(descriptor, at: offset + Int64(bytes.count), count - bytes.count)
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }

    /// Makes a folder and those above it; a newly made folder's parent is synced.
    ///
    /// - Returns: whether anything was made.
    @discardableResult
    func makeFolders(_ path: String) throws(SystemFailure) -> Bool {
        if isFolder(path) { return false }
        let parent = folder(of: path)
        if parent != path { try makeFolders(parent) }
        do {
            try makeFolder(path)
        } catch  where error.code == EEXIST && isFolder(path) {
            return false
        }
        try syncFolder(parent)
        return true
    }

    /// The folder a path lies in.
    func folder(of path: String) -> String {
        var path = Substring(path)
        while path.count > 1, path.last == "/" { path = path.dropLast() }
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

extension HardwareError {
    /// What a failed call of the store means: a full disk, a disk that may not be written, or a broken one.
    static func storage(_ failure: SystemFailure, _ operation: String) -> HardwareError {
        let words = errorText(failure.code)
        switch failure.code {
        case ENOSPC, EDQUOT:
            return HardwareError(.full, operation, code: failure.code, detail: "\(words); delete something there")
        case EACCES, EPERM:
            return HardwareError(
                .denied, operation, code: failure.code,
                detail: "\(words); give the service's user the right to write there")
        case EROFS:
            return HardwareError(
                .denied, operation, code: failure.code,
                detail: "\(words); mount it for writing, or choose another folder")
        case EEXIST, ENOTDIR:
            return HardwareError(
                .io, operation, code: failure.code, detail: "a file of that name is in the way; move it")
        default:
            return HardwareError(.io, operation, code: failure.code, detail: words)
        }
    }
}
