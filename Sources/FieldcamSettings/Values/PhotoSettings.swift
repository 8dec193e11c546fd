import FieldcamCore

/// `[photo]`: what a shot is.
public struct PhotoSettings: Hashable, Sendable {
    public var source = PhotoSource.stream
    public var size = PhotoSize.maximum
    public var aspect = PhotoAspect.sensor
    /// JPEG quality, 1 … 100.
    public var quality = 92
    public var waitForFocus = FocusWait.off
}

extension PhotoSource: SettingChoice {}
extension FocusWait: SettingChoice {}

public enum PhotoSize: Hashable, Sendable {
    /// The largest that the source gives.
    case maximum
    case pixels(PixelSize)
}

extension PhotoSize: SettingType {
    static var form: String { "\"max\" or a size such as \"1920x1080\", each side from 16 to 65500" }
    init(_ value: TOMLValue) throws(Misreading) {
        guard case .string(let text) = value.kind else { throw Self.misread(value) }
        if text == "max" {
            self = .maximum
        } else if let size = PixelSize(text) {
            self = .pixels(size)
        } else {
            throw Self.misread(value)
        }
    }
    var word: String {
        switch self {
        case .maximum: "max"
        case .pixels(let size): size.word
        }
    }
}

extension PhotoAspect: SettingChoice {}
