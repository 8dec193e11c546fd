/// One shot's flash: from the order to switch the light on to a picture that is proven to be lit.
///
/// The light's window runs from the instant at which it was read back on to its end. A picture counts if the exposure of
/// all its rows lies inside. That the light was ordered and read back proves nothing about the LED itself, so the pictures
/// are asked: with *radiance* = linear luma / (exposure time × gain), the first picture inside the window and the one that
/// is taken must both be at least `brighter` times as radiant as the last one before. The first is compared because
/// automatic exposure can't have followed yet, so that no tone curve blurs the comparison; the taken one because the
/// light may have died in between.
struct FlashExposure: Sendable {
    /// More than flicker and noise change the mean of a whole picture.
    static let brighter = 1.1
    /// A lit picture isn't black, whatever the ratio to one that was blacker.
    private static let visible = 0.001
    /// Mean luma of a picture that is about rightly exposed.
    private static let usable = 0.25...0.6
    /// Automatic exposure has this long to follow the light (contract §5, hardware facts §4).
    private static let patience: Duration = .milliseconds(400)

    enum Verdict: Sendable {
        case wait
        case take(isProven: Bool)
    }

    let number: MediaNumber
    let begun: Instant
    /// 1, or 2: the one retry.
    var attempt = 1
    /// When the light was ordered on; `nil`: it rests before the next attempt.
    private(set) var ordered: Instant?
    private(set) var deadline = Instant(nanoseconds: 0)
    private var before: Double?
    private var lit: Instant?
    private var settlesBy = Instant(nanoseconds: 0)
    private var endsBy = Instant(nanoseconds: 0)
    private var first: Double?
    private var frames = 0

    init(number: MediaNumber, begun: Instant) {
        self.number = number
        self.begun = begun
    }

    /// The light is ordered on; `last` is a picture without it.
    mutating func fire(at: Instant, deadline: Instant, after last: Frame) {
        ordered = at
        self.deadline = deadline
        before = Self.radiance(last)
        lit = nil
        first = nil
        frames = 0
    }

    /// The light was read back on. Settling ends so early that three frames fit into what is left.
    mutating func shines(at: Instant, frameInterval: Duration) {
        guard ordered != nil, lit == nil else { return }
        lit = at
        endsBy = deadline - frameInterval * 3
        settlesBy = min(at + Self.patience, endsBy)
    }

    /// The light is off until the next attempt.
    mutating func rest() {
        attempt += 1
        ordered = nil
        lit = nil
    }

    /// Looks at the next frame while the light is on.
    mutating func consider(_ frame: Frame, _ abilities: CameraAbilities, frameInterval: Duration) -> Verdict {
        guard let lit else { return .wait }
        // Where no exposure time is told it may have been as long as a frame.
        let start = frame.exposure == nil ? frame.exposureEnd - frameInterval : frame.exposureStart
        guard start >= lit, frame.exposureEnd + abilities.readout <= deadline else { return .wait }
        frames += 1
        let radiance = Self.radiance(frame)
        if frames == 1 { first = radiance }
        // A frame tells of settled exposure only once it can have seen the light.
        let isSettled = frame.exposureSettled == true && frames > abilities.controlDelay
        guard isSettled || frame.exposureEnd >= (Self.isMisexposed(frame) ? endsBy : settlesBy) else { return .wait }
        return .take(isProven: isBrighter(first) && isBrighter(radiance) && Self.isVisible(frame))
    }

    private func isBrighter(_ radiance: Double?) -> Bool {
        guard let radiance, let before else { return false }
        return radiance > before * Self.brighter
    }

    /// Exposure is told to be still on its way, and the picture is burnt out or dark: a later one is better.
    private static func isMisexposed(_ frame: Frame) -> Bool {
        frame.exposureSettled == false && frame.luma.map { !usable.contains($0) } ?? false
    }

    private static func isVisible(_ frame: Frame) -> Bool {
        frame.luma.map { linear($0) >= visible } ?? false
    }

    /// Light per second of exposure at gain 1, in a unit of its own; `nil`: the picture wasn't measured.
    static func radiance(_ frame: Frame) -> Double? {
        guard let luma = frame.luma else { return nil }
        let exposure = frame.exposure.map { max(1, Double($0.inNanoseconds)) / 1e9 } ?? 1
        return linear(luma) / (exposure * max(0.01, frame.gain ?? 1))
    }

    /// Encoded luma back to linear light: a cubic that follows the power 2.2 within 0.01.
    static func linear(_ luma: Double) -> Double { luma * luma * (0.74 + 0.26 * luma) }
}
