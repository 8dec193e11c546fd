import CFieldcamGPIO
import FieldcamPorts

/// A GPIO chip of this machine as it was found: what a person needs to name a line of it.
public struct GPIOChip: Hashable, Sendable {
    /// N of `/dev/gpiochipN`; changes from boot to boot, so nobody writes it down.
    public var number: Int
    /// The driver's own name, such as "pinctrl-rp1".
    public var label: String
    public var lineCount: Int

    public var path: String { "/dev/gpiochip\(number)" }

    /// Every chip that can be opened, and why others can't.
    public static func all() -> (chips: [GPIOChip], refusals: [HardwareError]) {
        var chips: [GPIOChip] = []
        var refusals: [HardwareError] = []
        var numbers = [Int32](repeating: 0, count: 64)
        let count = numbers.withUnsafeMutableBufferPointer { fc_gpio_chip_numbers($0.baseAddress!, Int32($0.count)) }
        for number in numbers.prefix(Int(max(0, count))) {
            var handle: OpaquePointer?
            let error = fc_gpio_chip_open(number, &handle)
            guard let handle else {
                refusals.append(refusal(error, of: "/dev/gpiochip\(number)"))
                continue
            }
            defer { fc_gpio_chip_close(handle) }
            chips.append(
                GPIOChip(
                    number: Int(number), label: String(cString: fc_gpio_chip_label(handle)),
                    lineCount: Int(fc_gpio_chip_line_count(handle))))
        }
        return (chips, refusals)
    }

    /// The chip's lines in order of their offsets; empty if the chip went away meanwhile.
    public func lines() -> [GPIOLineFacts] {
        var handle: OpaquePointer?
        guard fc_gpio_chip_open(Int32(number), &handle) == 0, let handle else { return [] }
        defer { fc_gpio_chip_close(handle) }
        return (0..<lineCount).map { offset in
            var facts = fc_gpio_line_facts()
            guard fc_gpio_chip_line_facts(handle, Int32(offset), &facts) == 0 else {
                return GPIOLineFacts(offset: offset, name: "", isHeld: false, consumer: "")
            }
            return GPIOLineFacts(
                offset: offset, name: text(facts.name), isHeld: facts.used != 0, consumer: text(facts.consumer))
        }
    }

    static func refusal(_ error: Int32, of path: String) -> HardwareError {
        let plain = HardwareError.errno(error, "open \(path)")
        guard plain.kind == .denied else { return plain }
        return .errno(
            error, "open \(path)",
            detail: "\(path) isn't open to this user; add the user to the group 'gpio' (usermod -aG gpio USER)"
                + " and start again")
    }
}

/// One line of a chip, as the kernel tells it to everybody.
public struct GPIOLineFacts: Hashable, Sendable {
    public var offset: Int
    /// Empty: it has none.
    public var name: String
    /// Held by a program or by the kernel itself.
    public var isHeld: Bool
    /// What the holder calls itself; may be empty.
    public var consumer: String
}

/// The text of a C array of characters that ends with a zero.
private func text<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
