import FieldcamCore

/// How sound comes: signed 16-bit, interleaved.
public struct AudioFormat: Hashable, Sendable {
    /// Samples a second of each channel.
    public var rate: Int
    public var channels: Int
    public init(rate: Int, channels: Int) {
        self.rate = rate
        self.channels = channels
    }
}

/// One piece of sound and when its first sample was taken.
public struct AudioPiece: Hashable, Sendable {
    /// Samples of each channel that were read; 0: nothing came in time.
    public var samples: Int
    /// Time of the first sample on the monotonic clock, from the card's own time stamps.
    public var at: Instant
    /// Sound was lost before this piece (an xrun); `at` already counts it.
    public var afterGap: Bool
    public init(samples: Int, at: Instant, afterGap: Bool) {
        self.samples = samples
        self.at = at
        self.afterGap = afterGap
    }
}

/// A microphone. `fc-audio` only; calls block as said. It never touches a mixer or another program's sound.
public protocol Microphone: AnyObject, Sendable {
    /// Opens the device and starts capturing: `absent`, `busy`, `denied`, `unsupported`.
    func open() throws(HardwareError) -> AudioFormat
    /// Waits up to 100 ms for sound and reads at most what the buffer holds (a multiple of the channels).
    /// Recovers from xruns by itself. Throws when the device went away; then `close` and `open` again.
    func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(HardwareError) -> AudioPiece
    func close()
}
