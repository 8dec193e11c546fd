import FieldcamCore

/// `[button]`: what presses mean.
public struct ButtonSettings: Hashable, Sendable {
    public var enabled = true
    public var hold: Duration = .milliseconds(400)
    public var doublePress: Duration = .milliseconds(300)
    public var doublePressAction = DoublePressAction.auto
    public var shutterRole = ShutterRole.photoVideo
}

extension DoublePressAction: SettingChoice {}
extension ShutterRole: SettingChoice {}
