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

    // Numbers
    /// Few numbers are left; answer with `numbersReserved` (state folder, durable).
    case reserveNumbers

    // Telling
    case announce(Announcement)
    /// Answer a client.
    case answer(RequestToken, Answer)
}

/// An event of contract §6 as far as Core knows it; the shell adds `seq`, `at`, paths, sizes and the encoder.
public enum Announcement: Hashable, Sendable {
    case photoRequested(MediaNumber, Source)
    case photoSaved(MediaNumber, Source, frame: Frame, pressOffset: Duration)
    case photoFailed(MediaNumber, Source, FailureReason)
    case recordingRequested(MediaNumber, Source)
    case recordingStarted(MediaNumber, Source, ClipKey, firstFrameOffset: Duration)
    case recordingStopped(MediaNumber, Source, StopReason)
    case clipSaved(MediaNumber, Source, ClipKey)
    case clipFailed(MediaNumber, Source, ClipKey, FailureReason)
    case clipDiscarded(MediaNumber, Source, ClipKey)
    case rejected(Source, RejectionReason)
    case storageLow
}

/// What a client is told at once. What comes of an accepted shot or clip follows as announcements with its number.
public enum Answer: Hashable, Sendable {
    case accepted(MediaNumber)
    case rejected(RejectionReason)
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
