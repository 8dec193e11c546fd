/// The sound card behind an ALSA name. A card's hardware device has one user at a time; dsnoop, PulseAudio and PipeWire, which
/// lie between it and the programs that share it, are left out.
public enum ExclusiveDevice {
    /// The card's own device behind ALSA's converter, which doesn't share; `nil`: the name tells no card.
    /// - Parameters:
    ///   - device: an ALSA PCM name.
    ///   - cards: this machine's capture devices, such as "hw:CARD=Loopback,DEV=0"; the first stands for "default".
    public static func name(of device: String, cards: [String]) -> String? {
        if device.hasPrefix("plughw:") { return device }
        if device.hasPrefix("hw:") { return "plug" + device }
        guard let colon = device.firstIndex(of: ":") else {
            guard ["default", "sysdefault", "pulse", "pipewire"].contains(device) else { return nil }
            return cards.first.map { "plug" + $0 }
        }
        // "dsnoop:CARD=X,DEV=1", "sysdefault:CARD=X"
        let arguments = device[device.index(after: colon)...].split(separator: ",")
        guard arguments.contains(where: { $0.hasPrefix("CARD=") }) else { return nil }
        let place = arguments.filter { $0.hasPrefix("CARD=") || $0.hasPrefix("DEV=") || $0.hasPrefix("SUBDEV=") }
        return "plughw:" + place.joined(separator: ",")
    }

    /// Whether a name is a card's own device, which can't be shared.
    public static func isOne(_ device: String) -> Bool { device.hasPrefix("hw:") || device.hasPrefix("plughw:") }
}
