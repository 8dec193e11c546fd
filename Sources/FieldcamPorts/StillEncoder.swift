import FieldcamCore

/// The wall clock's time of an instant, as EXIF and folders want it.
public struct WallTime: Hashable, Sendable {
    /// Local calendar fields.
    public var year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int
    public var nanosecond: Int
    /// Local time minus UTC, seconds.
    public var offset: Int
    /// False: the clock had not been set; folders say `undated`.
    public var isTrusted: Bool
    public init(
        year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, nanosecond: Int, offset: Int,
        isTrusted: Bool
    ) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
        self.nanosecond = nanosecond
        self.offset = offset
        self.isTrusted = isTrusted
    }
}

/// What goes into a photo beside its pixels.
public struct StillPlan: Sendable {
    /// JPEG quality, 1 … 100.
    public var quality: Int
    /// Degrees clockwise that make the picture upright, and whether it is mirrored: EXIF orientation.
    public var rotation: Int
    public var mirror: Bool
    public var make: String
    public var model: String
    public var software: String
    public var taken: WallTime
    public var exposure: Duration?
    public var gain: Double?
    /// Dioptres; subject distance is its reciprocal.
    public var lensPosition: Double?
    /// Proven by the frame's exposure; `nil`: the board has no flash.
    public var flashFired: Bool?
    /// Frames that the picture was merged of; exposure and gain are one frame's.
    public var frames = 1
    /// Longer side of the thumbnail in pixels; 0: none.
    public var thumbnail: Int
    /// The part of the frame that becomes the picture; `nil`: all of it.
    public var cut: PixelRect?
    /// Radius in pixels by which the picture's corners are rounded off; what lies outside becomes white.
    public var cornerRadius = 0
    /// Everything but this part of the frame is blurred.
    public var sharp: Sharp?
    /// Drawn over the frame.
    public var overlay: Overlay?

    public struct Sharp: Hashable, Sendable {
        /// Pixels of the frame.
        public var rect: PixelRect
        public var cornerRadius: Int
        public init(rect: PixelRect, cornerRadius: Int) {
            self.rect = rect
            self.cornerRadius = cornerRadius
        }
    }

    public init(
        quality: Int, rotation: Int = 0, mirror: Bool = false, make: String, model: String, software: String,
        taken: WallTime, exposure: Duration? = nil, gain: Double? = nil, lensPosition: Double? = nil,
        flashFired: Bool? = nil, thumbnail: Int = 160
    ) {
        self.quality = quality
        self.rotation = rotation
        self.mirror = mirror
        self.make = make
        self.model = model
        self.software = software
        self.taken = taken
        self.exposure = exposure
        self.gain = gain
        self.lensPosition = lensPosition
        self.flashFired = flashFired
        self.thumbnail = thumbnail
    }
}

/// Makes JPEGs. One object a worker thread (`fc-still-N`); its buffers are reused from photo to photo.
public protocol StillEncoder: AnyObject, Sendable {
    /// The whole file. Valid until the next call.
    func encode(_ image: Image, plan: StillPlan) throws(HardwareError) -> UnsafeRawBufferPointer
}
