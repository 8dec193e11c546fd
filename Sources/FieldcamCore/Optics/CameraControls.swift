/// Everything that can be set on a running camera, as it shall be from the next frame that can take it. A camera applies
/// what it can; the frames' own metadata tell what became of it.
///
/// Parts of the picture are given in the *field*: the whole of what the sensor sees in this mode, unrotated, unmirrored.
public struct CameraControls: Hashable, Sendable {
    public enum Focus: Hashable, Sendable {
        case continuous
        /// One scan each time `focusScan` changes, then stay.
        case oneShot
        /// Dioptres, 0: infinity.
        case manual(Double)
    }
    public enum Metering: String, Hashable, Sendable, CaseIterable {
        case centre
        case spot
        case matrix
    }

    /// The part of the field that is streamed; the zoom.
    public var crop = UnitRect.whole
    public var focus = Focus.continuous
    /// Where to focus, in the field; `nil`: the camera's own choice. Set before mode and scan, in one request.
    public var focusWindow: UnitRect?
    /// A new number starts a scan.
    public var focusScan: UInt32 = 0
    /// Stay where it is (continuous only).
    public var focusIsPaused = false
    public var focusIsSlow = false
    /// EV, -8 … 8.
    public var exposureValue = 0.0
    public var metering = Metering.centre
    /// `nil`: automatic.
    public var shutter: Duration?
    /// `nil`: automatic.
    public var gain: Double?
    /// Shortest and longest frame; the longest caps the exposure.
    public var shortestFrame = Duration.nanoseconds(33_333_333)
    public var longestFrame = Duration.nanoseconds(33_333_333)
    public var prefersLongExposure = false
    public var denoisesMost = false
    public var nightMode = false

    public init() {}
}
