import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc
import Synchronization

/// Photos and clips as durable files under `<media>` (contract §8).
///
/// A file is written under a name of its own in `<media>/.partial`, synced, moved to its date folder without replacing
/// anything, and that folder is synced. Whatever moment the power goes, a final name holds a whole file or doesn't exist.
public final class DurableStore: MediaStore {
    public let media: String
    public let state: String
    /// Bytes that stay free where media lie.
    public var reserve: Int64 { shared.withLock { $0.reserve } }

    private struct Shared {
        var counter: NumberCounter
        var reserve: Int64
        /// A date folder whose own name is known to be durable.
        var durableFolder: String?
    }
    private let file: FileSystem
    private let warn: @Sendable (_ message: String, _ path: String, _ cause: String) -> Void
    /// Held during a call's counting only, except while a reservation is written.
    private let shared: Mutex<Shared>

    private var partial: String { media + "/.partial" }

    /// Makes the folders. The state folder should be held by a `StateLock`.
    ///
    /// - Parameter reserve: bytes, from `storage.reserve`.
    /// - Throws: which folder can't be made or read, and why.
    public convenience init(media: String, state: String, reserve: Int64) throws(HardwareError) {
        try self.init(media: media, state: state, reserve: reserve, file: LinuxFileSystem())
    }

    init(
        media: String, state: String, reserve: Int64, file: FileSystem,
        warn: @escaping @Sendable (_ message: String, _ path: String, _ cause: String) -> Void = {
            Log.warning($0, ["path": $1, "cause": $2])
        }
    ) throws(HardwareError) {
        self.media = media
        self.state = state
        self.file = file
        self.warn = warn
        do {
            try file.makeFolders(state)
        } catch {
            throw .storage(error, "make the state folder '\(state)'")
        }
        do {
            try file.makeFolders(media)
            try file.makeFolders(media + "/.partial")
            // A folder that an earlier run made, and couldn't sync any more, becomes durable here.
            try file.syncFolder(media)
        } catch {
            throw .storage(error, "make the media folder '\(media)'")
        }
        let counter = try NumberCounter(file, folder: state) { () throws(HardwareError) in
            try Self.highestNumber(file, media: media)
        }
        shared = Mutex(Shared(counter: counter, reserve: reserve))
    }

    /// Takes effect with the next file.
    public func setReserve(_ bytes: Int64) {
        shared.withLock { $0.reserve = bytes }
    }

    // MARK: Numbers

    public func reserveNumbers(_ count: Int) throws(HardwareError) -> (next: MediaNumber, limit: MediaNumber) {
        let range = try shared.withLock { shared throws(HardwareError) in try shared.counter.reserve(count) }
        return (range.lowerBound, range.upperBound)
    }

    private static func highestNumber(_ file: FileSystem, media: String) throws(HardwareError) -> MediaNumber? {
        var highest: MediaNumber?
        do {
            for folder in try file.names(in: media) where folder == ".partial" || PartialName.isFolder(folder) {
                for name in try file.names(in: "\(media)/\(folder)") {
                    if let number = PartialName(name)?.number { highest = max(number, highest ?? number) }
                }
            }
        } catch {
            throw .storage(error, "look for the highest number in '\(media)'")
        }
        return highest
    }

    // MARK: Photos

    public func savePhoto(_ number: MediaNumber, taken: WallTime, parts: [PhotoPart]) throws(HardwareError)
        -> [SavedFile]
    {
        let operation = "save the photo \(number.value) in '\(media)'"
        try requireRoom(parts.reduce(0) { $0 + Int64($1.bytes.count) }, operation)
        let claims = try claim(parts.map(\.kind), number, folder: taken.folder, operation)
        do throws(SystemFailure) {
            try write(parts, to: claims)
            // All are whole before the first has its name.
            let paths = try publish(claims.map { ($0.path, $0.name) })
            return zip(paths, parts).map { SavedFile(path: $0, byteCount: $1.bytes.count) }
        } catch {
            // Gives the space back. After the move there is nothing left to remove, and a whole photo stays.
            for claim in claims { try? file.remove(claim.path) }
            throw .storage(error, operation)
        }
    }

    /// Writes and syncs each file, and closes all of them whatever happens.
    private func write(_ parts: [PhotoPart], to claims: [Claim]) throws(SystemFailure) {
        var failure: SystemFailure?
        for (part, claim) in zip(parts, claims) {
            defer { file.close(claim.descriptor) }
            guard failure == nil else { continue }
            do throws(SystemFailure) {
                try file.writeAll(claim.descriptor, part.bytes)
                try file.sync(claim.descriptor)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    // MARK: Clips

    public func beginClip(_ number: MediaNumber, taken: WallTime, source: Source?) throws(HardwareError) -> PartialClip
    {
        let operation = "begin the clip \(number.value) in '\(media)'"
        try requireRoom(1, operation)
        let claim = try claim(PartialName(.clip, number, folder: taken.folder, source: source), operation)
        do {
            // The name must be found after a power cut, or the fragments written until then are lost.
            try file.syncFolder(partial)
        } catch {
            file.close(claim.descriptor)
            try? file.remove(claim.path)
            throw .storage(error, operation)
        }
        return PartialClip(
            number: claim.name.number, descriptor: claim.descriptor, path: claim.path, folder: claim.name.folder)
    }

    /// If it throws the file stays in `.partial` and the next start recovers it.
    public func publish(_ clip: PartialClip) throws(HardwareError) -> SavedFile {
        do throws(SystemFailure) {
            let size: Int64
            do {
                defer { file.close(clip.descriptor) }
                try file.sync(clip.descriptor)
                size = try file.size(clip.descriptor)
            }
            let path = try publish([(clip.path, PartialName(.clip, clip.number, folder: clip.folder))])[0]
            return SavedFile(path: path, byteCount: Int(size))
        } catch {
            throw .storage(error, "save the clip \(clip.number.value) in '\(media)'")
        }
    }

    public func discard(_ clip: PartialClip) {
        file.close(clip.descriptor)
        do {
            try file.remove(clip.path)
        } catch  where error.code != ENOENT {
            // The next start removes it.
            warn("a clip that came to nothing can't be removed", clip.path, errorText(error.code))
        } catch {}
    }

    public func salvage(_ clip: PartialClip) throws(HardwareError) -> SavedFile? {
        do throws(SystemFailure) {
            let name = String(clip.path.split(separator: "/").last ?? "")
            guard let known = PartialName(name), case .recovered(let file) = try recover(name, known) else {
                return nil
            }
            return file
        } catch {
            throw .storage(error, "save what there is of the clip \(clip.number.value) in '\(media)'")
        }
    }

    // MARK: Space

    public func headroom() throws(HardwareError) -> Int64 {
        do {
            // Somebody may have removed the media folder while we run.
            if !file.isFolder(media) { try file.makeFolders(partial) }
            return try file.freeBytes(at: media) - reserve
        } catch {
            throw .storage(error, "tell the free space of '\(media)'")
        }
    }

    private func requireRoom(_ bytes: Int64, _ operation: String) throws(HardwareError) {
        let room = try headroom()
        guard room >= bytes else {
            throw HardwareError(
                .full, operation, code: ENOSPC,
                detail: "less than storage.reserve is left; delete something there, or lower the reserve")
        }
    }

    // MARK: After a crash

    public func recover() throws(HardwareError) -> [Leftover] {
        var leftovers: [Leftover] = []
        do {
            for name in try file.names(in: partial).sorted() {
                guard let known = PartialName(name) else { continue }
                do {
                    leftovers.append(
                        Leftover(number: known.number, outcome: try recover(name, known), source: known.source))
                } catch {
                    // It stays for the next start: a full disk now must not cost a clip.
                    warn("a file that a crash left can't be finished", "\(partial)/\(name)", errorText(error.code))
                }
            }
            if !leftovers.isEmpty { try file.syncFolder(partial) }
        } catch {
            throw .storage(error, "look for leftovers in '\(partial)'")
        }
        return leftovers
    }

    private func recover(_ name: String, _ known: PartialName) throws(SystemFailure) -> Leftover.Outcome {
        let path = "\(partial)/\(name)"
        guard known.kind == .clip else {
            try file.remove(path)
            return .photoRemoved
        }
        let size = try cut(path)
        guard size > 0 else {
            try file.remove(path)
            return .empty
        }
        let final = try publish([(path, known)])[0]
        return .recovered(SavedFile(path: final, byteCount: Int(size)))
    }

    /// Cuts a clip after its last whole fragment, durably; 0: it has none, and is as it was.
    private func cut(_ path: String) throws(SystemFailure) -> Int64 {
        let descriptor = try file.open(path)
        defer { file.close(descriptor) }
        let size = try file.size(descriptor)
        let scan = try ClipScan(size: size) { offset, count throws(SystemFailure) in
            try file.readAll(descriptor, at: offset, count)
        }
        guard scan.length > 0 else { return 0 }
        if let repair = scan.repair { try file.writeAll(descriptor, at: repair.offset, repair.bytes) }
        if scan.length < size { try file.truncate(descriptor, to: scan.length) }
        try file.sync(descriptor)
        return scan.length
    }

    // MARK: The way to a final name

    private struct Claim {
        var name: PartialName
        var path: String
        var descriptor: Int32
    }

    /// Takes a name in `.partial` that nobody has.
    private func claim(_ wanted: PartialName, _ operation: String) throws(HardwareError) -> Claim {
        var name = wanted
        var hasMadeFolders = false
        while true {
            let path = "\(partial)/\(name.text)"
            do {
                return Claim(name: name, path: path, descriptor: try file.create(path))
            } catch  where error.code == EEXIST {
                name.number = try reserveNumbers(1).next
            } catch  where error.code == ENOENT && !hasMadeFolders {
                // Somebody emptied the media folder while we run.
                hasMadeFolders = true
                do {
                    try file.makeFolders(partial)
                } catch {
                    throw .storage(error, operation)
                }
            } catch {
                throw .storage(error, operation)
            }
        }
    }

    /// The same for the files of a photo: one number for all of them.
    private func claim(
        _ kinds: [MediaName.Kind], _ number: MediaNumber, folder: String, _ operation: String
    ) throws(HardwareError) -> [Claim] {
        precondition(!kinds.isEmpty)
        var number = number
        while true {
            var claims = [try claim(PartialName(kinds[0], number, folder: folder), operation)]
            number = claims[0].name.number
            do throws(SystemFailure) {
                for kind in kinds.dropFirst() {
                    let name = PartialName(kind, number, folder: folder)
                    let path = "\(partial)/\(name.text)"
                    claims.append(Claim(name: name, path: path, descriptor: try file.create(path)))
                }
                return claims
            } catch {
                for claim in claims {
                    file.close(claim.descriptor)
                    try? file.remove(claim.path)
                }
                guard error.code == EEXIST else { throw .storage(error, operation) }
                number = try reserveNumbers(1).next
            }
        }
    }

    /// Moves synced files of `.partial`, all of one number and folder, to their final names, or the next number's if one of
    /// those is taken; durable on return.
    private func publish(_ files: [(path: String, name: PartialName)]) throws(SystemFailure) -> [String] {
        var number = files[0].name.number
        let home = "\(media)/\(files[0].name.folder)"
        try makeDurable(files[0].name.folder)
        while true {
            let finals = files.map { "\(home)/\(MediaName.file($0.name.kind, number))" }
            if try move(files.map(\.path), to: finals) {
                try file.syncFolder(home)
                return finals
            }
            number = try next()
        }
    }

    /// False: a name is taken; then all are where they were.
    private func move(_ paths: [String], to finals: [String]) throws(SystemFailure) -> Bool {
        for index in paths.indices {
            do {
                try file.renameWithoutReplacing(paths[index], to: finals[index])
            } catch  where error.code == EEXIST {
                if file.isSameFile(paths[index], finals[index]) {
                    // A crash between the two steps of a move by link and unlink.
                    try file.remove(paths[index])
                    continue
                }
                for moved in 0..<index { try file.renameWithoutReplacing(finals[moved], to: paths[moved]) }
                return false
            }
        }
        return true
    }

    /// A number beyond all that were given out.
    private func next() throws(SystemFailure) -> MediaNumber {
        do {
            return try reserveNumbers(1).next
        } catch {
            throw SystemFailure(error.code)
        }
    }

    /// Makes a date folder and its name in the media folder durable.
    private func makeDurable(_ folder: String) throws(SystemFailure) {
        var isNew = true
        do {
            try file.makeFolder("\(media)/\(folder)")
        } catch  where error.code == EEXIST {
            isNew = false
        }
        if !isNew, shared.withLock({ $0.durableFolder == folder }) { return }
        try file.syncFolder(media)
        shared.withLock { $0.durableFolder = folder }
    }
}
