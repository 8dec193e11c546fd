import Glibc

/// The sensor's grain, tabled once for each gain: reading it costs nothing, and the same seed gives the same grain.
final class Noise {
    /// Gains are told apart in half steps: 1, 1.4, 2 … 64.
    static let steps = 13
    private static let count = 1 << 16
    /// Rows start anywhere in the table and go on behind its end.
    private static let longestRow = 8192

    private let unit: UnsafeMutablePointer<Int8>
    private let scaled: UnsafeMutablePointer<Int8>
    private var step = -1

    init(seed: UInt64) {
        let total = Self.count + Self.longestRow
        unit = .allocate(capacity: total)
        scaled = .allocate(capacity: total)
        scaled.initialize(repeating: 0, count: total)
        var state = seed
        for index in 0..<total {
            // The sum of four uniform bytes is bell-shaped enough: standard deviation 148, scaled to 24.
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let bits = Int32(truncatingIfNeeded: state >> 32)
            let sum = (bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24 & 255) - 510
            unit[index] = Int8(truncatingIfNeeded: max(-127, min(127, sum * 24 / 148)))
        }
    }

    deinit {
        unit.deallocate()
        scaled.deallocate()
    }

    static func step(gain: Double) -> Int {
        max(0, min(steps - 1, Int((log2(max(1, gain)) * 2).rounded())))
    }

    /// Standard deviation in pixel values: grows with the square root of the gain, as photon noise does.
    static func deviation(step: Int) -> Double { 0.8 * exp2(Double(step) / 4) }

    func prepare(step: Int) {
        guard step != self.step else { return }
        self.step = step
        let factor = Int32(Self.deviation(step: step) / 24 * 256)
        for index in 0..<(Self.count + Self.longestRow) {
            scaled[index] = Int8(truncatingIfNeeded: max(-127, min(127, (Int32(unit[index]) &* factor &+ 128) &>> 8)))
        }
    }

    /// The grain of a row, of `longestRow` pixels.
    func row(_ index: Int) -> UnsafePointer<Int8> {
        UnsafePointer(scaled + ((index &* 7919 &+ 13) & (Self.count - 1)))
    }
}
