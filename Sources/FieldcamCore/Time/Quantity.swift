/// Numbers with a unit: `"400ms"`, `"200MB"`.
public enum Quantity {
    /// Nanoseconds of a unit; ascending.
    public static let durationUnits: [(name: String, scale: Int64)] = [
        ("ns", 1), ("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000), ("min", 60_000_000_000),
        ("h", 3_600_000_000_000), ("d", 86_400_000_000_000),
    ]
    /// Bytes of a unit: decimal and binary multiples.
    public static let sizeUnits: [(name: String, scale: Int64)] = [
        ("B", 1), ("kB", 1000), ("KiB", 1 << 10), ("MB", 1_000_000), ("MiB", 1 << 20), ("GB", 1_000_000_000),
        ("GiB", 1 << 30), ("TB", 1_000_000_000_000), ("TiB", 1 << 40),
    ]

    /// The whole amount in the smallest unit; `nil` if it isn't a number and one of the units, or is too large or too fine.
    public static func parse(_ text: String, units: [(name: String, scale: Int64)]) -> Int64? {
        let number = text.utf8.prefix { $0 >= 0x30 && $0 <= 0x39 || $0 == UInt8(ascii: ".") }
        let unit = String(decoding: text.utf8.dropFirst(number.count), as: UTF8.self)
        guard let scale = units.first(where: { $0.name == unit })?.scale else { return nil }
        let parts = number.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.count <= 18 }) else { return nil }
        guard let whole = Int64(String(decoding: parts[0], as: UTF8.self)) else { return nil }
        var (amount, overflow) = whole.multipliedReportingOverflow(by: scale)
        if overflow { return nil }
        if parts.count == 2 {
            var step = scale
            for digit in parts[1] {
                let value = Int64(digit - 0x30)
                guard step % 10 == 0 || value == 0 else { return nil }
                step /= 10
                (amount, overflow) = amount.addingReportingOverflow(value * step)
                if overflow { return nil }
            }
        }
        return amount
    }

    /// The amount in the largest unit that divides it.
    public static func text(_ amount: Int64, units: [(name: String, scale: Int64)], zero: String) -> String {
        if amount == 0 { return zero }
        let fitting = units.last { amount % $0.scale == 0 }
        let unit: (name: String, scale: Int64) = fitting ?? units[0]
        return "\(amount / unit.scale)\(unit.name)"
    }

    public static func text(_ duration: Duration) -> String {
        text(duration.inNanoseconds, units: durationUnits, zero: "0s")
    }
}
