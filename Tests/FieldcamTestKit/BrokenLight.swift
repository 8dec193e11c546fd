import FieldcamCore
import FieldcamPorts
import Synchronization

/// A light whose line does what it should and whose LED is dead: only the pictures can tell.
public final class BrokenLight: Light {
    private let current = Mutex(0.0)

    public init() {}

    public var hasLevels: Bool { true }
    public func turnOn(level: Double, deadline: Instant) throws(HardwareError) { current.withLock { $0 = level } }
    public func turnOff() throws(HardwareError) { current.withLock { $0 = 0 } }
    public func level() throws(HardwareError) -> Double { current.withLock { $0 } }
    public func close() {}
}
