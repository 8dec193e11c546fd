import Clibexif
import FieldcamMedia
import FieldcamPorts
import XCTest

/// Photos are decoded by libjpeg and read by libexif: what comes out is what went in.
final class JPEGEncoderTests: XCTestCase {
    private let encoder = JPEGEncoder()
    private let sizes = [(640, 480), (638, 478), (1366, 768), (65, 33), (17, 1), (1, 1), (1920, 1080)]

    private func plan(_ change: (inout StillPlan) -> Void = { _ in }) -> StillPlan {
        var plan = StillPlan(
            quality: 100, make: "Raspberry Pi", model: "imx708", software: "fieldcam 1",
            taken: WallTime(
                year: 2026, month: 11, day: 30, hour: 7, minute: 5, second: 9, nanosecond: 123_456_789, offset: -12600,
                isTrusted: true))
        change(&plan)
        return plan
    }

    private func encode(_ picture: TestPicture, plan: StillPlan) throws -> UnsafeRawBufferPointer {
        // An image doesn't keep its memory; a lease does, and here the picture.
        try withExtendedLifetime(picture) { try encoder.encode(picture.image, plan: plan) }
    }

    func testPlanesComeBackUnchangedWhateverTheSize() throws {
        for format in [PixelFormat.yuv420, .nv12] {
            for (width, height) in sizes {
                let picture = TestPicture(width: width, height: height, format: format)
                let decoded = DecodedJPEG(try encode(picture, plan: plan()))
                XCTAssertEqual([decoded.width, decoded.height], [width, height])
                XCTAssertEqual(decoded.sampling, [[2, 2], [1, 1], [1, 1]])
                assertClose(decoded, within: 3, "\(format) \(width)x\(height)") { plane, x, y in
                    Double(picture.value(plane, x, y))
                }
            }
        }
    }

    func testRowsWithPaddingBetweenThemAreRead() throws {
        let picture = TestPicture(width: 638, height: 478, format: .nv12, alignment: 64)
        let decoded = DecodedJPEG(try encode(picture, plan: plan()))
        assertClose(decoded, within: 3, "padded") { plane, x, y in Double(picture.value(plane, x, y)) }
    }

    func testLimitedRangeBecomesFull() throws {
        for format in [PixelFormat.yuv420, .nv12] {
            for (width, height) in sizes {
                let picture = TestPicture(width: width, height: height, format: format, colour: .smpte170m)
                let decoded = DecodedJPEG(try encode(picture, plan: plan()))
                assertClose(decoded, within: 3, "\(format) \(width)x\(height)") { plane, x, y in
                    let value = Double(picture.value(plane, x, y))
                    return plane == 0 ? (value - 16) * 255 / 219 : (value - 128) * 255 / 224 + 128
                }
            }
        }
    }

    func testBT709BecomesBT601() throws {
        let picture = TestPicture(width: 638, height: 478, format: .nv12, colour: .rec709)
        let decoded = DecodedJPEG(try encode(picture, plan: plan()))
        // Through RGB, as the two standards define them.
        func converted(_ luma: Int, _ u: Int, _ v: Int) -> [Double] {
            let y = Double(luma - 16) / 219
            let (cb, cr) = (Double(u - 128) / 224, Double(v - 128) / 224)
            let red = y + 1.5748 * cr
            let blue = y + 1.8556 * cb
            let green = (y - 0.2126 * red - 0.0722 * blue) / 0.7152
            let luma601 = 0.299 * red + 0.587 * green + 0.114 * blue
            return [
                luma601 * 255, (blue - luma601) / 1.772 * 255 + 128, (red - luma601) / 1.402 * 255 + 128,
            ]
        }
        assertClose(decoded, within: 3, "BT.709") { plane, x, y in
            let (chromaX, chromaY) = plane == 0 ? (x / 2, y / 2) : (x, y)
            let (lumaX, lumaY) = plane == 0 ? (x, y) : (x * 2, y * 2)
            return converted(
                picture.value(0, lumaX, lumaY), picture.value(1, chromaX, chromaY), picture.value(2, chromaX, chromaY)
            )[plane]
        }
    }

    func testRGBInEitherOrderOfBytes() throws {
        for format in [PixelFormat.bgr888, .rgb888] {
            for (width, height) in [(640, 480), (638, 478), (65, 33)] {
                let picture = TestPicture(width: width, height: height, format: format, colour: .srgb)
                let decoded = DecodedJPEG(try encode(picture, plan: plan()), asRGB: true)
                assertClose(decoded, within: 8, "\(format) \(width)x\(height)") { plane, x, y in
                    Double(picture.value(plane, x, y))
                }
            }
        }
    }

    func testOneEncoderMakesPhotosOfManySizesAndQualities() throws {
        let small = TestPicture(width: 320, height: 240)
        let large = TestPicture(width: 1366, height: 768, format: .nv12)
        let first = Array(try encode(small, plan: plan()))
        _ = try encode(large, plan: plan { $0.quality = 30 })
        XCTAssertEqual(Array(try encode(small, plan: plan())), first)
        let coarse = try encode(small, plan: plan { $0.quality = 20 }).count
        XCTAssertLessThan(coarse, first.count / 2)
    }

    func testASenselessQualityIsRefusedAndTheNextPhotoIsFine() throws {
        let picture = TestPicture(width: 64, height: 64)
        XCTAssertThrowsError(try encode(picture, plan: plan { $0.quality = 0 })) { error in
            XCTAssertEqual((error as? HardwareError)?.kind, .invalid)
        }
        XCTAssertEqual(DecodedJPEG(try encode(picture, plan: plan())).width, 64)
    }

    // MARK: EXIF

    private final class Exif {
        let data: UnsafeMutablePointer<ExifData>
        init(_ file: UnsafeRawBufferPointer) {
            data = exif_data_new_from_data(file.bindMemory(to: UInt8.self).baseAddress, UInt32(file.count))
        }
        deinit { exif_data_unref(data) }
        func content(_ ifd: Int) -> UnsafeMutablePointer<ExifContent> {
            [data.pointee.ifd.0, data.pointee.ifd.1, data.pointee.ifd.2][ifd]!
        }
        func text(_ ifd: Int, _ tag: ExifTag) -> String? {
            guard let entry = exif_content_get_entry(content(ifd), tag) else { return nil }
            return String(
                decoding: UnsafeBufferPointer(start: entry.pointee.data, count: Int(entry.pointee.size)), as: UTF8.self)
        }
        func number(_ ifd: Int, _ tag: ExifTag) -> Double? {
            guard let entry = exif_content_get_entry(content(ifd), tag) else { return nil }
            let order = exif_data_get_byte_order(data)
            switch entry.pointee.format {
            case EXIF_FORMAT_SHORT: return Double(exif_get_short(entry.pointee.data, order))
            case EXIF_FORMAT_LONG: return Double(exif_get_long(entry.pointee.data, order))
            case EXIF_FORMAT_RATIONAL:
                let fraction = exif_get_rational(entry.pointee.data, order)
                return Double(fraction.numerator) / Double(fraction.denominator)
            default: return nil
            }
        }
    }

    func testExifTellsWhenWhereWithAndHow() throws {
        let picture = TestPicture(width: 1366, height: 768)
        let exif = Exif(
            try encode(
                picture,
                plan: plan {
                    $0.exposure = .microseconds(8333)
                    $0.gain = 2.5
                    $0.lensPosition = 4
                    $0.flashFired = true
                    $0.rotation = 90
                }))
        XCTAssertEqual(exif.text(0, EXIF_TAG_MAKE), "Raspberry Pi\0")
        XCTAssertEqual(exif.text(0, EXIF_TAG_MODEL), "imx708\0")
        XCTAssertEqual(exif.text(0, EXIF_TAG_SOFTWARE), "fieldcam 1\0")
        XCTAssertEqual(exif.number(0, EXIF_TAG_ORIENTATION), 6)
        XCTAssertEqual(exif.text(2, EXIF_TAG_EXIF_VERSION), "0232")
        XCTAssertEqual(exif.text(2, EXIF_TAG_DATE_TIME_ORIGINAL), "2026:11:30 07:05:09\0")
        XCTAssertEqual(exif.text(2, EXIF_TAG_SUB_SEC_TIME_ORIGINAL), "123\0")
        XCTAssertEqual(exif.text(2, EXIF_TAG_OFFSET_TIME_ORIGINAL), "-03:30\0")
        XCTAssertEqual(exif.number(2, EXIF_TAG_EXPOSURE_TIME)!, 0.008333, accuracy: 1e-9)
        XCTAssertEqual(exif.number(2, EXIF_TAG_ISO_SPEED_RATINGS), 250)
        XCTAssertEqual(exif.number(2, EXIF_TAG_SUBJECT_DISTANCE), 0.25)
        XCTAssertEqual(exif.number(2, EXIF_TAG_FLASH), 1)
        XCTAssertEqual(exif.number(2, EXIF_TAG_PIXEL_X_DIMENSION), 1366)
        XCTAssertEqual(exif.number(2, EXIF_TAG_PIXEL_Y_DIMENSION), 768)
    }

    func testExifLeavesOutWhatIsntKnown() throws {
        let exif = Exif(try encode(TestPicture(width: 64, height: 64), plan: plan()))
        XCTAssertNil(exif.number(2, EXIF_TAG_EXPOSURE_TIME))
        XCTAssertNil(exif.number(2, EXIF_TAG_ISO_SPEED_RATINGS))
        XCTAssertNil(exif.number(2, EXIF_TAG_SUBJECT_DISTANCE))
        XCTAssertEqual(exif.number(2, EXIF_TAG_FLASH), 0x20)
    }

    func testAllEightOrientations() throws {
        let picture = TestPicture(width: 16, height: 16)
        for (rotation, mirror, expected) in [
            (0, false, 1), (90, false, 6), (180, false, 3), (270, false, 8), (0, true, 2), (90, true, 5),
            (180, true, 4), (270, true, 7),
        ] {
            let file = try encode(
                picture,
                plan: plan {
                    $0.rotation = rotation
                    $0.mirror = mirror
                })
            XCTAssertEqual(Exif(file).number(0, EXIF_TAG_ORIENTATION), Double(expected), "\(rotation) \(mirror)")
        }
    }

    func testTheThumbnailIsTheSamePictureAtTheAskedSize() throws {
        for format in [PixelFormat.yuv420, .nv12, .bgr888] {
            let picture = TestPicture(
                width: 1366, height: 768, format: format, colour: format == .bgr888 ? .srgb : .sycc)
            let exif = Exif(try encode(picture, plan: plan { $0.thumbnail = 160 }))
            let bytes = UnsafeRawBufferPointer(start: exif.data.pointee.data, count: Int(exif.data.pointee.size))
            let isRGB = format == .bgr888
            let small = DecodedJPEG(bytes, asRGB: isRGB)
            XCTAssertLessThanOrEqual(small.width, 160)
            XCTAssertGreaterThan(small.width, 140)
            let box = 9  // 1366 / 160, rounded up
            XCTAssertEqual([small.width, small.height], [1366 / box, 768 / box])
            for y in stride(from: 1, to: small.height - 1, by: 5) {
                for x in stride(from: 1, to: small.width - 1, by: 5) {
                    let expected = picture.value(0, x * box + box / 2, y * box + box / 2)
                    XCTAssertEqual(Double(small.planes[0][y * small.width + x]), Double(expected), accuracy: 14)
                }
            }
        }
    }

    func testWithoutThumbnailThereIsNone() throws {
        let exif = Exif(
            try encode(TestPicture(width: 320, height: 240), plan: plan { $0.thumbnail = 0 }))
        XCTAssertEqual(exif.data.pointee.size, 0)
    }

    private func assertClose(
        _ decoded: DecodedJPEG, within tolerance: Double, _ what: String, _ expected: (Int, Int, Int) -> Double
    ) {
        for plane in 0..<3 {
            let isHalved = decoded.planes[plane].count < decoded.width * decoded.height
            let width = isHalved ? (decoded.width + 1) / 2 : decoded.width
            var worst = (difference: 0.0, x: 0, y: 0)
            for (index, value) in decoded.planes[plane].enumerated() {
                let (x, y) = (index % width, index / width)
                let difference = abs(Double(value) - min(255, max(0, expected(plane, x, y))))
                if difference > worst.difference { worst = (difference, x, y) }
            }
            XCTAssertLessThanOrEqual(
                worst.difference, tolerance, "\(what): plane \(plane) at \(worst.x), \(worst.y)")
        }
    }
}
