/// What a press on the shutter button means (contract §4, `button.shutter_role`).
public enum ShutterRole: String, Hashable, Sendable, CaseIterable {
    case photoVideo = "photo_video"
    case photoOnly = "photo_only"
    case videoHold = "video_hold"
    case videoLatch = "video_latch"
}

/// The part of the settings that the decisions need.
public struct SessionSettings: Hashable, Sendable {
    /// A press this long is a hold. 150 ms … 1 s.
    public var hold: Duration = .milliseconds(400)
    /// From the first release to the second press.
    public var doublePress: Duration = .milliseconds(300)
    /// Whether a second press has a bound action; without one a tap is committed at its release's confirmation.
    public var doublePressIsBound = false
    public var shutterRole = ShutterRole.photoVideo
    public var buttonEnabled = true
    /// Zero: no maximum.
    public var maximumDuration: Duration = .zero
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

    public init() {}
}
