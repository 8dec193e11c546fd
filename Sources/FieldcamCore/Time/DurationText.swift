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
            return
                "\"\(text)\" has the unknown unit \"\(unit)\": the units are \(Quantity.durationUnits.map(\.name).joined(separator: ", "))"
        case .notADuration(let text): return "\"\(text)\" is no duration: \(example)"
        }
    }
}

extension Duration {
    /// Reads a duration with its unit: `400ms`, `2s`, `1.5s`, `10min`. Not negative; at most 292 years.
    public init(text: String) throws(DurationTextError) {
        if let nanoseconds = Quantity.parse(text, units: Quantity.durationUnits) {
            self = .nanoseconds(nanoseconds)
            return
        }
        let number = text.utf8.prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        let unit = text.utf8.dropFirst(number.count)
        guard number.contains(where: { $0 != UInt8(ascii: ".") }) else { throw .notADuration(text) }
        if unit.isEmpty { throw .noUnit(text) }
        let name = String(Substring(unit))
        guard unit.allSatisfy({ (0x61...0x7a).contains($0 | 0x20) }),
            !Quantity.durationUnits.contains(where: { $0.name == name })
        else { throw .notADuration(text) }
        throw .unknownUnit(name, of: text)
    }

    /// The shortest exact text with one unit, as `init(text:)` reads it.
    public var text: String { Quantity.text(self) }
}
