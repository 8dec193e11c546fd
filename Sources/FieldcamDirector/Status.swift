import FieldcamCore

/// What `GET /v1/status` tells, as far as the director knows it.
public struct Status: Hashable, Sendable {
    public struct Camera: Hashable, Sendable {
        /// starting, up, switching, recovering, standby, released, down
        public var state = "starting"
        public var role = ""
        public var model = ""
        /// Why it is down, with the mend: one sentence; empty otherwise.
        public var detail = ""
        /// When the last good frame came.
        public var lastFrame: Instant?
        public var stillWidth = 0
        public var stillHeight = 0
        public var videoWidth = 0
        public var videoHeight = 0
        public var framerate = 0.0
        public var slots = 0
        public var copiesFrames = false
        public var image = ImageModes()
        /// How its frames fit into contiguous memory: one sentence; empty where that is no limit.
        public var memory = ""
    }
    /// What a clip is that begins now.
    public struct Video: Hashable, Sendable {
        /// `video.quality` as it was asked for; empty: it isn't known yet.
        public var requested = ""
        /// As it is in effect: the word, or the size.
        public var effective = ""
        public var width = 0
        public var height = 0
        /// Frames a second, as asked for and in effect.
        public var requestedFramerate = 0.0
        public var framerate = 0.0
        public var bitRate = 0
        /// Why the effective quality, and the effective frame rate, isn't the one asked for; empty: it is.
        public var reason = ""
        public var framerateReason = ""
        /// What the camera can do isn't known yet.
        public var awaitsCamera = true
        /// `video.unsupported = "reject"`: nothing is recorded.
        public var isRefused = false
    }
    public struct Recording: Hashable, Sendable {
        /// idle, starting, running, finishing
        public var state = "idle"
        public var number: MediaNumber?
        public var source: Source?
        public var since: Instant?
        public var encoder = ""
    }
    public struct Button: Hashable, Sendable {
        public var role = ""
        public var pressed = false
        /// Why the line can't be used, with the mend; empty: it is.
        public var detail = ""
        public init() {}
    }
    public struct Audio: Hashable, Sendable {
        /// off, closed, open, missing
        public var state = "closed"
        public var detail = ""
    }
    public struct Storage: Hashable, Sendable {
        /// ready, low, unwritable
        public var state = "ready"
        public var detail = ""
        public var headroomBytes: Int64 = 0
        public var mediaFolder = ""
    }
    public struct Light: Hashable, Sendable {
        /// As it was read back; 0: off.
        public var level = 0.0
        /// shot, clip, hand; empty: nobody.
        public var owner = ""
        /// Why it can't be lit, or not as brightly as wanted: one sentence; empty: all is well.
        public var reason = ""
        /// It was on for as long as it may, and isn't lit by hand or for a clip before; `nil`: it may shine.
        public var restsUntil: Instant?
    }
    public struct Lens: Hashable, Sendable {
        public var focus = FocusAim.continuous
        /// Dioptres that it reaches; `nil`: a fixed lens.
        public var range: ClosedRange<Double>?
        public var zoom = 1.0
        /// What would be granted.
        public var maximumZoom = 1.0
    }
    public struct Counters: Hashable, Sendable {
        public var presses = 0
        public var glitches = 0
        public var edgesLost = 0
        public var shots = 0
        public var clips = 0
        public var rejected = 0
        public var frames = 0
        public var framesFailed = 0
        /// Frames that the camera numbered but never came.
        public var framesMissed = 0
        /// Frames of clips that the encoder had no time for.
        public var framesDropped = 0
    }

    public var camera = Camera()
    public var video = Video()
    /// What the camera that counts can do; `nil`: it isn't known yet.
    public var abilities: CameraAbilities?
    /// The settings that it can't follow, and what it does instead.
    public var refusals: [SettingRefusal] = []
    public var recording = Recording()
    public var buttons: [Button] = []
    public var light = Light()
    public var lens = Lens()
    /// As it is in force: by hand or by `flash.mode`.
    public var flash = FlashMode.off
    public var isInLowLight = false
    public var audio = Audio()
    public var storage = Storage()
    public var counters = Counters()
    /// How many `Order.configure` were taken.
    public var configurations = 0
    /// Settings that need an idle camera wait for one.
    public var settingsWait = false
    public var clockIsTrusted = false
    public var queuedShots = 0

    public init() {}
}
