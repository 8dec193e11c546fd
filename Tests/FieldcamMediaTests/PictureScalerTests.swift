import FieldcamPorts
import XCTest

@testable import FieldcamMedia

/// A camera's frames become a clip's size: square pixels, the middle, the right place of every pixel, no byte too many read.
final class PictureScalerTests: XCTestCase {
    /// Camera and clip: 11:9 of 4:3 and 16:9, a third of the height, 1088 rows for 1080, a few columns too many, odd sides.
    private let cases = [
        (640, 480, 352, 288), (960, 540, 352, 288), (640, 480, 640, 360), (320, 184, 320, 180), (328, 240, 320, 240),
        (642, 480, 640, 480), (641, 363, 352, 198), (1920, 1088, 640, 360), (400, 700, 160, 160),
    ]

    func testEveryPixelComesFromItsPlace() throws {
        for format in [PixelFormat.yuv420, .nv12] {
            for (width, height, toWidth, toHeight) in cases {
                let picture = TestPicture(width: width, height: height, format: format)
                let size = Size(width: toWidth, height: toHeight)
                let scaler = try PictureScaler(from: picture.layout, to: size, keepsTransfer: true)
                let made = scaler.scale(picture.image)
                XCTAssertEqual([made.layout.width, made.layout.height], [toWidth, toHeight])
                XCTAssertEqual(made.layout.format, format)
                let step = min(Double(width) / Double(toWidth), Double(height) / Double(toHeight))
                // Crop only: one to one.
                let scale = step < 1.1 ? 1 : step
                let left = (Double(width) - Double(toWidth) * scale) / 2
                let top = (Double(height) - Double(toHeight) * scale) / 2
                var worst = 0.0
                for y in stride(from: 2, to: toHeight - 2, by: 7) {
                    for x in stride(from: 2, to: toWidth - 2, by: 11) {
                        let (fx, fy) = (left + (Double(x) + 0.5) * scale, top + (Double(y) + 0.5) * scale)
                        let place = Int(fx + fy - 1) % 512
                        // The ramp's corners are rounded off.
                        guard place > 12, place < 500, abs(place - 256) > 12 else { continue }
                        let wanted = Double(picture.value(0, Int(fx), Int(fy)))
                        let found = Double(made.plane(0)[y * made.layout.first.stride + x])
                        worst = max(worst, abs(found - wanted))
                    }
                }
                // The ramp rises 0.76 a pixel each way: half a chroma step, two pixels and one of rounding.
                XCTAssertLessThan(worst, 3.5, "\(format) \(width)x\(height) to \(toWidth)x\(toHeight)")
            }
        }
    }

    func testAFewRowsTooManyAreCutOffWithoutACopy() throws {
        let picture = TestPicture(width: 1920, height: 1088, format: .nv12)
        let scaler = try PictureScaler(
            from: picture.layout, to: Size(width: 1920, height: 1080), keepsTransfer: true)
        let made = scaler.scale(picture.image)
        XCTAssertEqual(made.plane(0), picture.image.plane(0) + 4 * picture.layout.first.stride)
        XCTAssertEqual(made.plane(1), picture.image.plane(1) + 2 * picture.layout.second.stride)
    }

    func testClipsOfAnyLayoutAndEncoderHaveTheAskedSize() throws {
        for encoder in ["libx264", "mjpeg"] {
            for format in [PixelFormat.yuv420, .nv12, .bgr888, .rgb888] {
                for (width, height, toWidth, toHeight) in [cases[3], (320, 184, 160, 120), (162, 120, 160, 120)] {
                    let isRGB = format == .bgr888 || format == .rgb888
                    let stage = try ClipStage(
                        ClipStage.plan(
                            width: width, height: height, format: format, colour: isRGB ? .srgb : .sycc,
                            encoders: [encoder]
                        ) { $0.size = Size(width: toWidth, height: toHeight) })
                    try stage.attach()
                    for index in 0..<3 { try stage.frame(at: Double(index) / 30, phase: 0) }
                    _ = try stage.finish(0.1)
                    let clip = try stage.decoded()
                    XCTAssertEqual([clip.width, clip.height], [toWidth, toHeight])
                    XCTAssertEqual(clip.times.count, 3)
                    XCTAssertEqual(clip.decodeErrors, 0)
                    guard !isRGB else { continue }
                    var sum = 0.0
                    let step = min(Double(width) / Double(toWidth), Double(height) / Double(toHeight))
                    let scale = step < 1.1 ? 1 : step
                    let left = (Double(width) - Double(toWidth) * scale) / 2
                    let top = (Double(height) - Double(toHeight) * scale) / 2
                    for y in 0..<toHeight {
                        for x in 0..<toWidth {
                            sum += Double(
                                stage.picture.value(
                                    0, Int(left + (Double(x) + 0.5) * scale), Int(top + (Double(y) + 0.5) * scale)))
                        }
                    }
                    XCTAssertEqual(clip.lumas[0], sum / Double(toWidth * toHeight), accuracy: 1.5)
                }
            }
        }
    }
}
