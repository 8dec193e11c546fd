import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc

/// A light that the kernel drives: an LED under /sys/class/leds.
///
/// Full light from the dark is a shot of the kernel's `oneshot` trigger, which ends it even if this process is gone (then
/// up to an eighth of its time late: that is how exact the kernel's long timers are). That
/// trigger knows no levels and can't be prolonged; in those cases the brightness is written, and the dead-man timer ends it.
public final class LEDClassLight: TimedLight, @unchecked Sendable {
    /// Where the kernel lists its LEDs.
    public static let standardFolder = "/sys/class/leds"

    /// Takes the LED, off.
    /// - Parameter name: the LED's name under /sys/class/leds.
    /// - Throws: `absent` (naming the LEDs there are), `busy` (another program's, or a trigger's of the kernel), `denied`.
    public init(name: String, folder: String = standardFolder) throws(HardwareError) {
        super.init(try LEDClassOutput(name: name, folder: folder))
    }
}

final class LEDClassOutput: LightOutput, @unchecked Sendable {
    // Proof of Sendable: its `TimedLight` calls it under a lock.
    /// A shot begins at the kernel's next tick, 1 … 10 ms later.
    static let patience = Duration.milliseconds(40)

    let name: String
    let hasLevels: Bool
    private let maximum: Int
    private let folder: String
    private let brightness: SysfsFile
    private let trigger: SysfsFile
    private var hasShots: Bool
    /// The trigger waits for a shot.
    private var isReady = false

    init(name: String, folder: String) throws(HardwareError) {
        let operation = "take the LED '\(name)'"
        self.name = "the LED '\(name)'"
        self.folder = "\(folder)/\(name)"
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), access(self.folder, F_OK) == 0 else {
            throw HardwareError(.absent, operation, code: ENOENT, detail: Self.inventory(folder, without: name))
        }
        brightness = SysfsFile("\(self.folder)/brightness")
        trigger = SysfsFile("\(self.folder)/trigger")
        // Read only, so its file is opened by itself.
        maximum = Self.number(in: "\(self.folder)/max_brightness") ?? 1
        hasLevels = maximum > 1
        try brightness.claim(operation)
        // "none timer [oneshot] heartbeat": the active one in brackets. A kernel without triggers has no such file.
        let triggers = access(trigger.path, F_OK) == 0 ? try trigger.read(operation).split(separator: " ") : []
        hasShots = triggers.contains("oneshot") || triggers.contains("[oneshot]")
        if let active = triggers.first(where: { $0.hasPrefix("[") })?.dropFirst().dropLast(),
            active != "none", active != "oneshot"
        {
            throw .errno(
                EBUSY, operation,
                detail:
                    "the kernel's trigger '\(active)' drives it; write 'none' to \(trigger.path), or give the LED no trigger"
                    + " in config.txt")
        }
        try turnOff()
    }

    func turnOn(level: Double, end: Instant) throws(HardwareError) {
        let operation = "turn on \(name)"
        let value = min(maximum, max(1, Int((level * Double(maximum)).rounded())))
        let isDark = try brightness.readNumber(operation) == 0
        if value == maximum, isDark, shoot(value, until: end) { return }
        // Writing 0 takes the trigger, and a shot that runs, off the LED; what follows comes some microseconds later.
        if !isDark || hasShots { try brightness.write("0", operation) }
        isReady = false
        try brightness.write("\(value)", operation)
    }

    /// Full or off, without an end.
    func write(_ on: Bool) throws(HardwareError) {
        isReady = false
        try brightness.write(on ? "\(maximum)" : "0", "set \(name)")
    }

    func turnOff() throws(HardwareError) {
        try brightness.write("0", "turn off \(name)")
        // Ready for the next shot long before it: where a udev rule opens the trigger's files, it needs its time.
        isReady = false
        guard hasShots else { return }
        do throws(HardwareError) {
            try trigger.write("oneshot", "prepare \(name)")
            isReady = true
        } catch {
            giveShotsUp(error)
        }
    }

    func level() throws(HardwareError) -> Double {
        Double(try brightness.readNumber("read \(name)")) / Double(maximum)
    }

    func close() {
        // Writing 0 leaves no trigger behind.
        do throws(HardwareError) {
            try brightness.write("0", "turn off \(name)")
        } catch {
            Log.error("a light can't be switched off", ["reason": "\(error)"])
        }
        brightness.close()
        trigger.close()
    }

    /// True if the kernel shines now, and will end it by itself.
    private func shoot(_ value: Int, until end: Instant) -> Bool {
        let span = (end - SystemClock.now).inNanoseconds / 1_000_000
        guard isReady, span >= 1 else { return false }
        let operation = "shoot \(name)"
        do throws(HardwareError) {
            try write("\(span)", to: "delay_on", operation)
            // The pause in which the kernel takes no other shot; 0 would mean that it never ends.
            try write("1", to: "delay_off", operation)
            try write("0", to: "invert", operation)
            try write("1", to: "shot", operation)
            let limit = SystemClock.now + Self.patience
            repeat {
                if try brightness.readNumber(operation) == value { return true }
                usleep(200)
            } while SystemClock.now < limit
            // The kernel remembers a lower level from somebody else.
            return false
        } catch {
            giveShotsUp(error)
            return false
        }
    }

    /// The trigger's own attributes come and go with it.
    private func write(_ text: String, to attribute: String, _ operation: String) throws(HardwareError) {
        try SysfsFile("\(folder)/\(attribute)", access: O_WRONLY).write(text, operation)
    }

    private func giveShotsUp(_ error: HardwareError) {
        hasShots = false
        Log.notice("the kernel doesn't end this light by itself, the dead-man timer does", ["reason": "\(error)"])
    }

    private static func number(in path: String) -> Int? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return Int(String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    private static func inventory(_ folder: String, without name: String) -> String {
        var names: [String] = []
        if let directory = opendir(folder) {
            while let entry = readdir(directory) {
                let found = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if !found.hasPrefix(".") { names.append(found) }
            }
            closedir(directory)
        }
        guard !names.isEmpty else { return "\(folder) has no LED '\(name)'; this machine has none" }
        let shown = names.sorted().prefix(8).map { "'\($0)'" }.joined(separator: ", ")
        return "\(folder) has no LED '\(name)'; this machine has \(shown)\(names.count > 8 ? " and others" : "")"
    }
}
