import FieldcamCore
import FieldcamPorts
import Glibc
import Synchronization

/// A light without hardware: while it is on, it brightens what the cameras see, and at its deadline it is off, whoever
/// forgot it.
public final class SimulatedLight: Light {
    private struct State {
        var level = 0.0
        var deadline = Instant(nanoseconds: .min)
        var isClosed = false
    }

    private let world: SimulatedWorld
    private let light: Int
    private let lux: Double
    public let hasLevels: Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - lux: what it gives at 1 m when it is fully on.
    ///   - hasLevels: whether it can be dimmed.
    public init(world: SimulatedWorld, lux: Double = 300, hasLevels: Bool = true) {
        self.world = world
        self.lux = max(0, lux)
        self.hasLevels = hasLevels
        light = world.addLight()
    }

    deinit { close() }

    public func turnOn(level: Double, deadline: Instant) throws(HardwareError) {
        let operation = "turn on a simulated light"
        guard level > 0, level <= 1 else {
            throw HardwareError(.invalid, operation, code: EINVAL, detail: "a level lies in (0, 1], not at \(level)")
        }
        let effective = hasLevels ? level : 1
        try state.withLock { (state) throws(HardwareError) in
            if state.isClosed { throw Self.closed(operation) }
            state.level = effective
            state.deadline = deadline
            // The scene itself knows the end: no timer of ours can come too late.
            world.set(light: light, lux: lux * effective, until: deadline)
        }
    }

    public func turnOff() throws(HardwareError) {
        try state.withLock { (state) throws(HardwareError) in
            if state.isClosed { throw Self.closed("turn off a simulated light") }
            state.level = 0
            world.set(light: light, lux: 0, until: world.now)
        }
    }

    public func level() throws(HardwareError) -> Double {
        let now = world.now
        return try state.withLock { (state) throws(HardwareError) -> Double in
            if state.isClosed { throw Self.closed("read a simulated light") }
            return now < state.deadline ? state.level : 0
        }
    }

    public func close() {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isClosed = true
            world.set(light: light, lux: 0, until: world.now)
        }
    }

    private static func closed(_ operation: String) -> HardwareError {
        HardwareError(.invalid, operation, code: EBADF, detail: "it was given back")
    }
}
