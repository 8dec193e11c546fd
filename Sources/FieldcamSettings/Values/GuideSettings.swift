import FieldcamCore

/// `[guide]`: a part of the picture that is framed, and cut out.
public struct GuideSettings: Hashable, Sendable {
    public var rect = GuideRect.none
    /// Fraction of the rectangle's shorter side, 0 … 0.5.
    public var cornerRadius = 0.0
    public var save = GuideFiles([.whole, .crop])
    public var review = GuideReview.none
}

/// Fractions of the camera's whole picture from its top left, as the viewer sees it.
public enum GuideRect: Hashable, Sendable {
    case none
    case fractions(x: Double, y: Double, width: Double, height: Double)
}

extension GuideRect: SettingType {
    static var form: String { "[] or [x, y, width, height] in fractions of the picture, such as [0.1, 0.1, 0.8, 0.8]" }
    /// Six pixels of the smallest clip: enough for an even number to remain after rounding inward.
    static let shortest = 0.02
    init(_ value: TOMLValue) throws(Misreading) {
        guard case .array(let values) = value.kind else { throw Self.misread(value) }
        if values.isEmpty {
            self = .none
            return
        }
        var numbers: [Double] = []
        for item in values {
            guard let number = try? Double(item) else { throw Self.misread(item) }
            numbers.append(number)
        }
        // Sums such as 0.1 + 0.9 may lie beyond 1 by the fractions' own rounding.
        let edge = 1 + 1e-9
        guard numbers.count == 4, numbers.allSatisfy({ (0...1).contains($0) }), numbers[0] + numbers[2] <= edge,
            numbers[1] + numbers[3] <= edge
        else {
            throw Misreading(
                "isn't a rectangle inside the picture; write [x, y, width, height], each from 0 to 1, with x + width and "
                    + "y + height at most 1, or [] for none")
        }
        guard numbers[2] >= Self.shortest, numbers[3] >= Self.shortest else {
            throw Misreading("is too small; its width and height must be from \(Self.shortest) to 1")
        }
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

extension OverlayGrid: SettingChoice {}
