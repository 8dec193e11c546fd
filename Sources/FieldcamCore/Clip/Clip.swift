/// The torch that is asked for with one clip: it lights for that clip alone.
public struct ClipTorch: Hashable, Sendable {
    public var mode: FlashMode
    /// (0, 1]; `nil`: `torch.level`.
    public var level: Double?
    public init(_ mode: FlashMode, level: Double? = nil) {
        self.mode = mode
        self.level = level
    }
}

/// A clip from its press to its terminal event.
struct Clip: Sendable {
    enum Phase: Sendable {
        /// Begun with a press; it has no number, no file and no event.
        case speculative
        /// Committed; no end is decided.
        case recording
        /// The end is decided; a last frame before it may still come.
        case ending
        /// The shell finishes the file.
        case saving
    }

    var key: ClipKey
    var press: Instant
    var source: Source
    /// Zero: no maximum.
    var maximum: Duration
    var phase = Phase.speculative
    var number: MediaNumber?
    /// The camera whose frames it takes.
    var camera: CameraID
    /// Whether it was decided if it needs the torch.
    var torchIsDecided = false
    /// It is dark since the light had to cool when it began.
    var torchIsRefused = false
    /// Asked for with it, instead of `torch.mode`.
    var torch: ClipTorch?
    /// The button that keeps it running, by index; `nil`: it goes on without.
    var button: Int?

    /// Exposure start of the first frame: media time 0.
    var first: Instant?
    /// Order of the latest frame that was dealt with.
    var cursor: UInt64 = 0
    /// A release that isn't confirmed yet: frames from there on are withheld.
    var withheldFrom: Instant?
    /// Frames after `cursor` up to this order are pinned and withheld.
    var withheldThrough: UInt64?
    /// A frame beyond the maximum came.
    var reachedMaximum = false
    /// When the level was asked for, to decide about the maximum.
    var asked: Instant?
    /// The camera was lost before the commit: nothing from then on belongs to the clip.
    var cut: Instant?

    /// The camera failed before a frame came: what the clip fails with if it stays empty.
    var failure: FailureReason?

    var end: Instant?
    var reason: StopReason?
    var startTold = false
    var stopTold = false
    /// When the wait for a last frame is over.
    var deadline: Instant?

    /// The end by `maximum_duration`, in media time.
    var limit: Instant? {
        guard let first, maximum > .zero else { return nil }
        return first + maximum
    }

    init(key: ClipKey, press: Instant, source: Source, maximum: Duration, camera: CameraID) {
        self.camera = camera
        self.key = key
        self.press = press
        self.source = source
        self.maximum = maximum
    }
}
