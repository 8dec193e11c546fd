import FieldcamCore
import XCTest

final class MediaNameTests: XCTestCase {
    func testNamesOfFilesAndFolders() {
        XCTAssertEqual(MediaName.file(.photo, MediaNumber(123)), "IMG_000123.jpg")
        XCTAssertEqual(MediaName.file(.crop, MediaNumber(123)), "IMG_000123_crop.jpg")
        XCTAssertEqual(MediaName.file(.clip, MediaNumber(124)), "VID_000124.mp4")
        XCTAssertEqual(MediaName.file(.photo, MediaNumber(1_234_567)), "IMG_1234567.jpg")
        XCTAssertEqual(MediaName.folder(year: 2026, month: 11, day: 30), "2026-11-30")
        XCTAssertEqual(MediaName.folder(year: 2027, month: 1, day: 2), "2027-01-02")
        XCTAssertEqual(MediaName.undated, "undated")
    }

    func testNamesAreReadBack() {
        for kind in MediaName.Kind.allCases {
            for value in [0, 7, 999_999, 1_000_000, 98_765_432] {
                let parsed = MediaName.parse(MediaName.file(kind, MediaNumber(value)))
                XCTAssertEqual(parsed?.kind, kind)
                XCTAssertEqual(parsed?.number, MediaNumber(value))
            }
        }
    }

    func testOtherNamesAreNotOurs() {
        for name in [
            "", "IMG_.jpg", "IMG_00012.jpg", "IMG_000123.jpeg", "img_000123.jpg", "IMG_00012a.jpg", "IMG_-00123.jpg",
            "IMG_0000123.jpg", "VID_000123.jpg", "IMG_000123.mp4", "VID_000124.mp4.part",
            "IMG_99999999999999999999.jpg",
            "IMG_000123_crop_crop.jpg", "IMG_٠٠٠١٢٣.jpg",
        ] {
            XCTAssertNil(MediaName.parse(name), name)
        }
    }
}
