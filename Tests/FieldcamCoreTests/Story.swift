import FieldcamCore
import XCTest

/// A virtual world around a `Session`: a finger, a camera, workers and a clock, all scripted in milliseconds.
///
/// Lines change when the script says so; the shell wakes at facts and deadlines, drains, and answers orders. While it
/// *sleeps* everything waits and is told afterwards, in order, with its own time. Every effect is checked against the
/// house rules as it comes (see `Ledger`).
final class Story {
    static let base: Int64 = 1_000_000_000_000

    enum Happening {
        case line(Int, Bool)
        case fact(Fact)
        case frame(camera: Int, generation: Int, start: Int64, end: Int64)
        case nextFrame(camera: Int)
        case call((Story) -> Void)
    }

    /// The settings at the beginning.
    let settings: SessionSettings
    var session: Session
    var effects = Effects()
    let ledger: Ledger
    private var schedule = Schedule()
    private(set) var now: Int64 = Story.base - 1_000_000_000
    private(set) var facts = 0
    /// Every fact and what it brought about, if asked for.
    var keepsTrace = false
    private(set) var trace: [(fact: Fact, effects: [Effect])] = []

    // The world
    var lines: [Bool]
    var frameInterval: Int64 = 33_333_333
    var exposure: Int64 = 10_000_000
    /// From the end of exposure to the fact.
    var readout: Int64 = 20_000_000
    var cameras: [CameraWorld]
    /// Whether the first camera runs.
    var cameraRuns: Bool {
        get { cameras[0].runs }
        set { cameras[0].runs = newValue }
    }
    private var sequence: UInt64 = 0
    let scene = Scene()
    private(set) var lostFrames = 0
    /// How long a photo takes to be durable, a clip to be finished.
    var photoTime: (Story) -> Int64 = { _ in 60_000_000 }
    var clipTime: (Story) -> Int64 = { _ in 80_000_000 }
    /// Whether the merging thread has room for a frame.
    var layerOutcome: (Story) -> Bool = { _ in true }
    var photoOutcome: (Story, MediaNumber) -> Fact = { _, number in .shotSaved(number) }
    var clipOutcome: (Story, ClipKey, Int) -> Fact = { _, key, frames in frames > 0 ? .clipSaved(key) : .clipEmpty(key)
    }
    var reserves = true
    private(set) var reservations = 0
    var answersReadings = true
    private var reserved = 1
    private var asleepUntil: Int64 = 0
    /// What happened while the shell slept.
    private var backlog: [Fact] = []
    var doublePresses: [Int64] = []
    var told: [(at: Int64, what: Announcement)] = []
    var indicated: [(at: Int64, pattern: IndicatorPattern)] = []

    init(
        _ settings: SessionSettings = SessionSettings(), buttons: Int = 1, roles: [ButtonRole] = [], cameras: Int = 1,
        camera: Bool = true, numbers: Bool = true
    ) {
        self.settings = settings
        session = Session(settings: settings, buttons: buttons, roles: roles, cameras: cameras)
        self.cameras = Array(repeating: CameraWorld(), count: cameras)
        ledger = Ledger(slots: settings.frameSlots + 2, budget: settings.frameSlots)
        lines = Array(repeating: false, count: buttons)
        reserves = numbers
        if numbers { reserve() }
        if camera { startCamera(at: -500) }
    }

    static func instant(_ milliseconds: Double) -> Instant { Instant(nanoseconds: nanoseconds(milliseconds)) }
    static func nanoseconds(_ milliseconds: Double) -> Int64 { base + Int64(milliseconds * 1_000_000) }
    static func milliseconds(_ instant: Int64) -> Double { Double(instant - base) / 1_000_000 }

    // MARK: Script

    func at(_ milliseconds: Double, _ happening: Happening) {
        schedule.add(Story.nanoseconds(milliseconds), happening)
    }
    func at(_ milliseconds: Double, _ call: @escaping (Story) -> Void) { at(milliseconds, .call(call)) }
    func fact(at milliseconds: Double, _ fact: Fact) { at(milliseconds, .fact(fact)) }

    func down(_ milliseconds: Double) { at(milliseconds, .line(0, true)) }
    func up(_ milliseconds: Double) { at(milliseconds, .line(0, false)) }
    func press(_ from: Double, _ to: Double) {
        down(from)
        up(to)
    }
    /// A press whose contact bounces after both edges: `edges` changes within `span`, ending as it should.
    func bouncingPress(_ from: Double, _ to: Double, edges: Int, span: Double) {
        for (start, level) in [(from, true), (to, false)] {
            at(start, .line(0, level))
            for edge in 1...max(1, edges / 2) {
                let step = span / Double(edges) * Double(edge * 2)
                at(start + step - span / Double(edges), .line(0, !level))
                at(start + step, .line(0, level))
            }
        }
    }
    func software(_ from: Double, _ to: Double, _ source: Source = .cli) {
        fact(at: from, .softwareContact(ButtonID(0), pressed: true, source: source, at: Story.instant(from)))
        fact(at: to, .softwareContact(ButtonID(0), pressed: false, source: source, at: Story.instant(to)))
    }
    func shot(_ milliseconds: Double, _ source: Source = .api, token: UInt64 = 1) {
        fact(at: milliseconds, .shotRequested(RequestToken(token), source: source, at: Story.instant(milliseconds)))
    }
    func record(
        _ milliseconds: Double, _ source: Source = .api, maximum: Duration? = nil, torch: ClipTorch? = nil,
        token: UInt64 = 1
    ) {
        fact(
            at: milliseconds,
            .recordingRequested(
                RequestToken(token), source: source, maximum: maximum, torch: torch, at: Story.instant(milliseconds)))
    }
    func stop(_ milliseconds: Double, _ source: Source = .api, token: UInt64 = 1) {
        fact(at: milliseconds, .stopRequested(RequestToken(token), source: source, at: Story.instant(milliseconds)))
    }
    /// The camera that counts comes up by itself.
    func startCamera(at milliseconds: Double) {
        at(milliseconds) { story in
            let camera = story.session.active.index
            guard !story.cameras[camera].isStopped,
                story.session.switchTarget == nil || story.session.camera != .released
            else { return }
            story.give(.abilities(story.session.active, story.cameras[camera].abilities))
            story.give(.camera(.up, at: Instant(nanoseconds: story.now)))
            if !story.cameras[camera].isStopped { story.runCamera(camera) }
        }
    }
    /// The camera that counts goes by itself.
    func endCamera(at milliseconds: Double, _ state: CameraState) {
        at(milliseconds) { story in
            let camera = story.session.active.index
            // A camera that isn't wanted can't be lost.
            guard !story.cameras[camera].isStopped else { return }
            story.cameras[camera].runs = false
            story.cameras[camera].isExposing = false
            story.cameras[camera].generation += 1
            story.ledger.running.remove(camera)
            story.give(.camera(state, at: Instant(nanoseconds: story.now)))
        }
    }
    private func runCamera(_ camera: Int) {
        cameras[camera].runs = true
        cameras[camera].generation += 1
        cameras[camera].nextFrameStart = now
        scene.startAutomaticExposure()
        ledger.running.insert(camera)
        schedule.add(now, .nextFrame(camera: camera))
    }
    /// Core ordered it.
    private func orderStart(_ id: CameraID) {
        let generation = cameras[id.index].generation
        cameras[id.index].isWanted = true
        cameras[id.index].isStopped = false
        cameras[id.index].isExposing = false
        let time = cameras[id.index].startTime(self)
        schedule.add(
            now + time,
            .call { story in
                let camera = story.cameras[id.index]
                guard camera.isWanted, camera.generation == generation, !camera.runs else { return }
                if let reason = camera.failure(story) {
                    story.cameras[id.index].isWanted = false
                    let at = Instant(nanoseconds: story.now)
                    if id == story.session.active {
                        story.give(.camera(.down(reason), at: at))
                    } else {
                        story.give(.cameraFailed(id, reason, at: at))
                    }
                    return
                }
                story.give(.abilities(id, camera.abilities))
                if id == story.session.active, story.session.switchTarget == nil {
                    story.give(.camera(.up, at: Instant(nanoseconds: story.now)))
                }
                story.runCamera(id.index)
            })
    }
    /// To the full sensor, or back to the stream.
    private func orderMode(_ id: CameraID, isSensor: Bool) {
        cameras[id.index].runs = false
        cameras[id.index].generation += 1
        let generation = cameras[id.index].generation
        cameras[id.index].floor = generation
        cameras[id.index].isExposing = isSensor
        schedule.add(
            now + cameras[id.index].startTime(self),
            .call { story in
                let camera = story.cameras[id.index]
                guard camera.generation == generation, !camera.isStopped, !camera.runs else { return }
                let at = Instant(nanoseconds: story.now)
                if isSensor, !camera.hasSensorMode(story) { return story.give(.sensorFailed(id, at: at)) }
                if !isSensor {
                    if let reason = camera.failure(story) { return story.give(.camera(.down(reason), at: at)) }
                    story.give(.abilities(id, camera.abilities))
                }
                if story.cameras[id.index].generation == generation { story.runCamera(id.index) }
            })
    }
    private func orderStop(_ id: CameraID) {
        cameras[id.index].isExposing = false
        cameras[id.index].isWanted = false
        cameras[id.index].isStopped = true
        cameras[id.index].runs = false
        cameras[id.index].generation += 1
    }
    func command(_ milliseconds: Double, _ command: ControlCommand, token: UInt64 = 9) {
        fact(at: milliseconds, .command(command, RequestToken(token), source: .api, at: Story.instant(milliseconds)))
    }
    /// The shell wakes for nothing between these times.
    func sleep(_ from: Double, _ to: Double) {
        at(from) { story in
            story.asleepUntil = max(story.asleepUntil, Story.nanoseconds(to))
            story.at(to) { $0.wake() }
        }
    }

    // MARK: Time

    func run(until milliseconds: Double) {
        let end = Story.nanoseconds(milliseconds)
        while true {
            var deadline = session.nextDeadline?.nanoseconds
            if let due = deadline { deadline = max(due, now, asleepUntil) }
            let next = schedule.first
            if let next, next <= end, deadline.map({ next <= $0 }) ?? true {
                now = max(now, next)
                happen(schedule.removeFirst())
            } else if let deadline, deadline <= end {
                now = deadline
                give(.time(Instant(nanoseconds: now)))
                if let after = session.nextDeadline, after.nanoseconds <= now {
                    ledger.fault("at \(Story.milliseconds(now)) ms the deadline \(after) stays after its time was told")
                    return
                }
            } else {
                break
            }
        }
        now = max(now, end)
    }

    private func happen(_ happening: Happening) {
        switch happening {
        case .line(let line, let level):
            guard lines[line] != level else { return }
            lines[line] = level
            give(.edge(ButtonID(line), pressed: level, at: Instant(nanoseconds: now)))
        case .fact(let fact): give(fact)
        case .call(let call): call(self)
        case .nextFrame(let camera): exposeFrame(camera)
        case .frame(let camera, let generation, let start, let end): deliverFrame(camera, generation, start, end)
        }
    }

    private func exposeFrame(_ camera: Int) {
        guard cameras[camera].runs, cameras[camera].nextFrameStart <= now else { return }
        let start = cameras[camera].nextFrameStart
        let generation = cameras[camera].generation
        schedule.add(
            start + exposure + readout,
            .frame(camera: camera, generation: generation, start: start, end: start + exposure))
        cameras[camera].nextFrameStart = start + frameInterval
        schedule.add(cameras[camera].nextFrameStart, .nextFrame(camera: camera))
    }

    private func deliverFrame(_ camera: Int, _ generation: Int, _ start: Int64, _ end: Int64) {
        guard cameras[camera].runs, generation >= cameras[camera].floor else { return }
        sequence += 1
        guard let slot = ledger.freeSlot() else {
            lostFrames += 1
            return
        }
        var ref = FrameRef(slot: slot, sequence: sequence)
        ref.camera = camera
        var frame = Frame(
            ref: ref, exposureStart: Instant(nanoseconds: start), exposureEnd: Instant(nanoseconds: end))
        if scene.isMeasured { scene.expose(&frame, readout: readout) }
        frame.focus = cameras[camera].focus(self)
        ledger.fill(slot)
        give(cameras[camera].isExposing ? .sensorFrame(frame) : .frame(frame))
    }

    private func wake() {
        guard now >= asleepUntil else { return }
        let facts = backlog
        backlog.removeAll()
        for fact in facts { give(fact) }
    }

    /// Tells the session a fact, now or when the shell wakes.
    func give(_ fact: Fact) {
        if now < asleepUntil {
            backlog.append(fact)
            return
        }
        var waiting = [fact]
        while !waiting.isEmpty {
            facts += 1
            switch waiting[0] {
            case .frame(let frame), .sensorFrame(let frame): ledger.report(frame)
            default: break
            }
            effects.removeAll()
            session.reduce(waiting[0], into: &effects)
            if keepsTrace { trace.append((waiting[0], effects.list)) }
            waiting.removeFirst()
            for effect in effects.list {
                ledger.check(effect, at: now)
                if let answer = perform(effect) { waiting.append(answer) }
            }
            ledger.check(session)
        }
    }

    private func reserve() {
        schedule.add(now, .fact(.numbersReserved(next: MediaNumber(reserved), limit: MediaNumber(reserved + 64))))
        reserved += 64
    }

    private func perform(_ effect: Effect) -> Fact? {
        switch effect {
        case .readLevel(let button):
            guard answersReadings else { return nil }
            return .level(button, pressed: lines[button.index], at: Instant(nanoseconds: now))
        case .doublePress: doublePresses.append(now)
        case .encodeShot(let number, let frame, _):
            schedule.add(
                now + photoTime(self),
                .call { story in
                    story.ledger.workerLetGo(frame)
                    story.give(story.photoOutcome(story, number))
                })
        case .stackFrame(let number, _, _): return layerOutcome(self) ? .layerTaken(number) : .layerRefused(number)
        case .finishClip(let key, _):
            let frames = ledger.frames(of: key)
            schedule.add(now + clipTime(self), .call { $0.give($0.clipOutcome($0, key, frames)) })
        case .reserveNumbers:
            reservations += 1
            if reserves { reserve() }
        case .announce(let announcement): told.append((now, announcement))
        case .startCamera(let camera): orderStart(camera)
        case .stopCamera(let camera), .releaseCamera(let camera): orderStop(camera)
        case .exposeSensor(let camera, _, _): orderMode(camera, isSensor: true)
        case .resumeStream(let camera): orderMode(camera, isSensor: false)
        case .lightOn(let camera, let level, let deadline):
            let at = Instant(nanoseconds: now)
            switch scene.led {
            case .works, .dead:
                let deadline = max(now, deadline.nanoseconds)
                scene.turnOn(level, at: now, deadline: deadline)
                return .light(camera, level: level, at: at)
            case .refuses: return .lightFailed(camera, at: at)
            case .readsBackOff: return .light(camera, level: 0, at: at)
            }
        case .lightOff(let camera):
            scene.turnOff(at: now)
            return .light(camera, level: 0, at: Instant(nanoseconds: now))
        case .indicate(let pattern): indicated.append((now, pattern))
        default: break
        }
        return nil
    }

    // MARK: Expectation

    /// What was told, in short words: `photo.requested 1`, `recording.stopped 2 released`.
    var words: [String] { told.map { Story.words($0.what) } }

    static func words(_ announcement: Announcement) -> String {
        switch announcement {
        case .photoRequested(let number, _): "photo.requested \(number.value)"
        case .photoSaved(let number, _, _, _, _): "photo.saved \(number.value)"
        case .photoFailed(let number, _, let reason): "photo.failed \(number.value) \(reason.rawValue)"
        case .recordingRequested(let number, _): "recording.requested \(number.value)"
        case .recordingStarted(let number, _, _, _): "recording.started \(number.value)"
        case .recordingStopped(let number, _, let reason): "recording.stopped \(number.value) \(reason.rawValue)"
        case .clipSaved(let number, _, _): "clip.saved \(number.value)"
        case .clipFailed(let number, _, _, let reason): "clip.failed \(number.value) \(reason.rawValue)"
        case .clipDiscarded(let number, _, _): "clip.discarded \(number.value)"
        case .rejected(_, let reason): "rejected \(reason.rawValue)"
        case .storageLow: "storage.low"
        case .lightChanged(.shot(let number), let level): "light shot \(number.value) \(level)"
        case .lightChanged(.clip(let number), let level): "light clip \(number.value) \(level)"
        case .lightRefused: "light refused"
        case .lightChanged(.hand, let level): "light hand \(level)"
        case .cameraSwitched(let camera): "camera.switched \(camera.index)"
        case .cameraSwitchFailed(let camera, let reason): "camera.switch_failed \(camera.index) \(reason.rawValue)"
        case .flashChanged(let mode): "flash \(mode.rawValue)"
        default: "\(announcement)"
        }
    }

    func expect(_ expected: [String], _ message: String = "", file: StaticString = #filePath, line: UInt = #line) {
        XCTAssertEqual(words, expected, message, file: file, line: line)
        expectNoFault(file: file, line: line)
    }

    func expectNoFault(file: StaticString = #filePath, line: UInt = #line) {
        XCTAssertEqual(ledger.faults, [], file: file, line: line)
    }

    /// When the first announcement with these words came, in milliseconds.
    func time(of words: String) -> Double? {
        told.first { Story.words($0.what) == words }.map { Story.milliseconds($0.at) }
    }
}

/// Happenings in order of time; those of one time in the order they were added.
struct Schedule {
    private var heap: [(time: Int64, serial: Int, what: Story.Happening)] = []
    private var serial = 0

    var first: Int64? { heap.first?.time }

    mutating func add(_ time: Int64, _ what: Story.Happening) {
        serial += 1
        heap.append((time, serial, what))
        var child = heap.count - 1
        while child > 0, before(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() -> Story.Happening {
        heap.swapAt(0, heap.count - 1)
        let removed = heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [parent * 2 + 1, parent * 2 + 2] where child < heap.count && before(child, least) {
                least = child
            }
            if least == parent { return removed.what }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    private func before(_ left: Int, _ right: Int) -> Bool {
        (heap[left].time, heap[left].serial) < (heap[right].time, heap[right].serial)
    }
}
