import FieldcamCore
import FieldcamPorts

/// What switches a light's hardware. Its `TimedLight` calls it under a lock: one call at a time, from two threads.
protocol LightOutput: AnyObject, Sendable {
    /// The light with its name, as messages call it: "the LED 'flash'".
    var name: String { get }
    var hasLevels: Bool { get }
    /// On at this level (0, 1]. The dead-man timer ends it at `end`; hardware that can end it itself does so too.
    func turnOn(level: Double, end: Instant) throws(HardwareError)
    func turnOff() throws(HardwareError)
    func level() throws(HardwareError) -> Double
    /// Off, then given back.
    func close()
}
