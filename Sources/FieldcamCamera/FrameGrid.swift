import FieldcamCore

/// When requests are due where the pipeline itself keeps no frame rate: every interval from the start on.
struct FrameGrid {
    let interval: Duration
    private(set) var next: Instant

    init(interval: Duration, start: Instant) {
        self.interval = interval
        next = start
    }

    func isDue(_ now: Instant) -> Bool { next <= now }

    /// Goes on to the first point after `now`.
    /// - Returns: how many points were passed without a frame.
    mutating func advance(_ now: Instant) -> Int {
        guard isDue(now) else { return 0 }
        let passed = (now - next).inNanoseconds / interval.inNanoseconds
        next = next + .nanoseconds((passed + 1) * interval.inNanoseconds)
        return Int(passed)
    }
}
