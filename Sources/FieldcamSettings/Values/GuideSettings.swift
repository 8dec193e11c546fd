/// `[guide]`: a part of the picture that is framed, and cut out.
public struct GuideSettings: Hashable, Sendable {
    public var rect = GuideRect.none
    /// Fraction of the rectangle's shorter side, 0 … 0.5.
    public var cornerRadius = 0.0
    public var save = GuideFiles([.whole, .crop])
    public var review = GuideReview.none
}

/// Fractions of the picture from its top left.
public enum GuideRect: Hashable, Sendable {
    case none
    case fractions(x: Double, y: Double, width: Double, height: Double)
}

extension GuideRect: SettingType {
    static var form: String { "[] or [x, y, width, height] in fractions of the picture, such as [0.1, 0.1, 0.8, 0.8]" }
    init(_ value: TOMLValue) throws(Misreading) {
        guard case .array(let values) = value.kind else { throw Self.misread(value) }
        if values.isEmpty {
            self = .none
            return
        }
        var numbers: [Double] = []
        for item in values {
            guard let number = try? Double(item), (0...1).contains(number) else { throw Self.misread(item) }
            numbers.append(number)
        }
        guard numbers.count == 4, numbers[2] > 0, numbers[3] > 0, numbers[0] + numbers[2] <= 1,
            numbers[1] + numbers[3] <= 1
        else { throw Misreading("isn't a rectangle inside the picture; write \(Self.form)") }
        self = .fractions(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    }
    var word: String {
        switch self {
        case .none: "[]"
        case .fractions(let x, let y, let width, let height): "[\(x.word), \(y.word), \(width.word), \(height.word)]"
        }
    }
    var literal: String { word }
}

public enum GuideFile: String, Hashable, Sendable, CaseIterable, SettingChoice {
    case whole
    case crop
}

/// Which files a shot with a guide makes: each once, at least one.
public struct GuideFiles: Hashable, Sendable {
    public var files: [GuideFile]
    public init(_ files: [GuideFile]) { self.files = files }
}

extension GuideFiles: SettingType {
    static var form: String { "a list of \"whole\" and \"crop\"" }
    init(_ value: TOMLValue) throws(Misreading) {
        guard case .array(let values) = value.kind else { throw Self.misread(value) }
        var files: [GuideFile] = []
        for item in values {
            let file = try GuideFile(item)
            if files.contains(file) { throw Misreading("names \(quoted(file.word)) twice; once is enough") }
            files.append(file)
        }
        if files.isEmpty { throw Misreading("is empty; write \(Self.form), one at least") }
        self.files = files
    }
    var word: String { "[" + files.map { quoted($0.word) }.joined(separator: ", ") + "]" }
    var literal: String { word }
}

public enum GuideReview: String, Hashable, Sendable, CaseIterable, SettingChoice {
    case none
    /// The crop over the blurred whole, as a third file.
    case blur
}

/// `[overlay]`
public struct OverlaySettings: Hashable, Sendable {
    public var grid = OverlayGrid.none
    /// Drawn into the files too.
    public var burnIn = false
}

public enum OverlayGrid: String, Hashable, Sendable, CaseIterable, SettingChoice {
    case none
    case thirds
    case guide
}
