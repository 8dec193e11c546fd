import FieldcamCore

/// `[button]`: what presses mean.
public struct ButtonSettings: Hashable, Sendable {
    public var enabled = true
    public var hold: Duration = .milliseconds(400)
    public var doublePress: Duration = .milliseconds(300)
    public var doublePressAction = DoublePressAction.auto
    public var shutterRole = ShutterRole.photoVideo
}

public enum DoublePressAction: String, Hashable, Sendable, CaseIterable, SettingChoice {
    /// `switchCamera` with two cameras, else `none`.
    case auto
    case switchCamera = "switch_camera"
    case cycleFlash = "cycle_flash"
    case none
}

extension ShutterRole: SettingChoice {}
