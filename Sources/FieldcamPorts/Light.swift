import FieldcamCore

/// The LED that lights the scene. It can't stay on: whoever switches it on says until when, and the adapter's own
/// dead-man timer, on another thread or in the kernel, ends it then.
public protocol Light: AnyObject, Sendable {
    /// Whether levels between off and full exist.
    var hasLevels: Bool { get }
    /// On at this level (0, 1], off at the deadline at the latest; again: a new level, a new deadline. Never blocks for long.
    func turnOn(level: Double, deadline: Instant) throws(HardwareError)
    func turnOff() throws(HardwareError)
    /// The level as the line or the kernel tells it.
    func level() throws(HardwareError) -> Double
    /// Off, then given back.
    func close()
}
