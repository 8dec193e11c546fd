import FieldcamCore
import FieldcamLinux
import FieldcamPorts

// The cameras: started and stopped as Core orders, watched, and brought back when they are lost.
extension Director {
    func startCamera(_ station: Station) {
        station.isWanted = true
        if station.runs { return }
        station.order(.start(station.request))
    }

    /// `keeps`: it stays configured, with its buffers, for a fast resume.
    func stopCamera(_ station: Station, keeps: Bool) {
        station.isWanted = false
        station.runs = false
        station.leaveSensor()
        station.leaving = nil
        station.link.forget()
        station.order(keeps ? .pause : .close)
        if !keeps { station.mode = nil }
    }

    /// From now on this camera's frames count.
    func useCamera(_ station: Station) {
        active = station
        if let mode = station.mode {
            adopt(mode, of: station)
            tellMode(mode, of: station)
            tellShortfalls()
        }
        let memory = station.memory?.sentence ?? ""
        desk.update {
            $0.camera.role = station.role
            $0.camera.memory = memory
        }
        tellRefusals()
    }

    private func started(_ station: Station, _ mode: CameraMode) {
        guard station.isWanted else { return }
        // It was ordered elsewhere meanwhile, and will answer that.
        guard !station.isExposing else { return }
        station.adopt(mode)
        station.runs = true
        station.beginCount()
        station.link.started(interval: mode.frameInterval, now: plant.clock.now)
        station.camera.control(station.controls)
        var abilities = mode.abilities
        abilities.hasLight = station.light != nil
        if station === active { adopt(mode, of: station) }
        reduce(.abilities(station.id, abilities))
        if station === active { tellRefusals() }
        // The first chance to queue what the camera was started with.
        station.camera.requeue(now: plant.clock.now)
    }

    /// Frame slots and interval of the camera that counts, for Core; layouts for clips that wait for one.
    func adopt(_ mode: CameraMode, of station: Station) {
        grantQuality()
        planWaitingClips(mode)
        var changed = session.settings
        changed.frameInterval = mode.frameInterval
        changed.frameSlots = Self.frameSlotsOfCore(mode.pool.slots)
        changed.recordingIsUnsupported = granted?.isRefused ?? false
        // An order of Core may have led here: Core is told once it was carried out.
        later(.settingsChanged(changed))
    }

    /// Of the camera's slots some are with the encoder and some must be free to be filled; Core has the rest.
    static func frameSlotsOfCore(_ slots: Int) -> Int {
        max(3, slots - ClipEngine.backlog / 2 - 4)
    }

    func cameraIsUp(_ mode: CameraMode) {
        tellMode(mode, of: active)
        if active.returns {
            active.leaveSensor()
            return reduce(.camera(.up, at: plant.clock.now))
        }
        send("camera.up", fields: [.init("role", .string(active.role))])
        Log.notice("camera up", ["role": active.role, "model": mode.model])
        tellShortfalls()
        tellWaitingQuality()
        reduce(.camera(.up, at: plant.clock.now))
    }

    private func tellMode(_ mode: CameraMode, of station: Station) {
        desk.update {
            $0.camera.state = "up"
            $0.camera.detail = ""
            $0.camera.model = mode.model
            $0.camera.stillWidth = mode.pool.still.width
            $0.camera.stillHeight = mode.pool.still.height
            $0.camera.videoWidth = mode.pool.video.width
            $0.camera.videoHeight = mode.pool.video.height
            $0.camera.framerate = (1e12 / Double(mode.frameInterval.inNanoseconds)).rounded() / 1000
            $0.camera.slots = mode.pool.slots
            $0.camera.copiesFrames = mode.copiesFrames
        }
        changedStatus()
    }

    /// Settings that the camera can't follow are told, each once as long as it holds.
    func tellRefusals() {
        let refusals = session.refusals
        let abilities = session.knownAbilities
        desk.update {
            $0.abilities = abilities
            $0.refusals = refusals
        }
        for refusal in refusals where !toldRefusals.contains(refusal) {
            send(
                "quality.fallback",
                fields: [
                    .init("key", .string(refusal.key)), .init("requested", .string(refusal.requested)),
                    .init("effective", .string(refusal.effective)), .reason(refusal.sentence),
                ])
            Log.notice("a setting can't be followed", ["key": refusal.key, "reason": refusal.sentence])
        }
        toldRefusals = refusals
    }

    /// Takes up what a camera's thread answered, unless something else was ordered meanwhile.
    func take(_ answer: CameraAnswer, from camera: CameraID) {
        let station = stations[camera.index]
        // It was closed, whatever comes next.
        if case .failed = answer { station.mode = nil }
        guard station.takesAnswer() else { return }
        switch answer {
        case .started(let mode): started(station, mode)
        case .failed(let error): failed(station, error)
        case .sensorStarted(let mode): sensorStarted(station, mode)
        case .sensorFailed(let error): sensorFailed(station, error)
        case .stopped: break
        }
    }

    private func failed(_ station: Station, _ error: HardwareError) {
        station.runs = false
        station.leaveSensor()
        guard station.isWanted else { return }
        guard station === active else {
            station.isWanted = false
            Log.error("camera can't be used", ["role": station.role, "reason": error.description])
            return reduce(.cameraFailed(station.id, error.failureOfCamera, at: plant.clock.now))
        }
        if station.link.failed(now: plant.clock.now, detail: error.description) {
            Log.error("camera can't be used", ["role": station.role, "reason": error.description])
            tellDown(station, error.failureOfCamera, error.description)
        }
        reduce(.camera(.down(error.failureOfCamera), at: plant.clock.now))
    }

    func lost(_ station: Station, _ why: String) {
        guard station.runs else { return }
        station.runs = false
        station.leaveSensor()
        Log.error("camera lost", ["role": station.role, "reason": why])
        guard station === active else {
            station.isWanted = false
            station.order(.close)
            return reduce(.cameraFailed(station.id, .cameraLost, at: plant.clock.now))
        }
        tellDown(station, .cameraLost, why)
        reduce(.camera(.down(.cameraLost), at: plant.clock.now))
        station.order(
            station.link.lost(now: plant.clock.now) ? .restart(station.request) : .reopen(station.request))
    }

    private func tellDown(_ station: Station, _ reason: FailureReason, _ detail: String) {
        desk.update {
            $0.camera.state = "recovering"
            $0.camera.detail = detail
        }
        changedStatus()
        send(
            "camera.down",
            fields: [
                .init("role", .string(station.role)), .init("reason", .string(reason.rawValue)),
                .init("detail", .string(detail)),
            ])
    }

    func watch(_ station: Station, _ now: Instant) {
        if station.runs, station.link.isSilent(now: now) {
            lost(station, "no frame came for \(station.link.patienceText)")
        }
        if station.isWanted, station.link.retryIsDue(now: now) { station.order(.start(station.request)) }
    }
}
