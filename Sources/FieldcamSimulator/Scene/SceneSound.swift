import FieldcamCore
import Glibc

/// What is to be heard in the scene, as a function of time.
public enum SceneSound: Hashable, Sendable {
    /// A soft tone of 440 Hz, and a loud beep of 1 kHz in the first 100 ms of each whole second, when the picture's lamp
    /// shines.
    case marks
    /// A pure tone of whole Hz.
    case tone(Double)

    public static let softTone = 440.0
    public static let softAmplitude = 2_000.0
    public static let beep = 1_000.0
    public static let beepAmplitude = 12_000.0
    public static let toneAmplitude = 16_000.0

    /// The pressure at an instant, as a 16-bit sample.
    func sample(at instant: Instant) -> Int16 {
        // Tones of whole Hz have whole waves in a second, so the second's fraction is phase enough.
        let rest = instant.nanoseconds % 1_000_000_000
        let seconds = Double(rest < 0 ? rest + 1_000_000_000 : rest) / 1e9
        switch self {
        case .tone(let frequency):
            return Int16((Self.toneAmplitude * sin(2 * Double.pi * frequency * seconds)).rounded())
        case .marks:
            let soft = Self.softAmplitude * sin(2 * Double.pi * Self.softTone * seconds)
            guard SceneRenderer.isMark(instant) else { return Int16(soft.rounded()) }
            return Int16((soft + Self.beepAmplitude * sin(2 * Double.pi * Self.beep * seconds)).rounded())
        }
    }
}
