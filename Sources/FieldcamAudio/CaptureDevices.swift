import CFieldcamAudio

/// What this machine has to record from, for a person who looks for the right name.
public enum CaptureDevices {
    /// ALSA names of the cards' own capture devices, such as "hw:CARD=Loopback,DEV=0".
    public static var names: [String] { words(fc_audio_devices) }

    /// Programs that record now, as "'arecord' (pid 812)".
    public static var holders: [String] { words(fc_audio_holders) }

    /// Sound cards are there that this user may not open.
    public static var areDenied: Bool { fc_audio_is_denied() != 0 }

    private static func words(_ fill: (UnsafeMutablePointer<CChar>, Int) -> Void) -> [String] {
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { room in
            fill(room.baseAddress!, room.count)
            return String(cString: room.baseAddress!)
        }
        // The names have commas, but none with a space behind it.
        var words: [String] = []
        var rest = text[...]
        while !rest.isEmpty {
            var end = rest.startIndex
            while end < rest.endIndex, !rest[end...].hasPrefix(", ") { end = rest.index(after: end) }
            words.append(String(rest[..<end]))
            rest = rest[end...].dropFirst(2)
        }
        return words
    }
}
