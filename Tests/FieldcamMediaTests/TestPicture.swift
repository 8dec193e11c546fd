import FieldcamPorts
import Glibc

/// A picture with known pixels, in memory that ends at a page nobody may touch: a read beyond the last row is a crash.
final class TestPicture {
    let layout: ImageLayout
    private let mapping: UnsafeMutableRawPointer
    private let mapped: Int
    private let base: UnsafeMutableRawPointer

    /// A smooth pattern in luma and chroma (or red, green, blue) that moves with `phase`; rows lie end to end.
    init(
        width: Int, height: Int, format: PixelFormat = .yuv420, colour: ColourSpace = .sycc, phase: Int = 0,
        alignment: Int = 2
    ) {
        layout = .packed(width: width, height: height, format: format, colour: colour, alignment: alignment)
        let page = 4096
        mapped = (layout.byteCount + page - 1) / page * page + page
        mapping = mmap(nil, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
        precondition(mapping != MAP_FAILED)
        mprotect(mapping + mapped - page, page, PROT_NONE)
        base = mapping + (mapped - page - layout.byteCount)
        fill(phase: phase)
    }

    deinit { munmap(mapping, mapped) }

    /// From now on a write into the picture is a crash.
    func protect() { mprotect(mapping, mapped - 4096, PROT_READ) }

    var image: Image { Image(layout: layout, base: base) }

    /// The value that plane `plane` (Y, U, V or R, G, B) has at a sample.
    func value(_ plane: Int, _ x: Int, _ y: Int) -> Int { Self.value(plane, x, y, phase: phase, format: layout.format) }

    private(set) var phase = 0

    func fill(phase: Int) {
        self.phase = phase
        let chromaWidth = (layout.width + 1) / 2
        let chromaHeight = (layout.height + 1) / 2
        switch layout.format {
        case .yuv420:
            fill(layout.first, 0, layout.width, layout.height, step: 1, at: 0)
            fill(layout.second, 1, chromaWidth, chromaHeight, step: 1, at: 0)
            fill(layout.third, 2, chromaWidth, chromaHeight, step: 1, at: 0)
        case .nv12:
            fill(layout.first, 0, layout.width, layout.height, step: 1, at: 0)
            fill(layout.second, 1, chromaWidth, chromaHeight, step: 2, at: 0)
            fill(layout.second, 2, chromaWidth, chromaHeight, step: 2, at: 1)
        case .bgr888, .rgb888:
            for plane in 0..<3 {
                let place = layout.format == .bgr888 ? plane : 2 - plane
                fill(layout.first, plane, layout.width, layout.height, step: 3, at: place)
            }
        }
    }

    private func fill(_ plane: ImageLayout.Plane, _ index: Int, _ width: Int, _ height: Int, step: Int, at: Int) {
        for y in 0..<height {
            let row = (base + plane.offset + y * plane.stride).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width {
                row[x * step + at] = UInt8(Self.value(index, x, y, phase: phase, format: layout.format))
            }
        }
    }

    private static func value(_ plane: Int, _ x: Int, _ y: Int, phase: Int, format: PixelFormat) -> Int {
        // Triangles, so that nothing but the corners is sharp, within 30 … 225: legal in every range.
        func triangle(_ position: Int, _ period: Int) -> Int {
            let place = position % period
            return min(place, period - place) * 2 * 195 / period + 30
        }
        let scale = plane == 0 || format == .bgr888 || format == .rgb888 ? 1 : 2
        switch plane {
        case 0: return triangle(x + y + phase * 8, 512)
        case 1: return triangle(x * scale + 300, 1024)
        default: return triangle(y * scale + 100, 768)
        }
    }
}
