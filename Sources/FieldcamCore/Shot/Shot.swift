/// A shot that has its number and waits: for its frame, or for a free worker.
struct Shot: Sendable {
    var number: MediaNumber
    var source: Source
    var candidate: Candidate
    /// Until when a frame is waited for.
    var deadline: Instant
    /// When it was committed: what is exposed late is exposed from then on.
    let committed: Instant
    /// What its request asked of the flash; `nil`: as it is set.
    let flashAsked: FlashMode?
    var flash = FlashStage.none
    var focus = FocusStage.none
    var sensor = SensorStage.none
    var stack = StackStage.none

    var press: Instant { candidate.press }

    /// Its picture was made for it: lit, or of the full sensor.
    var wasExposedLate: Bool { flash.isProven || sensor == .taken }

    /// Its picture is decided.
    var isReady: Bool { candidate.isResolved && flash.isOver && focus.isOver && sensor.isOver && stack.isOver }

    /// Whether its picture is exposed after the commit: nothing else may shine then.
    var isExposedLate: Bool {
        if !focus.isOver || !sensor.isOver || !stack.isOver { return true }
        return switch flash {
        case .wanted, .firing: true
        case .none, .fired: candidate.needsConvergence && !candidate.isResolved
        }
    }
}

/// Where a shot stands with the flash.
enum FlashStage: Hashable, Sendable {
    /// → `wanted` at the commit only.
    case none
    /// Waits for the light, or for the frame that tells whether it's needed: → `firing`, `none`.
    case wanted
    /// → `fired`, `none` (given up: the picture of the press is taken).
    case firing
    /// Over; whether it is proven that the picture is lit.
    case fired(isProven: Bool)

    var isOver: Bool {
        switch self {
        case .none, .fired: true
        case .wanted, .firing: false
        }
    }

    var isProven: Bool { self == .fired(isProven: true) }
}

/// Where a shot stands with the frames that it is merged of.
enum StackStage: Hashable, Sendable {
    /// → `waiting` at the commit only.
    case none
    /// So many frames are wanted, exposed from `since` on, and so many were merged; given up at `until`: → `over`, or `none`
    /// with no frame at all (the picture of the press is taken).
    case waiting(Int, taken: Int, since: Instant, until: Instant)
    /// So many frames were merged.
    case over(Int)

    var isOver: Bool {
        switch self {
        case .none, .over: true
        case .waiting: false
        }
    }

    /// Its frame is what others are merged with.
    var hasReference: Bool {
        switch self {
        case .none: false
        case .waiting(_, let taken, _, _): taken > 0
        case .over: true
        }
    }
}

/// A shot that is being encoded or stored.
struct ShotInWork: Sendable {
    var number: MediaNumber
    var source: Source
    var frame: Frame
    var press: Instant
    var flashFired = false
    /// Merged of several frames.
    var isStacked = false
}
