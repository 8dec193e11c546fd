import FieldcamCore
import FieldcamPorts
import Glibc
import XCTest

@testable import FieldcamDirector

/// The pure merging: noise goes down, what moves stays where the reference shows it.
final class FrameStackTests: XCTestCase {
    /// A picture in memory of its own.
    private final class Picture {
        let layout: ImageLayout
        let bytes: UnsafeMutablePointer<UInt8>
        init(_ layout: ImageLayout) {
            self.layout = layout
            bytes = .allocate(capacity: layout.byteCount)
            bytes.initialize(repeating: 0, count: layout.byteCount)
        }
        deinit { bytes.deallocate() }
        var image: Image { Image(layout: layout, base: UnsafeRawPointer(bytes)) }
    }

    private var state: UInt64 = 1

    /// Bell-shaped, standard deviation 1.
    private func noise() -> Double {
        var sum = 0.0
        for _ in 0..<12 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            sum += Double(state >> 40) / Double(1 << 24)
        }
        return sum - 6
    }

    /// A grey ramp with noise, and a bright square whose left edge lies at `x`; chroma 100 and 150, the square's 200 and 60.
    private func picture(_ layout: ImageLayout, deviation: Double, square x: Int?, offset: Double = 0) -> Picture {
        let picture = Picture(layout)
        func covers(_ column: Int, _ row: Int) -> Bool {
            x.map { column >= $0 && column < $0 + 20 } ?? false && row >= 30 && row < 61
        }
        for row in 0..<layout.height {
            for column in 0..<layout.width {
                let clean = covers(column, row) ? 170.0 : 60 + Double(column) / 4
                let value = clean + offset + deviation * noise()
                picture.bytes[layout.first.offset + row * layout.first.stride + column] =
                    UInt8(min(255, max(0, value.rounded())))
            }
        }
        for row in 0..<(layout.height + 1) / 2 {
            for column in 0..<(layout.width + 1) / 2 {
                let isSquare = covers(2 * column, 2 * row)
                let (u, v): (UInt8, UInt8) = isSquare ? (200, 60) : (100, 150)
                if layout.format == .nv12 {
                    let place = layout.second.offset + row * layout.second.stride + 2 * column
                    picture.bytes[place] = u
                    picture.bytes[place + 1] = v
                } else {
                    picture.bytes[layout.second.offset + row * layout.second.stride + column] = u
                    picture.bytes[layout.third.offset + row * layout.third.stride + column] = v
                }
            }
        }
        return picture
    }

    /// Standard deviation from the noise-free ramp, in the columns and rows given.
    private func deviation(_ image: Image, _ columns: Range<Int>, _ rows: Range<Int>) -> Double {
        var sum = 0.0
        for row in rows {
            for column in columns {
                let error = Double(image.plane(0)[row * image.layout.first.stride + column]) - 60 - Double(column) / 4
                sum += error * error
            }
        }
        return (sum / Double(rows.count * columns.count)).squareRoot()
    }

    private func merged(_ pictures: [Picture], in stack: FrameStack) throws -> Image {
        XCTAssertTrue(stack.begin(pictures[0].image))
        for picture in pictures.dropFirst() { XCTAssertTrue(stack.add(picture.image, to: pictures[0].image)) }
        XCTAssertEqual(stack.frames, pictures.count)
        return try XCTUnwrap(stack.finish())
    }

    func testEightFramesHaveAThirdOfTheNoise() throws {
        let stack = FrameStack()
        for format in [PixelFormat.yuv420, .nv12] {
            // Odd sizes too: blocks at the right and lower edge are smaller.
            for (width, height) in [(200, 120), (203, 117)] {
                let layout = ImageLayout.packed(width: width, height: height, format: format, colour: .sycc)
                let pictures = (0..<8).map { _ in picture(layout, deviation: 4, square: nil) }
                let before = deviation(pictures[0].image, 0..<width, 0..<height)
                let image = try merged(pictures, in: stack)
                let after = deviation(image, 0..<width, 0..<height)
                XCTAssertGreaterThan(before / after, 2.5, "\(format) \(width)x\(height)")
                XCTAssertGreaterThan(stack.mergedPart, 0.95)
                XCTAssertEqual(image.plane(1)[0], 100, "chroma is merged without a shift")
                XCTAssertEqual(image.layout, layout)
            }
        }
    }

    func testWhatMovesIsShownOnceWhereTheReferenceHasIt() throws {
        let layout = ImageLayout.packed(width: 256, height: 96, format: .yuv420, colour: .sycc)
        let stack = FrameStack()
        for step in [3, 11, 25] {
            let pictures = (0..<8).map { picture(layout, deviation: 3, square: 20 + step * $0) }
            let image = try merged(pictures, in: stack)
            for column in 0..<layout.width {
                var sum = 0.0
                for row in 34..<58 { sum += Double(image.plane(0)[row * layout.first.stride + column]) }
                let expected = (20..<40).contains(column) ? 170.0 : 60 + Double(column) / 4
                XCTAssertEqual(sum / 24, expected, accuracy: 2.5, "step \(step), column \(column)")
            }
            // Far from the square's way all frames count.
            XCTAssertLessThan(deviation(image, 0..<256, 72..<96), 3 / 2.5)
            XCTAssertEqual(image.plane(1)[22 * layout.second.stride + 15], 200)
        }
    }

    func testAPictureThatMovedAsAWholeIsTheReferenceAlone() throws {
        let layout = ImageLayout.packed(width: 256, height: 96, format: .nv12, colour: .sycc)
        let stack = FrameStack()
        let pictures = (0..<4).map { picture(layout, deviation: 2, square: nil, offset: Double($0) * 30) }
        let image = try merged(pictures, in: stack)
        XCTAssertEqual(stack.mergedPart, 0)
        for index in 0..<layout.width { XCTAssertEqual(image.plane(0)[index], pictures[0].image.plane(0)[index]) }
    }

    func testSixteenFramesAreTheMostAndBrightestWhiteStaysWhite() throws {
        let layout = ImageLayout.packed(width: 64, height: 32, format: .yuv420, colour: .sycc)
        let white = Picture(layout)
        for index in 0..<layout.byteCount { white.bytes[index] = 255 }
        let stack = FrameStack()
        XCTAssertTrue(stack.begin(white.image))
        for _ in 1..<16 { XCTAssertTrue(stack.add(white.image, to: white.image)) }
        XCTAssertFalse(stack.add(white.image, to: white.image))
        let image = try XCTUnwrap(stack.finish())
        for index in 0..<64 { XCTAssertEqual(image.plane(0)[index], 255) }
    }
}
