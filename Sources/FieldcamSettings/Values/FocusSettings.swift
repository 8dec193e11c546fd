/// `[focus]`
public struct FocusSettings: Hashable, Sendable {
    public var mode = FocusMode.continuous
    public var tap = true
    /// Back to continuous when the scene changes …
    public var resumeOnChange = true
    /// … or after this.
    public var resumeAfter: Duration = .seconds(10)
    public var whileRecording = RecordingFocus.slow
}

public enum FocusMode: String, Hashable, Sendable, CaseIterable, SettingChoice {
    case continuous
    case auto
    case manual
}

public enum RecordingFocus: String, Hashable, Sendable, CaseIterable, SettingChoice {
    case lock
    case slow
    case continuous
}
