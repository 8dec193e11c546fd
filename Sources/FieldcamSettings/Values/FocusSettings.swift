import FieldcamCore

/// `[focus]`
public struct FocusSettings: Hashable, Sendable {
    public var mode = OpticsSettings.FocusMode.continuous
    public var tap = true
    /// Back to continuous when the scene changes …
    public var resumeOnChange = true
    /// … or after this.
    public var resumeAfter: Duration = .seconds(10)
    public var whileRecording = OpticsSettings.RecordingFocus.slow
}

extension OpticsSettings.FocusMode: SettingChoice {}
extension OpticsSettings.RecordingFocus: SettingChoice {}
