/// What a press on the shutter button means (contract §4, `button.shutter_role`).
public enum ShutterRole: String, Hashable, Sendable, CaseIterable {
    case photoVideo = "photo_video"
    case photoOnly = "photo_only"
    case videoHold = "video_hold"
    case videoLatch = "video_latch"
}

/// What a second press does (contract §4, `button.double_press_action`).
public enum DoublePressAction: String, Hashable, Sendable, CaseIterable {
    /// `switchCamera` where there are two cameras or more, else `none`.
    case auto
    case switchCamera = "switch_camera"
    case cycleFlash = "cycle_flash"
    case none
}

/// What a switch of cameras means while recording (contract §4, `camera.switch_while_recording`).
public enum SwitchWhileRecording: String, Hashable, Sendable, CaseIterable {
    case refuse
    /// The clip ends with `camera_switch`, a new one starts from the new camera.
    case newClip = "new_clip"
}

/// The part of the settings that the decisions need.
public struct SessionSettings: Hashable, Sendable {
    /// A press this long is a hold. 150 ms … 1 s.
    public var hold: Duration = .milliseconds(400)
    /// From the first release to the second press.
    public var doublePress: Duration = .milliseconds(300)
    /// Whether a second press has a bound action even if `doublePressAction` is none: then the shell alone acts on
    /// `Effect.doublePress`. Without any action a tap is committed at its release's confirmation.
    public var doublePressIsBound = false
    /// What the session does at a second press.
    public var doublePressAction = DoublePressAction.none
    public var shutterRole = ShutterRole.photoVideo
    public var buttonEnabled = true
    /// Zero: no maximum.
    public var maximumDuration: Duration = .zero
    /// `video.unsupported = "reject"`, and the clip that is asked for can't be made: nothing is recorded.
    public var recordingIsUnsupported = false
    /// Nominal time between frames, from `video.framerate` or the camera's effective rate.
    public var frameInterval: Duration = .nanoseconds(33_333_333)
    /// Edges this soon after a first edge are bounce.
    public var bounce: Duration = .milliseconds(15)
    /// A pressed line is also read this often.
    public var levelPoll: Duration = .milliseconds(100)
    /// Frame slots for decisions: ring, pinned and queued frames and shots in work together never exceed it (2 at least).
    /// What the encoder holds, and what the camera needs to fill, comes on top.
    public var frameSlots = 12
    /// Frames kept to look back at.
    public var ringFrames = 4
    /// Shots waiting, at most; the next is rejected, `queue_full`.
    public var shotQueue = 8
    /// Shots being encoded or stored at the same time, at most.
    public var shotsInWork = 2
    public var optics = OpticsSettings()
    public var photoSource = PhotoSource.stream
    public var focusWait = FocusWait.off

    public var light = Light()
    /// Idle time after which the camera goes to standby; zero: never.
    public var standbyAfter: Duration = .zero
    public var switchWhileRecording = SwitchWhileRecording.refuse

    public init() {}

    /// Flash and torch: the owner's wishes and the board's limits.
    public struct Light: Hashable, Sendable {
        /// `flash.mode`
        public var flash = FlashMode.off
        /// `torch.mode`, during clips.
        public var torch = FlashMode.off
        /// `torch.level`, (0, 1].
        public var torchLevel = 1.0
        /// `max_flash`: never longer on for a shot.
        public var maximumFlash: Duration = .milliseconds(800)
        /// `max_torch`: never longer on in one go; see `TorchBudget`.
        public var maximumTorch: Duration = .seconds(600)
        /// By camera: which light it has, and that light's own limits; a camera beyond the list has light 0 and the limits above.
        public var limits: [Limits] = []

        public struct Limits: Hashable, Sendable {
            /// Cameras with the same number share one light.
            public var light: Int
            public var maximumFlash: Duration
            public var maximumTorch: Duration

            public init(light: Int, maximumFlash: Duration, maximumTorch: Duration) {
                self.light = light
                self.maximumFlash = maximumFlash
                self.maximumTorch = maximumTorch
            }
        }

        func limits(of camera: CameraID) -> Limits {
            limits.indices.contains(camera.index)
                ? limits[camera.index] : Limits(light: 0, maximumFlash: maximumFlash, maximumTorch: maximumTorch)
        }
        /// `auto` lights scenes darker than this: a living room in the evening has 50 lux.
        public var dimLux = 40.0
        /// Where the pipeline tells no lux: scenes whose exposure time times gain is at least this are dim. 100 ms is
        /// 1/30 s at gain 3, where automatic exposure arrives below some 50 lux with an f/2 lens.
        public var dimExposure: Duration = .milliseconds(100)

        public init() {}
    }
}
