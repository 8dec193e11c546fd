/// What happened, with the time at which it happened. The only input of `Session.reduce`.
///
/// `at` is the kernel's or the sensor's time where there is one; facts may arrive late and are judged by their time.
public enum Fact: Sendable {
    /// An edge of a button's line: logical level after it, kernel timestamp.
    case edge(ButtonID, pressed: Bool, at: Instant)
    /// A button's line was read: the answer to `Effect.readLevel`, or a re-read after lost edges.
    case level(ButtonID, pressed: Bool, at: Instant)
    /// A button's line disappeared: as a release, reason `line_lost`.
    case lineLost(ButtonID, at: Instant)
    /// A button's line can be used (again); `pressed` is its level. Down at start-up is ignored until released.
    case lineFound(ButtonID, pressed: Bool, at: Instant)
    /// A software press: a contact of its own of the same button.
    case softwareContact(ButtonID, pressed: Bool, source: Source, at: Instant)

    /// Take a shot now; `at` is the command's arrival.
    /// `flash`: for this shot alone; nil takes what is set.
    case shotRequested(RequestToken, source: Source, flash: FlashMode? = nil, at: Instant)
    /// Start a clip; `maximum` overrides the setting where given.
    /// `torch`: what this clip alone has instead of `torch.mode`.
    case recordingRequested(RequestToken, source: Source, maximum: Duration?, torch: ClipTorch? = nil, at: Instant)
    /// A software press of a button that another one holds down already.
    case pressRefused(source: Source)
    /// End the clip that runs.
    case stopRequested(RequestToken, source: Source, at: Instant)
    /// `button.enabled` was changed: a gesture under way completes, the next press is rejected.
    case buttonEnabled(Bool)
    /// All settings anew. A press and a clip keep those of their beginning.
    case settingsChanged(SessionSettings)
    /// After `settingsChanged`: the keys that the owner gave a value.
    case settingsGiven(GivenSettings)

    /// A good frame was completed; the shell holds it until `Effect.dropFrame`.
    case frame(Frame)
    /// A good picture of the full sensor, in the mode that `Effect.exposeSensor` ordered; held as `frame` is.
    case sensorFrame(Frame)
    /// The camera can't be had in that mode; it is to be brought back to the stream.
    case sensorFailed(CameraID, at: Instant)
    case camera(CameraState, at: Instant)

    /// What the active camera can do, told after each configuration.
    case abilities(CameraID, CameraAbilities)
    /// A camera that Core ordered to start can't, or was lost before it counted.
    case cameraFailed(CameraID, FailureReason, at: Instant)
    /// The light was set: its level as it was read back, and when that was done. Level 0: off.
    case light(CameraID, level: Double, at: Instant)
    /// The light can't be set: broken, absent, another program's.
    case lightFailed(CameraID, at: Instant)
    /// Live control.
    case command(ControlCommand, RequestToken, source: Source, at: Instant)

    /// More numbers may be used: all below `limit`, from `next` on at first.
    case numbersReserved(next: MediaNumber, limit: MediaNumber)
    case storage(StorageState, at: Instant)

    /// The shot is durable under its final name.
    case shotSaved(MediaNumber)
    case shotFailed(MediaNumber, FailureReason)
    /// A frame of `Effect.stackFrame` was handed to the merging thread, or couldn't be: too many wait.
    case layerTaken(MediaNumber)
    case layerRefused(MediaNumber)
    /// The clip's file is durable, or the clip came to nothing. Exactly one of these ends each clip that was committed.
    case clipSaved(ClipKey)
    case clipEmpty(ClipKey)
    case clipFailed(ClipKey, FailureReason)
    /// The encoder gave up while the clip ran.
    case encoderLost(ClipKey, at: Instant)

    /// The service is stopping: SIGTERM or SIGINT.
    case shutdown(at: Instant)
    /// Time has passed; sent at, or after, `Session.nextDeadline`.
    case time(Instant)
}

extension Fact {
    /// When it happened, as far as it tells.
    var time: Instant? {
        switch self {
        case .edge(_, _, let at), .level(_, _, let at), .lineLost(_, let at), .lineFound(_, _, let at),
            .softwareContact(_, _, _, let at), .shotRequested(_, _, _, let at), .recordingRequested(_, _, _, _, let at),
            .stopRequested(_, _, let at), .camera(_, let at), .cameraFailed(_, _, let at), .light(_, _, let at),
            .lightFailed(_, let at), .command(_, _, _, let at), .storage(_, let at), .encoderLost(_, let at),
            .shutdown(let at), .time(let at), .sensorFailed(_, let at):
            at
        case .frame(let frame), .sensorFrame(let frame): frame.exposureEnd
        case .pressRefused, .buttonEnabled, .settingsChanged, .settingsGiven, .abilities, .numbersReserved, .shotSaved,
            .shotFailed, .layerTaken, .layerRefused, .clipSaved, .clipEmpty, .clipFailed:
            nil
        }
    }
}
