/// Exposes for a region: its mean luma drives `ExposureValue`, in steps that wait until the one before has shown.
struct PointExposure: Sendable {
    /// Luma (encoded) that a region shall have: 18 % grey by sRGB's curve.
    static let target = 0.46
    /// Nearer than this in EV it is left alone …
    static let rest = 0.15
    /// … until it is further off than this.
    static let wake = 0.3
    /// EV that the region may ask for beyond the compensation.
    static let limit = 4.0
    /// Frames that automatic exposure may need to settle after a step, beside the controls' delay, where it isn't told.
    private static let settling = 4
    /// Beyond these a region is burnt out or black: it tells no more than the direction, and so far is gone at a time.
    private static let readable = 0.03...0.97
    private static let blindStep = 1.5

    private(set) var value = 0.0
    private var isResting = false
    private var framesSinceStep = 0
    /// EV of what automatic exposure gives at the value 0: binary logarithm of exposure time times gain.
    private var base: Double?

    /// Takes a frame in; the new value if it is to be set.
    ///
    /// A frame tells how bright the region came out *and* with which exposure; so the exposure that the region wants is
    /// known while automatic exposure is still on its way, and nothing has to be waited for.
    mutating func take(_ frame: Frame, controlDelay: Int) -> Double? {
        guard let luma = frame.regionLuma else { return nil }
        framesSinceStep += 1
        guard let exposure = frame.exposure, let gain = frame.gain, exposure > .zero, gain > 0 else {
            return takeBlindly(luma, frame, controlDelay: controlDelay)
        }
        let given = Self.log2(Double(exposure.inNanoseconds) * gain)
        let isSettled = frame.exposureSettled ?? (framesSinceStep >= controlDelay + Self.settling)
        // A frame tells of settled exposure only once it can have seen the last step.
        if base == nil || (isSettled && framesSinceStep > controlDelay) { base = given - value }
        // What was right changes only if the light does; automatic exposure follows that by itself.
        if isResting, !isSettled || framesSinceStep <= controlDelay { return nil }
        let error = Self.error(luma)
        if abs(error) <= (isResting ? Self.wake : Self.rest), isResting || isSettled {
            isResting = isSettled
            return nil
        }
        isResting = false
        let wanted = given + blind(luma, error) - (base ?? given)
        return set(wanted)
    }

    /// Where a frame doesn't tell its exposure: a step, then a look at what came of it.
    private mutating func takeBlindly(_ luma: Double, _ frame: Frame, controlDelay: Int) -> Double? {
        guard framesSinceStep > controlDelay else { return nil }
        if frame.exposureSettled == false, framesSinceStep < controlDelay + 12 { return nil }
        if frame.exposureSettled == nil, framesSinceStep < controlDelay + Self.settling { return nil }
        let error = Self.error(luma)
        if abs(error) <= (isResting ? Self.wake : Self.rest) {
            isResting = true
            return nil
        }
        isResting = false
        return set(value + blind(luma, min(max(error * 0.9, -2), 2)))
    }

    private func blind(_ luma: Double, _ error: Double) -> Double {
        luma > Self.readable.upperBound
            ? -Self.blindStep : luma < Self.readable.lowerBound ? Self.blindStep : error
    }

    private mutating func set(_ wanted: Double) -> Double? {
        let next = min(max(wanted, -Self.limit), Self.limit)
        // A tenth of a step is noise.
        guard abs(next - value) > 0.1 else { return nil }
        value = next
        framesSinceStep = 0
        return value
    }

    /// How many EV brighter the region should be; luma is taken as encoded with a gamma of 2.2.
    static func error(_ luma: Double) -> Double {
        let ratio = max(luma, 1.0 / 255) / target
        // log2(1 / ratio^2.2) without a mathematics library: Core imports nothing.
        return -2.2 * log2(ratio)
    }

    /// Base-2 logarithm of a positive number: exponent, then the series of ln((1+t)/(1-t)); error below 1e-9.
    private static func log2(_ value: Double) -> Double {
        let exponent = Double(value.exponent)
        let mantissa = value.significand
        let t = (mantissa - 1) / (mantissa + 1)
        var term = t
        var sum = 0.0
        var n = 1.0
        while n < 40 {
            sum += term / n
            term *= t * t
            n += 2
        }
        return exponent + 2 * sum / 0.693_147_180_559_945_3
    }
}
