import FieldcamCore
import Glibc

/// Exposure and gain of a simulated sensor: a change takes hold three frames after it was asked for, as on real sensors,
/// and automatic exposure walks towards the right brightness without swinging.
struct AutoExposure {
    struct Setting: Hashable {
        /// Seconds.
        var exposure: Double
        var gain: Double
        var total: Double { exposure * gain }
    }

    /// Frames from a control to its effect.
    static let controlDelay = 3
    /// Lux × seconds × gain of a right exposure: 100 lux come out right at 20 ms and gain 1.
    static let rightAmount = 2.0
    /// Where no sensor's profile says otherwise.
    static let gains = 1.0...16.0
    static let shortest = 50e-6

    /// What a sensor can do.
    struct Range: Hashable {
        var gains = AutoExposure.gains
        /// Seconds.
        var shortest = AutoExposure.shortest
    }
    let range: Range

    /// The rest of a frame's time the sensor needs for itself.
    static let exposedPart = 0.95

    /// What is fixed by hand; `nil`: automatic.
    var fixedExposure: Double?
    var fixedGain: Double?

    /// EV that the picture shall be brighter than right.
    var exposureValue = 0.0
    /// Longest exposure, seconds: frames can't be shorter.
    var longest: Double
    private var wanted: Double
    /// Settings of this frame and the next ones.
    private var pending: (Setting, Setting, Setting)

    init(frameInterval: Double, range: Range = Range()) {
        self.range = range
        longest = frameInterval * Self.exposedPart
        wanted = 0.02
        let first = Self.split(wanted, longest: longest, fixedExposure: nil, fixedGain: nil, range)
        pending = (first, first, first)
    }

    /// The same brightness at another frame rate.
    init(frameInterval: Double, range: Range = Range(), after previous: AutoExposure) {
        self.init(frameInterval: frameInterval, range: range)
        fixedExposure = previous.fixedExposure
        fixedGain = previous.fixedGain
        exposureValue = previous.exposureValue
        wanted = previous.wanted
        let first = Self.split(wanted, longest: longest, fixedExposure: fixedExposure, fixedGain: fixedGain, range)
        pending = (first, first, first)
    }

    private static func split(
        _ total: Double, longest: Double, fixedExposure: Double?, fixedGain: Double?, _ range: Range
    ) -> Setting {
        let exposure: Double
        let longest = max(longest, range.shortest)
        if let fixedExposure {
            exposure = min(max(fixedExposure, range.shortest), longest)
        } else {
            let part = fixedGain.map { total / $0 } ?? total
            exposure = min(max(part, range.shortest), longest)
        }
        let gain = fixedGain ?? min(max(total / exposure, range.gains.lowerBound), range.gains.upperBound)
        return Setting(exposure: exposure, gain: gain)
    }

    /// The setting of the next frame.
    var current: Setting { pending.0 }

    /// A frame was exposed with `current`, and so much light times gain came in (1 is right). Tells whether it was settled.
    mutating func frameWasExposed(ratio: Double) -> Bool {
        let now = pending.0
        let least = log2(range.shortest * range.gains.lowerBound)
        let limits = least...max(least, log2(longest * range.gains.upperBound))
        // What is white or black tells no more than that it is far off.
        let error = ratio > 0 ? min(max(log2(ratio) - exposureValue, -2), 2) : -2
        let right = min(max(log2(now.total) - error, limits.lowerBound), limits.upperBound)
        let isSettled = abs(log2(now.total) - right) < 0.12
        if abs(log2(now.total) - right) > 0.04 || abs(log2(wanted) - right) > 0.12 {
            wanted = exp2(log2(wanted) + 0.3 * (right - log2(wanted)))
        }
        let next = Self.split(wanted, longest: longest, fixedExposure: fixedExposure, fixedGain: fixedGain, range)
        pending = (pending.1, pending.2, next)
        return isSettled || (fixedExposure != nil && fixedGain != nil)
    }

    /// A frame passed that nobody saw.
    mutating func frameWasLost() {
        pending = (pending.1, pending.2, pending.2)
    }
}
