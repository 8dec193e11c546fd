/// Names one frame slot and what it holds now. Core names frames; the shell holds their memory.
public struct FrameRef: Hashable, Sendable {
    /// The camera of the board; set by the director.
    public var camera = 0
    /// Index of the slot, 0 ..< number of slots of the camera's pool.
    public var slot: Int
    /// The camera's own count of frames, rising, never reused within a run; gaps are frames that were lost.
    public var sequence: UInt64

    public init(slot: Int, sequence: UInt64) {
        self.slot = slot
        self.sequence = sequence
    }
}

/// What focus was doing while a frame was exposed.
public enum FocusState: UInt8, Hashable, Sendable {
    case unsupported
    case idle
    case scanning
    case focused
    case failed
}

/// A completed, good frame: a fact with a time. Start-up, failed and cancelled frames never become one.
public struct Frame: Hashable, Sendable {
    public var ref: FrameRef
    /// When the first row began to be exposed. Equal to `exposureEnd` where the pipeline tells no exposure time.
    public var exposureStart: Instant
    /// When the first row's exposure ended: libcamera's `SensorTimestamp`.
    public var exposureEnd: Instant
    /// The exposure time as the frame's own metadata tell it; `nil` where the pipeline tells none.
    public var exposure: Duration?
    /// Analogue times digital gain, 1.0 and up; `nil` where the pipeline tells none.
    public var gain: Double?
    /// Scene brightness in lux; `nil` where the pipeline tells none.
    public var lux: Double?
    /// Lens position in dioptres; `nil` without a lens.
    public var lensPosition: Double?
    public var focus: FocusState
    /// Whether automatic exposure had settled; `nil` where the pipeline doesn't tell.
    public var exposureSettled: Bool?
    /// The part of the field that the picture shows; `nil` where the pipeline doesn't tell.
    public var crop: UnitRect?
    /// Mean luma of the picture, 0 … 1, as encoded (gamma); `nil`: not measured.
    public var luma: Double?
    /// The same of the region that `Effect.measureRegion` named.
    public var regionLuma: Double?
    /// How much the picture differs from the remembered one: mean absolute difference of blocks, 0 … 1.
    public var sceneChange: Double?

    public init(
        ref: FrameRef, exposureStart: Instant, exposureEnd: Instant, exposure: Duration? = nil, gain: Double? = nil,
        lux: Double? = nil, lensPosition: Double? = nil, focus: FocusState = .unsupported,
        exposureSettled: Bool? = nil
    ) {
        self.ref = ref
        self.exposureStart = exposureStart
        self.exposureEnd = exposureEnd
        self.exposure = exposure
        self.gain = gain
        self.lux = lux
        self.lensPosition = lensPosition
        self.focus = focus
        self.exposureSettled = exposureSettled
    }

    /// The middle of the first row's exposure: what "nearest the press" is measured against (contract §5.2).
    public var middle: Instant {
        Instant(nanoseconds: exposureStart.nanoseconds + (exposureEnd.nanoseconds - exposureStart.nanoseconds) / 2)
    }
}
