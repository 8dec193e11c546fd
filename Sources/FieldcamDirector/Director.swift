import CFieldcamLinux
import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc

/// The one thread that decides and acts: poll → facts → `Session.reduce` → effects. What is slow goes to named workers,
/// which answer with facts.
public final class Director: @unchecked Sendable {
    // Proof of Sendable: made on one thread, then used by the one that calls `run` (or `step`); all that other threads
    // touch goes through `desk` and the workers' mailboxes.

    /// How workers do their work.
    public enum Labour: Sendable {
        /// On threads of their own: the service.
        case threads
        /// Inside `step`, on the caller's thread: tests on a virtual clock.
        case inline
    }

    public let desk: FrontDesk
    let plant: Plant
    var settings: LiveSettings
    /// Settings that wait for an idle camera.
    private var waitingSettings: LiveSettings?
    /// What clips are with the camera that counts; `nil`: no quality is asked for, or no camera was configured yet.
    var granted: GrantedQuality?
    /// Told last as `quality.fallback`.
    var toldShortfalls: [GrantedQuality.Shortfall] = []
    /// The call into the encoder that was under way at the last look, and at how many looks before.
    private var encoderCall: (since: Instant?, sightings: Int) = (nil, 0)
    /// The encoder that clips have though another was asked for, as it was told.
    var toldEncoder = ""
    /// Motion JPEG has the place of an encoder that failed twice.
    var encoderIsFallenBack = false
    /// A quality that had waited for an idle camera is told once the camera is up with it.
    var appliesWaitingQuality = false
    let facts: FactBox
    let store: StoreWorker
    let stills: StillWorker
    let stacks: StackWorker
    let clips: ClipWorker
    let sound: SoundWorker?
    let stations: [Station]
    /// The camera whose frames count.
    var active: Station
    let meter = SceneMeter()
    var indicator: IndicatorPlayer
    private let labour: Labour
    private let timer = TimerFD()

    public internal(set) var session: Session
    var effects = Effects()
    var leases = LeaseTable()
    private var answers: [Fact] = []
    /// Whether the status is to be told anew.
    func changedStatus() { dirty = true }
    /// Facts that carrying out effects brings; taken up after those effects.
    func later(_ fact: Fact) { answers.append(fact) }

    var details: [ClipDetails] = []
    var shots: [ShotDetails] = []
    /// The shot whose frames are merged, and how many were given.
    var stacked: (number: MediaNumber, frames: Int)?
    /// Settings that the camera can't follow, as they were told last.
    var toldRefusals: [SettingRefusal] = []
    /// Why the light couldn't be lit the last time; empty: it could.
    var lightTrouble = ""
    private var stopAsked = false
    private var nextTick: Instant
    private var measuring = false
    /// Wall clock minus monotonic clock, ns, at the last look.
    private var wallOffset: Int64?
    private var dirty = true
    public private(set) var latency = LatencyHistogram()

    public init(plant: Plant, desk: FrontDesk, labour: Labour = .threads) {
        self.plant = plant
        self.desk = desk
        self.labour = labour
        facts = FactBox(wake: desk.arrived)
        store = StoreWorker(store: plant.store, facts: facts, remember: plant.remembersCamera)
        clips = ClipWorker(writers: plant.clipWriters, store: store, facts: facts)
        store.clips = clips
        stills = StillWorker(encoders: plant.stillEncoders, store: store, facts: facts)
        stacks = StackWorker(stills: stills, facts: facts)
        if let microphone = plant.microphone {
            sound = SoundWorker(microphone: microphone, clock: plant.clock, clips: clips, facts: facts)
        } else {
            sound = nil
        }
        settings = plant.settings
        let interval = plant.settings.session.frameInterval
        var stations: [Station] = []
        for (index, station) in plant.stations.enumerated() {
            stations.append(
                Station(
                    id: CameraID(index), station, request: plant.settings.requests[index], interval: interval,
                    facts: facts))
        }
        self.stations = stations
        active = stations[plant.firstCamera.index]
        indicator = IndicatorPlayer(line: plant.indicator)
        session = Session(
            settings: plant.settings.session, buttons: plant.buttonRoles.count,
            roles: plant.buttonRoles.map { ButtonRole(rawValue: $0) ?? .trigger }, cameras: stations.count,
            firstCamera: plant.firstCamera)
        nextTick = plant.clock.now
        answers.reserveCapacity(16)
        details.reserveCapacity(16)
        shots.reserveCapacity(32)
        var status = Status()
        status.camera.role = active.role
        status.camera.state = plant.startsCamera ? "starting" : "released"
        status.buttons = plant.buttonRoles.map {
            var button = Status.Button()
            button.role = $0
            return button
        }
        status.audio.state = plant.microphone == nil ? "off" : "closed"
        status.storage.mediaFolder = plant.mediaFolder
        desk.publish(status)
        grantQuality()
    }

    /// Starts the workers and the camera. Before the first `step`.
    public func start() {
        if case .threads = labour {
            store.start()
            stills.start()
            stacks.start()
            clips.start()
            sound?.start()
            for station in stations { station.worker.start() }
        }
        store.post(.reserveNumbers)
        if plant.startsCamera {
            reduce(.camera(.starting, at: plant.clock.now))
            startCamera(active)
        } else {
            reduce(.camera(.released, at: plant.clock.now))
        }
    }

    /// The thread's body: works until `Order.shutDown` was carried out, then gives everything back.
    public func run() {
        let error = fc_thread_set_realtime(10)
        if error != 0 {
            Log.notice(
                "the director runs without real-time priority",
                ["reason": errorText(-error), "mend": "LimitRTPRIO=10 in the service unit"])
        }
        start()
        while !isDone { wait(); step() }
        finish()
    }

    /// Asked to stop, and nothing is left under way.
    public var isDone: Bool { stopAsked && session.isIdle && shots.isEmpty && details.isEmpty }

    /// Gives the camera and the lines back and joins the workers.
    public func finish() {
        plant.buttons.close()
        for station in stations {
            station.runs = false
            station.light?.close()
            station.worker.post(.close)
        }
        plant.indicator?.close()
        if case .inline = labour { while workInline() {} }
        for station in stations { station.worker.stop() }
        sound?.stop()
        clips.stop()
        stacks.stop()
        stills.stop()
        store.stop()
    }

    /// When `step` wants to be called, at the latest.
    public var nextDeadline: Instant {
        var deadline = nextTick
        if let other = session.nextDeadline { deadline = min(deadline, other) }
        if let other = plant.buttons.nextDeadline { deadline = min(deadline, other) }
        if let other = indicator.nextDeadline { deadline = min(deadline, other) }
        for station in stations {
            if station.runs, let other = station.camera.nextDeadline { deadline = min(deadline, other) }
            if station.isWanted, let other = station.link.nextDeadline { deadline = min(deadline, other) }
        }
        return deadline
    }

    private func wait() {
        timer.arm(at: nextDeadline)
        let count = 3 + 2 * stations.count
        withUnsafeTemporaryAllocation(of: pollfd.self, capacity: count) { polled in
            polled.initialize(repeating: pollfd(fd: -1, events: Int16(POLLIN), revents: 0))
            polled[0].fd = desk.arrived.descriptor
            polled[1].fd = timer.descriptor
            polled[2].fd = plant.buttons.descriptor
            for (index, station) in stations.enumerated() where station.runs {
                polled[3 + 2 * index].fd = station.camera.descriptor
                polled[4 + 2 * index].fd = station.streaming?.pool.freed.descriptor ?? -1
            }
            _ = poll(polled.baseAddress, nfds_t(count), -1)
            if polled[1].revents != 0 { timer.clear() }
        }
    }

    /// Takes in everything that has come, decides, acts. Never blocks.
    public func step() {
        desk.arrived.clear()
        let now = plant.clock.now
        plant.buttons.drain(now: now) { take($0) }
        takeOrders()
        takeWorkerFacts()
        for station in stations where station.runs { station.camera.drain { take($0, from: station) } }
        let due = plant.clock.now
        if let deadline = session.nextDeadline, deadline <= due { reduce(.time(due)) }
        for station in stations {
            watch(station, due)
            resumeOnceReleased(station)
        }
        if due >= nextTick { tick(due) }
        if let deadline = indicator.nextDeadline, deadline <= due { indicator.advance(due) }
        for station in stations where station.runs {
            // Cleared first: a slot that becomes free from here on signals again.
            station.streaming?.pool.freed.clear()
            station.camera.requeue(now: due)
        }
        if case .inline = labour {
            while workInline() { takeWorkerFacts() }
        }
        if dirty { publishStatus() }
    }

    private func workInline() -> Bool {
        var worked = false
        for station in stations where station.worker.workOnce() { worked = true }
        if stacks.workOnce() { worked = true }
        if stills.workOnce() { worked = true }
        if store.workOnce() { worked = true }
        if sound?.workOnce() ?? false { worked = true }
        if clips.workOnce() { worked = true }
        return worked
    }

    // MARK: Facts

    /// Decides and acts on one fact, and on the facts that acting brings at once.
    func reduce(_ fact: Fact) {
        session.reduce(fact, into: &effects)
        perform()
        while !answers.isEmpty {
            session.reduce(answers.removeFirst(), into: &effects)
            perform()
        }
    }

    private func perform() {
        // By index: the list isn't touched while it is carried out.
        for index in effects.list.indices { perform(effects.list[index]) }
        effects.removeAll()
    }

    func read(_ button: ButtonID) {
        guard let pressed = plant.buttons.level(of: button) else { return }
        answers.append(.level(button, pressed: pressed, at: plant.clock.now))
    }

    private func take(_ fact: ButtonFact) {
        dirty = true
        switch fact {
        case .edge(let button, let pressed, let at):
            reduce(.edge(button, pressed: pressed, at: at))
            latency.add(plant.clock.now - at)
            desk.update { $0.buttons[button.index].pressed = pressed }
        case .level(let button, let pressed, let at):
            reduce(.level(button, pressed: pressed, at: at))
            desk.update { $0.buttons[button.index].pressed = pressed }
        case .edgesLost(let button, let count, _):
            desk.update { $0.counters.edgesLost += count }
            Log.warning(
                "button edges were lost; the level was read again",
                ["button": plant.buttonRoles[button.index], "count": "\(count)"])
        case .found(let button, let pressed, let at):
            desk.update {
                $0.buttons[button.index].detail = ""
                $0.buttons[button.index].pressed = pressed
            }
            Log.notice("button ready", ["button": plant.buttonRoles[button.index]])
            reduce(.lineFound(button, pressed: pressed, at: at))
        case .lost(let button, let error, let at):
            let known = desk.status.buttons[button.index].detail
            if known != error.description {
                Log.warning(
                    "button can't be used", ["button": plant.buttonRoles[button.index], "reason": error.description])
            }
            desk.update { $0.buttons[button.index].detail = error.description }
            reduce(.lineLost(button, at: at))
        }
    }

    private func takeOrders() {
        while let arrival = desk.takeOrder() {
            dirty = true
            switch arrival.order {
            case .shot(let token, let source, let flash):
                reduce(.shotRequested(token, source: source, flash: flash, at: arrival.at))
            case .record(let token, let source, let maximum, let torch):
                reduce(.recordingRequested(token, source: source, maximum: maximum, torch: torch, at: arrival.at))
            case .refusePress(let source): reduce(.pressRefused(source: source))
            case .stop(let token, let source):
                reduce(.stopRequested(token, source: source, at: arrival.at))
            case .contact(let button, let pressed, let source):
                guard button.index < plant.buttonRoles.count else { continue }
                reduce(.softwareContact(button, pressed: pressed, source: source, at: arrival.at))
            case .command(let command, let token, let source):
                reduce(.command(command, token, source: source, at: arrival.at))
            case .configure(let settings, let given):
                configure(settings)
                if !given.isEmpty { reduce(.settingsGiven(given)) }
                // Whoever waits for the order sees what came of it.
                publishStatus()
                dirty = true
                desk.update { $0.configurations += 1 }
            case .shutDown:
                stopAsked = true
                reduce(.shutdown(at: arrival.at))
            }
        }
    }

    private func take(_ fact: CameraFact, from station: Station) {
        switch fact {
        case .frame(var frame):
            guard let mode = station.streaming else { return }
            station.name(&frame)
            let lease = mode.pool.lease(frame.ref)
            meter.measure(lease.video, into: &frame)
            leases.insert(lease)
            let missed = station.link.saw(frame, now: plant.clock.now)
            if station.link.isNewlyUp, station === active, !station.isExposing { cameraIsUp(mode) }
            desk.update {
                $0.counters.frames += 1
                $0.counters.framesMissed += missed
                $0.camera.lastFrame = frame.exposureEnd
            }
            reduce(station.isExposing ? .sensorFrame(frame) : .frame(frame))
        case .frameFailed:
            desk.update { $0.counters.framesFailed += 1 }
        case .lost:
            lost(station, "the camera's hardware timed out or went away")
        }
    }

    private func takeWorkerFacts() {
        while let fact = facts.take() {
            dirty = true
            switch fact {
            case .camera(let camera, let answer): take(answer, from: camera)
            case .memoryPlanned(let camera, let step): planned(stations[camera.index], step)
            case .shotSaved(let number, let files):
                if let index = shots.firstIndex(where: { $0.number == number }) { shots[index].files = files }
                reduce(.shotSaved(number))
                shots.removeAll { $0.number == number }
            case .shotFailed(let number, let error, let stage):
                Log.error("a photo failed", ["id": "\(number.value)", "reason": error.description])
                let reason: FailureReason
                switch stage {
                case .encoding: reason = .internal
                case .storing:
                    reason = error.failureOfStorage
                    storageFailed(error)
                }
                reduce(.shotFailed(number, reason))
                shots.removeAll { $0.number == number }
            case .clipWriterOpened(let key, let encoder):
                edit(key) { $0.encoder = encoder }
                tellOtherEncoder(encoder)
            case .clipSaved(let key, let outcome):
                edit(key) { $0.outcome = outcome }
                reduce(.clipSaved(key))
                forgetClip(key)
            case .clipEmpty(let key):
                reduce(.clipEmpty(key))
                forgetClip(key)
            case .clipFailed(let key, let reason, let error, let partialPath):
                Log.error("a clip failed", ["reason": error.description])
                if error.kind == .full { storageFailed(error) }
                edit(key) { $0.partialPath = partialPath }
                reduce(.clipFailed(key, reason))
                forgetClip(key)
            case .encoderLost(let key, let error):
                Log.error("the clip encoder gave up", ["reason": error.description])
                reduce(.encoderLost(key, at: plant.clock.now))
            case .numbersReserved(let next, let limit):
                reduce(.numbersReserved(next: next, limit: limit))
            case .headroom(let bytes):
                measuring = false
                desk.update {
                    $0.storage.headroomBytes = bytes
                    $0.storage.state = bytes > 0 ? "ready" : "low"
                    $0.storage.detail = bytes > 0 ? "" : "free space is at or below storage.reserve"
                }
                reduce(.storage(bytes > 0 ? .ready : .low, at: plant.clock.now))
            case .storageFailed(let error):
                measuring = false
                storageFailed(error)
            case .sound(let state):
                tell(state)
            }
        }
    }

    private func forgetClip(_ key: ClipKey) {
        details.removeAll { $0.key == key }
        clips.forget(key)
    }

    /// Works by new settings: at once what can be, the rest once nothing is under way.
    private func configure(_ wanted: LiveSettings) {
        var session = wanted.session
        session.frameInterval = active.mode?.frameInterval ?? session.frameInterval
        session.frameSlots = self.session.settings.frameSlots
        let needsCamera = wanted.requests != settings.requests
        if needsCamera, !self.session.isIdle {
            waitingSettings = wanted
            var now = wanted
            now.requests = settings.requests
            now.framerate = settings.framerate
            now.videoBitRate = settings.videoBitRate
            now.everyFrameIsKey = settings.everyFrameIsKey
            now.quality = settings.quality
            now.encoders = settings.encoders
            now.encoderLimits = settings.encoderLimits
            settings = now
        } else {
            appliesWaitingQuality = waitingSettings != nil && wanted.quality != settings.quality
            waitingSettings = nil
            settings = wanted
        }
        let waits = waitingSettings != nil
        desk.update { $0.settingsWait = waits }
        grantQuality(isReconfigured: needsCamera && !waits)
        session.recordingIsUnsupported = granted?.isRefused ?? false
        reduce(.settingsChanged(session))
        tellRefusals()
        guard needsCamera, waitingSettings == nil else {
            if active.mode != nil { tellShortfalls() }
            return
        }
        for station in stations {
            station.request = wanted.requests[station.id.index]
            guard station.isWanted else {
                // It is configured anew when it is started next.
                if station.mode != nil { stopCamera(station, keeps: false) }
                continue
            }
            station.runs = false
            // A clip that begins meanwhile waits for the new picture's layout.
            station.mode = nil
            station.link.forget()
            station.order(.reopen(station.request))
            if station === active {
                desk.update { $0.camera.state = "starting" }
                reduce(.camera(.starting, at: plant.clock.now))
            }
        }
    }

    private func storageFailed(_ error: HardwareError) {
        Log.error("media can't be stored", ["reason": error.description])
        let isFull = error.kind == .full
        desk.update {
            $0.storage.state = isFull ? "low" : "unwritable"
            $0.storage.detail = error.description
        }
        reduce(.storage(isFull ? .low : .unwritable, at: plant.clock.now))
    }

    // MARK: Slow clockwork

    /// Twice a second: space, clock, clips that don't end.
    private func tick(_ now: Instant) {
        nextTick = now + .milliseconds(500)
        if !measuring {
            measuring = true
            store.post(.measure)
        }
        watchClock(now)
        watchEncoder(now)
        for index in details.indices {
            guard let since = details[index].finishing, now - since > .seconds(3) else { continue }
            // A microphone that neither gives sound nor fails must not keep a clip from ending.
            clips.post(.soundInterrupted(details[index].key, "the microphone stopped answering"))
            details[index].finishing = now
        }
        if let settings = waitingSettings { configure(settings) }
        dirty = true
    }

    /// A driver that doesn't come back takes its thread with it, not the clips.
    private func watchEncoder(_ now: Instant) {
        let call = clips.calledSince
        encoderCall = (call, call == encoderCall.since && call != nil ? encoderCall.sightings + 1 : 0)
        // Seen several times, so that a machine that stood still isn't taken for a driver that does.
        guard let call, now - call >= ClipEngine.patience, encoderCall.sightings >= 3 else { return }
        encoderCall = (nil, 0)
        Log.error("the clip encoder hangs; it is left to itself and another one begins")
        let alive = details.map { ($0.key, $0.finishing) }
        clips.replaceEngine(alive: alive.map(\.0))
        for (key, finishing) in alive {
            if finishing != nil {
                // Its end was ordered of the engine that is gone.
                clips.post(.finish(key, end: now, dropped: details.first { $0.key == key }?.dropped ?? 0))
            } else {
                reduce(.encoderLost(key, at: now))
            }
        }
    }

    /// The wall clock against the monotonic one: a jump of more than a second is told.
    private func watchClock(_ now: Instant) {
        let trusted = plant.clock.isTrusted
        desk.update { $0.clockIsTrusted = trusted }
        let offset = plant.clock.wallNanoseconds - now.nanoseconds
        defer { wallOffset = offset }
        guard let before = wallOffset, abs(offset - before) > 1_000_000_000 else { return }
        let step = Double(offset - before) / 1e9
        send("clock.stepped", fields: [.init("seconds", .number(step)), .init("trusted", .bool(trusted))])
        Log.notice("the wall clock was set", ["seconds": "\(step)"])
    }

    /// The status' word; what only the shell knows (that a lost camera is being brought back) stays as it was told.
    private func cameraState(_ told: String) -> String {
        if session.switchTarget != nil || session.isInSensorMode { return "switching" }
        switch session.camera {
        case .starting: return "starting"
        case .up: return "up"
        case .standby: return "standby"
        case .released: return "released"
        case .down: return told == "down" ? told : "recovering"
        }
    }

    /// Why a torch stays dark although it was asked for.
    static let coolingLight = "it has been on for long and must cool first"

    private var reasonOfLight: String {
        if active.light == nil { return "this camera has no light" }
        if !lightTrouble.isEmpty { return lightTrouble }
        if session.lightMustCool { return Self.coolingLight }
        return session.lightIsHeldBack ? "it is held back since it has been on for long" : ""
    }

    private func publishStatus() {
        dirty = false
        let session = session
        desk.update { status in
            status.counters.presses = session.counters.presses
            status.counters.glitches = session.counters.glitches
            status.counters.shots = session.counters.shots
            status.counters.clips = session.counters.clips
            status.counters.rejected = session.counters.rejected
            status.queuedShots = session.queuedShots
            status.camera.state = cameraState(status.camera.state)
            if status.camera.state == "standby" || status.camera.state == "released" { status.camera.detail = "" }
            status.light.level = session.light?.level ?? 0
            status.light.owner = session.light?.owner.word ?? ""
            status.light.reason = reasonOfLight
            status.light.restsUntil = session.torchRestsUntil
            status.camera.image = session.imageModes
            status.lens.focus = session.focus
            status.lens.range = session.focusRange
            status.lens.zoom = session.zoom
            status.lens.maximumZoom = session.maximumZoom
            status.flash = session.flashMode
            status.isInLowLight = session.isInLowLight
        }
        desk.changed.signal()
    }
}
