import FieldcamCore

/// `[flash]`: the light for shots.
public struct FlashSettings: Hashable, Sendable {
    public var mode = FlashMode.off
}

/// `[torch]`: the light for clips.
public struct TorchSettings: Hashable, Sendable {
    public var mode = FlashMode.off
    /// Above 0, up to 1.
    public var level = 1.0
}

extension FlashMode: SettingChoice {}
