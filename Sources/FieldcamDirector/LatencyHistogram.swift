import FieldcamCore

/// How long decisions took, in buckets of 2^n microseconds: cheap enough to be kept always.
public struct LatencyHistogram: Sendable {
    /// `buckets[n]` counts what took less than 2^n µs and not less than 2^(n-1) µs.
    public private(set) var buckets = [Int](repeating: 0, count: 32)
    public private(set) var count = 0

    public mutating func add(_ span: Duration) {
        let microseconds = UInt64(max(0, span.inNanoseconds / 1000))
        buckets[min(31, UInt64.bitWidth - microseconds.leadingZeroBitCount)] += 1
        count += 1
    }

    /// The upper bound of the bucket in which the share lies (0 … 1); `nil` without a value.
    public func quantile(_ share: Double) -> Duration? {
        guard count > 0 else { return nil }
        var seen = 0
        for (index, value) in buckets.enumerated() {
            seen += value
            if Double(seen) >= share * Double(count) { return .microseconds(Int64(1) << Int64(index)) }
        }
        return nil
    }
}
