import FieldcamCore
import FieldcamDirector

extension Status {
    /// The body of `GET /v1/status` but for the versions, as of `now`.
    func members(at now: Instant) -> [JSON.Member] {
        [
            .init("camera", camera.json(at: now)),
            .init("video", video.json),
            .init("recording", recording.json(at: now)),
            .init("buttons", .array(buttons.map(\.json))),
            .init("light", light.json),
            .init("focus", lens.focusJSON),
            .init("zoom", .number(lens.zoom)),
            .init("maximum_zoom", .number(lens.maximumZoom)),
            .init("flash", .string(flash.rawValue)),
            .init("low_light", .bool(isInLowLight)),
            .init("audio", .members(["state": .string(audio.state), "detail": .string(audio.detail)])),
            .init("storage", storage.json),
            .init("clock", .members(["trusted": .bool(clockIsTrusted)])),
            .init("queued_shots", .integer(Int64(queuedShots))),
            .init("counters", counters.json),
        ]
    }

    /// Whether a press would be served: what `GET /healthz` answers, and if not, why.
    var ailment: String? {
        switch camera.state {
        case "up", "standby", "released", "switching": break
        default: return camera.detail.isEmpty ? "the camera is \(camera.state)" : camera.detail
        }
        guard storage.state == "ready" else {
            return storage.detail.isEmpty ? "the storage is \(storage.state)" : storage.detail
        }
        return nil
    }
}

extension Status.Camera {
    /// A frame within the last second counts as running (contract §7).
    func json(at now: Instant) -> JSON {
        .members([
            "state": .string(state),
            "role": .string(role),
            "model": .string(model),
            "detail": .string(detail),
            "running": .bool(lastFrame.map { now - $0 <= .seconds(1) } ?? false),
            "mode": .members([
                "still": .members(["width": .integer(Int64(stillWidth)), "height": .integer(Int64(stillHeight))]),
                "video": .members(["width": .integer(Int64(videoWidth)), "height": .integer(Int64(videoHeight))]),
                "framerate": .number(framerate),
                "slots": .integer(Int64(slots)),
                "exposure": image.exposure.map { .string($0) } ?? .null,
                "metering": image.metering.map { .string($0) } ?? .null,
                "noise_reduction": image.noiseReduction.map { .string($0) } ?? .null,
                "hdr": image.hdr.map { .string($0) } ?? .null,
                "copies_frames": .bool(copiesFrames), "memory": .string(memory),
            ]),
        ])
    }
}

extension Status.Video {
    var json: JSON {
        let reasons = [reason, framerateReason].filter { !$0.isEmpty }
        return .members([
            "requested": .string(requested),
            "effective": isRefused ? .null : .string(effective),
            "width": .integer(Int64(width)),
            "height": .integer(Int64(height)),
            "framerate": .number(framerate),
            "bit_rate": .integer(Int64(bitRate)),
            "reason": reasons.isEmpty ? .null : .string(reasons.joined(separator: "; ")),
        ])
    }
}

extension Status.Recording {
    /// Without `now`, without the time it has run.
    func json(at now: Instant?) -> JSON {
        var members: [JSON.Member] = [.init("state", .string(state))]
        if let number { members.append(.init("id", .integer(Int64(number.value)))) }
        if let source { members.append(.init("source", .string("\(source)"))) }
        if let since, let now {
            members.append(.init("elapsed_ms", .integer((now - since).inNanoseconds / 1_000_000)))
        }
        if !encoder.isEmpty { members.append(.init("encoder", .string(encoder))) }
        return .object(members)
    }
}

extension Status.Button {
    var json: JSON {
        .members(["role": .string(role), "pressed": .bool(pressed), "detail": .string(detail)])
    }
}

extension Status.Light {
    var json: JSON {
        .members([
            "on": .bool(level > 0), "level": .number(level), "owner": owner.isEmpty ? .null : .string(owner),
            "reason": reason.isEmpty ? .null : .string(reason),
        ])
    }
}

extension Status.Lens {
    /// The same words as the answer to `POST /v1/focus`; `range` in dioptres, null for a fixed lens.
    var focusJSON: JSON {
        var members: [JSON.Member]
        switch focus {
        case .continuous: members = [.init("mode", .string("continuous"))]
        case .manual(let dioptres):
            members = [.init("mode", .string("manual")), .init("dioptres", .number(dioptres))]
        case .scanning(let point), .held(let point):
            members = [.init("mode", .string("auto")), .init("x", .number(point.x)), .init("y", .number(point.y))]
        }
        let scans = if case .scanning = focus { true } else { false }
        members.append(.init("scanning", .bool(scans)))
        members.append(
            .init("range", range.map { .array([.number($0.lowerBound), .number($0.upperBound)]) } ?? .null))
        return .object(members)
    }
}

extension Status.Storage {
    var json: JSON {
        .members([
            "state": .string(state), "detail": .string(detail), "headroom_bytes": .integer(headroomBytes),
            "media": .string(mediaFolder),
        ])
    }
}

extension Status.Counters {
    var json: JSON {
        .members([
            "presses": .integer(Int64(presses)),
            "glitches": .integer(Int64(glitches)),
            "edges_lost": .integer(Int64(edgesLost)),
            "shots": .integer(Int64(shots)),
            "clips": .integer(Int64(clips)),
            "rejected": .integer(Int64(rejected)),
            "frames": .integer(Int64(frames)),
            "frames_failed": .integer(Int64(framesFailed)),
            "frames_missed": .integer(Int64(framesMissed)),
            "frames_dropped": .integer(Int64(framesDropped)),
        ])
    }
}
