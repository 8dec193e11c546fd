/// A switch to another camera that is under way (contract §5.7, §6).
struct CameraSwitch: Sendable {
    /// How long the new camera may take to its first good frame.
    static let patience: Duration = .seconds(5)
    /// Between tries while the old camera's parts are still taken.
    static let pause: Duration = .milliseconds(250)

    let target: CameraID
    let source: Source
    var token: RequestToken?
    /// What the active camera was before.
    let before: CameraState
    var deadline: Instant
    /// The new camera isn't started before a shot of the old one was lit.
    var waitsForFlash = false
    /// The old camera was stopped first, because both can't stream at once, or it didn't stream.
    var oldIsStopped: Bool
    /// And given up, because stopping wasn't enough.
    var oldIsReleased = false
    var retry: Instant?
    var reason = FailureReason.cameraLost
    /// A clip ended for the switch; its successor starts with the new camera.
    var successor: ClipSuccessor?
}

/// The clip that follows one which ended with `camera_switch` or `encoder_lost`.
struct ClipSuccessor: Sendable {
    let source: Source
    let maximum: Duration
    /// The button that keeps it running.
    let button: Int?
    let torch: ClipTorch?
    let ended: ClipKey
}
