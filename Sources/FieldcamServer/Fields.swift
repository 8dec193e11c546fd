import FieldcamCore
import FieldcamDirector

/// The fields of a request's body, taken one by one; what is left over is refused by name.
struct Fields {
    private let members: [JSON.Member]
    private var known: [String] = []

    /// An empty body has no fields.
    init(body: some Collection<UInt8>) throws(Problem) {
        guard !body.isEmpty else {
            members = []
            return
        }
        let json: JSON
        do {
            json = try JSON(parsing: body)
        } catch {
            throw .body(error)
        }
        guard case .object(let members) = json else {
            throw Problem(
                status: 400, code: "body.not_object", title: "The body isn't an object",
                detail: "The body must be a JSON object, such as {}.")
        }
        self.members = members
    }

    private mutating func value(_ key: String) -> JSON? {
        known.append(key)
        let value = members.first { $0.key == key }?.value
        return value == .null ? nil : value
    }

    /// A duration with its unit, in a range. Nil: not given.
    mutating func duration(_ key: String, in range: ClosedRange<Duration>) throws(Problem) -> Duration? {
        guard let value = value(key) else { return nil }
        let text: String
        switch value {
        case .string(let string): text = string
        case .integer, .number:
            let digits = value.text
            throw .field(
                key, code: "field.unit",
                "\(key) is a bare number; write it as a text with its unit, such as \"\(digits)ms\" or \"\(digits)s\".")
        default: throw .field(key, code: "field.type", "\(key) must be a text with a unit, such as \"400ms\".")
        }
        let duration: Duration
        do {
            duration = try Duration(text: text)
        } catch {
            throw .field(key, code: "field.unit", "\(key): \(error.message).")
        }
        guard range.contains(duration) else {
            throw .field(
                key, code: "field.range",
                "\(key) is \(text); it may be \(range.lowerBound.text) to \(range.upperBound.text).")
        }
        return duration
    }

    /// A number. Nil: not given.
    mutating func number(_ key: String) throws(Problem) -> Double? {
        switch value(key) {
        case nil: return nil
        case .integer(let value): return Double(value)
        case .number(let value): return value
        default: throw .field(key, code: "field.type", "\(key) must be a number.")
        }
    }

    /// A text. Nil: not given.
    mutating func text(_ key: String) throws(Problem) -> String? {
        switch value(key) {
        case nil: return nil
        case .string(let text): return text
        default: throw .field(key, code: "field.type", "\(key) must be a text.")
        }
    }

    /// One of some words. Nil: not given.
    mutating func word<Word: RawRepresentable & CaseIterable>(_ key: String, _ type: Word.Type) throws(Problem) -> Word?
    where Word.RawValue == String {
        guard let text = try text(key) else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw .field(key, "\(key) is '\(text)'; it may be \(words).")
        }
        return word
    }

    /// `true` or `"on"`, `false` or `"off"`, `"auto"`, or a level above 0, up to 1. Nil: not given.
    mutating func torch(_ key: String) throws(Problem) -> ClipTorch? {
        let form = "\(key) may be true, false, \"on\", \"off\", \"auto\", or a level above 0, up to 1."
        guard let value = value(key) else { return nil }
        let level: Double
        switch value {
        case .bool(let isOn): return ClipTorch(isOn ? .on : .off)
        case .string(let text):
            guard let mode = FlashMode(rawValue: text) else { throw .field(key, "\(key) is '\(text)'; \(form)") }
            return ClipTorch(mode)
        case .integer(let number): level = Double(number)
        case .number(let number): level = number
        default: throw .field(key, code: "field.type", form)
        }
        guard level > 0, level <= 1 else {
            throw .range(key, "\(key) is \(level); it may be above 0, up to 1; false keeps it dark.")
        }
        return ClipTorch(.on, level: level)
    }

    /// A field of the contract whose feature isn't built yet.
    mutating func refuse(_ key: String) throws(Problem) {
        guard value(key) != nil else { return }
        throw .field(key, code: "field.not_in_this_version", "\(key) isn't in this version; leave it out.")
    }

    /// Refuses what was not asked for.
    func finish() throws(Problem) {
        guard let stranger = members.first(where: { !known.contains($0.key) }) else { return }
        let expected = known.isEmpty ? "no field is known here" : "known here: \(known.joined(separator: ", "))"
        throw .field(stranger.key, code: "field.unknown", "\(stranger.key) is an unknown field; \(expected).")
    }
}
