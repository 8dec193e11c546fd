import FieldcamCore
import FieldcamLinux
import FieldcamPorts

/// Plays the patterns of the small status LED on its line.
struct IndicatorPlayer {
    private let line: (any OutputLine)?
    private var pattern = IndicatorPattern.off
    private var since = Instant(nanoseconds: 0)
    /// What is played again when a pattern that plays once is over.
    private var lasting = IndicatorPattern.off
    private var lastingSince = Instant(nanoseconds: 0)
    /// Played once it isn't dark any more.
    private var held: IndicatorPattern?
    private var isOn = false
    private var hasFailed = false
    private(set) var nextDeadline: Instant?

    init(line: (any OutputLine)?) {
        self.line = line
    }

    mutating func play(_ next: IndicatorPattern, now: Instant) {
        guard line != nil else { return }
        if next.length != nil {
            if pattern == .dark {
                held = next
                return
            }
        } else {
            guard next != lasting else { return }
            lasting = next
            lastingSince = now
            // A blink that is under way ends first, except for the dark.
            if pattern.length != nil, next != .dark { return }
        }
        if pattern == .dark, next != .dark, let waiting = held {
            held = nil
            begin(waiting, at: now)
        } else {
            begin(next, at: now)
        }
        advance(now)
    }

    mutating func advance(_ now: Instant) {
        if let length = pattern.length, now - since >= length { begin(lasting, at: lastingSince) }
        let (shines, change) = pattern.state(after: now - since)
        set(shines)
        var deadline = change.map { since + $0 }
        if let length = pattern.length { deadline = min(deadline ?? since + length, since + length) }
        nextDeadline = deadline
    }

    private mutating func begin(_ next: IndicatorPattern, at: Instant) {
        pattern = next
        since = at
    }

    private mutating func set(_ on: Bool) {
        guard on != isOn, let line else { return }
        isOn = on
        do throws(HardwareError) {
            try line.set(on)
            hasFailed = false
        } catch {
            if !hasFailed { Log.warning("the indicator can't be set", ["reason": error.description]) }
            hasFailed = true
        }
    }
}
