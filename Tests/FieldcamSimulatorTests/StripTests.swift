import CFieldcamTestKit
import FieldcamCore
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// The strip is read from whatever becomes of a frame.
final class StripTests: XCTestCase {
    /// A picture in memory that can be scaled, cropped and compressed.
    private struct Picture {
        var width: Int
        var height: Int
        var pixels: [UInt8]

        init(_ image: Image) {
            width = image.layout.width
            height = image.layout.height
            pixels = []
            for row in 0..<height {
                pixels.append(
                    contentsOf: UnsafeBufferPointer(
                        start: image.plane(0) + row * image.layout.first.stride, count: width))
            }
        }

        /// Each pixel is the mean of what it covers, as a good scaler does.
        func scaled(_ newWidth: Int, _ newHeight: Int) -> Picture {
            var result = self
            result.width = newWidth
            result.height = newHeight
            result.pixels = []
            for y in 0..<newHeight {
                let rows = (y * height / newHeight)..<max(y * height / newHeight + 1, (y + 1) * height / newHeight)
                for x in 0..<newWidth {
                    let columns = (x * width / newWidth)..<max(x * width / newWidth + 1, (x + 1) * width / newWidth)
                    var sum = 0
                    for row in rows { for column in columns { sum += Int(pixels[row * width + column]) } }
                    result.pixels.append(UInt8(sum / (rows.count * columns.count)))
                }
            }
            return result
        }

        func cropped(_ newWidth: Int, _ newHeight: Int) -> Picture {
            var result = self
            result.width = newWidth
            result.height = newHeight
            result.pixels = []
            let left = (width - newWidth) / 2
            let top = (height - newHeight) / 2
            for y in top..<(top + newHeight) {
                result.pixels.append(contentsOf: pixels[(y * width + left)..<(y * width + left + newWidth)])
            }
            return result
        }

        func compressed(quality: Int) throws -> Strip? {
            var bytes: UnsafeMutablePointer<UInt8>?
            let size = fc_test_jpeg_encode(pixels, Int32(width), Int32(height), Int32(quality), &bytes)
            defer { fc_test_jpeg_free(bytes) }
            return try StripReader.read(jpeg: UnsafeRawBufferPointer(start: XCTUnwrap(bytes), count: size))
        }

        func read() -> Strip? { StripReader.read(luma: pixels, width: width, height: height, stride: width) }
    }

    private func picture(_ width: Int, _ height: Int) throws -> (Picture, Strip) {
        let rig = try CameraRig(
            still: Size(width: width, height: height), video: Size(width: width, height: height), slots: 2)
        var picture: Picture?
        let frame = try XCTUnwrap(rig.next { _, lease in picture = Picture(lease.still) })
        let strip = Strip(
            sequence: UInt32(frame.ref.sequence), exposureStart: frame.exposureStart, exposureEnd: frame.exposureEnd)
        return (try XCTUnwrap(picture), strip)
    }

    func testItSurvivesEveryPresetsScaling() throws {
        for (width, height) in [(1920, 1080), (1440, 1080)] {
            let (whole, strip) = try picture(width, height)
            for (newWidth, newHeight) in [
                (352, 288), (640, 360), (640, 480), (960, 540), (1280, 720), (320, 240), (800, 600),
            ] {
                let scaled = whole.scaled(newWidth, newHeight)
                XCTAssertEqual(scaled.read(), strip, "\(width)x\(height) to \(newWidth)x\(newHeight)")
                XCTAssertEqual(
                    try scaled.compressed(quality: 50), strip, "\(width)x\(height) to \(newWidth)x\(newHeight), JPEG")
            }
        }
    }

    func testItSurvivesJPEG() throws {
        for (width, height) in [(352, 288), (640, 360), (1920, 1080)] {
            let (whole, strip) = try picture(width, height)
            for quality in [92, 60, 30] {
                XCTAssertEqual(try whole.compressed(quality: quality), strip, "\(width)x\(height) at \(quality)")
            }
        }
    }

    func testItSurvivesACropToASquare() throws {
        let (whole, strip) = try picture(1920, 1080)
        for width in [1440, 1080, 1320] {
            XCTAssertEqual(whole.cropped(width, 1080).read(), strip, "\(width)x1080")
            XCTAssertEqual(whole.cropped(width, 1080).scaled(width / 3, 360).read(), strip, "\(width / 3)x360")
        }
    }

    func testADamagedStripIsNotRead() throws {
        var (whole, strip) = try picture(640, 360)
        XCTAssertEqual(whole.read(), strip)
        // One cell of the third row is turned over.
        for y in (3 * 8)..<(4 * 8) {
            for x in 200..<210 { whole.pixels[y * 640 + x] = 255 - whole.pixels[y * 640 + x] }
        }
        XCTAssertNil(whole.read())
        whole.pixels = Array(repeating: 90, count: 640 * 360)
        XCTAssertNil(whole.read())
    }

    func testExtremeValuesComeThrough() {
        for (sequence, start, end) in [
            (UInt32.max, Int64.max - 1, Int64.max), (0, 0, 0), (1, -5, 5), (0xDEAD_BEEF, 1, 0x0123_4567_89AB_CDEF),
        ] {
            let strip = Strip(
                sequence: sequence, exposureStart: Instant(nanoseconds: start), exposureEnd: Instant(nanoseconds: end))
            let (_, a, b, c, d, e, f) = strip.words
            XCTAssertEqual(Strip(words: (a, b, c, d, e, f)), strip)
            XCTAssertNil(Strip(words: (a, b, c ^ 1, d, e, f)))
        }
    }
}
