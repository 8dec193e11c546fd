import FieldcamCore
import FieldcamLinux
import FieldcamPorts

extension Director {
    func send(_ name: String, number: MediaNumber? = nil, fields: [JSON.Member]) {
        desk.events.append(
            name, number: number, fields: fields, monotonic: plant.clock.now,
            wallNanoseconds: plant.clock.wallNanoseconds)
        desk.changed.signal()
    }

    /// Tells an event of contract §6.
    func tell(_ announcement: Announcement) {
        changedStatus()
        switch announcement {
        case .photoRequested(let number, let source):
            send("photo.requested", number: number, fields: [.source(source)])
        case .photoSaved(let number, let source, let frame, let pressOffset, let flashFired):
            tellPhoto(number, source, frame, pressOffset, flashFired)
        case .photoFailed(let number, let source, let reason):
            send("photo.failed", number: number, fields: [.source(source), .reason(reason.rawValue)])
            Log.error("photo failed", ["id": "\(number.value)", "reason": reason.rawValue])
        case .stackRefused(let number, let source, let frames): tellStackRefused(number, source, frames)
        case .sensorRefused(let number, let source, let why): tellSensorRefused(number, source, why)
        case .recordingRequested(let number, let source):
            desk.update {
                $0.recording.state = "starting"
                $0.recording.number = number
                $0.recording.source = source
            }
            send("recording.requested", number: number, fields: [.source(source)])
            tellRefusals()
        case .recordingStarted(let number, let source, let key, let offset):
            tellStarted(number, source, key, offset)
        case .recordingStopped(let number, let source, let reason):
            desk.update { $0.recording.state = "finishing" }
            send("recording.stopped", number: number, fields: [.source(source), .reason(reason.rawValue)])
            tellRefusals()
        case .clipSaved(let number, let source, let key):
            tellClip(number, source, key)
        case .clipFailed(let number, let source, let key, let reason):
            var fields: [JSON.Member] = [.source(source), .reason(reason.rawValue)]
            if let path = details.first(where: { $0.key == key })?.partialPath {
                fields.append(.init("partial_path", .string(path)))
            }
            endOfRecording(number)
            send("clip.failed", number: number, fields: fields)
            Log.error("clip failed", ["id": "\(number.value)", "reason": reason.rawValue])
        case .clipDiscarded(let number, let source, _):
            endOfRecording(number)
            send("clip.discarded", number: number, fields: [.source(source), .reason("no_frames")])
        case .rejected(let source, let reason):
            // That the camera is off is told to clients; the event has the contract's words alone.
            let word = reason == .cameraOff ? RejectionReason.unsupported : reason
            send("rejected", fields: [.source(source), .reason(word.rawValue)])
        case .storageLow:
            send(
                "storage.low",
                fields: [.reason("free space is at or below storage.reserve")])
        case .focusStarted(let point): send("focus.started", fields: .point(point))
        case .focusEnded(let point, let result):
            send("focus.ended", fields: .point(point) + [.init("result", .string(result.rawValue))])
        case .zoomChanged(let factor): send("zoom.changed", fields: [.init("zoom", .number(factor))])
        case .lightChanged(let owner, let level):
            send("light.changed", fields: [.init("owner", .string(owner.word)), .init("level", .number(level))])
        case .lightRefused(let owner):
            send(
                "light.changed",
                fields: [
                    .init("owner", .string(owner.word)), .init("level", .number(0)), .reason(Self.coolingLight),
                ])
            Log.warning("the light stays off", ["reason": Self.coolingLight])
        case .lowLightChanged(let active): send("low_light.changed", fields: [.init("active", .bool(active))])
        case .exposureChanged(let value): send("exposure.changed", fields: [.init("value", .number(value))])
        case .cameraSwitched(let camera):
            // It is up since its first good frame, which is what made the switch.
            send("camera.up", fields: [.init("role", .string(role(of: camera)))])
            send("camera.switched", fields: [.init("role", .string(role(of: camera)))])
            store.post(.remember(role: role(of: camera)))
        case .cameraSwitchFailed(let camera, let reason):
            if let mode = active.mode { planWaitingClips(mode) }
            send(
                "camera.switch_failed",
                fields: [.init("role", .string(role(of: camera))), .reason(reason.rawValue)])
        case .flashChanged(let mode):
            // By hand: the setting itself stays.
            let asked = session.settings.light.flash
            send(
                "settings.changed",
                fields: [
                    .init("key", .string("flash.mode")), .init("requested", .string(asked.rawValue)),
                    .init("effective", .string(mode.rawValue)),
                    .init("reason", mode == asked ? .null : .string("it was set by hand")),
                ])
        }
    }

    /// The board's name for a camera.
    func role(of camera: CameraID) -> String { stations[camera.index].role }

    private func tellPhoto(
        _ number: MediaNumber, _ source: Source, _ frame: Frame, _ offset: Duration, _ flashFired: Bool
    ) {
        let shot = shots.first { $0.number == number }
        let files = shot?.files
        var fields: [JSON.Member] = [.source(source)]
        fields.append(.init("path", .string(files?.main.path ?? "")))
        fields.append(.init("crop_path", files?.crop.map { .string($0.path) } ?? .null))
        fields.append(.init("review_path", files?.review.map { .string($0.path) } ?? .null))
        fields.append(.init("width", .integer(Int64(files?.width ?? 0))))
        fields.append(.init("height", .integer(Int64(files?.height ?? 0))))
        fields.append(.init("bytes", .integer(Int64(files?.main.byteCount ?? 0))))
        fields.append(.init("exposure_ns", frame.exposure.map { .integer($0.inNanoseconds) } ?? .null))
        fields.append(.init("gain", frame.gain.map { .number($0) } ?? .null))
        fields.append(.init("press_offset_ns", .integer(offset.inNanoseconds)))
        fields.append(.init("flash_fired", .bool(flashFired)))
        fields.append(.init("focus", .string("\(frame.focus)")))
        if let frames = shot?.frames, frames > 1 { fields.append(.init("frames", .integer(Int64(frames)))) }
        send("photo.saved", number: number, fields: fields)
        Log.info("photo saved", ["id": "\(number.value)", "path": files?.main.path ?? ""])
    }

    private func tellStarted(_ number: MediaNumber, _ source: Source, _ key: ClipKey, _ offset: Duration) {
        let encoder = details.first { $0.key == key }?.encoder ?? ""
        let now = plant.clock.now
        desk.update {
            $0.recording.state = "running"
            $0.recording.since = now
            $0.recording.encoder = encoder
        }
        send(
            "recording.started", number: number,
            fields: [
                .source(source), .init("first_frame_offset_ns", .integer(offset.inNanoseconds)),
                .init("encoder", .string(encoder)),
                .init("width", .integer(Int64(granted?.width ?? active.mode?.pool.video.width ?? 0))),
                .init("height", .integer(Int64(granted?.height ?? active.mode?.pool.video.height ?? 0))),
                .init("framerate", .number(granted?.framerate ?? settings.framerate)),
            ])
    }

    private func tellClip(_ number: MediaNumber, _ source: Source, _ key: ClipKey) {
        endOfRecording(number)
        guard let outcome = details.first(where: { $0.key == key })?.outcome else { return }
        send(
            "clip.saved", number: number,
            fields: [.source(source)]
                + Self.fields(
                    file: outcome.file, facts: outcome.facts, dropped: outcome.dropped, sound: outcome.sound,
                    recovered: false))
        Log.info("clip saved", ["id": "\(number.value)", "path": outcome.file.path])
    }

    private static func fields(
        file: SavedFile, facts: ClipFacts, dropped: Int, sound: SoundReport, recovered: Bool
    ) -> [JSON.Member] {
        [
            .init("path", .string(file.path)),
            .init("duration_ms", .integer(facts.duration.inNanoseconds / 1_000_000)),
            .init("bytes", .integer(Int64(file.byteCount))), .init("frames", .integer(Int64(facts.frames))),
            .init("dropped", .integer(Int64(dropped))), .init("audio", .string(sound.state.rawValue)),
            .init("audio_reason", sound.reason.isEmpty ? .null : .string(sound.reason)),
            .init("silence_ms", .integer(facts.silence.inNanoseconds / 1_000_000)),
            .init("drift_ppm", .number(facts.driftPPM)), .init("recovered", .bool(recovered)),
        ]
    }

    /// Tells what a crash had left and what became of it. Before the first `step`.
    public func tellRecovered(_ leftovers: [Leftover]) {
        for leftover in leftovers {
            let source = leftover.source.map { [JSON.Member.source($0)] } ?? []
            switch leftover.outcome {
            case .photoRemoved: break
            case .empty:
                send("clip.discarded", number: leftover.number, fields: source + [.reason("no_frames")])
            case .recovered(let file):
                do throws(HardwareError) {
                    let facts = try plant.clipWriters.measure(path: file.path)
                    send(
                        "clip.saved", number: leftover.number,
                        fields: source
                            + Self.fields(
                                file: file, facts: facts, dropped: 0, sound: SoundReport(), recovered: true))
                } catch {
                    Log.error("a recovered clip can't be read", ["path": file.path, "reason": error.description])
                    send(
                        "clip.failed", number: leftover.number,
                        fields: source + [
                            .reason(FailureReason.internal.rawValue), .init("partial_path", .string(file.path)),
                        ])
                }
            }
        }
    }

    private func endOfRecording(_ number: MediaNumber) {
        desk.update {
            guard $0.recording.number == number else { return }
            $0.recording = Status.Recording()
        }
    }

    func tell(_ state: SoundState) {
        desk.update {
            switch state {
            case .closed: $0.audio = Status.Audio()
            case .open:
                $0.audio.state = "open"
                $0.audio.detail = ""
            case .missing(let error):
                $0.audio.state = "missing"
                $0.audio.detail = error.description
            }
        }
        if case .missing(let error) = state { Log.warning("microphone can't be used", ["reason": error.description]) }
    }
}

extension LightOwner {
    /// `shot`, `clip` or `hand`.
    var word: String {
        switch self {
        case .shot: "shot"
        case .clip: "clip"
        case .hand: "hand"
        }
    }
}

extension [JSON.Member] {
    static func point(_ point: UnitPoint) -> [JSON.Member] {
        [.init("x", .number(point.x)), .init("y", .number(point.y))]
    }
}

extension JSON.Member {
    static func source(_ source: Source) -> JSON.Member { .init("source", .string("\(source)")) }
    static func reason(_ reason: String) -> JSON.Member { .init("reason", .string(reason)) }
}
