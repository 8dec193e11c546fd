import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc
import Synchronization

/// A microphone without hardware: 48 kHz, one channel, with a sample clock of its own.
///
/// It hears what `SimulatedWorld.sound` says: at first a soft 440 Hz tone, and a loud 1 kHz beep in the first 100 ms of each whole second of the monotonic clock, when
/// the lamp in the picture shines: so sound and picture of a clip can be held against each other. The sounds are the
/// world's; a card whose clock runs `microphone_skew_ppm` too fast takes more samples of the same second.
public final class SimulatedMicrophone: Microphone {
    public static let rate = 48_000
    /// What the card keeps when nobody reads.
    static let buffer = Duration.milliseconds(500)
    /// A card hands out no less at once, while it runs in real time: 480 samples are 10 ms.
    private static let period = 480
    private static let patience = Duration.milliseconds(100)

    private struct Card {
        /// When sample `base` was taken, and how fast the clock runs since.
        var since: Instant
        var base: Int64 = 0
        var skewPPM: Double
        /// The next sample to be read.
        var next: Int64 = 0
        /// Sound was lost, and no piece has told so yet.
        var hasGap = false

        var samplesPerNanosecond: Double { Double(SimulatedMicrophone.rate) * (1 + skewPPM / 1e6) / 1e9 }

        func time(of sample: Int64) -> Instant {
            since + .nanoseconds(Int64((Double(sample - base) / samplesPerNanosecond).rounded()))
        }

        /// Samples taken until then.
        func count(at instant: Instant) -> Int64 {
            base + Int64((Double((instant - since).inNanoseconds) * samplesPerNanosecond).rounded(.down))
        }
    }

    private let world: SimulatedWorld
    private let card = Mutex<Card?>(nil)

    public init(world: SimulatedWorld) {
        self.world = world
    }

    public func open() throws(HardwareError) -> AudioFormat {
        let operation = "open the simulated microphone"
        if world.microphoneIsGone {
            throw HardwareError(.absent, operation, code: ENODEV, detail: "it is unplugged")
        }
        if let kind = world.microphoneUnavailable {
            throw HardwareError(kind, operation, detail: "it was told to be \(kind.rawValue)")
        }
        let now = world.now
        let skew = world.microphoneSkewPPM
        card.withLock { $0 = Card(since: now, skewPPM: skew) }
        return AudioFormat(rate: Self.rate, channels: 1)
    }

    public func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(HardwareError) -> AudioPiece {
        let wanted = min(buffer.count, Self.period)
        if world.isLive, wanted > 0 {
            // As a card's driver does, it sleeps until a period is there; its samples come by the clock, not by an event.
            let due = card.withLock { card in card.map { $0.time(of: $0.next + Int64(wanted)) } }
            if let due {
                let wait = min(max(.zero, due - world.now), Self.patience)
                var span = timespec(tv_sec: 0, tv_nsec: Int(wait.inNanoseconds))
                // Woken early by a signal, it reads a little less.
                nanosleep(&span, nil)
            }
        }
        if world.microphoneIsGone {
            throw HardwareError(.io, "read the simulated microphone", code: ENODEV, detail: "it was unplugged")
        }
        let now = world.now
        let skew = world.microphoneSkewPPM
        let sound = world.sound
        return try card.withLock { (card) throws(HardwareError) -> AudioPiece in
            guard var open = card else {
                throw HardwareError(
                    .invalid, "read the simulated microphone", code: EINVAL, detail: "it must be opened first")
            }
            if open.skewPPM != skew {
                // The clock goes on from here at another speed.
                open.base = open.count(at: now)
                open.since = now
                open.skewPPM = skew
            }
            let taken = open.count(at: now)
            let kept = Int64(Double(Self.rate) * Double(Self.buffer.inNanoseconds) / 1e9)
            if taken - open.next > kept {
                // As after an overrun: what was kept is thrown away, and capturing begins anew.
                open.next = taken
                open.hasGap = true
            }
            let count = Int(max(0, min(Int64(buffer.count), taken - open.next)))
            let at = open.time(of: open.next)
            for index in 0..<count {
                buffer[index] = sound.sample(at: open.time(of: open.next + Int64(index)))
            }
            let piece = AudioPiece(samples: count, at: at, afterGap: count > 0 && open.hasGap)
            if count > 0 { open.hasGap = false }
            open.next += Int64(count)
            card = open
            return piece
        }
    }

    public func close() {
        card.withLock { $0 = nil }
    }
}
