import FieldcamCore
import FieldcamPorts
import Glibc
import XCTest

@testable import FieldcamStorage

/// The power goes, or the process is killed, after every single system call.
final class CrashTests: XCTestCase {
    private static let photo1 = [UInt8](repeating: 0xA1, count: 2500)
    private static let photo2 = [UInt8](repeating: 0xA2, count: 1200)
    private static let photo3 = [UInt8](repeating: 0xA3, count: 10)
    private static let crop = [UInt8](repeating: 0xC4, count: 700)
    private static let review = [UInt8](repeating: 0xB4, count: 900)
    private static let head = Boxes.fileType + Boxes.movie
    private static let clip = head + Boxes.fragment(1) + Boxes.fragment(2)

    /// What was promised before the machine stopped.
    private struct Promises {
        var files: [String: [UInt8]] = [:]
        var highestNumber = 0
        var syncedFragments = 0
    }

    private func store(_ disk: ModelDisk) throws(HardwareError) -> DurableStore {
        try DurableStore(media: "/data/media", state: "/data/state", reserve: 0, file: disk) { _, _, _ in }
    }

    /// Two days of work: photos, a clip, a photo by an untrusted clock, a photo of three files.
    private func work(_ disk: ModelDisk, _ promises: inout Promises) throws(HardwareError) {
        let store = try self.store(disk)
        _ = try store.recover()
        let numbers = try store.reserveNumbers(3)
        promises.highestNumber = numbers.limit.value - 1
        try save(store, numbers.next, someDay, Self.photo1, &promises)
        let clip = try store.beginClip(MediaNumber(numbers.next.value + 1), taken: someDay)
        try write(disk, clip, Self.head + Boxes.fragment(1), at: 0)
        promises.syncedFragments = 1
        try save(store, MediaNumber(numbers.next.value + 2), nextDay, Self.photo2, &promises)
        try write(disk, clip, Boxes.fragment(2), at: Self.head.count + Boxes.fragment(1).count)
        promises.syncedFragments = 2
        let saved = try store.publish(clip)
        promises.files[saved.path] = Self.clip
        promises.syncedFragments = 0
        let more = try store.reserveNumbers(3)
        XCTAssertGreaterThan(more.next.value, promises.highestNumber)
        promises.highestNumber = more.limit.value - 1
        try save(store, more.next, undatedDay, Self.photo3, &promises)
        try saveSet(store, MediaNumber(more.next.value + 1), nextDay, &promises)
    }

    /// A whole, its crop and its review: promised together.
    private func saveSet(
        _ store: DurableStore, _ number: MediaNumber, _ day: WallTime, _ promises: inout Promises
    ) throws(HardwareError) {
        let contents = [Self.photo2, Self.crop, Self.review]
        let buffers = contents.map { content in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: content.count, alignment: 1)
            buffer.copyBytes(from: content)
            return buffer
        }
        defer { for buffer in buffers { buffer.deallocate() } }
        let parts = zip([MediaName.Kind.photo, .crop, .review], buffers).map {
            PhotoPart($0, UnsafeRawBufferPointer($1))
        }
        let files = try store.savePhoto(number, taken: day, parts: parts)
        for (file, content) in zip(files, contents) { promises.files[file.path] = content }
    }

    private func save(
        _ store: DurableStore, _ number: MediaNumber, _ day: WallTime, _ bytes: [UInt8], _ promises: inout Promises
    ) throws(HardwareError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result<SavedFile, HardwareError> { () throws(HardwareError) in
                try store.savePhoto(number, taken: day, bytes: bytes)
            }
        }
        promises.files[try result.get().path] = bytes
    }

    /// The encoder's side: a piece is written whole and synced.
    private func write(_ disk: ModelDisk, _ clip: PartialClip, _ bytes: [UInt8], at offset: Int) throws(HardwareError) {
        do {
            try disk.writeAll(clip.descriptor, at: Int64(offset), bytes)
            try disk.sync(clip.descriptor)
        } catch {
            throw .storage(error, "write a fragment")
        }
    }

    private func check(_ disk: ModelDisk, _ promises: Promises, _ story: String) {
        let wholes = [Self.photo1, Self.photo2, Self.photo3, Self.crop, Self.review]
        for (path, bytes) in promises.files { XCTAssertEqual(disk.files[path], bytes, "\(story): lost \(path)") }
        for (path, bytes) in disk.files where path.hasPrefix("/data/media/2") || path.hasPrefix("/data/media/u") {
            if path.hasSuffix(".jpg") {
                XCTAssertTrue(wholes.contains(bytes), "\(story): \(path) isn't whole")
            } else {
                let isWhole = bytes == Self.clip || bytes == Self.head + Boxes.fragment(1)
                XCTAssertTrue(isWhole, "\(story): \(path) isn't whole")
            }
        }
    }

    /// Starts again and checks that nothing is lost, left over or numbered twice.
    private func restart(_ disk: ModelDisk, _ promises: Promises, _ story: String) throws {
        check(disk, promises, story)
        let store = try self.store(disk)
        let leftovers = try store.recover()
        check(disk, promises, story + ", recovered")
        XCTAssertEqual(try disk.names(in: "/data/media/.partial"), [], story)
        XCTAssertEqual(disk.openFiles, 0, story)
        if promises.syncedFragments > 0 {
            let clip = disk.files.first { $0.key.hasSuffix(".mp4") && !$0.key.contains(".partial") }
            XCTAssertGreaterThanOrEqual(
                clip?.value.count ?? 0, Self.head.count + promises.syncedFragments * Boxes.fragment(1).count,
                "\(story): a synced fragment was lost: \(leftovers)")
        }
        let next = try store.reserveNumbers(1).next
        XCTAssertGreaterThan(next.value, promises.highestNumber, "\(story): a number would be given twice")
    }

    func testNothingIsLostWhateverCallIsTheLast() throws {
        let whole = ModelDisk()
        var all = Promises()
        try work(whole, &all)
        XCTAssertEqual(all.files.count, 7)
        XCTAssertEqual(whole.openFiles, 0)
        var crashes = 0
        for steps in 0...whole.steps {
            let disk = ModelDisk(stopAfter: steps)
            var promises = Promises()
            try? work(disk, &promises)
            try restart(disk.afterKill(), promises, "killed after \(steps) calls")
            for changes in disk.outcomes {
                for loss in ModelDisk.Loss.allCases {
                    let story = "power cut after \(steps) calls, \(changes) changes of names kept, contents \(loss)"
                    try restart(disk.afterPowerCut(keeping: changes, loss: loss), promises, story)
                    crashes += 1
                }
            }
        }
        XCTAssertGreaterThan(crashes, 200)
    }

    func testASecondCrashDuringTheRecoveryLosesNothingEither() throws {
        let whole = ModelDisk()
        var all = Promises()
        try work(whole, &all)
        for steps in 0...whole.steps {
            for loss in ModelDisk.Loss.allCases {
                let first = ModelDisk(stopAfter: steps)
                var promises = Promises()
                try? work(first, &promises)
                for second in 0...12 {
                    let disk = first.afterPowerCut(keeping: first.outcomes.upperBound, loss: loss)
                    disk.stop(after: second)
                    if let store = try? self.store(disk) {
                        _ = try? store.recover()
                    }
                    for changes in disk.outcomes {
                        let story = "power cut after \(steps) calls and again after \(second), contents \(loss)"
                        try restart(disk.afterPowerCut(keeping: changes, loss: loss), promises, story)
                    }
                }
            }
        }
    }

    /// Every call fails once, with each kind of error; what was saved before and after stays right.
    func testAFailedCallFailsItsOwnFileOnly() throws {
        let whole = ModelDisk()
        var all = Promises()
        try work(whole, &all)
        for step in 1...whole.steps {
            for code in [ENOSPC, EIO, EROFS] {
                let disk = ModelDisk()
                disk.fail(step: step, code)
                var promises = Promises()
                do {
                    try work(disk, &promises)
                } catch {
                    let expected: HardwareError.Kind = code == ENOSPC ? .full : code == EROFS ? .denied : .io
                    XCTAssertEqual(error.kind, expected, "call \(step): \(error)")
                    XCTAssertEqual(error.code, code)
                }
                try restart(disk.afterKill(), promises, "call \(step) failed with \(code)")
            }
        }
    }
}

let someDay = WallTime(
    year: 2026, month: 11, day: 30, hour: 12, minute: 0, second: 0, nanosecond: 0, offset: 0, isTrusted: true)
let nextDay = WallTime(
    year: 2026, month: 12, day: 1, hour: 0, minute: 0, second: 1, nanosecond: 0, offset: 3600, isTrusted: true)
let undatedDay = WallTime(
    year: 1970, month: 1, day: 1, hour: 0, minute: 0, second: 9, nanosecond: 0, offset: 0, isTrusted: false)
