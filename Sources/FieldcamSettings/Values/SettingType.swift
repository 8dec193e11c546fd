import FieldcamCore

/// What a setting can be: how it is read from TOML and written back.
protocol SettingType: Hashable, Sendable {
    /// What is allowed, in words that follow "write": "true or false".
    static var form: String { get }
    init(_ value: TOMLValue) throws(Misreading)
    /// The value as a person says it: `400ms`, `auto`, `true`.
    var word: String { get }
    /// The value as it stands in a settings file.
    var literal: String { get }
}

extension SettingType {
    var literal: String { quoted(word) }

    static func misread(_ value: TOMLValue) -> Misreading {
        Misreading("is \(value.shown); write \(form)")
    }
}

/// A setting that is one of a few words.
protocol SettingChoice: SettingType, CaseIterable, RawRepresentable where RawValue == String {}

extension SettingChoice {
    static var form: String {
        let words = allCases.map { quoted($0.rawValue) }
        return words.count == 1 ? words[0] : words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]
    }

    init(_ value: TOMLValue) throws(Misreading) {
        guard case .string(let text) = value.kind else { throw Self.misread(value) }
        if let choice = Self(rawValue: text) {
            self = choice
        } else if let near = Suggestion.nearest(to: text, among: Self.allCases.map(\.rawValue)) {
            throw Misreading("is \(quoted(text)); did you mean \(quoted(near))? Allowed: \(Self.form)")
        } else {
            throw Self.misread(value)
        }
    }

    var word: String { rawValue }
}

extension Bool: SettingType {
    static var form: String { "true or false" }
    init(_ value: TOMLValue) throws(Misreading) {
        guard case .boolean(let boolean) = value.kind else { throw Self.misread(value) }
        self = boolean
    }
    var word: String { self ? "true" : "false" }
    var literal: String { word }
}

extension Int: SettingType {
    static var form: String { "a whole number" }
    init(_ value: TOMLValue) throws(Misreading) {
        guard case .integer(let number) = value.kind else { throw Self.misread(value) }
        self = Int(number)
    }
    var word: String { "\(self)" }
    var literal: String { word }
}

extension Double: SettingType {
    static var form: String { "a number" }
    /// Whole numbers are welcome, infinity and not-a-number aren't.
    init(_ value: TOMLValue) throws(Misreading) {
        switch value.kind {
        case .integer(let number): self = Double(number)
        case .float(let number) where number.isFinite: self = number
        default: throw Self.misread(value)
        }
    }
    /// Whole numbers without a fraction.
    var word: String {
        self == rounded() && magnitude < 1e15 ? "\(Int64(self))" : "\(self)"
    }
    var literal: String { word }
}

extension String: SettingType {
    static var form: String { "a text in quotes" }
    init(_ value: TOMLValue) throws(Misreading) {
        guard case .string(let text) = value.kind else { throw Self.misread(value) }
        guard !text.unicodeScalars.contains(where: { $0.value == 0 }) else {
            throw Misreading("holds a NUL character; remove it")
        }
        self = text
    }
    var word: String { self }
}

extension Duration: SettingType {
    static var form: String { "a number with ns, us, ms, s, min, h or d, such as \"400ms\"" }
    init(_ value: TOMLValue) throws(Misreading) {
        switch value.kind {
        case .string(let text):
            guard let amount = Quantity.parse(text, units: Quantity.durationUnits) else {
                if Double(text) != nil { throw Misreading("has no unit: write \"\(text)ms\" or \"\(text)s\"") }
                throw Self.misread(value)
            }
            self = .nanoseconds(amount)
        case .integer, .float:
            throw Misreading("has no unit: write \"\(value.shown)ms\" or \"\(value.shown)s\"")
        default: throw Self.misread(value)
        }
    }
    var word: String { Quantity.text(self) }
}

/// A number of bytes.
public struct ByteCount: Hashable, Comparable, Sendable {
    public var bytes: Int64
    public init(_ bytes: Int64) { self.bytes = bytes }
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
}

extension ByteCount: SettingType {
    static var form: String { "a number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB, such as \"200MB\"" }
    init(_ value: TOMLValue) throws(Misreading) {
        switch value.kind {
        case .string(let text):
            guard let amount = Quantity.parse(text, units: Quantity.sizeUnits) else {
                if Double(text) != nil { throw Misreading("has no unit: write \"\(text)MB\" or \"\(text)B\"") }
                throw Self.misread(value)
            }
            bytes = amount
        case .integer, .float:
            throw Misreading("has no unit: write \"\(value.shown)MB\" or \"\(value.shown)B\"")
        default: throw Self.misread(value)
        }
    }
    var word: String { Quantity.text(bytes, units: Quantity.sizeUnits, zero: "0B") }
}

/// Width and height in pixels.
public struct PixelSize: Hashable, Sendable {
    public var width: Int
    public var height: Int
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// "1920x1080"; each side 16 … 65,500, the most a JPEG holds.
    init?(_ text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ (1...5).contains($0.utf8.count) && $0.utf8.allSatisfy(isDigit) }),
            let width = Int(parts[0]), let height = Int(parts[1]), (16...65500).contains(width),
            (16...65500).contains(height)
        else { return nil }
        self.init(width: width, height: height)
    }

    var word: String { "\(width)x\(height)" }
}

func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
