extension IndicatorPattern {
    /// Whether the indicator shines so long after the pattern began, and after how long that changes; `nil`: it stays.
    ///
    /// Lengths (contract §9 names the patterns): the pulse of `ready` is 100 ms every 3 s; blinks are 120 ms long, 180 ms
    /// apart; repeated groups come every 2 s; `endingSoon` blinks 5 times a second.
    public func state(after elapsed: Duration) -> (isOn: Bool, change: Duration?) {
        switch self {
        case .off, .dark: (false, nil)
        case .recording: (true, nil)
        case .ready: Self.blinks(1, length: 100, every: 3000, repeats: true, elapsed)
        case .endingSoon: Self.blinks(1, length: 100, every: 200, repeats: true, elapsed)
        case .saved: Self.blinks(1, length: 120, every: 600, repeats: false, elapsed)
        case .refused: Self.blinks(2, length: 120, every: 900, repeats: false, elapsed)
        case .cameraDown: Self.blinks(3, length: 120, every: 2000, repeats: true, elapsed)
        case .disk: Self.blinks(4, length: 120, every: 2000, repeats: true, elapsed)
        }
    }

    /// When a pattern that plays once is over; `nil`: it goes on until another takes its place.
    public var length: Duration? {
        switch self {
        case .saved: .milliseconds(600)
        case .refused: .milliseconds(900)
        default: nil
        }
    }

    /// So many blinks of `length` ms, 180 ms apart, in a period of `every` ms.
    private static func blinks(
        _ count: Int64, length: Int64, every: Int64, repeats: Bool, _ elapsed: Duration
    ) -> (isOn: Bool, change: Duration?) {
        let nanoseconds = max(0, elapsed.inNanoseconds)
        let period = every * 1_000_000
        let start = repeats ? nanoseconds / period * period : 0
        for blink in 0..<count {
            let on = start + blink * (length + 180) * 1_000_000
            let off = on + length * 1_000_000
            if nanoseconds < on { return (false, .nanoseconds(on)) }
            if nanoseconds < off { return (true, .nanoseconds(off)) }
        }
        return (false, repeats ? .nanoseconds(start + period) : nil)
    }
}
