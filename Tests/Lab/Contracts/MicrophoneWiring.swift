import FieldcamAudio
import FieldcamCore
import FieldcamPorts
import FieldcamTestKit

extension Suite {
    static let microphoneWiring = Suite("microphone-wiring", MicrophoneWiring.cases) { () throws(ContractFailure) in
        LoopbackBench()
    }
}

/// What only ALSA can show: where times come from, what a refusal says, sharing.
enum MicrophoneWiring {
    static let cases: [ContractCase<LoopbackBench>] = [
        ContractCase("times are the kernel's own stamps, through the converter too") { bench throws(ContractFailure) in
            for device in [LoopbackBench.device, "plug\(LoopbackBench.device)"] {
                let microphone = ALSAMicrophone(device: device)
                let ear = try Ear(microphone, on: bench)
                _ = try ear.next()
                _ = try ear.next()
                try expect(
                    microphone.timeSource == .stamped,
                    "\(device): \(microphone.timeSource.map(\.rawValue) ?? "closed")")
            }
        },
        ContractCase("48 kHz and one channel where the card gives them, else what it gives") {
            bench throws(ContractFailure) in
            let plain = try Ear(ALSAMicrophone(device: LoopbackBench.device), on: bench)
            try expect(plain.format == AudioFormat(rate: 48_000, channels: 1), "\(plain.format)")
            plain.microphone.close()
            let stereo = try Ear(ALSAMicrophone(device: LoopbackBench.device, rate: 44_100, channels: 2), on: bench)
            try expect(stereo.format == AudioFormat(rate: 44_100, channels: 2), "\(stereo.format)")
            let sound = try stereo.listen(.milliseconds(500))
            try expect(sound.gaps == 0, "\(sound.gaps) gaps")
        },
        ContractCase("a device that shares is heard twice at once, in time") { bench throws(ContractFailure) in
            let shared = "plug:'dsnoop:Loopback,1'"
            let first = try Ear(ALSAMicrophone(device: shared), on: bench)
            let second = try Ear(ALSAMicrophone(device: shared), on: bench)
            for ear in [first, second, first, second] {
                let piece = try ear.next()
                let age = bench.now - (piece.at + ear.span(piece.samples))
                try expect(
                    age >= Duration.zero - bench.jitter && age < .milliseconds(500) * bench.slowness,
                    "a piece ended \(age.inNanoseconds) ns ago")
            }
        },
        ContractCase("an unknown device lists those that are there") { _ throws(ContractFailure) in
            try expectRefusal("hw:CARD=NoSuchCard,DEV=0", .absent, "hw:CARD=Loopback,DEV=1")
            try expectRefusal("no-such-name", .absent, "no-such-name")
        },
        ContractCase("a held device names who holds it") { bench throws(ContractFailure) in
            bench.holdElsewhere()
            try expectRefusal(LoopbackBench.device, .busy, "'LabContracts'")
        },
        ContractCase("a user who may not open the card is told the group") { _ throws(ContractFailure) in
            var failure: ContractFailure?
            GPIOWiring.withoutRights {
                do throws(ContractFailure) {
                    try expectRefusal(LoopbackBench.device, .denied, "group 'audio'")
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
        },
    ]

    private static func expectRefusal(
        _ device: String, _ kind: HardwareError.Kind, _ words: String
    ) throws(ContractFailure) {
        let microphone = ALSAMicrophone(device: device)
        do {
            _ = try microphone.open()
        } catch {
            try expect(
                error.kind == kind && error.detail.contains(words),
                "refused as \(error.kind.rawValue): \(error); expected \(kind.rawValue) with: \(words)")
            return
        }
        throw ContractFailure("\(device) opened; expected \(kind.rawValue)")
    }
}
