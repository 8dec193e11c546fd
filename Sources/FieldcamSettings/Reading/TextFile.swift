import Glibc

/// Reading and listing of small files.
enum TextFile {
    /// An error number with the words for it.
    struct Failure: Error {
        var code: Int32
        var text: String { String(cString: strerror(code)) }
    }

    /// The whole file; at most `limit` bytes and one more, so that a reader can tell that it is too long.
    static func read(_ path: String, limit: Int = 1 << 20) throws(Failure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16384)
        while bytes.count <= limit {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw Failure(code: errno)
            }
            if count == 0 { break }
            bytes += piece[..<count]
        }
        return bytes
    }

    /// The names in a folder, in byte order, without "." and "..".
    static func names(in folder: String) throws(Failure) -> [String] {
        guard let handle = opendir(folder) else { throw Failure(code: errno) }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    static func exists(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }

    /// The folder a path lies in: "." for a bare name.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
