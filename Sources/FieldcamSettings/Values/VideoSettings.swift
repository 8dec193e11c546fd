/// `[video]`: what a clip is.
public struct VideoSettings: Hashable, Sendable {
    public var quality = VideoQuality.high
    public var codec = VideoCodec.auto
    /// Frames a second, nominal; a preset caps it.
    public var framerate = 30.0
    /// Zero: until the disk reserve.
    public var maximumDuration: Duration = .zero
    public var unsupported = UnsupportedQuality.fallback
}

public enum VideoQuality: String, Hashable, Sendable, CaseIterable, SettingChoice {
    case high
    case medium
    case low
    case cif = "352x288"
    case vga = "640x480"
    case hd = "1280x720"
    case fullHD = "1920x1080"
    case ultraHD = "3840x2160"
    case iframe540 = "iframe_960x540"
    case iframe720 = "iframe_1280x720"
}

public enum VideoCodec: String, Hashable, Sendable, CaseIterable, SettingChoice {
    /// The board's order of encoders.
    case auto
    case h264
    case mjpeg
}

/// What is done when the camera or the encoder can't do what was asked.
public enum UnsupportedQuality: String, Hashable, Sendable, CaseIterable, SettingChoice {
    /// The nearest that works, with the event `quality.fallback`.
    case fallback
    case reject
}
