import FieldcamDirector

/// Where a text stops being JSON, and why.
public struct JSONSyntaxError: Error, Hashable, Sendable {
    /// From 1.
    public var line: Int
    /// In bytes, from 1.
    public var column: Int
    /// What was expected, without place and full stop.
    public var message: String

    public var description: String { "\(line):\(column): \(message)" }
}

extension JSON {
    /// Nested deeper than this is refused.
    static let deepest = 16

    /// Reads one JSON value (RFC 8259) and nothing after it. A key twice in an object is an error.
    public init(parsing text: some Collection<UInt8>) throws(JSONSyntaxError) {
        var parser = JSONParser(bytes: Array(text))
        self = try parser.document()
    }
}

/// Strict and small: it never asks a locale, never guesses, and its recursion is bounded.
private struct JSONParser {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONSyntaxError) -> JSON {
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw error("nothing may follow the value") }
        return value
    }

    private func error(_ message: String) -> JSONSyntaxError {
        let before = bytes[..<min(position, bytes.count)]
        let lineStart = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
        return JSONSyntaxError(
            line: before.count { $0 == 0x0a } + 1, column: before.count - lineStart + 1, message: message)
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { position += 1 }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSON {
        guard depth <= JSON.deepest else { throw error("values may be nested \(JSON.deepest) deep at most") }
        skipSpace()
        guard let byte = peek else { throw error("a value was expected, but the text ends") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw error("a value was expected: an object, array, string, number, true, false or null")
        }
    }

    private mutating func word(_ word: String, _ value: JSON) throws(JSONSyntaxError) -> JSON {
        guard bytes[position...].starts(with: word.utf8) else { throw error("\"\(word)\" was expected") }
        position += word.utf8.count
        return value
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSON {
        position += 1
        var members: [JSON.Member] = []
        skipSpace()
        if take("}") { return .object(members) }
        while true {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw error("a key in quotes was expected") }
            let start = position
            let key = try string()
            guard !members.contains(where: { $0.key == key }) else {
                position = start
                throw error("the key \"\(key)\" stands here twice")
            }
            skipSpace()
            guard take(":") else { throw error("\":\" was expected after the key \"\(key)\"") }
            members.append(JSON.Member(key, try value(depth: depth + 1)))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw error("\",\" or \"}\" was expected") }
        }
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSON {
        position += 1
        var values: [JSON] = []
        skipSpace()
        if take("]") { return .array(values) }
        while true {
            values.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return .array(values) }
            guard take(",") else { throw error("\",\" or \"]\" was expected") }
        }
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        let start = position
        position += 1
        var text: [UInt8] = []
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard let string = String(validating: text, as: UTF8.self) else {
                    position = start
                    throw error("the string isn't UTF-8")
                }
                return string
            case UInt8(ascii: "\\"):
                position += 1
                text.append(contentsOf: UTF8.encode(try escaped())!)
            case ..<0x20:
                throw error("a control character in a string must be escaped")
            default:
                text.append(byte)
                position += 1
            }
        }
        throw error("the string isn't closed")
    }

    private mutating func escaped() throws(JSONSyntaxError) -> Unicode.Scalar {
        guard let byte = peek else { throw error("the string isn't closed") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try unit()
            if let scalar = Unicode.Scalar(first) { return scalar }
            guard first < 0xdc00, bytes[position...].starts(with: [0x5c, 0x75]) else {
                throw error("half of a surrogate pair stands alone")
            }
            position += 2
            let second = try unit()
            guard (0xdc00...0xdfff).contains(second) else { throw error("half of a surrogate pair stands alone") }
            return Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))!
        default:
            position -= 1
            throw error("this escape isn't known")
        }
    }

    private mutating func unit() throws(JSONSyntaxError) -> UInt32 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw error("four hexadecimal digits were expected") }
        position += 4
        return unit
    }

    private mutating func number() throws(JSONSyntaxError) -> JSON {
        let start = position
        var isWhole = true
        func isDigit(_ byte: UInt8?) -> Bool { byte.map { (0x30...0x39).contains($0) } ?? false }
        _ = take("-")
        guard isDigit(peek) else { throw error("a digit was expected") }
        if take("0") {
            if isDigit(peek) { throw error("a number may not start with 0") }
        } else {
            while isDigit(peek) { position += 1 }
        }
        if take(".") {
            isWhole = false
            guard isDigit(peek) else { throw error("a digit was expected") }
            while isDigit(peek) { position += 1 }
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            guard isDigit(peek) else { throw error("a digit was expected") }
            while isDigit(peek) { position += 1 }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw error("the number \(text) is too large") }
        return .number(value)
    }
}
