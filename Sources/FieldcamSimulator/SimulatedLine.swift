import FieldcamCore
import FieldcamPorts
import Glibc
import Synchronization

/// A line that drives something that no camera sees, such as an indicator.
public final class SimulatedLine: OutputLine {
    private enum Level {
        case off
        case on
        case closed
    }
    private let level = Mutex(Level.off)

    public init() {}

    public func set(_ on: Bool) throws(HardwareError) {
        try level.withLock { (level) throws(HardwareError) in
            if level == .closed { throw Self.closed("set a simulated line") }
            level = on ? .on : .off
        }
    }

    public func isOn() throws(HardwareError) -> Bool {
        try level.withLock { (level) throws(HardwareError) -> Bool in
            if level == .closed { throw Self.closed("read a simulated line") }
            return level == .on
        }
    }

    public func close() {
        level.withLock { $0 = .closed }
    }

    private static func closed(_ operation: String) -> HardwareError {
        HardwareError(.invalid, operation, code: EBADF, detail: "it was given back")
    }
}
