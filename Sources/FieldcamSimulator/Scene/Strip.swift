import FieldcamCore
import Glibc

/// The machine-readable strip that each simulated frame carries, so that a test reads from any picture made of it, which
/// instant it shows.
///
/// **Place.** A grid of 32 × 7 cells across the middle half of the picture's width (x from 1/4 to 3/4: a cell is 1/64 of the
/// width) and from 1/45 to 8/45 of its height (a cell is 1/45). So it survives scaling, squeezing and a crop to a square.
/// At 352 × 288 a cell is 5.5 × 6.4 pixels.
///
/// **Cells.** Luma 235 is 1, luma 16 is 0, chroma 128. Row 0 alternates 1, 0, 1, 0 … (it gives the reader its threshold).
/// Rows 1 … 6 hold 192 bits, most significant first, from left to right and top to bottom:
///
/// | bits | content |
/// |---|---|
/// | 16 | 0xFC11 |
/// | 32 | the frame's sequence (its low 32 bits) |
/// | 64 | start of the first row's exposure, ns on the monotonic clock |
/// | 64 | end of the first row's exposure, likewise (`SensorTimestamp`) |
/// | 16 | CRC-16/CCITT-FALSE (polynomial 0x1021, initial value 0xFFFF) of the 22 bytes before |
public struct Strip: Hashable, Sendable {
    public static let columns = 32
    public static let rows = 7
    public static let mark: UInt16 = 0xFC11
    public static let white: UInt8 = 235
    public static let black: UInt8 = 16
    /// Left edge, top edge, cell width, cell height as fractions of the picture.
    public static let place = (left: 0.25, top: 1.0 / 45, cellWidth: 1.0 / 64, cellHeight: 1.0 / 45)

    public var sequence: UInt32
    public var exposureStart: Instant
    public var exposureEnd: Instant

    public init(sequence: UInt32, exposureStart: Instant, exposureEnd: Instant) {
        self.sequence = sequence
        self.exposureStart = exposureStart
        self.exposureEnd = exposureEnd
    }

    /// The rows' bits, the leftmost cell in the highest bit; row 0 alternates.
    public var words: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) {
        let start = UInt64(bitPattern: exposureStart.nanoseconds)
        let end = UInt64(bitPattern: exposureEnd.nanoseconds)
        var crc: UInt16 = 0xFFFF
        Self.add(UInt64(Self.mark), bytes: 2, to: &crc)
        Self.add(UInt64(sequence), bytes: 4, to: &crc)
        Self.add(start, bytes: 8, to: &crc)
        Self.add(end, bytes: 8, to: &crc)
        return (
            0xAAAA_AAAA,
            UInt32(Self.mark) << 16 | sequence >> 16,
            sequence << 16 | UInt32(truncatingIfNeeded: start >> 48),
            UInt32(truncatingIfNeeded: start >> 16),
            UInt32(truncatingIfNeeded: start << 16) | UInt32(truncatingIfNeeded: end >> 48),
            UInt32(truncatingIfNeeded: end >> 16),
            UInt32(truncatingIfNeeded: end << 16) | UInt32(crc)
        )
    }

    /// The reading of six rows of bits; `nil` unless mark and checksum are right.
    public init?(words: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)) {
        sequence = words.0 << 16 | words.1 >> 16
        let start = UInt64(words.1 & 0xFFFF) << 48 | UInt64(words.2) << 16 | UInt64(words.3 >> 16)
        let end = UInt64(words.3 & 0xFFFF) << 48 | UInt64(words.4) << 16 | UInt64(words.5 >> 16)
        exposureStart = Instant(nanoseconds: Int64(bitPattern: start))
        exposureEnd = Instant(nanoseconds: Int64(bitPattern: end))
        let (_, a, b, c, d, e, f) = self.words
        guard words == (a, b, c, d, e, f) else { return nil }
    }

    private static func add(_ value: UInt64, bytes: UInt64, to crc: inout UInt16) {
        for index in 0..<bytes {
            crc ^= UInt16(truncatingIfNeeded: (value >> ((bytes - 1 - index) * 8)) & 0xFF) << 8
            for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
        }
    }

    /// The pixel columns or rows where cells begin and the last one ends: edge `index` of a picture `length` pixels long.
    static func edge(_ index: Int, start: Double, cell: Double, length: Int) -> Int {
        Int(((start + cell * Double(index)) * Double(length)).rounded())
    }

    /// Paints the strip into a luma plane.
    func paint(luma: UnsafeMutablePointer<UInt8>, stride: Int, width: Int, height: Int) {
        let place = Self.place
        let left = Self.edge(0, start: place.left, cell: place.cellWidth, length: width)
        let right = Self.edge(Self.columns, start: place.left, cell: place.cellWidth, length: width)
        withUnsafeBytes(of: words) { raw in
            let words = raw.bindMemory(to: UInt32.self)
            for row in 0..<Self.rows {
                let top = Self.edge(row, start: place.top, cell: place.cellHeight, length: height)
                let bottom = Self.edge(row + 1, start: place.top, cell: place.cellHeight, length: height)
                guard bottom > top else { continue }
                let first = luma + top * stride
                for column in 0..<Self.columns {
                    let from = Self.edge(column, start: place.left, cell: place.cellWidth, length: width)
                    let to = Self.edge(column + 1, start: place.left, cell: place.cellWidth, length: width)
                    let isWhite = words[row] >> UInt32(31 - column) & 1 == 1
                    memset(first + from, Int32(isWhite ? Self.white : Self.black), to - from)
                }
                for y in (top + 1)..<max(top + 1, bottom) {
                    memcpy(luma + y * stride + left, first + left, right - left)
                }
            }
        }
    }

    /// The chroma rows and columns (halved both ways) that the strip covers.
    static func chromaArea(width: Int, height: Int) -> (left: Int, right: Int, top: Int, bottom: Int) {
        (
            edge(0, start: place.left, cell: place.cellWidth, length: width) / 2,
            (edge(columns, start: place.left, cell: place.cellWidth, length: width) + 1) / 2,
            edge(0, start: place.top, cell: place.cellHeight, length: height) / 2,
            (edge(rows, start: place.top, cell: place.cellHeight, length: height) + 1) / 2
        )
    }
}
