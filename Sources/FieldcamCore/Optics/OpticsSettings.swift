/// The part of the settings that focus, exposure, low light and zoom need (contract §4).
public struct OpticsSettings: Hashable, Sendable {
    public enum FocusMode: String, Hashable, Sendable, CaseIterable {
        case continuous
        /// Once at a point, then it stays.
        case auto
        case manual
    }
    public enum RecordingFocus: String, Hashable, Sendable, CaseIterable {
        case lock
        case slow
        case continuous
    }

    public var focusMode = FocusMode.continuous
    public var focusTap = true
    public var resumeOnChange = true
    public var resumeAfter = Duration.seconds(10)
    public var focusWhileRecording = RecordingFocus.slow
    /// EV, -8 … 8.
    public var compensation = 0.0
    public var metering = CameraControls.Metering.centre
    /// `nil`: automatic.
    public var shutter: Duration?
    /// `nil`: automatic; else 1 and up.
    public var gain: Double?
    public var lowLight = true
    public var enterLux = 10.0
    public var leaveLux = 20.0
    /// Frames a second that a clip never falls below for want of light.
    public var minimumFramerate = 10.0
    /// Frames merged into one low-light shot, 1 … 16.
    public var stack = 1
    public var zoom = true
    /// `nil`: as far as no pixel is invented; else 1 and up.
    public var zoomMaximum: Double?

    public init() {}
}
