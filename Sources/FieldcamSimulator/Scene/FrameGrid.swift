import FieldcamCore

/// When frames are exposed and read: an exact grid of the frame rate from the start, without rounding that adds up.
struct FrameGrid {
    /// One interval before frame `first` ends its first row's exposure.
    let start: Instant
    let first: Int64
    /// Frames in a thousand seconds.
    let rate: Int64
    /// From the end of the first row's exposure to the last row's.
    let readOut: Duration

    /// Of the sensor's mode; `nil`: as the rate allows.
    private let fixed: Duration?

    init(start: Instant, first: Int64 = 0, framerate: Double, readOut fixed: Duration? = nil) {
        self.start = start
        self.first = first
        rate = max(1, Int64((framerate * 1000).rounded()))
        self.fixed = fixed
        readOut = fixed ?? Self.readOut(rate: rate)
    }

    /// A fast sensor reads out in 20 ms; at high frame rates it must be faster than the frames.
    private static func readOut(rate: Int64) -> Duration {
        min(.milliseconds(20), .nanoseconds(600_000_000_000 / rate))
    }

    var interval: Duration { .nanoseconds(1_000_000_000_000 / rate) }

    /// End of frame `index`'s first row's exposure (`SensorTimestamp`): one interval after the start for the first.
    func exposureEnd(of index: Int64) -> Instant {
        let thousandths = (index - first + 1) * 1000
        let nanoseconds = thousandths / rate * 1_000_000_000 + thousandths % rate * 1_000_000_000 / rate
        return Instant(nanoseconds: start.nanoseconds + nanoseconds)
    }

    /// When frame `index` is read out and handed over.
    func delivery(of index: Int64) -> Instant { exposureEnd(of: index) + readOut }

    /// The grid from frame `index` on, if frames take `interval` from then on; itself where that is as before.
    func changing(to interval: Duration, from index: Int64) -> FrameGrid {
        let wanted = Double(interval.inNanoseconds)
        guard abs(wanted / Double(self.interval.inNanoseconds) - 1) > 1e-3 else { return self }
        return FrameGrid(
            start: exposureEnd(of: index - 1), first: index, framerate: 1e9 / max(1, wanted), readOut: fixed)
    }
}
