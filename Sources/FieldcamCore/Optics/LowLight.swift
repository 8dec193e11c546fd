/// Whether the scene is so dark that frames may take longer: entered and left with hysteresis, never on one odd frame.
struct LowLight: Sendable {
    /// So many frames in a row must agree.
    static let frames = 10
    /// Lux of a scene that 1/30 s at gain 8 exposes rightly (10 lux): for pipelines that report no lux. An estimate; its
    /// error is a factor, which the hysteresis bears.
    static let luxSeconds = 10.0 * (1.0 / 30) * 8

    private(set) var isActive = false
    private var streak = 0

    /// Takes a frame's light in. True: it changed.
    mutating func take(_ frame: Frame, enter: Double, leave: Double) -> Bool {
        guard let lux = Self.lux(frame) else { return false }
        let wants = isActive ? lux <= leave : lux < enter
        guard wants != isActive else {
            streak = 0
            return false
        }
        streak += 1
        guard streak >= Self.frames else { return false }
        streak = 0
        isActive = wants
        return true
    }

    /// What was seen last is as it was; frames that come now don't follow the ones before.
    mutating func interrupt() { streak = 0 }

    mutating func reset() {
        isActive = false
        streak = 0
    }

    static func lux(_ frame: Frame) -> Double? {
        if let lux = frame.lux { return lux }
        guard let exposure = frame.exposure, let gain = frame.gain, gain > 0 else { return nil }
        let seconds = Double(exposure.inNanoseconds) / 1e9
        return seconds > 0 ? luxSeconds / (seconds * gain) : nil
    }
}
