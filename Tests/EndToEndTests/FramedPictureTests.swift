import FieldcamDirector
import FieldcamServer
import FieldcamServiceKit
import FieldcamTestKit
import Glibc
import XCTest

/// Guide, aspect and overlay set while the service runs, and what comes to lie in the media folder.
final class FramedPictureTests: XCTestCase {
    private func photo(_ service: RunningService) throws -> JSON {
        let outcome = try service.run("photo", "--json")
        XCTAssertEqual(outcome.code, 0, outcome.errors)
        return try JSON(parsing: outcome.output.utf8)
    }

    private func file(_ json: JSON?) throws -> JPEGFile {
        guard case .string(let path)? = json else { throw KitError("no path in \(json as Any)") }
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { throw KitError("\(path) can't be opened") }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
        guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else { throw KitError("\(path) can't be read") }
        return JPEGFile(bytes)
    }

    private func size(_ json: JSON?) throws -> [Int] {
        let luma = try file(json).plane(0)
        return [luma.width, luma.height]
    }

    func testAGuideSetLiveCutsTheNextPhoto() throws {
        let service = try RunningService(settings: "photo.size = \"1280x720\"")
        XCTAssertEqual(try size(photo(service)["path"]), [1280, 720])

        XCTAssertEqual(try service.run("set", "guide.rect", "[0.25, 0.2, 0.5, 0.4]").code, 0)
        var event = try photo(service)
        XCTAssertEqual(try size(event["path"]), [1280, 720])
        XCTAssertEqual(try size(event["crop_path"]), [640, 288])
        XCTAssertEqual(event["review_path"], .null)

        XCTAssertEqual(try service.run("set", "photo.aspect", "4:3").code, 0)
        XCTAssertEqual(try service.run("set", "guide.review", "blur").code, 0)
        event = try photo(service)
        XCTAssertEqual([event["width"], event["height"]], [.integer(960), .integer(720)])
        XCTAssertEqual(try size(event["path"]), [960, 720])
        XCTAssertEqual(try size(event["crop_path"]), [640, 288])
        XCTAssertEqual(try size(event["review_path"]), [960, 720])
        // 320 - 160 and 144 are multiples of 16: the crop's blocks are the whole's.
        let (whole, crop) = (try file(event["path"]).blocks(0), try file(event["crop_path"]).blocks(0))
        XCTAssertEqual(crop.coefficients, whole.part(160 / 8, 144 / 8, 640 / 8, 288 / 8))

        XCTAssertEqual(try service.run("set", "guide.save", "[\"crop\"]").code, 0)
        event = try photo(service)
        XCTAssertEqual(event["path"], event["crop_path"])
        XCTAssertEqual(try size(event["path"]), [640, 288])
        XCTAssertEqual(
            service.files.map { String($0.split(separator: "/").last ?? "") },
            [
                "IMG_000001.jpg", "IMG_000002.jpg", "IMG_000002_crop.jpg", "IMG_000003.jpg", "IMG_000003_crop.jpg",
                "IMG_000003_review.jpg", "IMG_000004_crop.jpg", "IMG_000004_review.jpg",
            ])
        XCTAssertEqual(service.partial, [])
    }

    func testWhatCannotBeIsRefusedAndNothingChanges() throws {
        let service = try RunningService(settings: "")
        for (key, value, words) in [
            ("guide.rect", "[0.5, 0.5, 0.6, 0.1]", "each from 0 to 1, with x + width"),
            ("guide.rect", "[0.5, 0.5, 0.5, 0]", "from 0.02 to 1"),
            ("guide.corner_radius", "0.51", "from 0 to 0.5"),
            ("photo.aspect", "guide", "set guide.rect"),
            ("photo.aspect", "3:2", "\"16:9\""),
            ("overlay.grid", "guide", "set guide.rect"),
        ] {
            let outcome = try service.run("set", key, value)
            XCTAssertNotEqual(outcome.code, 0, "\(key) \(value)")
            XCTAssertTrue(outcome.errors.contains(words), "\(key) \(value): \(outcome.errors)")
        }
        XCTAssertEqual(try photo(service)["crop_path"], .null)
    }
}
