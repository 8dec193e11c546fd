import CFieldcamLinux
import FieldcamCore

/// The two clocks of the machine. Only the composition root and the shell's threads read them; Core never does.
public enum SystemClock {
    public static var now: Instant { Instant(nanoseconds: fc_monotonic_ns()) }
    /// Nanoseconds since 1970 of the wall clock, right or wrong.
    public static var wallNanoseconds: Int64 { fc_realtime_ns() }
    /// CLOCK_BOOTTIME minus CLOCK_MONOTONIC: zero unless the board was suspended.
    public static var bootOffset: Duration {
        .nanoseconds(fc_boottime_ns() - fc_monotonic_ns())
    }
    /// Whether the kernel says that the wall clock is synchronised.
    public static var isSynchronised: Bool { fc_clock_is_synchronised() != 0 }
}
