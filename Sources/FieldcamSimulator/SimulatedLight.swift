import FieldcamCore
import FieldcamPorts
import Glibc
import Synchronization

/// A light, or an indicator, without hardware: while it is on, it brightens what the cameras see.
public final class SimulatedLight: OutputLine {
    private let world: SimulatedWorld
    private let light: Int
    private let lux: Double
    private enum Level {
        case off
        case on
        case closed
    }
    private let level = Mutex(Level.off)

    /// - Parameter lux: what it gives at 1 m; 0 for an indicator, which no camera sees.
    public init(world: SimulatedWorld, lux: Double = 0) {
        self.world = world
        self.lux = max(0, lux)
        light = world.addLight()
    }

    public func set(_ on: Bool) throws(HardwareError) {
        try level.withLock { (level) throws(HardwareError) in
            if level == .closed { throw Self.closed("set a simulated light") }
            level = on ? .on : .off
            if lux > 0 { world.setLight(light, lux: on ? lux : 0) }
        }
    }

    public func isOn() throws(HardwareError) -> Bool {
        try level.withLock { (level) throws(HardwareError) -> Bool in
            if level == .closed { throw Self.closed("read a simulated light") }
            return level == .on
        }
    }

    public func close() {
        level.withLock { level in
            if level == .on, lux > 0 { world.setLight(light, lux: 0) }
            level = .closed
        }
    }

    private static func closed(_ operation: String) -> HardwareError {
        HardwareError(.invalid, operation, code: EBADF, detail: "it was given back")
    }
}
