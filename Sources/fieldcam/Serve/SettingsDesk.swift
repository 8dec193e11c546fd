import FieldcamAudio
import FieldcamCore
import FieldcamDirector
import FieldcamLinux
import FieldcamPorts
import FieldcamServer
import FieldcamSettings
import Glibc
import Synchronization

/// The settings of a running service: tells them, changes them, keeps what was changed in `<state>/settings.toml`.
/// `fc-http` asks it; a change waits for the disk.
final class SettingsDesk: Sendable {
    /// These are looked at when the service starts; a change of them counts from its next start.
    private static let atStart: Set<String> = [
        "camera.default", "camera.autostart", "storage.reserve", "audio.sharing", "server.listen", "server.token_file",
    ]
    /// These wait for a camera that nothing is under way on.
    private static let withIdleCamera: Set<String> = ["photo.source", "photo.size", "video.quality", "video.framerate"]

    private static let countsLater = "it counts from the next start of the service"

    private struct State {
        /// What was set, key → TOML literal, in the order of the keys.
        var kept: [String: String]
        var wanted: LoadedSettings
        /// What the cameras work by.
        var ofCameras: Settings
        /// Orders to the director so far.
        var orders = 0
    }

    private let board: BoardProfile
    private let writers: any ClipWriterFactory
    private let desk: FrontDesk
    private let path: String
    /// Files of the owner, without what was set.
    private let files: LoadedSettings
    private let started: Settings
    private let state: Mutex<State>

    /// - Parameter started: what the service was started with, of the same files.
    init(
        options: ServeOptions, started: LoadedSettings, board: BoardProfile, writers: any ClipWriterFactory,
        desk: FrontDesk
    ) throws(Complaints) {
        self.board = board
        self.writers = writers
        self.desk = desk
        path = options.state + "/settings.toml"
        files = try LoadedSettings.load(
            file: options.settings ?? ServeOptions.defaultSettings, required: options.settings != nil)
        let own = try LoadedSettings.load(file: nil, state: options.state)
        var kept: [String: String] = [:]
        for key in SettingKey.all where own.origins[key.name] != nil { kept[key.name] = key.literal(in: own.settings) }
        self.started = started.settings
        state = Mutex(State(kept: kept, wanted: started, ofCameras: started.settings))
    }

    /// The body of `GET /v1/settings`: each key with what is asked and what is in effect.
    var json: JSON {
        state.withLock { state in
            let status = desk.status
            if status.configurations >= state.orders, !status.settingsWait {
                state.ofCameras = state.wanted.settings
            }
            var members: [JSON.Member] = []
            for key in SettingKey.all {
                let requested = key.literal(in: state.wanted.settings)
                var effective = requested
                if Self.atStart.contains(key.name) { effective = key.literal(in: started) }
                if Self.withIdleCamera.contains(key.name) { effective = key.literal(in: state.ofCameras) }
                if let refusal = status.refusals.first(where: { $0.key == key.name }) {
                    effective = Self.word(refusal.effective)
                }
                if key.name == "flash.mode" { effective = "\"\(status.flash.rawValue)\"" }
                if key.name == "focus.mode", status.lens.range != nil {
                    effective = "\"\(status.lens.mode(of: state.wanted.settings.focus.mode.rawValue))\""
                }
                var entry: [JSON.Member] = [
                    .init("requested", Self.json(requested)), .init("effective", Self.json(effective)),
                ]
                var reason = Self.atStart.contains(key.name) && requested != effective ? Self.countsLater : ""
                if Self.withIdleCamera.contains(key.name), requested != effective {
                    reason = "it waits until nothing is under way"
                }
                if let refusal = status.refusals.first(where: { $0.key == key.name }) { reason = refusal.sentence }
                if ["flash.mode", "focus.mode"].contains(key.name), requested != effective {
                    reason = status.byHand(key.name)
                }
                if key.name == "audio.sharing", effective == "\"shared\"",
                    board.microphone.device.map(ExclusiveDevice.isOne) == true
                {
                    effective = "\"exclusive\""
                    reason = "the board names a sound card's own device, which can't be shared"
                    entry[1].value = Self.json(effective)
                }
                if key.name == "photo.size", effective == requested, let given = status.stillSize(insteadOf: effective)
                {
                    entry[1].value = Self.json(given)
                    reason = "the nearest size that the camera has"
                }
                if let granted = status.video.effect(on: key.name) {
                    entry[1].value = granted.value
                    if reason.isEmpty { reason = granted.reason }
                }
                if !reason.isEmpty { entry.append(.init("reason", .string(reason))) }
                members.append(JSON.Member(key.name, .object(entry)))
            }
            return .object(members)
        }
    }

    /// Carries out the body of `PATCH /v1/settings`: all of it or nothing.
    func change(_ body: JSON) -> Result<JSON, SettingsError> {
        guard case .object(let changes) = body else {
            return .failure(.wrong(key: "", "The body must be a JSON object of keys and values."))
        }
        guard !changes.isEmpty else {
            return .failure(
                .wrong(key: "", "The body names no key; name one at least, such as {\"photo.quality\": 90}."))
        }
        let before = json
        if let error = state.withLock({ state in take(changes, &state) }) { return .failure(error) }
        // The director takes an order within milliseconds; the answer shall tell what it made of it.
        let orders = state.withLock { $0.orders }
        _ = desk.wait(.milliseconds(100)) { $0.configurations >= orders }
        // A camera that is configured anew shows within a second what it can do.
        if changes.contains(where: { Self.withIdleCamera.contains($0.key) }) {
            let isOfPhotos = changes.contains { $0.key == "photo.size" }
            _ = desk.wait(.seconds(1)) { $0.camera.state != "starting" || !isOfPhotos && !$0.video.awaitsCamera }
        }
        let all = json
        tell(changes, since: before, all)
        return .success(.object(changes.map { JSON.Member($0.key, all[$0.key] ?? .null) }))
    }

    private func take(_ changes: [JSON.Member], _ state: inout State) -> SettingsError? {
        var kept = state.kept
        for change in changes {
            let isKnown = SettingKey.all.contains { $0.name == change.key }
            if isKnown, change.value == .null || change.value == .string("default") {
                kept[change.key] = nil
                continue
            }
            // Each alone first, so that its complaint is told under its name.
            let literal = Self.literal(change.value)
            do throws(Complaints) {
                _ = try files.taking(Self.line(change.key, literal), file: "settings")
            } catch {
                return .wrong(key: change.key, Self.sentence(error))
            }
            guard isKnown else {
                return .wrong(
                    key: change.key,
                    "'\(change.key)' is a section, not a key; name its keys one by one, such as \"photo.quality\".")
            }
            kept[change.key] = literal
        }
        let text = Self.text(kept)
        let wanted: LoadedSettings
        do throws(Complaints) {
            wanted = try files.taking(text, file: path)
            let complaints = wanted.complaints(about: board)
            if !complaints.isEmpty { throw Complaints(complaints) }
        } catch {
            return .wrong(key: changes[0].key, Self.sentence(error))
        }
        if let abilities = desk.status.abilities {
            let refusals = abilities.refusals(of: wanted.settings.session(for: board).optics)
            for change in changes where kept[change.key] != nil {
                guard let refusal = refusals.first(where: { $0.key == change.key }) else { continue }
                return .wrong(key: change.key, refusal.sentence + ".")
            }
        }
        do throws(CommandFailure) {
            try keepDurably(text, at: path)
        } catch {
            return .notKept(error.message)
        }
        let live = LiveSettings(wanted.settings, board: board, writers: writers)
        guard desk.submit(.configure(live, given: GivenSettings(keys: changes.map(\.key)))) else {
            // 128 orders wait. What was kept is taken back, so that nothing is changed.
            try? keepDurably(Self.text(state.kept), at: path)
            return .busy
        }
        state.orders += 1
        state.kept = kept
        state.wanted = wanted
        return nil
    }

    private func tell(_ changes: [JSON.Member], since before: JSON, _ all: JSON) {
        for change in changes {
            guard let key = SettingKey.all.first(where: { $0.name == change.key }), let now = all[key.name],
                before[key.name] != now
            else { continue }
            desk.events.append(
                "settings.changed",
                fields: [
                    .init("key", .string(key.name)), .init("requested", now["requested"] ?? .null),
                    .init("effective", now["effective"] ?? .null), .init("reason", now["reason"] ?? .null),
                ],
                monotonic: SystemClock.now, wallNanoseconds: SystemClock.wallNanoseconds)
        }
        desk.changed.signal()
    }

    /// A value that is no literal of its key, as a JSON string; numbers stay numbers.
    private static func word(_ effective: String) -> String {
        Double(effective) == nil ? "\"\(effective)\"" : effective
    }

    private static func sentence(_ complaints: Complaints) -> String {
        let message = complaints.list.first?.message ?? "a setting is wrong"
        return message.hasSuffix("?") ? message : message + "."
    }

    /// `"button"."hold" = "300ms"`
    private static func line(_ key: String, _ literal: String) -> String {
        let parts = key.split(separator: ".", maxSplits: 1).map { JSON.string(String($0)).text }
        return (parts.isEmpty ? "\"\"" : parts.joined(separator: ".")) + " = " + literal + "\n"
    }

    private static func text(_ kept: [String: String]) -> String {
        var text = "# Kept by fieldcam; change it with `fieldcam set KEY VALUE`.\n"
        for key in SettingKey.all {
            if let literal = kept[key.name] { text += "\(key.name) = \(literal)\n" }
        }
        return text
    }

    /// A JSON value as TOML: the same spelling, but for objects, which no key takes.
    private static func literal(_ value: JSON) -> String {
        switch value {
        case .object: "{}"
        case .null: "\"\""
        default: value.text
        }
    }

    private static func json(_ literal: String) -> JSON {
        (try? JSON(parsing: literal.utf8)) ?? .string(literal)
    }
}

extension Status {
    /// Why a key that is set by hand too isn't in effect as it is asked for.
    fileprivate func byHand(_ key: String) -> String {
        if key == "focus.mode" {
            switch lens.focus {
            case .scanning, .held: return "the lens stays at a point for a while"
            case .continuous, .manual: break
            }
        }
        return "it was set by hand; 'fieldcam set \(key)' takes it back"
    }

    /// The size that photos of the stream have, as a TOML literal, where it isn't the one that was asked for.
    fileprivate func stillSize(insteadOf asked: String) -> String? {
        guard asked != "\"max\"", camera.state == "up", camera.stillWidth > 0 else { return nil }
        let given = "\"\(camera.stillWidth)x\(camera.stillHeight)\""
        return given == asked ? nil : given
    }
}

extension Status.Lens {
    /// `focus.mode` as it is in effect. `asked`: as it is set.
    fileprivate func mode(of asked: String) -> String {
        switch focus {
        case .manual: "manual"
        // Once at a point, then it stays.
        case .scanning, .held: "auto"
        case .continuous: asked == "auto" ? "auto" : "continuous"
        }
    }
}

extension Status.Video {
    /// What a setting comes to with this camera and encoder, and why if it isn't what was asked for; `nil`: it has no say in it.
    fileprivate func effect(on key: String) -> (value: JSON, reason: String)? {
        guard !requested.isEmpty else { return nil }
        switch key {
        case "video.quality": return (isRefused ? .null : .string(effective), reason)
        case "video.framerate": return (isRefused ? .null : Self.number(framerate), framerateReason)
        default: return nil
        }
    }

    /// Whole numbers as they are asked for: without a fraction.
    private static func number(_ value: Double) -> JSON {
        value == value.rounded() ? .integer(Int64(value)) : .number(value)
    }
}
