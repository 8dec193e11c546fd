import FieldcamCore

/// `[camera]`
public struct CameraSettings: Hashable, Sendable {
    public var `default` = DefaultCamera.first
    public var autostart = true
    /// Zero: never.
    public var standbyAfter: Duration = .zero
    public var switchWhileRecording = SwitchWhileRecording.refuse
}

public enum DefaultCamera: Hashable, Sendable {
    case first
    /// The one that was used last.
    case last
    case role(String)
}

extension DefaultCamera: SettingType {
    static var form: String { "\"first\", \"last\" or a camera's role" }
    init(_ value: TOMLValue) throws(Misreading) {
        guard case .string(let text) = value.kind, isName(text) else { throw Self.misread(value) }
        switch text {
        case "first": self = .first
        case "last": self = .last
        default: self = .role(text)
        }
    }
    var word: String {
        switch self {
        case .first: "first"
        case .last: "last"
        case .role(let role): role
        }
    }
}

extension SwitchWhileRecording: SettingChoice {}

/// Letters, digits, `-` and `_`, 1 … 64 of them: names of boards and roles.
func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
        && text.utf8.allSatisfy { byte in
            isDigit(byte) || (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
}
