import FieldcamCore
import FieldcamLinux
import FieldcamPorts

extension Director {
    /// Carries out one order of Core.
    func perform(_ effect: Effect) {
        switch effect {
        case .dropFrame(let ref):
            _ = leases.remove(ref)
        case .readLevel(let button):
            read(button)
        case .doublePress(let button):
            Log.notice("second press", ["button": plant.buttonRoles[button.index]])
        case .encodeShot(let number, let frame, let press):
            encodeShot(number, frame, press)
        case .stackFrame(let number, let frame, let reference):
            stack(frame, onto: reference, for: number)
        case .beginClip(let key, let press):
            beginClip(key, press)
        case .appendFrame(let key, let frame):
            append(frame, to: key)
        case .commitClip(let key, let number):
            guard let index = details.firstIndex(where: { $0.key == key }) else { return }
            details[index].number = number
            store.post(.beginClip(key, number, wallTime(of: details[index].press), session.source(of: key)))
        case .dropClip(let key):
            sound?.post(.cancel(key))
            clips.post(.drop(key))
            clips.forget(key)
            details.removeAll { $0.key == key }
        case .finishClip(let key, let end):
            var dropped = 0
            let now = plant.clock.now
            edit(key) {
                dropped = $0.dropped
                $0.finishing = now
            }
            sound?.post(.end(key, end))
            clips.post(.finish(key, end: end, dropped: dropped))
        case .fallBackEncoder: fallBackEncoder()
        case .reserveNumbers:
            store.post(.reserveNumbers)
        case .control(let controls):
            active.controls = controls
            if active.runs, !active.isExposing { active.camera.control(controls) }
        case .measureRegion(let region): meter.region = region
        case .rememberScene: meter.remember()
        case .lightOn(let camera, let level, let deadline): light(camera, level: level, deadline: deadline)
        case .lightOff(let camera): lightOff(camera)
        case .indicate(let pattern): indicator.play(pattern, now: plant.clock.now)
        case .startCamera(let camera): startCamera(stations[camera.index])
        case .stopCamera(let camera): stopCamera(stations[camera.index], keeps: true)
        case .releaseCamera(let camera): stopCamera(stations[camera.index], keeps: false)
        case .useCamera(let camera): useCamera(stations[camera.index])
        case .exposeSensor(let camera, let controls, let zoom): expose(stations[camera.index], controls, zoom)
        case .resumeStream(let camera): resume(stations[camera.index])
        case .announce(let announcement):
            tell(announcement)
        case .answer(let token, let answer):
            desk.reply(token, answer)
        }
    }

    func edit(_ key: ClipKey, _ body: (inout ClipDetails) -> Void) {
        guard let index = details.firstIndex(where: { $0.key == key }) else { return }
        body(&details[index])
    }

    private func light(_ camera: CameraID, level: Double, deadline: Instant) {
        guard let light = stations[camera.index].light else { return later(.lightFailed(camera, at: plant.clock.now)) }
        do throws(HardwareError) {
            try light.turnOn(level: level, deadline: deadline)
            lightTrouble = ""
            later(.light(camera, level: try light.level(), at: plant.clock.now))
        } catch {
            Log.error("the light can't be switched on", ["reason": error.description])
            lightTrouble = error.description
            later(.lightFailed(camera, at: plant.clock.now))
        }
    }

    private func lightOff(_ camera: CameraID) {
        guard let light = stations[camera.index].light else { return }
        do throws(HardwareError) {
            try light.turnOff()
        } catch {
            Log.error("the light can't be switched off", ["reason": error.description])
        }
        later(.light(camera, level: 0, at: plant.clock.now))
    }

    private func stack(_ frame: Frame, onto reference: Frame, for number: MediaNumber) {
        guard let lease = leases.share(frame.ref), let base = leases.share(reference.ref),
            stacks.post(StackWorker.Job(number: number, lease: lease, reference: base))
        else { return later(.layerRefused(number)) }
        stacked = (number, stacked?.number == number ? stacked!.frames + 1 : 1)
        later(.layerTaken(number))
    }

    private func encodeShot(_ number: MediaNumber, _ frame: Frame, _ press: Instant) {
        shots.append(ShotDetails(number: number))
        guard let lease = leases.share(frame.ref) else {
            return facts.post(
                .shotFailed(
                    number, HardwareError(.invalid, "encode the photo", detail: "its frame was given back too early"),
                    during: .encoding))
        }
        let identity = stations[frame.ref.camera].identity
        let plan = StillPlan(
            quality: settings.photoQuality, rotation: identity.rotation, mirror: identity.mirror, make: plant.make,
            model: identity.model, software: plant.software, taken: wallTime(of: press), exposure: frame.exposure,
            gain: frame.gain, lensPosition: frame.lensPosition, flashFired: session.flashFired(for: number))
        var isTaken = false
        if let stacked, stacked.number == number, let base = leases.share(frame.ref) {
            shots[shots.count - 1].frames = stacked.frames
            self.stacked = nil
            isTaken = stacks.post(
                StackWorker.Job(number: number, lease: lease, reference: base, plan: plan, framing: settings.framing))
        } else {
            isTaken = stills.post(StillWorker.Job(number: number, lease: lease, plan: plan, framing: settings.framing))
        }
        if !isTaken {
            facts.post(
                .shotFailed(
                    number, HardwareError(.busy, "encode the photo", detail: "too many photos are under way"),
                    during: .encoding))
        }
    }

    private func beginClip(_ key: ClipKey, _ press: Instant) {
        // During a switch it isn't known yet whose frames the clip will have; the camera that counts then tells.
        let mode = session.switchTarget == nil ? active.mode : nil
        details.append(
            ClipDetails(key: key, press: press, encoder: encoders.first ?? "", hasPlan: mode != nil))
        let wantsSound = sound != nil && settings.recordsSound
        clips.post(.begin(key, mode.map { plan(for: $0) }, wantsSound: wantsSound))
        if wantsSound { sound?.post(.begin(key)) }
    }

    /// Gives a plan to clips that were begun before the camera had told its picture's layout.
    func planWaitingClips(_ mode: CameraMode) {
        for index in details.indices where !details[index].hasPlan {
            details[index].hasPlan = true
            clips.post(.plan(details[index].key, plan(for: mode)))
        }
    }

    private func plan(for mode: CameraMode) -> ClipPlan {
        var plan = ClipPlan(
            encoders: encoders, layout: mode.pool.video, framerate: granted?.framerate ?? settings.framerate,
            bitRate: granted?.bitRate ?? settings.videoBitRate,
            everyFrameIsKey: granted?.everyFrameIsKey ?? settings.everyFrameIsKey,
            size: granted.map { Size(width: $0.width, height: $0.height) }, rotation: mode.rotation,
            mirror: mode.mirror, audio: nil)
        let size = plan.size ?? Size(width: plan.layout.width, height: plan.layout.height)
        func aspect(_ width: Int, _ height: Int) -> Double { Double(width) / Double(height) }
        // Streams and clips of another shape than the photos' show the middle of what those show.
        let (still, video) = (
            aspect(mode.pool.still.width, mode.pool.still.height), aspect(plan.layout.width, plan.layout.height)
        )
        let part = PictureMapping.centred(aspect: video, within: still).outer(
            PictureMapping.centred(aspect: aspect(size.width, size.height), within: video))
        plan.overlay = settings.framing.clipOverlay(
            width: size.width, height: size.height, part: part,
            orientation: Orientation(rotation: mode.rotation, mirror: mode.mirror))
        return plan
    }

    private func append(_ frame: Frame, to key: ClipKey) {
        guard let lease = leases.share(frame.ref) else { return }
        if !clips.post(frame: lease, at: frame.exposureStart, to: key) {
            edit(key) { $0.dropped += 1 }
            desk.update { $0.counters.framesDropped += 1 }
        }
    }

    /// The wall clock's time of an instant of the monotonic clock.
    func wallTime(of instant: Instant) -> WallTime {
        WallTime(
            wallNanoseconds: plant.clock.wallNanoseconds - (plant.clock.now - instant).inNanoseconds,
            isTrusted: plant.clock.isTrusted)
    }
}
