import FieldcamCore

/// One key of the settings: its name, what it may be and what it is when nobody says anything.
public struct SettingKey: Sendable {
    /// Section and key: `button.hold`.
    public let name: String
    /// What may be written, in words: "a number with ms … from 150ms to 1s".
    public let form: String
    /// The default as it stands in a settings file: `"400ms"`.
    public let defaultLiteral: String

    let read: @Sendable (TOMLValue, inout Settings) throws(Misreading) -> Void
    let write: @Sendable (Settings) -> (word: String, literal: String)

    /// Any value of the type.
    init<Value: SettingType>(_ name: String, _ path: WritableKeyPath<Settings, Value> & Sendable) {
        self.init(name, path, form: Value.form) { _ throws(Misreading) in }
    }

    /// A value between two bounds, both included.
    init<Value: SettingType & Comparable>(
        _ name: String, _ path: WritableKeyPath<Settings, Value> & Sendable, _ range: ClosedRange<Value>
    ) {
        let bounds = "from \(range.lowerBound.word) to \(range.upperBound.word)"
        self.init(name, path, form: "\(Value.form), \(bounds)") { value throws(Misreading) in
            if !range.contains(value) {
                throw Misreading("is \(value.literal); it must be \(bounds)")
            }
        }
    }

    init<Value: SettingType>(
        _ name: String, _ path: WritableKeyPath<Settings, Value> & Sendable, form: String,
        check: @escaping @Sendable (Value) throws(Misreading) -> Void
    ) {
        self.name = name
        self.form = form
        defaultLiteral = Settings()[keyPath: path].literal
        read = { value, settings throws(Misreading) in
            let new = try Value(value)
            try check(new)
            settings[keyPath: path] = new
        }
        write = { settings in
            let value = settings[keyPath: path]
            return (value.word, value.literal)
        }
    }

    /// The value as it stands in a settings file.
    public func literal(in settings: Settings) -> String { write(settings).literal }

    /// All keys, in the contract's order. `hooks.<event>` comes beside them: see `SettingKey.hookEvents`.
    public static let all: [SettingKey] = [
        SettingKey("button.enabled", \.button.enabled),
        SettingKey("button.hold", \.button.hold, .milliseconds(150) ... .seconds(1)),
        SettingKey("button.double_press", \.button.doublePress, .milliseconds(100) ... .seconds(1)),
        SettingKey("button.double_press_action", \.button.doublePressAction),
        SettingKey("button.shutter_role", \.button.shutterRole),
        SettingKey("photo.source", \.photo.source),
        SettingKey("photo.size", \.photo.size),
        SettingKey("photo.aspect", \.photo.aspect),
        SettingKey("photo.quality", \.photo.quality, 1...100),
        SettingKey("photo.wait_for_focus", \.photo.waitForFocus),
        SettingKey("video.quality", \.video.quality),
        SettingKey("video.codec", \.video.codec),
        SettingKey("video.framerate", \.video.framerate, 1...240),
        SettingKey("video.maximum_duration", \.video.maximumDuration, .zero...hours(24)),
        SettingKey("video.unsupported", \.video.unsupported),
        SettingKey("flash.mode", \.flash.mode),
        SettingKey("torch.mode", \.torch.mode),
        SettingKey("torch.level", \.torch.level, form: "a number above 0, up to 1") { level throws(Misreading) in
            if level <= 0 || level > 1 {
                throw Misreading("is \(level.literal); it must be above 0 and at most 1")
            }
        },
        SettingKey("focus.mode", \.focus.mode),
        SettingKey("focus.tap", \.focus.tap),
        SettingKey("focus.resume_on_change", \.focus.resumeOnChange),
        SettingKey("focus.resume_after", \.focus.resumeAfter, .zero...hours(1)),
        SettingKey("focus.while_recording", \.focus.whileRecording),
        SettingKey("exposure.compensation", \.exposure.compensation, -8...8),
        SettingKey("exposure.metering", \.exposure.metering),
        SettingKey("exposure.shutter", \.exposure.shutter),
        SettingKey("exposure.gain", \.exposure.gain),
        SettingKey("low_light.enabled", \.lowLight.enabled),
        SettingKey("low_light.enter_lux", \.lowLight.enterLux, 0...100_000),
        SettingKey("low_light.leave_lux", \.lowLight.leaveLux, 0...100_000),
        SettingKey("low_light.minimum_framerate", \.lowLight.minimumFramerate, 1...240),
        SettingKey("low_light.stack", \.lowLight.stack, 1...16),
        SettingKey("interval.every", \.interval.every, .zero...hours(24 * 31)),
        SettingKey("trigger.action", \.trigger.action),
        SettingKey("trigger.cooldown", \.trigger.cooldown, .zero...hours(24)),
        SettingKey("zoom.enabled", \.zoom.enabled),
        SettingKey("zoom.maximum", \.zoom.maximum),
        SettingKey("guide.rect", \.guide.rect),
        SettingKey("guide.corner_radius", \.guide.cornerRadius, 0...0.5),
        SettingKey("guide.save", \.guide.save),
        SettingKey("guide.review", \.guide.review),
        SettingKey("overlay.grid", \.overlay.grid),
        SettingKey("overlay.burn_in", \.overlay.burnIn),
        SettingKey("audio.enabled", \.audio.enabled),
        SettingKey("audio.sharing", \.audio.sharing),
        SettingKey("camera.default", \.camera.default),
        SettingKey("camera.autostart", \.camera.autostart),
        SettingKey("camera.standby_after", \.camera.standbyAfter, .zero...hours(24 * 31)),
        SettingKey("camera.switch_while_recording", \.camera.switchWhileRecording),
        SettingKey("storage.reserve", \.storage.reserve, ByteCount(0)...ByteCount(1 << 50)),
        SettingKey("storage.when_full", \.storage.whenFull),
        SettingKey("storage.delete", \.storage.delete),
        SettingKey("server.listen", \.server.listen),
        SettingKey("server.token_file", \.server.tokenFile),
    ]

    /// Events that `[hooks]` may name (contract §6).
    public static let hookEvents = [
        "photo.requested", "photo.saved", "photo.failed", "recording.requested", "recording.started",
        "recording.stopped", "clip.saved", "clip.failed", "clip.discarded", "focus.started", "focus.ended",
        "zoom.changed", "light.changed", "low_light.changed", "exposure.changed", "camera.up", "camera.down",
        "camera.switched", "camera.switch_failed", "quality.fallback", "settings.changed", "storage.low",
        "clock.stepped", "rejected",
    ]

    /// The section's names, in the contract's order.
    static let sections: [String] = {
        var names: [String] = []
        for key in all where names.last != key.section { names.append(key.section) }
        return names + ["hooks"]
    }()

    static let byName: [String: SettingKey] = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    var section: String { String(name.prefix { $0 != "." }) }
    /// The part after the section.
    var leaf: String { String(name.drop { $0 != "." }.dropFirst()) }

    private static func hours(_ count: Int64) -> Duration { .seconds(count * 3600) }
}
