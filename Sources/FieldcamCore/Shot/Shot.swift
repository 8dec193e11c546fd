/// A shot that has its number and waits: for its frame, or for a free worker.
struct Shot: Sendable {
    var number: MediaNumber
    var source: Source
    var candidate: Candidate
    /// Until when a frame is waited for.
    var deadline: Instant

    var press: Instant { candidate.press }
}

/// A shot that is being encoded or stored.
struct ShotInWork: Sendable {
    var number: MediaNumber
    var source: Source
    var frame: Frame
    var press: Instant
}
