import FieldcamPorts
import Synchronization

/// An LED of the kernel as a plain output, such as an indicator: off when it is taken, off before it is given back.
public final class LEDClassLine: OutputLine {
    private let output: Mutex<LEDClassOutput?>
    private let name: String

    /// - Throws: as `LEDClassLight`.
    public init(name: String, folder: String = LEDClassLight.standardFolder) throws(HardwareError) {
        self.name = name
        output = Mutex(try LEDClassOutput(name: name, folder: folder))
    }

    deinit { close() }

    public func set(_ on: Bool) throws(HardwareError) {
        try output.withLock { (output) throws(HardwareError) in
            try held(output, "set").write(on)
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

    private func held(_ output: LEDClassOutput?, _ verb: String) throws(HardwareError) -> LEDClassOutput {
        guard let output else {
            throw HardwareError(.invalid, "\(verb) the LED '\(name)'", detail: "it was given back before")
        }
        return output
    }
}
