/// Seeded random numbers (SplitMix64): the same seed tells the same story on every machine.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Uniform, in steps of a microsecond.
    mutating func milliseconds(_ low: Double, _ high: Double) -> Double {
        Double(Int64.random(in: Int64(low * 1000)...Int64(high * 1000), using: &self)) / 1000
    }

    mutating func isTrue(_ hits: Int, of cases: Int) -> Bool { Int.random(in: 0..<cases, using: &self) < hits }
}
