import FieldcamCore
import FieldcamLinux

// What becomes of `video.quality` with the camera that counts and the encoder of this machine.
extension Director {
    /// Decides it anew, after new settings or with another mode. `isReconfigured`: the camera's mode is going to be another one.
    func grantQuality(isReconfigured: Bool = false) {
        guard let quality = settings.quality else {
            granted = nil
            return
        }
        let mode = isReconfigured ? nil : active.mode
        let picture = mode.map { mode in
            ClipQuality.Picture(
                width: mode.pool.video.width, height: mode.pool.video.height,
                framerate: 1e9 / Double(max(1, mode.frameInterval.inNanoseconds)))
        }
        let granted = quality.granted(camera: picture, limits: settings.encoderLimits)
        self.granted = granted
        desk.update {
            $0.video.requested = quality.name
            $0.video.effective = granted.name
            $0.video.width = granted.width
            $0.video.height = granted.height
            $0.video.requestedFramerate = quality.framerate
            $0.video.framerate = granted.framerate
            $0.video.bitRate = granted.bitRate
            $0.video.reason = granted.shortfall(of: "video.quality")?.reason ?? ""
            $0.video.framerateReason = granted.shortfall(of: "video.framerate")?.reason ?? ""
            $0.video.isRefused = granted.isRefused
            $0.video.awaitsCamera = picture == nil
        }
        changedStatus()
    }

    /// Tells what isn't as it was asked for, if it isn't what was told last.
    func tellShortfalls() {
        guard let granted, granted.shortfalls != toldShortfalls else { return }
        toldShortfalls = granted.shortfalls
        for shortfall in granted.shortfalls {
            send(
                "quality.fallback",
                fields: [
                    .init("key", .string(shortfall.key)), .init("requested", .string(shortfall.requested)),
                    .init(
                        "effective", granted.isRefused && shortfall.isFallback ? .null : .string(shortfall.effective)),
                    .init("reason", .string(shortfall.reason)),
                ])
            Log.notice(
                "a clip can't be all that was asked for",
                [
                    "key": shortfall.key, "requested": shortfall.requested, "effective": shortfall.effective,
                    "reason": shortfall.reason,
                ])
        }
    }

    /// A quality that waited for an idle camera is in effect now.
    func tellWaitingQuality() {
        guard appliesWaitingQuality, let granted, let quality = settings.quality else { return }
        appliesWaitingQuality = false
        send(
            "settings.changed",
            fields: [
                .init("key", .string("video.quality")), .init("requested", .string(quality.name)),
                .init("effective", granted.isRefused ? .null : .string(granted.name)),
                .init("reason", granted.shortfall(of: "video.quality").map { .string($0.reason) } ?? .null),
            ])
    }

    /// In order of preference; what failed twice within a minute isn't tried again before the service starts anew.
    var encoders: [String] { encoderIsFallenBack ? ["mjpeg"] : settings.encoders }

    func fallBackEncoder() {
        encoderIsFallenBack = true
        let failed = settings.encoders.first ?? ""
        send(
            "quality.fallback",
            fields: [
                .init("key", .string("video.codec")), .init("requested", .string(failed)),
                .init("effective", .string("mjpeg")),
                .init("reason", .string("the encoder \(failed) failed twice within a minute")),
            ])
        Log.error("clips are Motion JPEG from now on", ["failed": failed])
    }

    /// The encoder that works in general refused this clip, and another one makes it.
    func tellOtherEncoder(_ encoder: String) {
        guard let wanted = encoders.first, encoder != wanted, encoder != toldEncoder else { return }
        toldEncoder = encoder
        send(
            "quality.fallback",
            fields: [
                .init("key", .string("video.codec")), .init("requested", .string(wanted)),
                .init("effective", .string(encoder)),
                .init("reason", .string("the encoder \(wanted) refused the clip; the next of video.encoders makes it")),
            ])
    }
}
