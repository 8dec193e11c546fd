import FieldcamCore
import FieldcamPorts
import Glibc
import XCTest

@testable import FieldcamStorage

final class DurableStoreTests: XCTestCase {
    private var folder = ""

    override func setUp() {
        var template = Array("/tmp/fieldcam-store-XXXXXX".utf8CString)
        folder = String(cString: mkdtemp(&template)!)
    }

    override func tearDown() {
        let file = LinuxFileSystem()
        func remove(_ path: String) {
            for name in (try? file.names(in: path)) ?? [] {
                let child = "\(path)/\(name)"
                if file.isFolder(child) { remove(child) } else { try? file.remove(child) }
            }
            rmdir(path)
        }
        remove(folder)
    }

    func testAPhotoIsUnderItsFinalNameWhenSaveReturns() throws {
        let store = try DurableStore(media: folder + "/media", state: folder + "/state", reserve: 0)
        XCTAssertEqual(try store.recover(), [])
        let numbers = try store.reserveNumbers(8)
        XCTAssertEqual(numbers.next, MediaNumber(1))
        XCTAssertEqual(numbers.limit, MediaNumber(9))
        let saved = try save(store, MediaNumber(1), "a photo")
        XCTAssertEqual(saved.path, folder + "/media/2026-11-30/IMG_000001.jpg")
        XCTAssertEqual(try LinuxFileSystem().names(in: folder + "/media/.partial"), [])
        XCTAssertEqual(try DurableStore(media: folder + "/media", state: folder + "/state", reserve: 0).reserveNumbers(1).next, MediaNumber(9))
    }

    private func save(_ store: DurableStore, _ number: MediaNumber, _ text: String) throws -> SavedFile {
        var text = text
        return try text.withUTF8 { try store.savePhoto(number, taken: someDay, bytes: UnsafeRawBufferPointer($0)) }
    }
}

let someDay = WallTime(
    year: 2026, month: 11, day: 30, hour: 12, minute: 0, second: 0, nanosecond: 0, offset: 0, isTrusted: true)
