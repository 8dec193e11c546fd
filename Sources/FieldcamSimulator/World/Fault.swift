import FieldcamCore
import FieldcamPorts

/// What can go wrong in the simulated world. Each is the twin of something that was seen on hardware.
public enum Fault: Hashable, Sendable {
    /// The camera goes silent without a word: no frames, no error; for this long, or until it is started again (`nil`).
    case stall(Duration?)
    /// The camera is unplugged: it tells that it is lost, and opening it says `absent`; for this long, or until `reconnect`.
    case disconnect(Duration?)
    /// The camera is plugged in again.
    case reconnect
    /// The next frames come with an error status. 0 …
    case cancelFrames(Int)
    /// Each start of a camera takes this long.
    case slowStart(Duration)
    /// Opening a camera fails so: absent, busy, denied; `nil`: it works again.
    case cameraUnavailable(HardwareError.Kind?)
    /// Each scheduled edge is followed by further edges for this long.
    case bounce(Duration)
    /// The release edges of the next presses that are scheduled never come; the level is right all the same. 0 …
    case lostEdges(Int)
    /// The microphone is unplugged (true) or back (false).
    case microphoneGone(Bool)
    /// Opening the microphone fails so; `nil`: it works again.
    case microphoneUnavailable(HardwareError.Kind?)
    /// The microphone's sample clock runs this much too fast, parts in a million; -10,000 … 10,000.
    case microphoneSkew(ppm: Double)
    /// The disk has no room (true) or has again (false).
    case diskFull(Bool)
    /// The encoder takes frames and gives nothing (true), or works again (false). Motion JPEG isn't touched.
    case encoderStall(Bool)
    /// A call into the encoder doesn't come back (true) until it is over (false). Live worlds only; Motion JPEG isn't touched.
    case encoderHang(Bool)
}

/// The faults that are in force.
struct Faults {
    struct Span {
        var since: Instant
        /// `nil`: until something ends it.
        var end: Instant?
        func covers(_ instant: Instant) -> Bool { instant >= since && end.map { instant < $0 } ?? true }
    }
    var stall: Span?
    var disconnection: Span?
    var cancelledFrames = 0
    var slowStart = Duration.zero
    var cameraUnavailable: HardwareError.Kind?
    var bounce = Duration.zero
    var lostEdges = 0
    var microphoneIsGone = false
    var microphoneUnavailable: HardwareError.Kind?
    var microphoneSkewPPM = 0.0
    var diskIsFull = false
    var encoderIsStalled = false
    var encoderHangs = false
}
