/// Where a shot's picture comes from (contract §4, `photo.source`).
public enum PhotoSource: String, Hashable, Sendable, CaseIterable {
    /// The frame of the press, no lag.
    case stream
    /// The full sensor, with a mode switch.
    case sensor
}

/// How long a shot waits for the lens (contract §4, `photo.wait_for_focus`).
public enum FocusWait: String, Hashable, Sendable, CaseIterable {
    case off
    /// 300 ms at most, then the next picture is taken.
    case short
    /// 2 s at most, then the shot fails.
    case strict

    var limit: Duration {
        switch self {
        case .off: .zero
        case .short: .milliseconds(300)
        case .strict: .seconds(2)
        }
    }
}

/// Why a shot that was to come from the full sensor comes from the stream (contract §5.8).
public enum SensorRefusal: String, Hashable, Sendable {
    case recording
    case flash
    case cameraFailed
    case noFrame
    case stopping
    /// Too many frames are held.
    case memory
}

/// Where a shot stands with the lens.
enum FocusStage: Hashable, Sendable {
    case none
    /// Its picture by the press comes first: → `waiting`, `over`.
    case wanted
    /// The first focused picture after the commit is taken: → `over`.
    case waiting(until: Instant)
    case over

    var isOver: Bool { self == .none || self == .over }
    var end: Instant? {
        if case .waiting(let until) = self { until } else { nil }
    }
}

/// Where a shot stands with the mode switch to the full sensor.
enum SensorStage: Hashable, Sendable {
    case none
    /// → `exposing`, `over` (refused: the picture of the stream is taken).
    case wanted
    /// → `taken`, `over`.
    case exposing
    /// Its picture is of the full sensor.
    case taken
    case over

    var isOver: Bool { self == .none || self == .over || self == .taken }
}

/// The camera is, for a shot, in the mode that reads its whole sensor, or on its way there or back.
struct SensorExposure: Sendable {
    /// How long a mode switch and the first good picture may take: as long as a camera that starts, and settles.
    static let patience: Duration = .milliseconds(7500)
    /// A picture whose exposure time times gain is so near to what was carried over is exposed as the stream was.
    private static let tolerance = 0.1

    let camera: CameraID
    /// The shot that is exposed; `nil`: on the way back to the stream.
    var number: MediaNumber?
    var deadline: Instant
    /// Exposure time in seconds times gain, as asked; `nil`: automatic exposure has to settle.
    let carried: Double?
    /// What the lens had, which stays where it was; `nil`: it isn't held.
    let focus: FocusState?
    private var frames = 0
    private var convergence = Convergence()
    /// After so many pictures the sensor won't follow any more: in this mode it can't expose so long.
    private static let controlFrames = 10

    init(camera: CameraID, number: MediaNumber, deadline: Instant, carried: Double?, focus: FocusState?) {
        self.camera = camera
        self.number = number
        self.deadline = deadline
        self.carried = carried
        self.focus = focus
    }

    /// Whether this picture is good enough for a press at that time.
    mutating func accepts(_ frame: Frame, press: Instant) -> Bool {
        let isSettled = convergence.take(frame)
        frames += 1
        guard frame.exposureStart >= press else { return false }
        guard let carried, carried > 0, let amount = Self.amount(frame.exposure, frame.gain) else { return isSettled }
        // Exposure by hand counts as settled from the first picture on, though the sensor takes it up some pictures later.
        return abs(amount / carried - 1) <= Self.tolerance || (isSettled && frames > Self.controlFrames)
    }

    static func amount(_ exposure: Duration?, _ gain: Double?) -> Double? {
        guard let exposure, let gain else { return nil }
        return Double(exposure.inNanoseconds) / 1e9 * gain
    }
}
