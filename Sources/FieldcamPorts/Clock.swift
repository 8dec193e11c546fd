import FieldcamCore
import FieldcamLinux

/// The time as the director sees it: the machine's, or one that a test moves by hand.
public protocol Clock: AnyObject, Sendable {
    var now: Instant { get }
    /// Nanoseconds since 1970.
    var wallNanoseconds: Int64 { get }
    /// Whether the wall clock has been set (contract §8: else `undated`).
    var isTrusted: Bool { get }
}
