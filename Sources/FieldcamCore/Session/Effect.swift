/// What is to be done: an order of Core to the shell. Trivial values only, so that nothing is allocated.
public enum Effect: Hashable, Sendable {
    // Frames: the shell holds every frame it reported until Core drops it.
    /// The shell's own hold on this frame ends (workers that were given it keep theirs).
    case dropFrame(FrameRef)

    // Buttons
    /// Read the level of the button's line now and answer with `Fact.level`.
    case readLevel(ButtonID)
    /// The second press's bound action, at that press's confirmation.
    case doublePress(ButtonID)

    // Shots
    /// Encode the frame (a hold for the worker is taken by the shell) and store it under the number.
    case encodeShot(MediaNumber, frame: Frame, press: Instant)
    /// Merge the frame with the reference, which the first one is itself; `encodeShot` with the reference's frame ends it.
    case stackFrame(MediaNumber, Frame, onto: Frame)

    // Clips. A clip begins at the press and is worth nothing until it is committed.
    /// Open microphone and encoder; media time 0 is the press.
    case beginClip(ClipKey, press: Instant)
    /// Give the frame to the encoder. Frames are given in order of time, each once.
    case appendFrame(ClipKey, Frame)
    /// At `hold` or by command: give it a file.
    case commitClip(ClipKey, MediaNumber)
    /// It was a tap: forget all of it.
    case dropClip(ClipKey)
    /// No further frame comes. Sound ends at `end`. Answer with `clipSaved`, `clipEmpty` or `clipFailed`.
    case finishClip(ClipKey, end: Instant)

    /// From the next clip on Motion JPEG is used, whatever is set: the encoder failed twice within a minute.
    case fallBackEncoder

    // Numbers
    /// Few numbers are left; answer with `numbersReserved` (state folder, durable).
    case reserveNumbers

    // Optics
    /// Set the active camera's controls; the latest order counts.
    case control(CameraControls)
    /// From the next frame on measure the mean luma of this part of the stream's image (`Frame.regionLuma`); nil: no more.
    case measureRegion(UnitRect?)
    /// The picture of this frame is what `Frame.sceneChange` is measured against from now on.
    case rememberScene

    // Light: on at once, at this level (0, 1], and off at the deadline whatever happens; the answer is `Fact.light`.
    case lightOn(CameraID, level: Double, deadline: Instant)
    case lightOff(CameraID)
    case indicate(IndicatorPattern)

    // Cameras
    /// Open, configure and start this camera (again); answered by `Fact.abilities` and its frames, or `cameraFailed`.
    case startCamera(CameraID)
    /// Stop it but keep it and its buffers: `standby`.
    case stopCamera(CameraID)
    /// Give it up so that another program can use it.
    case releaseCamera(CameraID)
    /// From now on this camera's frames are the ones that count.
    case useCamera(CameraID)
    /// Leave the stream and read the whole sensor, from the first picture on with these controls (their crop is as the zoom
    /// says, in the shape of that mode); answered by `Fact.sensorFrame`, or `sensorFailed`.
    case exposeSensor(CameraID, CameraControls, zoom: Double)
    /// Back to the stream; answered by its frames.
    case resumeStream(CameraID)

    // Telling
    case announce(Announcement)
    /// Answer a client.
    case answer(RequestToken, Answer)
}

/// An event of contract §6 as far as Core knows it; the shell adds `seq`, `at`, paths, sizes and the encoder.
public enum Announcement: Hashable, Sendable {
    case photoRequested(MediaNumber, Source)
    case photoSaved(MediaNumber, Source, frame: Frame, pressOffset: Duration, flashFired: Bool)
    case photoFailed(MediaNumber, Source, FailureReason)
    /// The shot was to come from the full sensor; it comes from the stream.
    case sensorRefused(MediaNumber, Source, SensorRefusal)
    /// The shot was to be merged of so many frames; it comes from the full sensor, as one.
    case stackRefused(MediaNumber, Source, frames: Int)
    case recordingRequested(MediaNumber, Source)
    case recordingStarted(MediaNumber, Source, ClipKey, firstFrameOffset: Duration)
    case recordingStopped(MediaNumber, Source, StopReason)
    case clipSaved(MediaNumber, Source, ClipKey)
    case clipFailed(MediaNumber, Source, ClipKey, FailureReason)
    case clipDiscarded(MediaNumber, Source, ClipKey)
    case rejected(Source, RejectionReason)
    case storageLow
    case focusStarted(UnitPoint)
    case focusEnded(UnitPoint, FocusResult)
    case zoomChanged(Double)
    /// Level 0: off.
    case lightChanged(LightOwner, level: Double)
    /// It should have been lit, but has been on for so long that it must cool first.
    case lightRefused(LightOwner)
    case lowLightChanged(Bool)
    case exposureChanged(value: Double)
    case cameraSwitched(CameraID)
    case cameraSwitchFailed(CameraID, FailureReason)
    case flashChanged(FlashMode)
}

/// What a client is told at once. What comes of an accepted shot or clip follows as announcements with its number.
public enum Answer: Hashable, Sendable {
    case accepted(MediaNumber)
    case rejected(RejectionReason)
    case effective(Effective)
}

/// A list of effects that is reused from one `reduce` to the next: it allocates once.
public struct Effects: Sendable {
    public private(set) var list: [Effect] = []

    public init(capacity: Int = 256) {
        list.reserveCapacity(capacity)
    }

    public mutating func append(_ effect: Effect) {
        list.append(effect)
    }

    public mutating func removeAll() {
        list.removeAll(keepingCapacity: true)
    }
}
