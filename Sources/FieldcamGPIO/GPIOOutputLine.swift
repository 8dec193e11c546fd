import CFieldcamGPIO
import FieldcamPorts
import Glibc
import Synchronization

/// An output of a GPIO chip: off when opened, off before it is given back.
///
/// If its chip goes away, `set` and `isOn` throw `absent`, and each `set` tries to have the line again.
public final class GPIOOutputLine: OutputLine, @unchecked Sendable {
    // Proof of Sendable: `handle` is touched under `lock` alone; the rest never changes.
    private let lock = Mutex(())
    private var handle: OpaquePointer?
    private var isClosed = false
    private let chip: String
    private let line: ButtonLine.Place
    private let activeLow: Bool
    private let consumer: String

    /// Takes the line as an output, off.
    /// - Parameters:
    ///   - chip: the chip's label.
    ///   - consumer: what `gpioinfo` shows as the holder; 31 bytes at most are kept.
    /// - Throws: `absent`, `busy` (naming the holder), `denied`, each with its mend.
    public init(chip: String, line: ButtonLine.Place, activeLow: Bool = false, consumer: String = "fieldcam")
        throws(HardwareError)
    {
        self.chip = chip
        self.line = line
        self.activeLow = activeLow
        self.consumer = consumer
        handle = try open()
    }

    deinit { close() }

    public func set(_ on: Bool) throws(HardwareError) {
        try lock.withLock { _ throws(HardwareError) in
            guard !isClosed else { throw HardwareError(.invalid, operation("set"), detail: "it was given back before") }
            if handle == nil { handle = try open() }
            let error = fc_gpio_line_set(handle!, on ? 1 : 0)
            if error < 0 { throw failure(error, operation("set")) }
        }
    }

    public func isOn() throws(HardwareError) -> Bool {
        try lock.withLock { _ throws(HardwareError) in
            guard let handle else {
                throw HardwareError(.absent, operation("read"), code: ENODEV, detail: "it isn't held now")
            }
            let level = fc_gpio_line_level(handle)
            if level < 0 { throw failure(level, operation("read")) }
            return level == 1
        }
    }

    public func close() {
        lock.withLock { _ in
            isClosed = true
            guard let handle else { return }
            _ = fc_gpio_line_set(handle, 0)
            fc_gpio_line_close(handle)
            self.handle = nil
        }
    }

    /// Under the lock. A line whose chip is gone is let go of, so that the next `set` looks for it anew.
    private func failure(_ error: Int32, _ operation: String) -> HardwareError {
        guard abs(error) == ENODEV, let handle else { return .errno(error, operation) }
        fc_gpio_line_close(handle)
        self.handle = nil
        return .errno(error, operation, detail: "the chip '\(chip)' is gone")
    }

    private func operation(_ verb: String) -> String { "\(verb) the output line \(line.words) of '\(chip)'" }

    private func open() throws(HardwareError) -> OpaquePointer {
        let operation = operation("take")
        let place = try GPIOLinePlace(chip: chip, line: line, operation: operation)
        var handle: OpaquePointer?
        let error = fc_gpio_line_open_output(
            Int32(place.chip.number), Int32(place.offset), activeLow ? 1 : 0, consumer, &handle)
        guard let handle else { throw place.refusal(error, operation: operation) }
        return handle
    }
}
