/// One line's contact with its bounce taken out (contract §5.1).
///
/// A change counts from its first edge; what follows within the bounce time is bounce, then the level decides. The level
/// is read by the shell; where a fact comes so late that the reading tells of another time, the last edge decides.
struct Contact: Sendable {
    struct Change: Sendable {
        /// The first edge: the time at which the change counts if it is confirmed.
        var from: Instant
        /// The level after the latest edge.
        var latest: Bool
        var latestAt: Instant
        /// When the level was asked for, after the bounce time.
        var asked: Instant?
    }

    /// The confirmed level, as the line has it.
    private(set) var level = false
    private(set) var change: Change?
    /// Down since the line was found: counts as up until it was released once (contract §5.5).
    private(set) var isMuted = false
    /// When the level was last read or asked for.
    var read: Instant?
    /// The latest time at which a reading confirmed the level.
    var verified: Instant?

    /// Whether the contact presses the button.
    var isDown: Bool { level && !isMuted }

    /// The first edge of a change that isn't confirmed yet; `nil` while muted.
    var changing: Instant? { isMuted ? nil : change?.from }

    mutating func begin(at: Instant) {
        change = Change(from: at, latest: !level, latestAt: at, asked: nil)
    }

    /// An edge inside the bounce time. One that is older than the change's first makes it begin earlier: the change
    /// had been found by reading.
    mutating func bounce(_ pressed: Bool, at: Instant) {
        guard var current = change else { return }
        if at < current.from, pressed != level { current.from = at }
        if at >= current.latestAt {
            current.latest = pressed
            current.latestAt = at
        }
        change = current
    }

    mutating func askLevel(at: Instant) {
        change?.asked = at
        read = at
    }

    /// Ends the change with the level that the line settled at; `true` if the level changed, `false` if it was noise.
    mutating func settle(_ settled: Bool) -> Bool {
        change = nil
        guard settled != level else { return false }
        level = settled
        if !settled { isMuted = false }
        return true
    }

    /// The line was found at this level; down counts only after a release.
    mutating func find(_ pressed: Bool, at: Instant) {
        self = Contact()
        level = pressed
        isMuted = pressed
        read = at
    }

    /// When this contact wants to be looked at.
    func deadline(bounce: Duration, poll: Duration) -> Instant? {
        if let change { return (change.asked ?? change.from) + bounce }
        return level ? read.map { $0 + poll } : nil
    }
}
