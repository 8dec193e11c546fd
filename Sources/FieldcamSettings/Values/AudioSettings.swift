/// `[audio]`
public struct AudioSettings: Hashable, Sendable {
    public var enabled = true
    public var sharing = AudioSharing.shared
}

public enum AudioSharing: String, Hashable, Sendable, CaseIterable, SettingChoice {
    case shared
    case exclusive
}
