/// `[low_light]`
public struct LowLightSettings: Hashable, Sendable {
    public var enabled = true
    public var enterLux = 10.0
    public var leaveLux = 20.0
    /// While recording, never below.
    public var minimumFramerate = 10.0
    /// Frames merged into one low-light shot.
    public var stack = 1
}

/// `[zoom]`
public struct ZoomSettings: Hashable, Sendable {
    public var enabled = true
    public var maximum = MaximumZoom.native
}

public enum MaximumZoom: Hashable, Sendable {
    /// As far as no pixel is made up.
    case native
    /// 1 and up.
    case factor(Double)
}

extension MaximumZoom: SettingType {
    static var form: String { "\"native\" or a number from 1 to 100" }
    init(_ value: TOMLValue) throws(Misreading) {
        if case .string("native") = value.kind {
            self = .native
            return
        }
        guard let factor = try? Double(value), (1...100).contains(factor) else { throw Self.misread(value) }
        self = .factor(factor)
    }
    var word: String {
        switch self {
        case .native: "native"
        case .factor(let factor): factor.word
        }
    }
    var literal: String { self == .native ? quoted(word) : word }
}
