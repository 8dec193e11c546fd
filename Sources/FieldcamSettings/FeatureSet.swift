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
        "button.double_press_action": .anyValue,
        "button.shutter_role": .anyValue,
        "photo.source": .anyValue,
        "photo.size": .anyValue,
        "photo.aspect": .anyValue,
        "photo.wait_for_focus": .anyValue,
        "photo.quality": .anyValue,
        "video.quality": .anyValue,
        "video.codec": .anyValue,
        "video.framerate": .anyValue,
        "video.maximum_duration": .anyValue,
        "video.unsupported": .anyValue,
        "flash.mode": .anyValue,
        "torch.mode": .anyValue,
        "torch.level": .anyValue,
        "focus.mode": .anyValue,
        "focus.tap": .anyValue,
        "focus.resume_on_change": .anyValue,
        "focus.resume_after": .anyValue,
        "focus.while_recording": .anyValue,
        "exposure.compensation": .anyValue,
        "exposure.metering": .anyValue,
        "exposure.shutter": .anyValue,
        "exposure.gain": .anyValue,
        "low_light.enabled": .anyValue,
        "low_light.enter_lux": .anyValue,
        "low_light.leave_lux": .anyValue,
        "low_light.minimum_framerate": .anyValue,
        "low_light.stack": .anyValue,
        "zoom.enabled": .anyValue,
        "zoom.maximum": .anyValue,
        "guide.rect": .anyValue,
        "guide.corner_radius": .anyValue,
        "guide.save": .anyValue,
        "guide.review": .anyValue,
        "overlay.grid": .anyValue,
        "overlay.burn_in": .anyValue,
        "audio.enabled": .anyValue,
        "audio.sharing": .anyValue,
        "camera.default": .anyValue,
        "camera.autostart": .anyValue,
        "camera.standby_after": .anyValue,
        "camera.switch_while_recording": .anyValue,
        "storage.reserve": .anyValue,
    ]

    static let hooks = false
    static let buttonRoles: Set<String> = ["shutter", "flash", "switch", "focus"]
    static let lightDrivers: Set<String> = ["gpio", "led", "none", "pwm", "simulator"]

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
