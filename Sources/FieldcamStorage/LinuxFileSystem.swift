import FieldcamLinux
import Glibc

/// The real thing. Calls are repeated after EINTR, nothing else is.
final class LinuxFileSystem: FileSystem {
    func create(_ path: String) throws(SystemFailure) -> Int32 {
        try descriptor(path, O_RDWR | O_CREAT | O_EXCL)
    }

    func createOrEmpty(_ path: String) throws(SystemFailure) -> Int32 {
        try descriptor(path, O_WRONLY | O_CREAT | O_TRUNC)
    }

    func open(_ path: String) throws(SystemFailure) -> Int32 {
        try descriptor(path, O_RDWR)
    }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemFailure) -> Int {
        try positive { Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
    }

    func write(_ descriptor: Int32, at offset: Int64, _ bytes: ArraySlice<UInt8>) throws(SystemFailure) -> Int {
        try positive { bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) } }
    }

    func read(_ descriptor: Int32, at offset: Int64, _ count: Int) throws(SystemFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try positive {
            bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, off_t(offset)) }
        }
        bytes.removeLast(count - got)
        return bytes
    }

    func size(_ descriptor: Int32) throws(SystemFailure) -> Int64 {
        var state = stat()
        try zero { fstat(descriptor, &state) }
        return Int64(state.st_size)
    }

    func truncate(_ descriptor: Int32, to size: Int64) throws(SystemFailure) {
        try zero { ftruncate(descriptor, off_t(size)) }
    }

    func sync(_ descriptor: Int32) throws(SystemFailure) {
        try zero { fsync(descriptor) }
    }

    func close(_ descriptor: Int32) {
        // What could fail here was asked of `sync` before.
        _ = Glibc.close(descriptor)
    }

    func rename(_ from: String, to: String) throws(SystemFailure) {
        try zero { Glibc.rename(from, to) }
    }

    func renameWithoutReplacing(_ from: String, to: String) throws(SystemFailure) {
        let result = Files.renameWithoutReplacing(from, to: to)
        if result < 0 { throw SystemFailure(-result) }
    }

    func remove(_ path: String) throws(SystemFailure) {
        try zero { unlink(path) }
    }

    func makeFolder(_ path: String) throws(SystemFailure) {
        try zero { mkdir(path, 0o755) }
    }

    func syncFolder(_ path: String) throws(SystemFailure) {
        let folder = try descriptor(path, O_RDONLY | O_DIRECTORY)
        defer { close(folder) }
        do {
            try sync(folder)
        } catch  where error.code == EINVAL {
            // The file system has nothing to sync for a folder.
        }
    }

    func isFolder(_ path: String) -> Bool {
        var state = stat()
        return stat(path, &state) == 0 && state.st_mode & S_IFMT == S_IFDIR
    }

    func isSameFile(_ left: String, _ right: String) -> Bool {
        var first = stat()
        var second = stat()
        return stat(left, &first) == 0 && stat(right, &second) == 0 && first.st_dev == second.st_dev
            && first.st_ino == second.st_ino
    }

    func names(in folder: String) throws(SystemFailure) -> [String] {
        guard let handle = opendir(folder) else { throw SystemFailure(errno) }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    func freeBytes(at path: String) throws(SystemFailure) -> Int64 {
        let bytes = Files.freeBytes(at: path)
        if bytes < 0 { throw SystemFailure(Int32(-bytes)) }
        return bytes
    }

    private func descriptor(_ path: String, _ flags: Int32) throws(SystemFailure) -> Int32 {
        while true {
            let descriptor = Glibc.open(path, flags | O_CLOEXEC, 0o644)
            if descriptor >= 0 { return descriptor }
            if errno != EINTR { throw SystemFailure(errno) }
        }
    }

    private func positive(_ call: () -> Int) throws(SystemFailure) -> Int {
        while true {
            let result = call()
            if result >= 0 { return result }
            if errno != EINTR { throw SystemFailure(errno) }
        }
    }

    private func zero(_ call: () -> Int32) throws(SystemFailure) {
        while call() != 0 {
            if errno != EINTR { throw SystemFailure(errno) }
        }
    }
}
