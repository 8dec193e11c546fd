import FieldcamCore

/// When frames are exposed and read: an exact grid of the frame rate from the start, without rounding that adds up.
struct FrameGrid {
    let start: Instant
    /// Frames in a thousand seconds.
    let rate: Int64
    /// From the end of the first row's exposure to the last row's.
    let readOut: Duration

    init(start: Instant, framerate: Double) {
        self.start = start
        rate = max(1, Int64((framerate * 1000).rounded()))
        // A fast sensor reads out in 20 ms; at high frame rates it must be faster than the frames.
        readOut = min(.milliseconds(20), .nanoseconds(600_000_000_000 / rate))
    }

    var interval: Duration { .nanoseconds(1_000_000_000_000 / rate) }

    /// End of frame `index`'s first row's exposure (`SensorTimestamp`): one interval after the start for frame 0.
    func exposureEnd(of index: Int64) -> Instant {
        let thousandths = (index + 1) * 1000
        let nanoseconds = thousandths / rate * 1_000_000_000 + thousandths % rate * 1_000_000_000 / rate
        return Instant(nanoseconds: start.nanoseconds + nanoseconds)
    }

    /// When frame `index` is read out and handed over.
    func delivery(of index: Int64) -> Instant { exposureEnd(of: index) + readOut }
}
