import Calsa
import FieldcamAudio
import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import FieldcamTestKit
import Glibc
import Synchronization

extension Suite {
    static let microphone = Suite("microphone", MicrophoneContract.cases) { () throws(ContractFailure) in
        LoopbackBench()
    }
}

/// snd-aloop: what is played into one end is recorded at the other.
final class LoopbackBench: RealBench, MicrophoneBench, @unchecked Sendable {
    // Proof of Sendable: used by the one thread that runs the case; the player's thread has nothing of it but `ended`.
    static let speaker = "hw:Loopback,0,0"
    static let device = "hw:Loopback,1,0"

    let slowness = 10.0
    /// snd-aloop's position moves in steps of the kernel's tick of 1 ms.
    let jitter = Duration.milliseconds(10)
    /// While the emulator's host is busy, ticks come late, and the position with them.
    let stall = Duration.milliseconds(300)
    private let ended = Ended()
    private var player: Thread?
    private var remover: Thread?
    private var holder: (any Microphone)?

    private final class Ended: Sendable {
        let flag = Atomic(false)
    }

    deinit {
        ended.flag.store(true, ordering: .releasing)
        player?.join()
        holder?.close()
        if remover != nil { plug() }
    }

    func makeMicrophone() -> any Microphone { ALSAMicrophone(device: Self.device) }
    func makeAbsentMicrophone() -> any Microphone { ALSAMicrophone(device: "hw:CARD=NoSuchCard,DEV=0") }

    func holdElsewhere() {
        let microphone = ALSAMicrophone(device: Self.device)
        do { _ = try microphone.open() } catch { fatalError("\(error)") }
        holder = microphone
    }

    /// Removing a card waits for whoever has it open, so somebody else has to do it.
    func unplug() {
        remover = Thread(name: "remover") { Self.tell("unbind") }
    }

    func plug() {
        remover?.join()
        remover = nil
        Self.tell("bind")
    }

    private static func tell(_ word: String) {
        let file = open("/sys/bus/platform/drivers/snd_aloop/\(word)", O_WRONLY)
        let device = "snd_aloop.0"
        guard file >= 0, write(file, device, device.utf8.count) > 0 else { fatalError("can't \(word) \(device)") }
        close(file)
    }

    func play(frequency: Double) {
        var opened: OpaquePointer?
        guard snd_pcm_open(&opened, Self.speaker, SND_PCM_STREAM_PLAYBACK, 0) == 0, let opened,
            snd_pcm_set_params(opened, SND_PCM_FORMAT_S16, SND_PCM_ACCESS_RW_INTERLEAVED, 1, 48_000, 0, 400_000) == 0
        else { fatalError("nothing can be played on \(Self.speaker)") }
        let ended = ended
        let speaker = UInt(bitPattern: opened)
        player = Thread(name: "tone") {
            let speaker = OpaquePointer(bitPattern: speaker)!
            var samples = [Int16](repeating: 0, count: 4_800)
            var played = 0
            while !ended.flag.load(ordering: .acquiring) {
                for index in samples.indices {
                    let turns = Double(played + index) * frequency / 48_000
                    samples[index] = Int16(16_000 * sin(2 * Double.pi * (turns - turns.rounded(.down))))
                }
                played += samples.count
                let error = snd_pcm_writei(speaker, samples, snd_pcm_uframes_t(samples.count))
                if error < 0 { snd_pcm_recover(speaker, Int32(error), 1) }
            }
            snd_pcm_drop(speaker)
            snd_pcm_close(speaker)
        }
    }
}
