import FieldcamCore
import FieldcamMedia
import FieldcamPorts
import FieldcamTestKit
import XCTest

/// Crops, round corners, reviews and lines: in the file, and never in the frame.
final class FramedPhotoTests: XCTestCase {
    private let encoder = JPEGEncoder()
    private let formats: [(PixelFormat, ColourSpace)] = [
        (.yuv420, .sycc), (.nv12, .sycc), (.nv12, .rec709), (.bgr888, .srgb), (.rgb888, .srgb),
    ]

    private func encode(
        _ picture: TestPicture, quality: Int = 92, _ change: (inout StillPlan) -> Void = { _ in }
    ) throws -> JPEGFile {
        var plan = StillPlan(
            quality: quality, make: "m", model: "m", software: "s",
            taken: WallTime(
                year: 2026, month: 11, day: 30, hour: 7, minute: 5, second: 9, nanosecond: 0, offset: 0,
                isTrusted: true))
        change(&plan)
        picture.protect()
        return try withExtendedLifetime(picture) { JPEGFile(try encoder.encode(picture.image, plan: plan)) }
    }

    func testACropOnTheWholesBlocksIsTheSameBlocks() throws {
        for (format, colour) in formats {
            let picture = TestPicture(width: 638, height: 478, format: format, colour: colour)
            let whole = try encode(picture)
            let rect = PixelRect(x: 96, y: 160, width: 320, height: 192)
            let crop = try encode(picture) { $0.cut = rect }
            for component in 0..<3 {
                let side = component == 0 ? 8 : 16
                let (outer, inner) = (try whole.blocks(component), try crop.blocks(component))
                XCTAssertEqual(outer.table, inner.table)
                XCTAssertEqual([inner.across, inner.down], [rect.width / side, rect.height / side])
                XCTAssertEqual(
                    inner.coefficients,
                    outer.part(rect.x / side, rect.y / side, rect.width / side, rect.height / side),
                    "\(format) \(colour), component \(component)")
            }
        }
    }

    /// The right and lower edges too: there the whole's own blocks are padded.
    func testACropOfAnyPlaceAndSizeHoldsTheFramesPixels() throws {
        for format in [PixelFormat.yuv420, .nv12] {
            let picture = TestPicture(width: 638, height: 478, format: format)
            for rect in [
                PixelRect(x: 0, y: 0, width: 2, height: 2), PixelRect(x: 34, y: 18, width: 70, height: 46),
                PixelRect(x: 602, y: 450, width: 36, height: 28), PixelRect(x: 0, y: 100, width: 638, height: 2),
            ] {
                let luma = try encode(picture, quality: 100) { $0.cut = rect }.plane(0)
                XCTAssertEqual([luma.width, luma.height], [rect.width, rect.height])
                for y in 0..<luma.height {
                    for x in 0..<luma.width where abs(luma[x, y] - picture.value(0, rect.x + x, rect.y + y)) > 3 {
                        return XCTFail("\(format) \(rect) at \(x), \(y)")
                    }
                }
            }
        }
    }

    func testRoundCornersAreWhiteOutsideAndUntouchedInside() throws {
        for (format, colour) in formats {
            let picture = TestPicture(width: 640, height: 480, format: format, colour: colour)
            let rect = PixelRect(x: 64, y: 64, width: 320, height: 240)
            let plain = try encode(picture, quality: 100) { $0.cut = rect }.plane(0)
            let file = try encode(picture, quality: 100) {
                $0.cut = rect
                $0.cornerRadius = 48
            }
            let (luma, u) = (try file.plane(0), try file.plane(1))
            for (x, y) in [(0, 0), (319, 0), (0, 239), (319, 239), (8, 8), (311, 8), (8, 231), (311, 231)] {
                XCTAssertEqual(luma[x, y], 255, accuracy: 8, "\(format) \(colour) at \(x), \(y)")
                XCTAssertEqual(u[x / 2, y / 2], 128, accuracy: 4, "\(format) \(colour) at \(x), \(y)")
            }
            // On the round edge's inner side, on the straight edges, and in the middle.
            for (x, y) in [(48, 0), (271, 0), (0, 48), (319, 191), (160, 120), (24, 24), (160, 239)] {
                XCTAssertEqual(luma[x, y], plain[x, y], accuracy: 8, "\(format) \(colour) at \(x), \(y)")
            }
        }
    }

    func testTheReviewIsSharpInTheGuideAndBlurredAround() throws {
        for (format, colour) in formats {
            let picture = StripedPicture(width: 640, height: 480, format: format, colour: colour)
            let rect = PixelRect(x: 160, y: 120, width: 320, height: 240)
            let whole = try picture.encode(encoder) { _ in }.plane(0)
            let review = try picture.encode(encoder) { $0.sharp = StillPlan.Sharp(rect: rect, cornerRadius: 40) }.plane(
                0)
            XCTAssertEqual([review.width, review.height], [640, 480])
            // Stripes of four pixels: their range over sixteen is what a blur takes away.
            func range(_ plane: JPEGFile.Plane, _ x: Int, _ y: Int) -> Int {
                let values = (0..<16).map { plane[x + $0, y] }
                return values.max()! - values.min()!
            }
            for (x, y) in [(8, 8), (600, 8), (8, 460), (600, 460), (300, 60), (100, 240), (162, 122)] {
                let isCorner = x == 162
                XCTAssertLessThan(
                    range(review, x, y), isCorner ? 20 : range(whole, x, y) / 8, "\(format) \(colour) at \(x), \(y)")
            }
            for (x, y) in [(300, 240), (200, 122), (162, 240), (440, 356)] {
                XCTAssertGreaterThan(range(review, x, y), range(whole, x, y) - 12, "\(format) \(colour) at \(x), \(y)")
            }
        }
    }

    func testABorderLiesAroundTheCropWithoutTouchingIt() throws {
        for (format, colour) in formats {
            let picture = TestPicture(width: 640, height: 480, format: format, colour: colour)
            let rect = PixelRect(x: 160, y: 112, width: 320, height: 240)
            let plain = try encode(picture) { $0.cut = rect }
            let border = Overlay.border(rect, radius: 0, stroke: 4)
            let crop = try encode(picture) {
                $0.cut = rect
                $0.overlay = border
            }
            XCTAssertEqual(crop.bytes, plain.bytes, "\(format) \(colour)")
            let whole = try encode(picture) { $0.overlay = border }.plane(0)
            // Dark, light, dark outwards on all four sides.
            for (x, y, across, down) in [(159, 240, -1, 0), (480, 240, 1, 0), (320, 111, 0, -1), (320, 352, 0, 1)] {
                func stroke(_ index: Int) -> Int { whole[x + across * (4 * index + 2), y + down * (4 * index + 2)] }
                XCTAssertLessThan(stroke(0) + 60, stroke(1), "\(format) \(colour)")
                XCTAssertLessThan(stroke(2) + 60, stroke(1), "\(format) \(colour)")
            }
        }
    }

    func testThirdsPartThePictureIntoNine() throws {
        for (format, colour) in formats {
            let picture = TestPicture(width: 600, height: 450, format: format, colour: colour)
            let plain = try encode(picture, quality: 100).plane(0)
            let lined = try encode(picture, quality: 100) {
                $0.overlay = .thirds(PixelRect(x: 0, y: 0, width: 600, height: 450), stroke: 1)
            }.plane(0)
            for place in [200, 400] {
                XCTAssertGreaterThan(lined[place, 40], plain[place, 40] + 10, "\(format) \(colour): column \(place)")
            }
            for place in [150, 300] {
                XCTAssertGreaterThan(lined[40, place], plain[40, place] + 10, "\(format) \(colour): row \(place)")
            }
            for (x, y) in [(100, 75), (300, 225), (500, 400), (190, 75), (211, 75)] {
                XCTAssertEqual(lined[x, y], plain[x, y], accuracy: 12, "\(format) \(colour) at \(x), \(y)")
            }
        }
    }

    func testAGuideThatReachesOutOfThePictureIsDrawnAsFarAsItGoes() throws {
        let picture = TestPicture(width: 320, height: 240, format: .nv12)
        let rect = PixelRect(x: 0, y: 20, width: 320, height: 200)
        let cut = PixelRect(x: 40, y: 0, width: 240, height: 240)
        let file = try encode(picture) {
            $0.cut = cut
            $0.overlay = .border(rect, radius: 60, stroke: 3)
            $0.sharp = StillPlan.Sharp(rect: rect, cornerRadius: 60)
        }
        XCTAssertEqual([try file.plane(0).width, try file.plane(0).height], [240, 240])
    }

    func testOddAndTinyPicturesAreDrawnIntoToo() throws {
        for (format, colour) in formats {
            for (width, height) in [(1, 1), (3, 5), (17, 2), (65, 33)] {
                let picture = TestPicture(width: width, height: height, format: format, colour: colour)
                let file = try encode(picture) {
                    $0.overlay = .thirds(PixelRect(x: 0, y: 0, width: width, height: height), stroke: 1)
                    $0.sharp = StillPlan.Sharp(rect: PixelRect(x: 0, y: 0, width: 2, height: 2), cornerRadius: 1)
                    $0.cornerRadius = min(width, height) / 2
                }
                XCTAssertEqual([try file.plane(0).width, try file.plane(0).height], [width, height])
            }
        }
    }

    func testAClipsLinesAreInTheClipAndNotInTheFrames() throws {
        for (format, colour) in formats {
            for encoder in ["libx264", "mjpeg"] {
                let rect = PixelRect(x: 80, y: 60, width: 160, height: 120)
                let stage = try ClipStage(
                    ClipStage.plan(width: 320, height: 240, format: format, colour: colour, encoders: [encoder]) {
                        $0.overlay = .border(rect, radius: 0, stroke: 4)
                    })
                try stage.attach()
                // A write into the frame would be a crash.
                stage.picture.protect()
                for index in 0..<3 {
                    try stage.writer.append(stage.picture.image, at: stage.instant(Double(index) / 30))
                }
                XCTAssertEqual(try stage.finish(0.1)?.frames, 3)
                let luma = try stage.decoded().firstLuma
                XCTAssertEqual(luma.count, 320 * 240)
                func stroke(_ index: Int) -> Int { Int(luma[120 * 320 + 240 + 4 * index + 2]) }
                XCTAssertLessThan(stroke(0) + 40, stroke(1), "\(format) \(colour) \(encoder)")
                XCTAssertLessThan(stroke(2) + 40, stroke(1), "\(format) \(colour) \(encoder)")
            }
        }
    }
}

/// Upright stripes of four pixels, dark and light.
private final class StripedPicture {
    private let layout: ImageLayout
    private let memory: UnsafeMutableRawPointer

    init(width: Int, height: Int, format: PixelFormat, colour: ColourSpace) {
        layout = .packed(width: width, height: height, format: format, colour: colour)
        memory = .allocate(byteCount: layout.byteCount, alignment: 64)
        memset(memory, 128, layout.byteCount)
        let channels = format == .bgr888 || format == .rgb888 ? 3 : 1
        for y in 0..<height {
            let row = memory + y * layout.first.stride
            for x in 0..<width { memset(row + x * channels, x / 4 % 2 == 0 ? 60 : 200, channels) }
        }
    }

    deinit { memory.deallocate() }

    func encode(_ encoder: JPEGEncoder, _ change: (inout StillPlan) -> Void) throws -> JPEGFile {
        var plan = StillPlan(
            quality: 95, make: "m", model: "m", software: "s",
            taken: WallTime(
                year: 2026, month: 11, day: 30, hour: 7, minute: 5, second: 9, nanosecond: 0, offset: 0,
                isTrusted: true))
        change(&plan)
        return JPEGFile(try encoder.encode(Image(layout: layout, base: memory), plan: plan))
    }
}
