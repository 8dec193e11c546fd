import FieldcamCore
import FieldcamPorts

/// What libcamera tells of a sensor on a Raspberry Pi: modes, ranges, controls. Figures and their sources: `SensorTable`.
public struct SensorProfile: Hashable, Sendable {
    /// One way of reading the sensor.
    public struct Mode: Hashable, Sendable {
        /// Pixels that come.
        public var size: Size
        public var bits: Int
        /// Frames a second, at most.
        public var framerate: Double
        /// The part of the pixel array that is read, in its own pixels: the field of this mode.
        public var field: Size
        /// The shortest exposure time, microseconds.
        public var shortestExposure: Int

        init(_ width: Int, _ height: Int, bits: Int, _ framerate: Double, field: (Int, Int), shortest: Int) {
            size = Size(width: width, height: height)
            self.bits = bits
            self.framerate = framerate
            self.field = Size(width: field.0, height: field.1)
            shortestExposure = shortest
        }
    }

    public var model: CameraModel
    public var pipeline: CameraPipeline
    /// From the smallest to the whole sensor.
    public var modes: [Mode]
    /// Of the mode that reads the whole sensor, microseconds.
    public var longestExposure: Int
    /// Analogue gain.
    public var gain: ClosedRange<Double>
    /// Dioptres; `nil`: a fixed lens.
    public var focus: ClosedRange<Double>?
    public var isMonochrome = false
    /// All rows are exposed at once.
    public var hasGlobalShutter = false
    /// libcamera advertises `HdrMode` with `Night`.
    public var advertisesNightMode = true
    /// The tuning file knows what to do in it; else asking for it does nothing but a warning in libcamera's log.
    public var honoursNightMode: Bool

    public var pixels: Size { modes[modes.count - 1].field }

    /// The mode for a picture of this size: the smallest that has as many pixels both ways, else the whole sensor.
    public func mode(for size: Size) -> Mode {
        let covering = modes.filter { $0.size.width >= size.width && $0.size.height >= size.height }
        return covering.min { $0.size.width * $0.size.height < $1.size.width * $1.size.height }
            ?? modes[modes.count - 1]
    }

    /// What libcamera advertises once that mode is configured.
    public func abilities(_ mode: Mode) -> CameraAbilities {
        var abilities = CameraAbilities()
        abilities.focus = focus
        abilities.canZoom = true
        abilities.fieldAspect = Double(mode.field.width) / Double(mode.field.height)
        abilities.exposure = .microseconds(mode.shortestExposure) ... .microseconds(longestExposure)
        abilities.gain = gain
        abilities.hasExposureValue = true
        abilities.hasMetering = true
        abilities.hasLongExposure = true
        abilities.hasDenoise = true
        abilities.hasNightMode = advertisesNightMode
        abilities.reportsLux = true
        abilities.reportsExposureState = true
        let shortest = Duration.nanoseconds(Int64(1e9 / mode.framerate))
        abilities.frame = shortest...max(shortest, .microseconds(longestExposure))
        abilities.readout = hasGlobalShutter ? .zero : readOut(mode)
        return abilities
    }

    /// From the first row's to the last row's end of reading: all of the shortest frame but its blanking, which these
    /// sensors need 2 to 5 % for.
    func readOut(_ mode: Mode) -> Duration { .nanoseconds(Int64(0.96e9 / mode.framerate)) }
}
