/// What happened since the start, for status and metrics.
public struct Counters: Hashable, Sendable {
    /// Confirmed presses of the shutter button.
    public var presses = 0
    /// Changes of a line that came back within the bounce time.
    public var glitches = 0
    /// Shots and clips that took a number.
    public var shots = 0
    public var clips = 0
    /// Second presses whose bound action was ordered.
    public var doublePresses = 0
    public var rejected = 0

    public init() {}
}

/// Where recording is, for status.
public enum RecordingState: Hashable, Sendable {
    case idle
    /// Committed; no frame came yet.
    case starting(MediaNumber)
    case running(MediaNumber)
    /// The latest clip ended and its file isn't finished.
    case finishing(MediaNumber)
}

/// Where the shutter button's gesture is, for status.
public enum GestureState: Hashable, Sendable {
    case idle
    case down
    /// A tap waits whether a second press follows.
    case waitingForSecondPress
    case holding
    /// Decided; waits for the release.
    case spent
}
