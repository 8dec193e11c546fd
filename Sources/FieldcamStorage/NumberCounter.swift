import FieldcamCore
import FieldcamPorts
import Glibc

/// The one counter of all shots and clips, kept in the state folder.
///
/// The file holds the first number that was never given out. It moves on, durably, before numbers are used: after a crash
/// the rest of a reservation is skipped, never given again.
struct NumberCounter {
    private let file: FileSystem
    private let folder: String
    /// The first number that may still be reserved.
    private(set) var next: MediaNumber

    private var path: String { folder + "/counter" }

    /// - Parameter highest: asked only if the counter is lost: the highest number that was found in use.
    init(_ file: FileSystem, folder: String, highest: () throws(HardwareError) -> MediaNumber?) throws(HardwareError) {
        self.file = file
        self.folder = folder
        next = MediaNumber(0)
        if let kept = try kept() {
            next = kept
        } else {
            next = MediaNumber((try highest()?.value ?? 0) + 1)
        }
    }

    /// Moves the counter on by `count`.
    mutating func reserve(_ count: Int) throws(HardwareError) -> Range<MediaNumber> {
        precondition(count > 0)
        let limit = MediaNumber(next.value + count)
        do {
            try keep(limit)
        } catch {
            throw .storage(error, "keep the counter '\(path)'")
        }
        defer { next = limit }
        return next..<limit
    }

    /// What the file says; `nil`: there is none, or it isn't a number.
    private func kept() throws(HardwareError) -> MediaNumber? {
        let descriptor: Int32
        do {
            descriptor = try file.open(path)
        } catch  where error.code == ENOENT {
            return nil
        } catch {
            throw .storage(error, "read the counter '\(path)'")
        }
        defer { file.close(descriptor) }
        let bytes: [UInt8]
        do {
            bytes = try file.readAll(descriptor, at: 0, 32)
        } catch {
            throw .storage(error, "read the counter '\(path)'")
        }
        guard bytes.last == 0x0A, (2...17).contains(bytes.count),
            bytes.dropLast().allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let number = Int(String(decoding: bytes.dropLast(), as: UTF8.self)), number > 0
        else { return nil }
        return MediaNumber(number)
    }

    private func keep(_ number: MediaNumber) throws(SystemFailure) {
        let new = path + ".new"
        let descriptor = try file.createOrEmpty(new)
        do {
            defer { file.close(descriptor) }
            try file.writeAll(descriptor, at: 0, Array("\(number.value)\n".utf8))
            try file.sync(descriptor)
        } catch {
            try? file.remove(new)
            throw error
        }
        try file.rename(new, to: path)
        try file.syncFolder(folder)
    }
}
