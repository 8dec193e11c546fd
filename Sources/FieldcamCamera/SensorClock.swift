import FieldcamCore

/// Puts a pipeline's time stamps on the monotonic clock.
///
/// libcamera says that `SensorTimestamp` counts like CLOCK_BOOTTIME; most drivers give CLOCK_MONOTONIC. The two differ only
/// once the board was suspended; which of them a stamp means shows in that a frame can't be older than reason, nor from the future.
struct SensorClock {
    /// CLOCK_BOOTTIME minus CLOCK_MONOTONIC.
    var bootOffset: Duration = .zero

    /// Frames older than this at their arrival have a stamp of no clock that we know.
    static let oldest = Duration.seconds(10)
    /// The two clocks are read one after the other, and a stamp may be rounded.
    static let tolerance = Duration.milliseconds(1)

    private var isBootTime = false

    init(bootOffset: Duration = .zero) {
        self.bootOffset = bootOffset
    }

    /// - Parameters:
    ///   - stamp: nanoseconds on the pipeline's clock.
    ///   - arrived: when the frame was complete.
    /// - Returns: the stamp's instant; `arrived` if it fits neither clock.
    mutating func instant(of stamp: Int64, arrived: Instant) -> Instant {
        let asMonotonic = Instant(nanoseconds: stamp)
        guard bootOffset > Self.tolerance else { return Self.isPlausible(asMonotonic, arrived) ? asMonotonic : arrived }
        let asBootTime = asMonotonic - bootOffset
        // A stamp from the future proves the other clock, for good: the driver doesn't change it.
        if asMonotonic > arrived + Self.tolerance && Self.isPlausible(asBootTime, arrived) { isBootTime = true }
        let chosen = isBootTime ? asBootTime : asMonotonic
        return Self.isPlausible(chosen, arrived) ? chosen : arrived
    }

    private static func isPlausible(_ instant: Instant, _ arrived: Instant) -> Bool {
        instant <= arrived + tolerance && instant >= arrived - oldest
    }
}
