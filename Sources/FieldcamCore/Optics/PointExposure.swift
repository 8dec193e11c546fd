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
    /// Frames that automatic exposure may need to settle after a step, beside the controls' delay.
    static let settling = 4

    private(set) var value = 0.0
    private var isResting = false
    private var framesSinceStep = 0

    /// Takes a frame in; the new value if it is to be set.
    mutating func take(_ frame: Frame, controlDelay: Int) -> Double? {
        guard let luma = frame.regionLuma else { return nil }
        framesSinceStep += 1
        guard framesSinceStep > controlDelay else { return nil }
        if frame.exposureSettled == false, framesSinceStep < controlDelay + 12 { return nil }
        if frame.exposureSettled == nil, framesSinceStep < controlDelay + Self.settling { return nil }
        let error = Self.error(luma)
        if abs(error) <= (isResting ? Self.wake : Self.rest) {
            isResting = true
            return nil
        }
        isResting = false
        // A burnt-out or black region tells no distance: a firm step, then look again.
        let step = luma > 0.97 ? -1.5 : luma < 0.03 ? 1.5 : min(max(error * 0.9, -2), 2)
        let next = min(max(value + step, -Self.limit), Self.limit)
        guard next != value else {
            isResting = true
            return nil
        }
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
