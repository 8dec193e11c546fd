import FieldcamCore

/// Where each request of a camera is: with the camera, with a reader, or with us. One bit each.
struct RequestBook {
    /// Pipelines may still walk a request that they have just completed; it rests so long before it is queued again.
    static let rest = Duration.milliseconds(1)

    let count: Int
    /// With the camera.
    private(set) var queued: UInt64 = 0
    /// Its buffers are being read.
    private(set) var held: UInt64 = 0
    /// Came back since the last `turn`: not queued again within the same turn of the director.
    private var fresh: UInt64 = 0
    private var readyAt: [Instant]

    init(count: Int) {
        precondition(count > 0 && count <= 64)
        self.count = count
        readyAt = Array(repeating: Instant(nanoseconds: .min), count: count)
    }

    private var all: UInt64 { count == 64 ? .max : (1 << UInt64(count)) - 1 }
    private var waiting: UInt64 { all & ~queued & ~held }

    /// A request that may be queued now.
    func ready(_ now: Instant) -> Int? {
        var candidates = waiting & ~fresh
        while candidates != 0 {
            let index = candidates.trailingZeroBitCount
            if readyAt[index] <= now { return index }
            candidates &= candidates - 1
        }
        return nil
    }

    /// When the next of those that wait may be queued; `nil` if none waits.
    var nextReady: Instant? {
        var candidates = waiting
        var earliest: Instant?
        while candidates != 0 {
            let at = readyAt[candidates.trailingZeroBitCount]
            if earliest.map({ at < $0 }) ?? true { earliest = at }
            candidates &= candidates - 1
        }
        return earliest
    }

    mutating func queue(_ index: Int) { queued |= 1 << UInt64(index) }

    /// The camera completed it; `isHeld`: readers will have its buffers first.
    mutating func complete(_ index: Int, at instant: Instant, isHeld: Bool) {
        let bit = UInt64(1) << UInt64(index)
        queued &= ~bit
        fresh |= bit
        if isHeld { held |= bit }
        readyAt[index] = instant + Self.rest
    }

    /// The last reader let go of these.
    mutating func letGo(_ bits: UInt64) { held &= ~bits }

    /// The director went round once: what came back before may be queued at the next turn.
    mutating func turn() { fresh = 0 }

    /// The camera stopped: everything that it had is back, and nobody walks it any more.
    mutating func stop() {
        queued = 0
        fresh = 0
        for index in 0..<count { readyAt[index] = Instant(nanoseconds: .min) }
    }
}
