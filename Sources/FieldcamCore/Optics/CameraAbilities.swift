/// What a configured camera can do, from the controls that it advertises.
public struct CameraAbilities: Hashable, Sendable {
    /// Dioptres; `nil`: a fixed lens.
    public var focus: ClosedRange<Double>?
    /// Largest zoom without upscaling: the field's pixels over the stream's. 1: it can't zoom.
    public var nativeZoom = 1.0
    /// Whether the streamed part of the field can be chosen at all.
    public var canZoom = false
    /// `nil`: no manual shutter.
    public var exposure: ClosedRange<Duration>?
    /// `nil`: no manual gain.
    public var gain: ClosedRange<Double>?
    public var hasExposureValue = false
    public var hasMetering = false
    public var hasLongExposure = false
    public var hasDenoise = false
    public var hasNightMode = false
    public var reportsLux = false
    public var reportsExposureState = false
    /// Shortest and longest frame; `nil`: the rate can't be set.
    public var frame: ClosedRange<Duration>?
    /// From the first row's end of exposure to the last row's.
    public var readout = Duration.zero
    /// Frames from a control's request to the first frame that shows it, at most.
    public var controlDelay = 3
    /// Degrees clockwise that make the picture upright: 0, 90, 180, 270; then mirrored.
    public var rotation = 0
    public var mirror = false
    /// Width over height of the field, and of the stream as it comes (unrotated).
    public var fieldAspect = 16.0 / 9
    public var streamAspect = 16.0 / 9
    /// Whether a light belongs to this camera.
    public var hasLight = false

    public init() {}

    /// The part of the field that is streamed: the stream's shape, centred, divided by the zoom (1 and up).
    public func crop(zoom: Double) -> UnitRect {
        let base = PictureMapping.centred(aspect: streamAspect, within: fieldAspect)
        let (width, height) = (base.width / zoom, base.height / zoom)
        return UnitRect(x: (1 - width) / 2, y: (1 - height) / 2, width: width, height: height)
    }
}
