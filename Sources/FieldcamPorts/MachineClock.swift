import FieldcamCore
import FieldcamLinux
import Glibc

/// The machine's clocks. The wall clock is trusted once it can have been set: the kernel says it is synchronised, a
/// battery-backed clock set it at boot, or the machine is no board (no device tree), which has such a clock behind it.
public final class MachineClock: Clock {
    private let hasClockOfItsOwn: Bool

    public init() {
        let isBoard = access("/proc/device-tree/model", F_OK) == 0
        hasClockOfItsOwn = !isBoard || Self.wasSetFromBattery()
    }

    public var now: Instant { SystemClock.now }
    public var wallNanoseconds: Int64 { SystemClock.wallNanoseconds }
    public var isTrusted: Bool { hasClockOfItsOwn || SystemClock.isSynchronised }

    /// `/sys/class/rtc/rtc0/hctosys` is 1 if this clock set the system's time at boot.
    private static func wasSetFromBattery() -> Bool {
        let descriptor = open("/sys/class/rtc/rtc0/hctosys", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var byte: UInt8 = 0
        return read(descriptor, &byte, 1) == 1 && byte == UInt8(ascii: "1")
    }
}
