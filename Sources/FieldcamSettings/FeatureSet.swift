/// What this version can do: the one place that says which settings may leave their defaults.
///
/// A feature that gets built adds its keys here and nowhere else.
enum FeatureSet {
    enum Availability: Sendable {
        case anyValue
        /// Only these, as `SettingType.word` says them.
        case only(Set<String>)
        case not(Set<String>)
    }

    /// Keys that aren't listed take only their default.
    static let settings: [String: Availability] = [
        "button.enabled": .anyValue,
        "button.hold": .anyValue,
        "button.double_press": .anyValue,
        "button.double_press_action": .only(["auto", "none"]),
        "button.shutter_role": .anyValue,
        "photo.size": .anyValue,
        "photo.quality": .anyValue,
        "video.quality": .anyValue,
        "video.codec": .anyValue,
        "video.framerate": .anyValue,
        "video.maximum_duration": .anyValue,
        "video.unsupported": .anyValue,
        "audio.enabled": .anyValue,
        "camera.default": .not(["last"]),
        "camera.autostart": .anyValue,
        "storage.reserve": .anyValue,
    ]

    /// Whether `double_press_action = "auto"` means a switch on a board with two cameras.
    static let switchesCameras = false
    static let hooks = false
    static let buttonRoles: Set<String> = ["shutter"]
    static let lightDrivers: Set<String> = ["gpio", "none", "simulator"]

    /// Whether a value may be used; the default always may.
    static func allows(_ word: String, of key: String) -> Bool {
        switch settings[key] {
        case nil: false
        case .anyValue: true
        case .only(let words): words.contains(word)
        case .not(let words): !words.contains(word)
        }
    }
}
