/// `[flash]`: the light for shots.
public struct FlashSettings: Hashable, Sendable {
    public var mode = LightMode.off
}

/// `[torch]`: the light for clips.
public struct TorchSettings: Hashable, Sendable {
    public var mode = LightMode.off
    /// Above 0, up to 1.
    public var level = 1.0
}

public enum LightMode: String, Hashable, Sendable, CaseIterable, SettingChoice {
    case off
    case on
    case auto
}
