import FieldcamCore
import FieldcamPorts

/// A light on a line of a GPIO chip: on or off, no levels.
public final class GPIOLight: TimedLight, @unchecked Sendable {
    /// Takes the line, off.
    /// - Parameter chip: the chip's label.
    /// - Throws: `absent`, `busy` (naming the holder), `denied`, each with its mend.
    public init(chip: String, line: ButtonLine.Place, activeLow: Bool = false, consumer: String = "fieldcam")
        throws(HardwareError)
    {
        let output = try GPIOOutputLine(chip: chip, line: line, activeLow: activeLow, consumer: consumer)
        super.init(LineLightOutput(output, name: "the light on the line \(line.words) of '\(chip)'"))
    }
}

private final class LineLightOutput: LightOutput {
    let name: String
    let hasLevels = false
    private let line: GPIOOutputLine

    init(_ line: GPIOOutputLine, name: String) {
        self.line = line
        self.name = name
    }

    func turnOn(level: Double, end: Instant) throws(HardwareError) { try line.set(true) }
    func turnOff() throws(HardwareError) { try line.set(false) }
    func level() throws(HardwareError) -> Double { try line.isOn() ? 1 : 0 }
    func close() { line.close() }
}
