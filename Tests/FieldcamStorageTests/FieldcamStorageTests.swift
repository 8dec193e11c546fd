import FieldcamCore
import FieldcamPorts
import Glibc
import XCTest

@testable import FieldcamStorage

final class DurableStoreTests: XCTestCase {
    private var folder = TemporaryFolder()
    private var media: String { folder.path + "/media" }
    private var state: String { folder.path + "/state" }
    private let fragments = Boxes.fileType + Boxes.movie + Boxes.fragment(1) + Boxes.fragment(2)

    override func setUp() {
        folder = TemporaryFolder()
    }

    private func store(reserve: Int64 = 0) throws -> DurableStore {
        try DurableStore(media: media, state: state, reserve: reserve, file: LinuxFileSystem()) { _, _, _ in }
    }

    @discardableResult
    private func save(_ store: DurableStore, _ number: Int, _ day: WallTime = someDay, _ bytes: [UInt8] = [1, 2, 3])
        throws
        -> SavedFile
    {
        try bytes.withUnsafeBytes { try store.savePhoto(MediaNumber(number), taken: day, bytes: $0) }
    }

    private func open(_ store: DurableStore, _ number: Int, _ bytes: [UInt8]) throws -> PartialClip {
        let clip = try store.beginClip(MediaNumber(number), taken: someDay)
        try LinuxFileSystem().writeAll(clip.descriptor, at: 0, bytes)
        return clip
    }

    // MARK: Names and numbers

    func testAPhotoIsUnderItsFinalNameWhenSaveReturns() throws {
        let store = try store()
        XCTAssertEqual(try store.recover(), [])
        let saved = try save(store, 1, someDay, [UInt8]("a photo".utf8))
        XCTAssertEqual(saved, SavedFile(path: media + "/2026-11-30/IMG_000001.jpg", byteCount: 7))
        XCTAssertEqual(folder.read(saved.path), [UInt8]("a photo".utf8))
        XCTAssertEqual(folder.names(media + "/.partial"), [])
        XCTAssertEqual(try save(store, 2, undatedDay).path, media + "/undated/IMG_000002.jpg")
        XCTAssertEqual(try save(store, 1_234_567, nextDay).path, media + "/2026-12-01/IMG_1234567.jpg")
    }

    func testNumbersGoOnAcrossRestarts() throws {
        var first = try store().reserveNumbers(100)
        XCTAssertEqual(first.next, MediaNumber(1))
        XCTAssertEqual(first.limit, MediaNumber(101))
        let again = try store()
        first = try again.reserveNumbers(1)
        XCTAssertEqual(first.next, MediaNumber(101), "what was reserved and not used is skipped")
        XCTAssertEqual(try again.reserveNumbers(1).next, MediaNumber(102))
    }

    func testALostCounterRestartsAboveTheHighestNumberFound() throws {
        for counter in ["", "0\n", "-4\n", "12", "twelve\n", "99999999999999999999\n"] {
            folder = TemporaryFolder()
            let first = try store()
            try save(first, 41)
            try save(first, 17, undatedDay)
            folder.write(media + "/2026-11-30/IMG_000043_crop.jpg", [1])
            folder.write(media + "/.partial/VID_000052.2026-11-30.mp4", [1])
            folder.write(media + "/2026-11-30/IMG_notours.jpg", [1])
            folder.remove(state + "/counter")
            if counter != "" { folder.write(state + "/counter", Array(counter.utf8)) }
            XCTAssertEqual(try store().reserveNumbers(1).next, MediaNumber(53), "counter: \(counter)")
        }
    }

    func testATakenNameIsNeverReplaced() throws {
        let store = try store()
        _ = try store.reserveNumbers(10)
        try save(store, 3, someDay, [1])
        let second = try save(store, 3, someDay, [2])
        XCTAssertEqual(second.path, media + "/2026-11-30/IMG_000011.jpg", "the next number that nobody has")
        XCTAssertEqual(folder.read(media + "/2026-11-30/IMG_000003.jpg"), [1])
        XCTAssertEqual(folder.read(second.path), [2])
        XCTAssertEqual(try store.reserveNumbers(1).next, MediaNumber(12))
    }

    /// A photo with its crop and review, each three bytes.
    private func saveSet(_ store: DurableStore, _ number: Int) throws -> [String] {
        let bytes: [UInt8] = [1, 2, 3]
        return try bytes.withUnsafeBytes { bytes in
            let parts = [MediaName.Kind.photo, .crop, .review].map { PhotoPart($0, bytes) }
            let saved = try store.savePhoto(MediaNumber(number), taken: someDay, parts: parts)
            XCTAssertEqual(saved.map(\.byteCount), [3, 3, 3])
            return saved.map(\.path)
        }
    }

    private func names(_ number: String) -> [String] {
        ["", "_crop", "_review"].map { "\(media)/2026-11-30/IMG_\(number)\($0).jpg" }
    }

    func testThePartsOfAPhotoStayTogetherWhicheverNameIsTaken() throws {
        for (index, taken) in ["", "_crop", "_review"].enumerated() {
            let store = try store()
            let number = try store.reserveNumbers(1).next.value
            let padded = String(repeating: "0", count: 6 - "\(number)".count) + "\(number)"
            let path = "\(media)/2026-11-30/IMG_\(padded)\(taken).jpg"
            mkdir("\(media)/2026-11-30", 0o755)
            folder.write(path, [9])
            let saved = try saveSet(store, number)
            XCTAssertEqual(folder.read(path), [9], "somebody's file stays as it was")
            let next = "\(number + 1)"
            XCTAssertEqual(saved, names(String(repeating: "0", count: 6 - next.count) + next), "case \(index)")
            for path in saved { XCTAssertEqual(folder.read(path), [1, 2, 3]) }
            for other in ["", "_crop", "_review"] where other != taken {
                XCTAssertNil(folder.read("\(media)/2026-11-30/IMG_\(padded)\(other).jpg"), "none is left behind")
            }
            XCTAssertEqual(folder.names(media + "/.partial"), [])
        }
    }

    func testUnfinishedCropsAndReviewsAreRemovedAndTheirNumbersCount() throws {
        _ = try self.store()
        for name in ["IMG_000070_crop.jpg", "IMG_000071_review.jpg"] { folder.write("\(media)/.partial/\(name)", [1]) }
        // Without its counter the store goes by the names it finds.
        folder.remove(state)
        let store = try store()
        XCTAssertEqual(
            Set(try store.recover().map(\.outcome)), [.photoRemoved], "nobody was told of them: they aren't kept")
        XCTAssertEqual(folder.names(media + "/.partial"), [])
        XCTAssertGreaterThan(try store.reserveNumbers(1).next.value, 71)
    }

    func testAFolderThatSomebodyRemovedIsMadeAgain() throws {
        let store = try store()
        try save(store, 1)
        folder.remove(media)
        XCTAssertEqual(folder.read(try save(store, 2).path), [1, 2, 3])
        folder.remove(media + "/2026-11-30")
        XCTAssertEqual(folder.read(try save(store, 3).path), [1, 2, 3])
        let clip = try open(store, 4, fragments)
        folder.remove(media + "/2026-11-30")
        XCTAssertEqual(folder.read(try store.publish(clip).path), fragments)
    }

    func testNamesInPartialTellWhereTheyBelong() {
        let clip = PartialName(.clip, MediaNumber(124), folder: "2026-11-30")
        XCTAssertEqual(clip.text, "VID_000124.2026-11-30.mp4")
        XCTAssertEqual(PartialName(clip.text), clip)
        XCTAssertEqual(PartialName("VID_000124.mp4"), PartialName(.clip, MediaNumber(124), folder: "undated"))
        let asked = PartialName(.clip, MediaNumber(124), folder: "undated", source: .button)
        XCTAssertEqual(asked.text, "VID_000124.undated.button.mp4")
        XCTAssertEqual(PartialName(asked.text), asked)
        let photo = PartialName(.photo, MediaNumber(1_234_567), folder: "undated")
        XCTAssertEqual(photo.text, "IMG_1234567.jpg")
        XCTAssertEqual(PartialName(photo.text), photo)
        for other in ["", "VID_.mp4", "VID_12.mp4", "VID_000124.2026.mp4", "VID_000124.a.b.mp4", "counter", ".."] {
            XCTAssertNil(PartialName(other), other)
        }
    }

    // MARK: Clips

    func testAClipGrowsInPartialAndMovesWhenItIsWhole() throws {
        let store = try store()
        let clip = try open(store, 5, fragments)
        XCTAssertEqual(folder.names(media + "/.partial"), ["VID_000005.2026-11-30.mp4"])
        XCTAssertEqual(clip.path, media + "/.partial/VID_000005.2026-11-30.mp4")
        XCTAssertEqual(folder.names(media + "/2026-11-30"), [])
        let saved = try store.publish(clip)
        XCTAssertEqual(saved, SavedFile(path: media + "/2026-11-30/VID_000005.mp4", byteCount: fragments.count))
        XCTAssertEqual(folder.names(media + "/.partial"), [])
        XCTAssertEqual(fcntl(clip.descriptor, F_GETFD), -1, "closed")
    }

    func testADiscardedClipLeavesNothing() throws {
        let store = try store()
        let clip = try open(store, 5, fragments)
        store.discard(clip)
        XCTAssertEqual(folder.names(media + "/.partial"), [])
        XCTAssertEqual(folder.names(media), [".partial"])
        XCTAssertEqual(fcntl(clip.descriptor, F_GETFD), -1, "closed")
    }

    func testWhatACrashLeftIsFinishedOrRemoved() throws {
        let before = try store()
        _ = try before.reserveNumbers(20)
        _ = try open(before, 7, fragments + Boxes.fragment(3).dropLast())
        _ = try open(before, 8, Boxes.fileType + Boxes.movie + Boxes.fragment(1).dropLast())
        let finished = Boxes.fileType + Boxes.box("mdat", [9, 9]) + Boxes.finishedMovie
        _ = try before.beginClip(MediaNumber(10), taken: undatedDay)
        folder.write(media + "/.partial/VID_000010.undated.mp4", finished)
        folder.write(media + "/.partial/IMG_000009.jpg", [0xFF, 0xD8])
        folder.write(media + "/.partial/notes.txt", [1])

        let after = try store()
        XCTAssertEqual(
            try after.recover(),
            [
                Leftover(number: MediaNumber(9), outcome: .photoRemoved),
                Leftover(
                    number: MediaNumber(7),
                    outcome: .recovered(
                        SavedFile(path: media + "/2026-11-30/VID_000007.mp4", byteCount: fragments.count))),
                Leftover(number: MediaNumber(8), outcome: .empty),
                Leftover(
                    number: MediaNumber(10),
                    outcome: .recovered(SavedFile(path: media + "/undated/VID_000010.mp4", byteCount: finished.count))),
            ])
        XCTAssertEqual(folder.read(media + "/2026-11-30/VID_000007.mp4"), fragments)
        XCTAssertEqual(folder.read(media + "/undated/VID_000010.mp4"), finished)
        XCTAssertEqual(folder.names(media + "/.partial"), ["notes.txt"], "what isn't ours stays")
        XCTAssertEqual(try after.recover(), [])
    }

    func testALeftClipTellsWhoHadAskedForIt() throws {
        let before = try store()
        for source in Source.allCases {
            let clip = try before.beginClip(MediaNumber(Int(source.rawValue) + 1), taken: someDay, source: source)
            try LinuxFileSystem().writeAll(clip.descriptor, at: 0, fragments)
        }
        let leftovers = try store().recover()
        XCTAssertEqual(leftovers.compactMap(\.source), Source.allCases)
    }

    func testWhatIsWholeOfAClipIsSalvagedFromUnderItsWriter() throws {
        let store = try store()
        let clip = try store.beginClip(MediaNumber(5), taken: someDay, source: .api)
        try LinuxFileSystem().writeAll(clip.descriptor, at: 0, fragments + Boxes.fragment(9).dropLast())
        let file = try XCTUnwrap(store.salvage(clip))
        XCTAssertEqual(folder.read(file.path), fragments)
        XCTAssertNotEqual(fcntl(clip.descriptor, F_GETFD), -1, "the descriptor is its writer's")
        close(clip.descriptor)
        let empty = try store.beginClip(MediaNumber(6), taken: someDay, source: nil)
        XCTAssertNil(try store.salvage(empty))
        close(empty.descriptor)
        XCTAssertEqual(folder.names(media + "/.partial"), [])
    }

    /// A move by link and unlink, where a file system knows no better, was cut in two.
    func testAFileThatIsAlreadyUnderItsFinalNameIsNotDoubled() throws {
        _ = try store()
        mkdir(media + "/2026-11-30", 0o755)
        folder.write(media + "/.partial/VID_000007.2026-11-30.mp4", fragments)
        XCTAssertEqual(link(media + "/.partial/VID_000007.2026-11-30.mp4", media + "/2026-11-30/VID_000007.mp4"), 0)
        XCTAssertEqual(
            try store().recover().map(\.outcome),
            [.recovered(SavedFile(path: media + "/2026-11-30/VID_000007.mp4", byteCount: fragments.count))])
        XCTAssertEqual(folder.names(media + "/2026-11-30"), ["VID_000007.mp4"])
        XCTAssertEqual(folder.names(media + "/.partial"), [])
    }

    // MARK: A disk that is full, or can't be used

    func testTheReserveHoldsForPhotosAndClips() throws {
        let disk = ModelDisk(capacity: 10_000)
        let store = try DurableStore(media: "/m", state: "/s", reserve: 9_000, file: disk)
        XCTAssertEqual(try store.headroom(), 1000)
        let photo = [UInt8](repeating: 1, count: 600)
        _ = try photo.withUnsafeBytes { try store.savePhoto(MediaNumber(1), taken: someDay, bytes: $0) }
        XCTAssertThrowsError(
            try photo.withUnsafeBytes { try store.savePhoto(MediaNumber(2), taken: someDay, bytes: $0) }
        ) { error in
            XCTAssertEqual((error as? HardwareError)?.kind, .full)
            XCTAssertEqual(
                "\(error)",
                "can't save the photo 2 in '/m': less than storage.reserve is left; delete something there, or lower the reserve"
            )
        }
        store.setReserve(9_500)
        XCTAssertEqual(try store.headroom(), -100)
        XCTAssertThrowsError(try store.beginClip(MediaNumber(3), taken: someDay)) { error in
            XCTAssertEqual((error as? HardwareError)?.kind, .full)
        }
        XCTAssertEqual(disk.files.keys.sorted(), ["/m/2026-11-30/IMG_000001.jpg"])
    }

    func testADiskThatFillsUpHalfWayGivesTheSpaceBack() throws {
        let disk = ModelDisk(capacity: 10_000)
        let store = try DurableStore(media: "/m", state: "/s", reserve: 0, file: disk)
        // Somebody else writes while the photo is written: the disk has less room than it told.
        let photo = [UInt8](repeating: 1, count: 5000)
        let steps = disk.steps
        disk.fail(step: steps + 4, ENOSPC)
        XCTAssertThrowsError(
            try photo.withUnsafeBytes { try store.savePhoto(MediaNumber(1), taken: someDay, bytes: $0) }
        ) { error in
            XCTAssertEqual((error as? HardwareError)?.kind, .full)
        }
        XCTAssertEqual(disk.usedBytes, 0)
        XCTAssertEqual(disk.openFiles, 0)
    }

    func testAFullTmpfs() throws {
        _ = try store()
        let mounted = mount("tmpfs", media, "tmpfs", 0, "size=256k")
        try XCTSkipIf(mounted != 0, "only root may mount; the model disk tells the same story")
        defer { umount2(media, Int32(MNT_DETACH)) }
        let store = try store()
        let photo = [UInt8](repeating: 7, count: 100_000)
        try save(store, 1, someDay, photo)
        try save(store, 2, someDay, photo)
        let before = try store.headroom()
        XCTAssertThrowsError(try save(store, 3, someDay, photo)) { error in
            XCTAssertEqual((error as? HardwareError)?.kind, .full)
        }
        let clip = try store.beginClip(MediaNumber(4), taken: someDay)
        XCTAssertThrowsError(
            try LinuxFileSystem().writeAll(clip.descriptor, at: 0, fragments + [UInt8](repeating: 0, count: 200_000))
        ) { error in
            XCTAssertEqual((error as? SystemFailure)?.code, ENOSPC)
        }
        XCTAssertEqual(
            folder.read(try store.publish(clip).path)?.prefix(fragments.count), fragments[...],
            "a full disk ends a clip, it doesn't lose it")
        XCTAssertEqual(try store.headroom() / 8192, (before - Int64(before)) / 8192, "the clip took what was left")
        XCTAssertEqual(
            folder.names(media + "/2026-11-30"), ["IMG_000001.jpg", "IMG_000002.jpg", "VID_000004.mp4"])
        folder.remove(media + "/2026-11-30/VID_000004.mp4")
        XCTAssertEqual(try store.headroom(), before, "the photo that didn't fit left nothing")
    }

    func testAFolderThatCannotBeMadeIsNamed() throws {
        XCTAssertThrowsError(try DurableStore(media: "/proc/fieldcam/media", state: state, reserve: 0)) { error in
            XCTAssertTrue("\(error)".hasPrefix("can't make the media folder '/proc/fieldcam/media': "), "\(error)")
        }
        XCTAssertThrowsError(try DurableStore(media: media, state: "/proc/fieldcam/state", reserve: 0)) { error in
            XCTAssertTrue("\(error)".hasPrefix("can't make the state folder '/proc/fieldcam/state': "), "\(error)")
        }
        folder.write(folder.path + "/file", [1])
        XCTAssertThrowsError(try DurableStore(media: folder.path + "/file", state: state, reserve: 0)) { error in
            XCTAssertEqual(
                "\(error)",
                "can't make the media folder '\(folder.path)/file': a file of that name is in the way; move it")
        }
    }

    func testAClipThatCannotBeMovedWaitsForTheNextStart() throws {
        let store = try store()
        _ = try store.reserveNumbers(10)
        let clip = try open(store, 1, fragments)
        folder.write(media + "/2026-11-30", [1])
        XCTAssertThrowsError(try store.publish(clip))
        XCTAssertEqual(folder.read(clip.path), fragments)
        folder.remove(media + "/2026-11-30")
        XCTAssertEqual(
            try self.store().recover().map(\.outcome),
            [.recovered(SavedFile(path: media + "/2026-11-30/VID_000001.mp4", byteCount: fragments.count))])
    }

    // MARK: One service a state folder

    func testASecondServiceIsToldWhoHoldsTheStateFolder() throws {
        var first: StateLock? = try StateLock(folder: state)
        XCTAssertEqual(first?.folder, state)
        XCTAssertThrowsError(try StateLock(folder: state)) { error in
            XCTAssertEqual((error as? HardwareError)?.kind, .busy)
            let start = "can't use the state folder '\(state)': the process \(getpid()) ("
            XCTAssertTrue("\(error)".hasPrefix(start), "\(error)")
            XCTAssertTrue(
                "\(error)".hasSuffix(") uses it; stop that, or choose another folder with --state"), "\(error)")
        }
        first = nil
        XCTAssertNoThrow(try StateLock(folder: state), "a process that ended holds nothing")
    }

    func testTheLockOfADeadProcessIsTaken() throws {
        mkdir(state, 0o755)
        folder.write(state + "/lock", Array("999999999\n".utf8))
        let lock = try StateLock(folder: state)
        XCTAssertEqual(folder.read(state + "/lock"), Array("\(getpid())\n".utf8))
        withExtendedLifetime(lock) {}
    }
}
