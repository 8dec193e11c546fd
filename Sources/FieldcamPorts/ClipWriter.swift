import FieldcamCore

/// What is asked of a clip.
public struct ClipPlan: Sendable {
    /// Encoders in order of preference, as FFmpeg names them; the first that works on this machine is taken.
    public var encoders: [String]
    /// Of the frames that come.
    public var layout: ImageLayout
    /// The finished picture's; `nil`: the frames'. Other frames are cropped about their middle to this shape, so that pixels
    /// stay square, and scaled. Even sides.
    public var size: Size?
    /// Frames a second, nominal; each frame's own time decides.
    public var framerate: Double
    /// Bits a second; `nil`: constant quality (x264 CRF 23, MJPEG quality 4).
    public var bitRate: Int?
    public var everyFrameIsKey: Bool
    /// Degrees clockwise and mirroring, as the track's matrix.
    public var rotation: Int
    public var mirror: Bool
    /// `nil`: no audio track.
    public var audio: AudioFormat?
    /// The press by the wall clock: the file's creation time; left out while the clock isn't trusted.
    public var taken: WallTime?
    /// Drawn over every finished picture, in a copy.
    public var overlay: Overlay?

    /// Told when the encoder is called and when it comes back.
    public var pulse: EncoderPulse?

    public init(
        encoders: [String], layout: ImageLayout, framerate: Double, bitRate: Int? = nil, everyFrameIsKey: Bool = false,
        size: Size? = nil, rotation: Int = 0, mirror: Bool = false, audio: AudioFormat?, taken: WallTime? = nil
    ) {
        self.encoders = encoders
        self.layout = layout
        self.size = size
        self.framerate = framerate
        self.bitRate = bitRate
        self.everyFrameIsKey = everyFrameIsKey
        self.rotation = rotation
        self.mirror = mirror
        self.audio = audio
        self.taken = taken
    }
}

/// What a finished clip is.
public struct ClipFacts: Hashable, Sendable {
    public var duration: Duration
    public var frames: Int
    /// Leading and filled-in silence.
    public var silence: Duration
    /// The card's clock against the monotonic clock, parts in a million; 0 without sound.
    public var driftPPM: Double
    public init(duration: Duration, frames: Int, silence: Duration, driftPPM: Double) {
        self.duration = duration
        self.frames = frames
        self.silence = silence
        self.driftPPM = driftPPM
    }
}

/// One clip being made. `fc-video` only. Media time 0 is the first frame; what has no file yet is kept in memory.
public protocol ClipWriter: AnyObject {
    /// The encoder that was chosen, as FFmpeg names it.
    var encoder: String { get }
    /// Frames that came out of the encoder; `nil`: it isn't known.
    var encodedFrames: Int? { get }
    /// Encodes a frame whose exposure started at `at`. Times rise.
    func append(_ image: Image, at: Instant) throws(HardwareError)
    /// Takes sound (interleaved as `ClipPlan.audio` says) whose first sample was taken at `at`; gaps become silence, the
    /// card's drift is resampled away. Sound before the first frame is cut off.
    func append(sound: UnsafeBufferPointer<Int16>, at: Instant) throws(HardwareError)
    /// From now on (the hold) everything goes to this open file; what was gathered is written first. The caller closes it.
    func attach(file descriptor: Int32) throws(HardwareError)
    /// Ends the clip at `end` (silence fills missing sound up to there) and writes all that is left. `nil`: no frame came.
    /// After an `append` that threw, what was recorded before it is finished (an encoder's failure) or ends with the last fragment
    /// that the file took (the disk's); it throws if that is nothing, or if the disk refuses only now.
    func finish(end: Instant) throws(HardwareError) -> ClipFacts?
    /// Forgets everything. Idempotent; also right after `finish`.
    func cancel()
}

extension ClipWriter {
    public var encodedFrames: Int? { nil }
}

/// Makes clip writers, and tells of clips that are there.
public protocol ClipWriterFactory: AnyObject, Sendable {
    /// Opens encoder and muxer; takes milliseconds.
    func begin(_ plan: ClipPlan) throws(HardwareError) -> any ClipWriter
    /// The first of these encoders that works on this machine; found by opening each once.
    func probe(_ encoders: [String]) -> String?
    /// What an encoder, by FFmpeg's name, can do on this machine.
    func limits(of encoder: String) -> EncoderLimits
    /// Reads a clip from the start to its end: duration, frames; for leftovers of a crash.
    func measure(path: String) throws(HardwareError) -> ClipFacts
}

extension ClipWriterFactory {
    /// None is known.
    public func limits(of encoder: String) -> EncoderLimits { EncoderLimits(name: encoder) }
}
