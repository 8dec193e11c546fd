import CFieldcamAudio
import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc

/// A microphone on ALSA: any PCM that gives 16-bit sound. Times are the kernel's own stamps of the card's position.
public final class ALSAMicrophone: Microphone, @unchecked Sendable {
    // Proof of Sendable: the port gives all calls to one thread, `fc-audio`; the object only wanders there.

    /// Where the times of the pieces come from.
    public enum TimeSource: String, Sendable {
        /// The kernel's stamp on the monotonic clock.
        case stamped
        /// The kernel's stamp on the raw monotonic clock, carried over.
        case stampedRaw = "stamped_raw"
        /// The device stamps nothing usable: the time of waking less what waited. As true as the wake-up was prompt.
        case woken
    }

    private let device: String
    private let isExclusive: Bool
    private let rate: Int
    private let channels: Int
    private var handle: OpaquePointer?
    private var format = AudioFormat(rate: 48_000, channels: 1)

    /// Opens nothing yet.
    /// - Parameters:
    ///   - device: an ALSA PCM name, such as "default" or "hw:CARD=Loopback,DEV=1".
    ///   - isExclusive: the card itself, so that nobody else records with it meanwhile; else the device as it is named, which
    ///     for "default" is shared with others. No mixer is touched either way.
    ///   - rate: samples a second, or the nearest that the device gives.
    ///   - channels: 1 or 2, or the nearest that the device gives.
    public init(device: String, isExclusive: Bool = false, rate: Int = 48_000, channels: Int = 1) {
        self.device = device
        self.isExclusive = isExclusive
        self.rate = rate
        self.channels = channels
    }

    deinit { close() }

    public func open() throws(HardwareError) -> AudioFormat {
        if handle != nil { return format }
        var facts = fc_microphone_format()
        var name = device
        if isExclusive {
            guard let card = ExclusiveDevice.name(of: device, cards: CaptureDevices.names) else {
                throw HardwareError(
                    .unsupported, "open the microphone '\(device)'",
                    detail: "audio.sharing is exclusive, and this device names no sound card; name one, such as"
                        + " \"hw:CARD=…\", in the board's [microphone]")
            }
            name = card
        }
        let error = fc_microphone_open(name, Int32(rate), Int32(channels), &handle, &facts)
        guard error == 0 else { throw refusal(error) }
        format = AudioFormat(rate: Int(facts.rate), channels: Int(facts.channels))
        return format
    }

    public func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(HardwareError) -> AudioPiece {
        guard let handle else {
            throw HardwareError(.invalid, "hear the microphone '\(device)'", detail: "it isn't open")
        }
        let capacity = buffer.count / format.channels
        precondition(capacity > 0, "no room for a single sample")
        var at: Int64 = 0
        var gap: Int32 = 0
        let count = fc_microphone_read(handle, buffer.baseAddress!, Int32(capacity), 100, &at, &gap)
        guard count >= 0 else {
            let gone = count == -ENODEV
            throw .errno(
                count, "hear the microphone '\(device)'",
                detail: gone ? "the device went away; plug it in again" : nil)
        }
        return AudioPiece(samples: Int(count), at: Instant(nanoseconds: at), afterGap: gap != 0)
    }

    public func close() {
        if let handle { fc_microphone_close(handle) }
        handle = nil
    }

    /// Of the last piece; `nil` while closed.
    public var timeSource: TimeSource? {
        guard let handle else { return nil }
        return switch fc_microphone_clock(handle) {
        case FC_MICROPHONE_STAMPED: .stamped
        case FC_MICROPHONE_STAMPED_RAW: .stampedRaw
        default: .woken
        }
    }

    private func refusal(_ code: Int32) -> HardwareError {
        let operation = "open the microphone '\(device)'"
        // The library hides a card that this user may not open behind "not found".
        if CaptureDevices.areDenied {
            return HardwareError(
                .denied, operation, code: abs(code),
                detail:
                    "sound cards aren't open to this user; add the user to the group 'audio' (usermod -aG audio USER)"
                    + " and start again")
        }
        let plain = HardwareError.errno(code, operation)
        let said = String(cString: fc_audio_message())
        switch plain.kind {
        case .busy:
            let holders = CaptureDevices.holders.joined(separator: ", ")
            return .errno(
                code, operation,
                detail: "it is held by \(holders.isEmpty ? "another program" : holders); stop that, or name a device"
                    + " that can be shared, such as \"default\"")
        case .absent, .invalid:
            let devices = CaptureDevices.names.joined(separator: ", ")
            let inventory =
                devices.isEmpty ? "this machine has no sound card that records" : "this machine has \(devices)"
            return HardwareError(
                .absent, operation, code: abs(code),
                detail: "there is no such device\(said.isEmpty ? "" : " (\(said))"); \(inventory)")
        case .unsupported:
            return .errno(
                code, operation,
                detail: "it gives no 16-bit sound of one or two channels; name it through ALSA's converter,"
                    + " \"plughw:…\" for \"hw:…\"")
        default:
            return said.isEmpty ? plain : .errno(code, operation, detail: "\(errorText(plain.code)) (\(said))")
        }
    }
}
