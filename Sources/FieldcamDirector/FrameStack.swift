import FieldcamPorts
import Glibc

/// Merges frames of a still scene into one picture with less noise, without ghosts of what moved.
///
/// The first frame is the *reference*: it decides what the picture shows. Of each further frame only those blocks of
/// 8 × 8 pixels are added whose eight neighbours and themselves differ from the reference by no more than noise does; so a
/// block is the mean of 1 … N frames, and noise goes down by the square root of that. How much noise does is read from the
/// frames themselves: most blocks of a scene taken from a stand don't move, so the median difference of blocks of like
/// brightness is that of noise alone. If the whole picture moved it isn't; then the reference's own grain sets the limit.
///
/// Integer arithmetic on YUV 4:2:0 (planar, NV12) and RGB alike. Memory: 2 bytes for each byte of the image and
/// 9 bytes for each block, mapped when it is first used and kept; nothing else is allocated. Owned by one thread at a time.
final class FrameStack {
    static let side = 8
    /// A mean of more wouldn't fit into 16 bits: 16 × 255 is far below.
    static let maximumFrames = 16
    /// Brightness classes of blocks: sensor noise and tone curve make noise depend on it.
    private static let classes = 8
    /// Differences are counted in 16ths of a pixel value, up to 32 of them.
    private static let bins = 512

    /// Blocks of luma that were merged, of all blocks of the frames after the first, 0 … 1: tells movement.
    private(set) var mergedPart = 1.0
    private(set) var frames = 0

    private var layout: ImageLayout?
    private var memory: UnsafeMutableRawPointer?
    private var byteCount = 0
    private var columns = 0
    private var rows = 0
    private var sums: UnsafeMutablePointer<UInt16>!
    /// Frames in each block.
    private var counts: UnsafeMutablePointer<UInt8>!
    /// Sum of differences to the reference, of magnitudes of them, and the reference's sum.
    private var drift: UnsafeMutablePointer<Int16>!
    private var spread: UnsafeMutablePointer<UInt16>!
    private var level: UnsafeMutablePointer<UInt16>!
    private var moved: UnsafeMutablePointer<UInt8>!
    private let histogram: UnsafeMutablePointer<UInt32>
    private var grain = 0
    private var added = 0
    private var offered = 0

    init() {
        histogram = .allocate(capacity: 2 * (Self.classes + 1) * Self.bins)
    }

    deinit {
        if let memory { munmap(memory, byteCount) }
        histogram.deallocate()
    }

    /// Bytes that images of this layout need.
    static func bytes(for layout: ImageLayout) -> Int {
        let blocks = (layout.lumaWidth + side - 1) / side * ((layout.height + side - 1) / side)
        return 2 * layout.byteCount + 9 * blocks + 64
    }

    /// Begins with the reference. False: there is no memory for it.
    func begin(_ image: Image) -> Bool {
        guard adopt(image.layout) else { return false }
        frames = 1
        added = 0
        offered = 0
        mergedPart = 1
        counts.update(repeating: 1, count: columns * rows)
        for part in image.layout.parts {
            for row in 0..<part.height {
                let source = image.bytes(part, row)
                let sum = sums + part.offset + row * part.stride
                for index in 0..<part.width { sum[index] = UInt16(source[index]) }
            }
        }
        measureGrain(image)
        return true
    }

    /// Adds a further frame of the same layout. False: it is another's, or the stack is full.
    @discardableResult
    func add(_ image: Image, to reference: Image) -> Bool {
        guard let layout, image.layout == layout, reference.layout == layout, frames > 0, frames < Self.maximumFrames
        else { return false }
        frames += 1
        compare(image, reference)
        judge()
        merge(image)
        return true
    }

    /// The picture; valid until the next `begin`. No frame can be added after it.
    func finish() -> Image? {
        guard let layout, let memory, frames > 0 else { return nil }
        frames = 0
        mergedPart = offered == 0 ? 1 : Double(added) / Double(offered)
        // A byte is written behind all sums that are still to be read: in place, forwards.
        let bytes = UnsafeMutableRawPointer(sums).assumingMemoryBound(to: UInt8.self)
        for part in layout.parts {
            for row in 0..<part.height {
                let start = part.offset + row * part.stride
                let blocks = counts + row / part.blockHeight * columns
                var index = 0
                var block = 0
                while index < part.width {
                    let end = min(part.width, index + part.blockWidth)
                    let count = UInt32(blocks[min(block, columns - 1)])
                    // Rounded division by a small number: exact for sums up to 16 × 255.
                    let factor = (65536 + count - 1) / count
                    while index < end {
                        let sum = UInt32(sums[start + index]) + count / 2
                        bytes[start + index] = UInt8(truncatingIfNeeded: (sum &* factor) &>> 16)
                        index += 1
                    }
                    block += 1
                }
            }
        }
        return Image(layout: layout, base: UnsafeRawPointer(memory))
    }

    // MARK: Parts

    private func adopt(_ wanted: ImageLayout) -> Bool {
        guard wanted != layout else { return true }
        if let memory { munmap(memory, byteCount) }
        memory = nil
        layout = nil
        let bytes = Self.bytes(for: wanted)
        let mapped = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let mapped, mapped != MAP_FAILED else { return false }
        memory = mapped
        byteCount = bytes
        layout = wanted
        columns = (wanted.lumaWidth + Self.side - 1) / Self.side
        rows = (wanted.height + Self.side - 1) / Self.side
        let blocks = columns * rows
        sums = mapped.assumingMemoryBound(to: UInt16.self)
        let tables = mapped + (2 * wanted.byteCount + 15) / 16 * 16
        drift = tables.assumingMemoryBound(to: Int16.self)
        spread = (tables + 2 * blocks).assumingMemoryBound(to: UInt16.self)
        level = (tables + 4 * blocks).assumingMemoryBound(to: UInt16.self)
        counts = (tables + 6 * blocks).assumingMemoryBound(to: UInt8.self)
        moved = (tables + 7 * blocks).assumingMemoryBound(to: UInt8.self)
        return true
    }

    /// Sums of each block's differences, in luma.
    private func compare(_ image: Image, _ reference: Image) {
        let luma = image.layout.parts[0]
        for blockRow in 0..<rows {
            let first = blockRow * columns
            drift.advanced(by: first).update(repeating: 0, count: columns)
            spread.advanced(by: first).update(repeating: 0, count: columns)
            level.advanced(by: first).update(repeating: 0, count: columns)
            for row in blockRow * Self.side..<min(luma.height, (blockRow + 1) * Self.side) {
                let left = image.bytes(luma, row)
                let right = reference.bytes(luma, row)
                for column in 0..<columns {
                    let start = column * Self.side
                    var (sum, magnitude, total) = (Int32(0), Int32(0), Int32(0))
                    for index in start..<min(luma.width, start + Self.side) {
                        let difference = Int32(left[index]) &- Int32(right[index])
                        sum &+= difference
                        magnitude &+= abs(difference)
                        total &+= Int32(right[index])
                    }
                    drift[first + column] &+= Int16(truncatingIfNeeded: sum)
                    spread[first + column] &+= UInt16(truncatingIfNeeded: magnitude)
                    level[first + column] &+= UInt16(truncatingIfNeeded: total)
                }
            }
        }
    }

    /// Says of each block whether it differs by more than noise.
    private func judge() {
        let blocks = columns * rows
        let tables = Self.classes + 1
        histogram.update(repeating: 0, count: 2 * tables * Self.bins)
        let all = Self.classes
        for block in 0..<blocks {
            let kind = Int(level[block]) * Self.classes / (64 * 256)
            // Sums over 64 pixels, so a quarter of them is in 16ths.
            let spreadBin = min(Self.bins - 1, Int(spread[block]) / 4)
            let driftBin = min(Self.bins - 1, abs(Int(drift[block])) / 4)
            histogram[kind * Self.bins + spreadBin] += 1
            histogram[all * Self.bins + spreadBin] += 1
            histogram[(tables + kind) * Self.bins + driftBin] += 1
            histogram[(tables + all) * Self.bins + driftBin] += 1
        }
        // Of the whole: what noise does, if most of the scene stands still; else what the reference's grain allows.
        // White noise of 1 has a grain of 1.6, a spread of 1.1 and a drift of 0.12; what a camera has smoothed has less grain.
        let spreadOfAll = min(median(all), 2 * grain + 8)
        let driftOfAll = min(median(tables + all), grain / 6 + 4)
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 2 * Self.classes) { limits in
            for kind in 0..<Self.classes {
                var (spreadOf, driftOf) = (spreadOfAll, driftOfAll)
                if population(kind) >= 64 {
                    // One that moved may be all of its class.
                    spreadOf = min(max(median(kind), spreadOfAll / 2), spreadOfAll * 3 / 2)
                    driftOf = min(max(median(tables + kind), driftOfAll / 2), driftOfAll * 3 / 2)
                }
                // The mean magnitude of 64 differences strays by a tenth; six medians are four deviations.
                limits[kind] = (spreadOf * 3 / 2 + 8) * 4
                limits[Self.classes + kind] = (driftOf * 6 + 8) * 4
            }
            for block in 0..<blocks {
                let kind = Int(level[block]) * Self.classes / (64 * 256)
                let isNoise =
                    Int(spread[block]) <= limits[kind] && abs(Int(drift[block])) <= limits[Self.classes + kind]
                moved[block] = isNoise ? 0 : 1
            }
        }
    }

    /// In 16ths of a pixel value.
    private func median(_ table: Int) -> Int {
        let half = population(table) / 2
        var seen = 0
        for bin in 0..<Self.bins {
            seen += Int(histogram[table * Self.bins + bin])
            if seen > half { return bin }
        }
        return Self.bins - 1
    }

    private func population(_ table: Int) -> Int {
        var count = 0
        for bin in 0..<Self.bins { count += Int(histogram[table * Self.bins + bin]) }
        return count
    }

    /// Adds the blocks of which neither they nor a neighbour moved: an edge that only touches a block's corner is seen in
    /// the block beside it.
    private func merge(_ image: Image) {
        offered += columns * rows
        for blockRow in 0..<rows {
            var column = 0
            while column < columns {
                guard isStill(blockRow, column) else {
                    column += 1
                    continue
                }
                // A run of blocks at once: long rows are added faster.
                let from = column
                while column < columns, isStill(blockRow, column) {
                    counts[blockRow * columns + column] += 1
                    column += 1
                }
                added += column - from
                for part in image.layout.parts {
                    let start = from * part.blockWidth
                    let end = column == columns ? part.width : min(part.width, column * part.blockWidth)
                    guard start < end else { continue }
                    for row in blockRow * part.blockHeight..<min(part.height, (blockRow + 1) * part.blockHeight) {
                        let source = image.bytes(part, row)
                        let sum = sums + part.offset + row * part.stride
                        for index in start..<end { sum[index] &+= UInt16(source[index]) }
                    }
                }
            }
        }
    }

    private func isStill(_ row: Int, _ column: Int) -> Bool {
        for y in max(0, row - 1)...min(rows - 1, row + 1) {
            for x in max(0, column - 1)...min(columns - 1, column + 1) where moved[y * columns + x] != 0 {
                return false
            }
        }
        return true
    }

    /// The reference's grain in 16ths of a pixel value: the lower quartile of its blocks' mean second differences along the
    /// rows. Texture makes more of it, never less.
    private func measureGrain(_ image: Image) {
        histogram.update(repeating: 0, count: Self.bins)
        let luma = image.layout.parts[0]
        guard luma.width >= Self.side + 2 else { return grain = Self.bins }
        var blocks = 0
        // Every fourth row tells enough.
        for row in stride(from: 0, to: luma.height, by: 4) {
            let pixels = image.bytes(luma, row)
            for start in stride(from: 1, to: luma.width - Self.side, by: Self.side) {
                var sum: Int32 = 0
                for index in start..<start + Self.side {
                    sum &+= abs(Int32(pixels[index - 1]) &- 2 &* Int32(pixels[index]) &+ Int32(pixels[index + 1]))
                }
                histogram[min(Self.bins - 1, Int(sum) * 2)] += 1
                blocks += 1
            }
        }
        var seen = 0
        for bin in 0..<Self.bins {
            seen += Int(histogram[bin])
            if seen > blocks / 4 { return grain = bin }
        }
        grain = Self.bins
    }
}

extension ImageLayout {
    /// A plane and how its bytes belong to blocks of 8 × 8 pixels of luma.
    fileprivate struct Part {
        var offset: Int
        var stride: Int
        /// Bytes in a row.
        var width: Int
        var height: Int
        var blockWidth: Int
        var blockHeight: Int
    }

    /// Bytes in a row of the first plane. RGB is merged byte by byte: a block is 8 bytes wide then.
    fileprivate var lumaWidth: Int {
        switch format {
        case .yuv420, .nv12: width
        case .bgr888, .rgb888: 3 * width
        }
    }

    /// The first has all the detail.
    fileprivate var parts: [Part] {
        func part(_ plane: Plane, _ width: Int, _ height: Int, _ blockWidth: Int, _ blockHeight: Int) -> Part {
            Part(
                offset: plane.offset, stride: plane.stride, width: width, height: height, blockWidth: blockWidth,
                blockHeight: blockHeight)
        }
        let (half, halfRows) = ((width + 1) / 2, (height + 1) / 2)
        let luma = part(first, lumaWidth, height, 8, 8)
        switch format {
        case .yuv420: return [luma, part(second, half, halfRows, 4, 4), part(third, half, halfRows, 4, 4)]
        case .nv12: return [luma, part(second, 2 * half, halfRows, 8, 4)]
        case .bgr888, .rgb888: return [luma]
        }
    }
}

extension Image {
    fileprivate func bytes(_ part: ImageLayout.Part, _ row: Int) -> UnsafePointer<UInt8> {
        (base + part.offset + row * part.stride).assumingMemoryBound(to: UInt8.self)
    }
}
