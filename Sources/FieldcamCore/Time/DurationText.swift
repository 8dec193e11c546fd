/// Why a text isn't a duration.
public enum DurationTextError: Error, Hashable, Sendable {
    /// A bare number: the unit is missing.
    case noUnit(String)
    case unknownUnit(String, of: String)
    case notADuration(String)

    /// What is wrong and what is expected, without a full stop.
    public var message: String {
        let example = "write a number and a unit, such as \"400ms\", \"2s\" or \"10min\""
        switch self {
        case .noUnit(let text): return "\"\(text)\" has no unit: write \"\(text)ms\", \"\(text)s\" or \"\(text)min\""
        case .unknownUnit(let unit, let text):
            return "\"\(text)\" has the unknown unit \"\(unit)\": the units are us, ms, s, min and h"
        case .notADuration(let text): return "\"\(text)\" is no duration: \(example)"
        }
    }
}

extension Duration {
    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("min", 60_000_000_000), ("h", 3_600_000_000_000),
    ]

    /// Reads a duration with its unit: `400ms`, `2s`, `1.5s`, `10min`, `1h`, `20us`. Not negative; at most 292 years.
    public init(text: String) throws(DurationTextError) {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        var rest = text.utf8[digits.endIndex...]
        var fraction = rest.prefix(0)
        if rest.first == UInt8(ascii: ".") {
            fraction = rest.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard !fraction.isEmpty else { throw .notADuration(text) }
            rest = rest[fraction.endIndex...]
        }
        guard !digits.isEmpty, fraction.count <= 9, let whole = Int64(Substring(digits)) else {
            throw .notADuration(text)
        }
        let unit = String(Substring(rest))
        guard !unit.isEmpty else { throw .noUnit(text) }
        guard let scale = Self.units.first(where: { $0.name == unit })?.nanoseconds else {
            throw unit.utf8.allSatisfy({ $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7a })
                ? .unknownUnit(unit, of: text) : .notADuration(text)
        }
        var nanoseconds = whole.multipliedReportingOverflow(by: scale)
        var step = scale
        for digit in fraction {
            step /= 10
            let sum = nanoseconds.partialValue.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")) * step)
            nanoseconds = (sum.partialValue, nanoseconds.overflow || sum.overflow)
        }
        guard !nanoseconds.overflow else { throw .notADuration(text) }
        self = .nanoseconds(nanoseconds.partialValue)
    }

    /// The shortest exact text with one unit, as `init(text:)` reads it; parts below 1 us are left out.
    public var text: String {
        let nanoseconds = inNanoseconds
        if nanoseconds == 0 { return "0s" }
        for unit in Self.units.reversed() where nanoseconds % unit.nanoseconds == 0 {
            return "\(nanoseconds / unit.nanoseconds)\(unit.name)"
        }
        return "\(nanoseconds / 1_000)us"
    }
}
