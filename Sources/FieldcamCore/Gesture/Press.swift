/// What a press means is decided by the state at that press (contract §5.8).
struct Press: Sendable {
    enum Meaning: Sendable {
        /// No clip runs: a tap is a shot, a hold a clip.
        case free
        /// This clip runs, and not by this press: a tap is a shot, a hold ends it.
        case duringClip(ClipKey)
        /// The buttons are disabled: rejected at the confirmation.
        case disabled
    }

    var at: Instant
    var source: Source
    var meaning: Meaning
    var role: ShutterRole
    var hold: Duration
    var window: Duration
    var isBound: Bool
    var maximum: Duration
    var isConfirmed = false
    /// The picture of the tap that this press may become.
    var candidate: Candidate
    /// The clip that began with the press and is worth nothing yet.
    var clip: ClipKey?
    /// Why no clip could begin, or why it can't go on.
    var obstacle: FailureReason?
    /// When the level was asked for, to decide about the hold.
    var asked: Instant?

    var holdTime: Instant { at + hold }

    /// Whether a picture is kept for it.
    var mayBeShot: Bool {
        if case .disabled = meaning { return false }
        return role == .photoVideo || role == .photoOnly
    }
}

/// Where a button's gesture is. Each state lists its exits.
enum Gesture: Sendable {
    /// → `down`.
    case idle
    /// → `idle` (noise, tap), `window` (tap, action bound), `holding`, `spent`.
    case down(Press)
    /// A tap waits for a second press: → `idle` (window over: shot), `second`.
    case window(Press, released: Instant)
    /// A second press that isn't confirmed: → `spent` (action), `window` (noise).
    case second(Press, released: Instant, at: Instant, source: Source)
    /// Its clip was committed: → `idle` at the release.
    case holding(ClipKey)
    /// Decided; the rest of the press means nothing: → `idle` at the release.
    case spent

    /// The press whose picture is still to be kept.
    var press: Press? {
        switch self {
        case .down(let press), .window(let press, _), .second(let press, _, _, _): press
        case .idle, .holding, .spent: nil
        }
    }

    /// Replaces the press and stays where it is.
    mutating func update(_ press: Press) {
        switch self {
        case .down: self = .down(press)
        case .window(_, let released): self = .window(press, released: released)
        case .second(_, let released, let at, let source):
            self = .second(press, released: released, at: at, source: source)
        case .idle, .holding, .spent: break
        }
    }
}
