import FieldcamCore
import Glibc
import Synchronization

@testable import FieldcamStorage

/// A disk in memory that forgets what it may forget: names and contents that nobody synced.
///
/// Names are a journal kept in order: syncing a folder makes everything durable up to the last change in that folder.
/// A file's contents become durable only by syncing that file. A power cut keeps any beginning of the journal that
/// holds all that was promised, and of each unsynced file the old contents, the new ones, or zeros where they grew.
final class ModelDisk: FileSystem {
    enum Change: Hashable {
        case create(String, Int)
        case rename(String, String)
        case remove(String)
        case makeFolder(String)

        var folders: [String] {
            switch self {
            case .create(let path, _), .remove(let path), .makeFolder(let path): [ModelDisk.parent(path)]
            case .rename(let from, let to): [ModelDisk.parent(from), ModelDisk.parent(to)]
            }
        }
    }

    struct Tree: Hashable {
        var files: [String: Int] = [:]
        var folders: Set<String> = ["/"]

        mutating func apply(_ change: Change) {
            switch change {
            case .create(let path, let inode): files[path] = inode
            case .rename(let from, let to): files[to] = files.removeValue(forKey: from)
            case .remove(let path): files[path] = nil
            case .makeFolder(let path): folders.insert(path)
            }
        }
    }

    /// What happens to contents that weren't synced.
    enum Loss: CaseIterable {
        case old
        case new
        case zeros
    }

    private struct State {
        var tree = Tree()
        /// As it was when everything was durable.
        var base = Tree()
        var journal: [Change] = []
        var promised = 0
        var contents: [Int: [UInt8]] = [:]
        var durable: [Int: [UInt8]] = [:]
        var open: [Int32: (inode: Int, position: Int)] = [:]
        var nextDescriptor: Int32 = 100
        var nextInode = 1
        var capacity = 1 << 30
        /// Changing calls until the machine stops; `nil`: never.
        var stepsLeft: Int?
        var steps = 0
        var isDead = false
        /// What the n-th changing call fails with, instead of being done.
        var fault: (step: Int, code: Int32)?
        var lostCalls = 0
    }
    private let state: Mutex<State>

    init(capacity: Int = 1 << 30, stopAfter steps: Int? = nil) {
        state = Mutex(State())
        state.withLock {
            $0.capacity = capacity
            $0.stepsLeft = steps
        }
    }

    private init(_ tree: Tree, _ contents: [Int: [UInt8]], nextInode: Int, capacity: Int) {
        state = Mutex(State())
        state.withLock {
            $0.tree = tree
            $0.base = tree
            $0.contents = contents
            $0.durable = contents
            $0.nextInode = nextInode
            $0.capacity = capacity
        }
    }

    static func parent(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    // MARK: The test's side

    /// Changing calls so far.
    var steps: Int { state.withLock { $0.steps } }
    var isDead: Bool { state.withLock { $0.isDead } }
    var openFiles: Int { state.withLock { $0.open.count } }
    /// Every name and its contents.
    var files: [String: [UInt8]] { state.withLock { state in state.tree.files.mapValues { state.contents[$0] ?? [] } } }
    var usedBytes: Int { files.values.reduce(0) { $0 + $1.count } }

    func stop(after steps: Int) { state.withLock { $0.stepsLeft = steps } }
    func fail(step: Int, _ code: Int32) { state.withLock { $0.fault = (step, code) } }
    func setCapacity(_ bytes: Int) { state.withLock { $0.capacity = bytes } }

    /// How many different beginnings of the journal a power cut may keep.
    var outcomes: ClosedRange<Int> { state.withLock { $0.promised...max($0.promised, $0.journal.count) } }

    /// The disk after the power came back.
    func afterPowerCut(keeping changes: Int, loss: Loss) -> ModelDisk {
        state.withLock { state in
            var tree = state.base
            for change in state.journal[..<changes] { tree.apply(change) }
            var contents: [Int: [UInt8]] = [:]
            for inode in tree.files.values {
                let new = state.contents[inode] ?? []
                switch loss {
                case .old: contents[inode] = state.durable[inode] ?? []
                case .new: contents[inode] = new
                case .zeros:
                    let kept = state.durable[inode] ?? []
                    contents[inode] = kept + [UInt8](repeating: 0, count: max(0, new.count - kept.count))
                }
            }
            return ModelDisk(tree, contents, nextInode: state.nextInode, capacity: state.capacity)
        }
    }

    /// The disk after the process alone was killed.
    func afterKill() -> ModelDisk {
        state.withLock { ModelDisk($0.tree, $0.contents, nextInode: $0.nextInode, capacity: $0.capacity) }
    }

    // MARK: The store's side

    private func changing<Value: Sendable>(
        _ body: (inout State) -> Result<Value, SystemFailure>
    ) throws(SystemFailure) -> Value {
        let result: Result<Value, SystemFailure> = state.withLock { state in
            if state.stepsLeft == 0 { state.isDead = true }
            guard !state.isDead else {
                state.lostCalls += 1
                return .failure(SystemFailure(EIO))
            }
            state.stepsLeft? -= 1
            state.steps += 1
            if let fault = state.fault, fault.step == state.steps { return .failure(SystemFailure(fault.code)) }
            return body(&state)
        }
        return try result.get()
    }

    private func looking<Value: Sendable>(
        _ body: (inout State) -> Result<Value, SystemFailure>
    ) throws(SystemFailure) -> Value {
        let result: Result<Value, SystemFailure> = state.withLock { state in
            state.isDead ? .failure(SystemFailure(EIO)) : body(&state)
        }
        return try result.get()
    }

    func create(_ path: String) throws(SystemFailure) -> Int32 {
        try changing { state in
            guard state.tree.folders.contains(Self.parent(path)) else { return .failure(SystemFailure(ENOENT)) }
            guard state.tree.files[path] == nil else { return .failure(SystemFailure(EEXIST)) }
            return .success(Self.make(path, &state))
        }
    }

    func createOrEmpty(_ path: String) throws(SystemFailure) -> Int32 {
        try changing { state in
            guard state.tree.folders.contains(Self.parent(path)) else { return .failure(SystemFailure(ENOENT)) }
            guard let inode = state.tree.files[path] else { return .success(Self.make(path, &state)) }
            state.contents[inode] = []
            return .success(Self.descriptor(inode, &state))
        }
    }

    private static func make(_ path: String, _ state: inout State) -> Int32 {
        let inode = state.nextInode
        state.nextInode += 1
        state.contents[inode] = []
        change(.create(path, inode), &state)
        return descriptor(inode, &state)
    }

    private static func descriptor(_ inode: Int, _ state: inout State) -> Int32 {
        let descriptor = state.nextDescriptor
        state.nextDescriptor += 1
        state.open[descriptor] = (inode, 0)
        return descriptor
    }

    private static func change(_ change: Change, _ state: inout State) {
        state.journal.append(change)
        state.tree.apply(change)
    }

    func open(_ path: String) throws(SystemFailure) -> Int32 {
        try looking { state in
            guard let inode = state.tree.files[path] else { return .failure(SystemFailure(ENOENT)) }
            return .success(Self.descriptor(inode, &state))
        }
    }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemFailure) -> Int {
        let bytes = Array(bytes)
        return try changing { state in
            guard let file = state.open[descriptor] else { return .failure(SystemFailure(EBADF)) }
            let result = Self.put(bytes[...], at: file.position, file.inode, &state)
            if case .success(let count) = result { state.open[descriptor]?.position += count }
            return result
        }
    }

    func write(_ descriptor: Int32, at offset: Int64, _ bytes: ArraySlice<UInt8>) throws(SystemFailure) -> Int {
        try changing { state in
            guard let file = state.open[descriptor] else { return .failure(SystemFailure(EBADF)) }
            return Self.put(bytes, at: Int(offset), file.inode, &state)
        }
    }

    /// Takes at most 1000 bytes at once, so that short writes happen.
    private static func put(_ bytes: ArraySlice<UInt8>, at offset: Int, _ inode: Int, _ state: inout State)
        -> Result<Int, SystemFailure>
    {
        var data = state.contents[inode] ?? []
        let used = state.tree.files.values.reduce(0) { $0 + (state.contents[$1]?.count ?? 0) }
        let room = state.capacity - used + max(0, data.count - offset)
        let piece = bytes.prefix(min(1000, room))
        if piece.isEmpty { return .failure(SystemFailure(ENOSPC)) }
        if data.count < offset + piece.count {
            data += [UInt8](repeating: 0, count: offset + piece.count - data.count)
        }
        data.replaceSubrange(offset..<offset + piece.count, with: piece)
        state.contents[inode] = data
        return .success(piece.count)
    }

    func read(_ descriptor: Int32, at offset: Int64, _ count: Int) throws(SystemFailure) -> [UInt8] {
        try looking { state in
            guard let file = state.open[descriptor] else { return .failure(SystemFailure(EBADF)) }
            return .success(Array((state.contents[file.inode] ?? []).dropFirst(Int(offset)).prefix(count)))
        }
    }

    func size(_ descriptor: Int32) throws(SystemFailure) -> Int64 {
        try looking { state in
            guard let file = state.open[descriptor] else { return .failure(SystemFailure(EBADF)) }
            return .success(Int64(state.contents[file.inode]?.count ?? 0))
        }
    }

    func truncate(_ descriptor: Int32, to size: Int64) throws(SystemFailure) {
        try changing { (state) -> Result<Void, SystemFailure> in
            guard let file = state.open[descriptor] else { return .failure(SystemFailure(EBADF)) }
            state.contents[file.inode] = Array((state.contents[file.inode] ?? []).prefix(Int(size)))
            return .success(())
        }
    }

    func sync(_ descriptor: Int32) throws(SystemFailure) {
        try changing { (state) -> Result<Void, SystemFailure> in
            guard let file = state.open[descriptor] else { return .failure(SystemFailure(EBADF)) }
            state.durable[file.inode] = state.contents[file.inode]
            return .success(())
        }
    }

    func close(_ descriptor: Int32) {
        state.withLock { $0.open[descriptor] = nil }
    }

    func rename(_ from: String, to: String) throws(SystemFailure) {
        try changing { (state) -> Result<Void, SystemFailure> in
            guard state.tree.files[from] != nil else { return .failure(SystemFailure(ENOENT)) }
            Self.change(.rename(from, to), &state)
            return .success(())
        }
    }

    func renameWithoutReplacing(_ from: String, to: String) throws(SystemFailure) {
        try changing { (state) -> Result<Void, SystemFailure> in
            guard state.tree.files[from] != nil, state.tree.folders.contains(Self.parent(to)) else {
                return .failure(SystemFailure(ENOENT))
            }
            guard state.tree.files[to] == nil else { return .failure(SystemFailure(EEXIST)) }
            Self.change(.rename(from, to), &state)
            return .success(())
        }
    }

    func remove(_ path: String) throws(SystemFailure) {
        try changing { (state) -> Result<Void, SystemFailure> in
            guard state.tree.files[path] != nil else { return .failure(SystemFailure(ENOENT)) }
            Self.change(.remove(path), &state)
            return .success(())
        }
    }

    func makeFolder(_ path: String) throws(SystemFailure) {
        try changing { (state) -> Result<Void, SystemFailure> in
            guard state.tree.folders.contains(Self.parent(path)) else { return .failure(SystemFailure(ENOENT)) }
            guard !state.tree.folders.contains(path), state.tree.files[path] == nil else {
                return .failure(SystemFailure(EEXIST))
            }
            Self.change(.makeFolder(path), &state)
            return .success(())
        }
    }

    func syncFolder(_ path: String) throws(SystemFailure) {
        try changing { (state) -> Result<Void, SystemFailure> in
            guard state.tree.folders.contains(path) else { return .failure(SystemFailure(ENOENT)) }
            if let last = state.journal.lastIndex(where: { $0.folders.contains(path) }) {
                state.promised = max(state.promised, last + 1)
            }
            return .success(())
        }
    }

    func isFolder(_ path: String) -> Bool { state.withLock { $0.tree.folders.contains(path) } }

    func isSameFile(_ left: String, _ right: String) -> Bool {
        state.withLock { $0.tree.files[left] != nil && $0.tree.files[left] == $0.tree.files[right] }
    }

    func names(in folder: String) throws(SystemFailure) -> [String] {
        try looking { state in
            guard state.tree.folders.contains(folder) else { return .failure(SystemFailure(ENOENT)) }
            let paths = Array(state.tree.files.keys) + Array(state.tree.folders.subtracting(["/"]))
            return .success(
                paths.filter { Self.parent($0) == folder }.map { String($0.split(separator: "/").last!) })
        }
    }

    func freeBytes(at path: String) throws(SystemFailure) -> Int64 {
        try looking { state in
            let used = state.tree.files.values.reduce(0) { $0 + (state.contents[$1]?.count ?? 0) }
            return .success(Int64(state.capacity - used))
        }
    }
}
