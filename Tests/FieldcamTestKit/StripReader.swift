import CFieldcamTestKit
import FieldcamCore
import FieldcamPorts
import FieldcamSimulator
import Glibc

/// Reads the strip of a simulated frame (`Strip`) from any picture that was made of it: scaled, squeezed, compressed, or
/// cropped around its middle.
public enum StripReader {
    /// Reads it from the luma of an image in memory.
    public static func read(_ image: Image) -> Strip? {
        guard image.layout.format == .yuv420 || image.layout.format == .nv12 else { return nil }
        return read(
            luma: image.plane(0), width: image.layout.width, height: image.layout.height,
            stride: image.layout.first.stride)
    }

    /// Reads it from a luma plane (any bright-dark plane does, such as green), `width` × `height`, rows `stride` bytes apart.
    /// - Returns: `nil` if no strip with a right checksum is there.
    public static func read(luma: UnsafePointer<UInt8>, width: Int, height: Int, stride: Int) -> Strip? {
        // What part of the frame's width, or height, a centred crop may have left: whole; a 16:9 frame as 3:2, 4:3, 11:9, 1:1;
        // a 4:3 frame as 16:9.
        let widths = [1, 0.84375, 0.75, 0.6875, 0.5625]
        let heights = [1, 0.75]
        for keptHeight in heights {
            for keptWidth in widths {
                let plane = Plane(
                    luma: luma, width: width, height: height, stride: stride, keptWidth: keptWidth,
                    keptHeight: keptHeight)
                if let strip = plane.read() { return strip }
            }
        }
        return nil
    }

    /// Reads it from a JPEG file in memory, which must decode to its end.
    /// - Throws: libjpeg's words, if it doesn't.
    public static func read(jpeg: UnsafeRawBufferPointer) throws(ContractFailure) -> Strip? {
        let picture = try DecodedLuma(jpeg: jpeg)
        return picture.read()
    }

    /// Reads it from a JPEG file, which must decode to its end.
    public static func read(jpegFile path: String) throws(ContractFailure) -> Strip? {
        guard let file = fopen(path, "rb") else { throw ContractFailure("\(path) can't be opened") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes.append(contentsOf: chunk[..<count])
        }
        let picture: DecodedLuma
        do {
            picture = try bytes.withUnsafeBytes { raw throws(ContractFailure) in try DecodedLuma(jpeg: raw) }
        } catch {
            throw ContractFailure("\(path): \(error)")
        }
        return picture.read()
    }

    private struct Plane {
        let luma: UnsafePointer<UInt8>
        let width: Int
        let height: Int
        let stride: Int
        let keptWidth: Double
        let keptHeight: Double

        /// Mean of a cell's inner part, where no neighbour rings; `nil` outside of the picture.
        func mean(column: Int, row: Int) -> Int? {
            let place = Strip.place
            func span(_ cell: Double, _ start: Double, _ size: Double, _ kept: Double, _ length: Int) -> (Int, Int) {
                // From the whole frame's fractions to pixels of what the crop kept.
                func pixel(_ fraction: Double) -> Double { ((fraction - 0.5) / kept + 0.5) * Double(length) }
                let from = pixel(start + size * (cell + 0.28))
                let to = pixel(start + size * (cell + 0.72))
                return (Int(from.rounded()), max(Int(from.rounded()) + 1, Int(to.rounded())))
            }
            let (left, right) = span(Double(column), place.left, place.cellWidth, keptWidth, width)
            let (top, bottom) = span(Double(row), place.top, place.cellHeight, keptHeight, height)
            guard left >= 0, right <= width, top >= 0, bottom <= height else { return nil }
            var sum = 0
            for y in top..<bottom {
                for x in left..<right { sum += Int(luma[y * stride + x]) }
            }
            return sum / ((right - left) * (bottom - top))
        }

        func read() -> Strip? {
            var bright = 0
            var dark = 0
            for column in 0..<Strip.columns {
                guard let mean = mean(column: column, row: 0) else { return nil }
                if column % 2 == 0 { bright += mean } else { dark += mean }
            }
            let half = Strip.columns / 2
            guard bright > dark + 60 * half else { return nil }
            let threshold = (bright + dark) / (2 * half)
            func word(_ row: Int) -> UInt32 {
                var word: UInt32 = 0
                for column in 0..<Strip.columns {
                    word = word << 1 | ((mean(column: column, row: row) ?? 0) > threshold ? 1 : 0)
                }
                return word
            }
            return Strip(words: (word(1), word(2), word(3), word(4), word(5), word(6)))
        }
    }
}
