/// What the owner wants (contract §4). The defaults are what a missing file means.
public struct Settings: Hashable, Sendable {
    public var button = ButtonSettings()
    public var photo = PhotoSettings()
    public var video = VideoSettings()
    public var flash = FlashSettings()
    public var torch = TorchSettings()
    public var focus = FocusSettings()
    public var exposure = ExposureSettings()
    public var lowLight = LowLightSettings()
    public var interval = IntervalSettings()
    public var trigger = TriggerSettings()
    public var zoom = ZoomSettings()
    public var guide = GuideSettings()
    public var overlay = OverlaySettings()
    public var audio = AudioSettings()
    public var camera = CameraSettings()
    public var storage = StorageSettings()
    public var server = ServerSettings()
    /// Event name → command line.
    public var hooks: [String: String] = [:]

    public init() {}
}
