/// A system call that failed.
struct SystemFailure: Error, Hashable {
    /// errno, positive.
    var code: Int32
    init(_ code: Int32) { self.code = code }
}

/// The system calls of the store, one method each, so that a test can stop the world after any of them.
protocol FileSystem: AnyObject, Sendable {
    /// Makes a file that must not exist yet, open for reading and writing.
    func create(_ path: String) throws(SystemFailure) -> Int32
    /// Makes a file, or empties the one that is there; open for writing.
    func createOrEmpty(_ path: String) throws(SystemFailure) -> Int32
    /// Opens a file that exists, for reading and writing.
    func open(_ path: String) throws(SystemFailure) -> Int32
    /// Writes at the file's position; may write less than asked, never nothing.
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemFailure) -> Int
    /// The same at an offset of the file.
    func write(_ descriptor: Int32, at offset: Int64, _ bytes: ArraySlice<UInt8>) throws(SystemFailure) -> Int
    /// Reads up to `count` bytes; none at the end.
    func read(_ descriptor: Int32, at offset: Int64, _ count: Int) throws(SystemFailure) -> [UInt8]
    func size(_ descriptor: Int32) throws(SystemFailure) -> Int64
    func truncate(_ descriptor: Int32, to size: Int64) throws(SystemFailure)
    func sync(_ descriptor: Int32) throws(SystemFailure)
    func close(_ descriptor: Int32)
    func rename(_ from: String, to: String) throws(SystemFailure)
    /// `EEXIST` if the new name is taken.
    func renameWithoutReplacing(_ from: String, to: String) throws(SystemFailure)
    func remove(_ path: String) throws(SystemFailure)
    func makeFolder(_ path: String) throws(SystemFailure)
    func syncFolder(_ path: String) throws(SystemFailure)
    func isFolder(_ path: String) -> Bool
    /// Whether two names lead to one file.
    func isSameFile(_ left: String, _ right: String) -> Bool
    /// In no order, without "." and "..".
    func names(in folder: String) throws(SystemFailure) -> [String]
    func freeBytes(at path: String) throws(SystemFailure) -> Int64
}
