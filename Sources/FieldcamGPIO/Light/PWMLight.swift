import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc
import Synchronization

/// A light whose level is the duty cycle of a PWM channel, at 25 kHz: below the rate at which a sensor reads its rows it
/// would band the picture.
public final class PWMLight: TimedLight, @unchecked Sendable {
    /// Where the kernel lists its PWM chips.
    public static let standardFolder = "/sys/class/pwm"

    /// Takes the channel, off.
    /// - Parameters:
    ///   - chip: the name of the chip's device, such as "fe20c000.pwm".
    ///   - channel: from 0.
    /// - Throws: `absent` (naming the chips there are), `busy`, `denied`.
    public init(chip: String, channel: Int, folder: String = standardFolder) throws(HardwareError) {
        super.init(try PWMOutput(chip: chip, channel: channel, folder: folder))
    }
}

/// A PWM channel as a plain output, such as an indicator: off when it is taken, off before it is given back.
public final class PWMLine: OutputLine {
    private let output: Mutex<PWMOutput?>
    private let name: String

    /// - Throws: as `PWMLight`.
    public init(chip: String, channel: Int, folder: String = PWMLight.standardFolder) throws(HardwareError) {
        let output = try PWMOutput(chip: chip, channel: channel, folder: folder)
        name = output.name
        self.output = Mutex(output)
    }

    deinit { close() }

    public func set(_ on: Bool) throws(HardwareError) {
        try output.withLock { (output) throws(HardwareError) in
            try held(output, "set").write(level: on ? 1 : 0)
        }
    }

    public func isOn() throws(HardwareError) -> Bool {
        try output.withLock { (output) throws(HardwareError) in
            try held(output, "read").level() > 0
        }
    }

    public func close() {
        output.withLock { output in
            output?.close()
            output = nil
        }
    }

    private func held(_ output: PWMOutput?, _ verb: String) throws(HardwareError) -> PWMOutput {
        guard let output else {
            throw HardwareError(.invalid, "\(verb) \(name)", detail: "it was given back before")
        }
        return output
    }
}

private final class PWMOutput: LightOutput, @unchecked Sendable {
    // Proof of Sendable: its owner calls it under a lock.
    /// Nanoseconds: 25 kHz.
    static let period = 40_000

    let name: String
    let hasLevels = true
    private let folder: String
    private let channel: Int
    private let duty: SysfsFile

    init(chip: String, channel: Int, folder: String) throws(HardwareError) {
        name = "the PWM channel \(channel) of '\(chip)'"
        self.channel = channel
        let operation = "take \(name)"
        self.folder = try Self.chipFolder(chip, in: folder, operation)
        let place = "\(self.folder)/pwm\(channel)"
        if access(place, F_OK) != 0 {
            do throws(HardwareError) {
                try SysfsFile("\(self.folder)/export", access: O_WRONLY).write("\(channel)", operation)
            } catch {
                switch error.kind {
                case .busy: throw .errno(error.code, operation, detail: "a driver of the kernel holds it")
                case .invalid: throw .errno(ENODEV, operation, detail: "'\(chip)' has no channel \(channel)")
                default: throw error
                }
            }
        }
        duty = SysfsFile("\(place)/duty_cycle")
        try duty.claim(operation)
        // A duty cycle above the period is refused, so that it goes down first.
        try duty.write("0", operation)
        try SysfsFile("\(place)/period").write("\(Self.period)", operation)
        try SysfsFile("\(place)/enable").write("1", operation)
    }

    func turnOn(level: Double, end: Instant) throws(HardwareError) { try write(level: level) }
    func turnOff() throws(HardwareError) { try write(level: 0) }

    func write(level: Double) throws(HardwareError) {
        let nanoseconds = level > 0 ? max(1, Int((level * Double(Self.period)).rounded())) : 0
        try duty.write("\(nanoseconds)", "set \(name)")
    }

    func level() throws(HardwareError) -> Double {
        Double(try duty.readNumber("read \(name)")) / Double(Self.period)
    }

    func close() {
        do throws(HardwareError) {
            try write(level: 0)
            try SysfsFile("\(folder)/pwm\(channel)/enable").write("0", "release \(name)")
            duty.close()
            try SysfsFile("\(folder)/unexport", access: O_WRONLY).write("\(channel)", "release \(name)")
        } catch {
            duty.close()
            Log.error("a PWM channel can't be given back", ["reason": "\(error)"])
        }
    }

    private static func chipFolder(_ chip: String, in folder: String, _ operation: String) throws(HardwareError)
        -> String
    {
        var names: [String] = []
        if let directory = opendir(folder) {
            defer { closedir(directory) }
            while let entry = readdir(directory) {
                let found = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard found.hasPrefix("pwmchip") else { continue }
                var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
                let length = target.withUnsafeMutableBytes {
                    readlink("\(folder)/\(found)/device", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
                }
                guard length > 0 else { continue }
                let device = target[..<length].split(separator: UInt8(ascii: "/")).last ?? []
                let name = String(decoding: device, as: UTF8.self)
                if name == chip { return "\(folder)/\(found)" }
                names.append("'\(name)'")
            }
        }
        let there = names.isEmpty ? "has none" : "has \(names.sorted().joined(separator: ", "))"
        throw HardwareError(
            .absent, operation, code: ENODEV, detail: "no PWM chip's device is '\(chip)'; this machine \(there)")
    }
}
