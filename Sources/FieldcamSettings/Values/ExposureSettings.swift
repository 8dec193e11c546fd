import FieldcamCore

/// `[exposure]`
public struct ExposureSettings: Hashable, Sendable {
    /// EV, -8 … 8.
    public var compensation = 0.0
    public var metering = CameraControls.Metering.centre
    public var shutter = ShutterTime.auto
    public var gain = ExposureGain.auto
}

extension CameraControls.Metering: SettingChoice {}

public enum ShutterTime: Hashable, Sendable {
    case auto
    /// `"1/250"`: one second divided by a whole number.
    case fraction(Int)
    case time(Duration)
}

extension ShutterTime: SettingType {
    static var form: String { "\"auto\", a fraction of a second such as \"1/250\", or a time such as \"20ms\"" }
    init(_ value: TOMLValue) throws(Misreading) {
        guard case .string(let text) = value.kind, text.hasPrefix("1/") || text == "auto" else {
            let time = try Duration(value)
            guard time > .zero, time <= .seconds(240) else {
                throw Misreading("is \(value.shown); times above 0s and up to 4min are allowed")
            }
            self = .time(time)
            return
        }
        if text == "auto" {
            self = .auto
        } else if let parts = Int(text.dropFirst(2)), (1...1_000_000).contains(parts),
            text.utf8.dropFirst(2).allSatisfy(isDigit)
        {
            self = .fraction(parts)
        } else {
            throw Self.misread(value)
        }
    }
    var word: String {
        switch self {
        case .auto: "auto"
        case .fraction(let parts): "1/\(parts)"
        case .time(let time): time.word
        }
    }
}

public enum ExposureGain: Hashable, Sendable {
    case auto
    /// 1 and up.
    case times(Double)
}

extension ExposureGain: SettingType {
    static var form: String { "\"auto\" or a number from 1 to 1000" }
    init(_ value: TOMLValue) throws(Misreading) {
        if case .string("auto") = value.kind {
            self = .auto
            return
        }
        guard let gain = try? Double(value), (1...1000).contains(gain) else { throw Self.misread(value) }
        self = .times(gain)
    }
    var word: String {
        switch self {
        case .auto: "auto"
        case .times(let gain): gain.word
        }
    }
    var literal: String { self == .auto ? quoted(word) : word }
}
