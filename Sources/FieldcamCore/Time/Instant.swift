/// A point on the machine's monotonic clock (`CLOCK_MONOTONIC`), in nanoseconds since boot.
///
/// Edges, exposures and sound all carry this clock; adapters convert once, where a fact enters the program.
public struct Instant: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    public static func + (instant: Instant, span: Duration) -> Instant {
        Instant(nanoseconds: instant.nanoseconds + span.inNanoseconds)
    }

    public static func - (instant: Instant, span: Duration) -> Instant {
        Instant(nanoseconds: instant.nanoseconds - span.inNanoseconds)
    }

    public static func - (later: Instant, earlier: Instant) -> Duration {
        .nanoseconds(later.nanoseconds - earlier.nanoseconds)
    }
}

extension Duration {
    /// The whole nanoseconds of this duration; exact up to ±292 years.
    public var inNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
