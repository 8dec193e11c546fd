import FieldcamCore
import FieldcamLinux

/// One button's wiring, from the board profile.
public struct ButtonLine: Hashable, Sendable {
    public enum Place: Hashable, Sendable {
        /// The line's name, such as "GPIO17".
        case name(String)
        /// Its offset on the chip.
        case offset(Int)
    }
    public enum Bias: String, Hashable, Sendable, CaseIterable {
        case pullUp = "pull-up"
        case pullDown = "pull-down"
        case disabled
        case asIs = "as-is"
    }

    /// The chip's label, never its number.
    public var chip: String
    public var line: Place
    public var activeLow: Bool
    public var bias: Bias

    public init(chip: String, line: Place, activeLow: Bool, bias: Bias) {
        self.chip = chip
        self.line = line
        self.activeLow = activeLow
        self.bias = bias
    }
}

/// What the buttons' lines tell. `pressed` is the logical level: active low is already undone.
public enum ButtonFact: Hashable, Sendable {
    /// Kernel timestamp on the monotonic clock.
    case edge(ButtonID, pressed: Bool, at: Instant)
    /// Read after a drain (always where the kernel numbers no edges; after a gap where it does), at the time of reading.
    case level(ButtonID, pressed: Bool, at: Instant)
    /// Edges were lost: a gap in sequence numbers, or two equal edges in a row. A `level` follows.
    case edgesLost(ButtonID, count: Int, at: Instant)
    /// The line is held by us now (first, or again), at this level.
    case found(ButtonID, pressed: Bool, at: Instant)
    /// The line, or its chip, is gone or can't be had; it is retried with back-off.
    case lost(ButtonID, HardwareError, at: Instant)
}

/// All buttons of the board. Director's thread only; nothing blocks.
public protocol Buttons: AnyObject {
    /// Readable when facts wait.
    var descriptor: Int32 { get }
    /// Hands out what came, in order of time. Also opens lines that are due for a try, at the first call and after back-off.
    func drain(now: Instant, _ body: (ButtonFact) -> Void)
    /// The line's logical level now; `nil` if it can't be read.
    func level(of button: ButtonID) -> Bool?
    /// When `drain` wants to be called even if the descriptor stays silent (a retry).
    var nextDeadline: Instant? { get }
    /// Gives all lines back.
    func close()
}
