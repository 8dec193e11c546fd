/// How a sound card's clock runs against the monotonic clock: what to correct now, and its drift over the whole clip.
///
/// The correction is a loop of second order on the filtered error between where a piece of sound belongs and where it would come
/// to lie: slow enough that the time stamps' jitter isn't heard, fast enough that a card of 200 ppm stays within 2 ms.
struct SoundClock {
    /// Natural frequency of the loop in 1/s, critically damped: settled after about two minutes. A ramp of d (200e-6) passes
    /// with an error of d / (e · ω) at most: 1.5 ms.
    private static let frequency = 0.05
    /// Time constant of the error's filter, s; far below the loop's.
    private static let smoothing = 1.0
    /// No crystal is worse than 1000 ppm; beyond, the stamps are wrong.
    private static let limit = 2000e-6

    private var filtered = 0.0
    private var integral = 0.0
    private var last: Double?

    // Regression of the card's time on the clock's, pooled over stretches without gaps (sums about each stretch's means).
    private var count = 0.0
    private var meanTime = 0.0
    private var meanError = 0.0
    private var sxx = 0.0
    private var sxy = 0.0
    private var pooledXX = 0.0
    private var pooledXY = 0.0
    private var origin = 0.0
    private var samples = 0.0

    /// Parts of one by which more sound must be made than comes in: positive for a slow card.
    private(set) var correction = 0.0

    /// A stretch of sound begins: whatever lay before, the piece at this time (s) lies right.
    mutating func restart(at time: Double) {
        filtered = 0
        last = nil
        pooledXX += sxx
        pooledXY += sxy
        (count, meanTime, meanError, sxx, sxy) = (0, 0, 0, 0, 0)
        origin = time
        samples = 0
    }

    /// A piece of `duration` (s, by the card's count) came; it belongs at `time` (s), `error` (s) later than where it comes to lie.
    mutating func note(time: Double, duration: Double, error: Double) {
        let step = min(1, max(0, time - (last ?? time)))
        last = time
        filtered += (error - filtered) * min(1, step / Self.smoothing)
        integral += filtered * step * Self.frequency * Self.frequency
        integral = min(Self.limit, max(-Self.limit, integral))
        let wanted = 2 * Self.frequency * filtered + integral
        correction = min(Self.limit, max(-Self.limit, wanted))

        let (x, y) = (time - origin, samples - (time - origin))
        count += 1
        let dx = x - meanTime
        meanTime += dx / count
        meanError += (y - meanError) / count
        sxx += dx * (x - meanTime)
        sxy += dx * (y - meanError)
        samples += duration
    }

    /// The card's clock against the monotonic clock, parts in a million, positive for a fast card; 0 without sound.
    var driftPPM: Double {
        let xx = pooledXX + sxx
        return xx > 0 ? (pooledXY + sxy) / xx * 1e6 : 0
    }
}
