/// The whole state of the camera's decisions. `reduce` is its only way to change; it reads no clock and touches nothing.
///
/// Nothing is allocated after `init`: every list has a capacity, and what doesn't fit is refused with an announcement.
public struct Session: Sendable {
    /// Clips from speculative to saving, at most; beyond it a press begins none and a hold is rejected, `queue_full`.
    static let maximumClips = 8
    /// How long a shot waits for a camera that is starting (contract §10: a lost camera is back after 5 s).
    static let startWait: Duration = .seconds(5)
    /// How long after its first frame a camera out of standby may take to expose as it should.
    static let convergenceWait: Duration = .milliseconds(2500)
    /// Beside two frame intervals, how long the frame after a press or an end is waited for (contract §5.2).
    static let frameWait: Duration = .milliseconds(100)
    /// More than this between two frames is a stall, not an interval.
    static let longestFrameGap: Duration = .seconds(1)
    /// A reading this soon after the bounce time tells the level at its end; a later one tells of a later time.
    static let promptReading: Duration = .milliseconds(5)
    /// The button with gestures.
    static let shutter = 0

    public internal(set) var settings: SessionSettings
    public internal(set) var counters = Counters()
    /// The active camera, as it was told last.
    public internal(set) var camera = CameraState.starting
    public internal(set) var storage = StorageState.ready

    var isStopping = false
    /// The latest time that a `time` or `level` fact told.
    var now = Instant(nanoseconds: Int64.min / 2)
    /// Exposure start of the latest frame.
    var latestFrame = Instant(nanoseconds: Int64.min / 2)
    /// Between the last two frames. A camera may be slower than asked, in low light or on a busy machine: what counts for a
    /// wait is the interval that it has. A second and more is no interval but a stall.
    var frameGap = Duration.zero

    /// The latest time that any fact told; never later than the shell's clock.
    var latest = Instant(nanoseconds: Int64.min / 2)
    /// The active camera's latest frame; `nil`: none since it counts.
    var lastFrame: Frame?

    // Cameras
    /// The camera whose frames count.
    public internal(set) var active: CameraID
    /// By camera; `nil`: not configured yet.
    var abilities: [CameraAbilities?]
    /// Focus, exposure, low light and zoom, by camera.
    var optics: [Optics]
    var switching: CameraSwitch?
    var convergence = Convergence(isOver: true)
    /// The full sensor is read for a shot, or the camera is on its way there or back.
    var sensor: SensorExposure?
    var wantsStandby = false
    /// When somebody last did something.
    var lastUse = Instant(nanoseconds: Int64.min / 2)

    // Light
    var lease: LightLease?
    /// By light.
    var budgets: [TorchBudget]
    var handTorch: HandTorch?
    var flash: FlashExposure?
    /// `flash.mode` as it was set live.
    var flashByHand: FlashMode?
    /// The next flash isn't fired before.
    var restsUntil = Instant(nanoseconds: Int64.min / 2)
    /// When the flash was ordered on whose end isn't answered yet.
    var flashedSince: Instant?
    /// Frames exposed before may show the flash.
    var flashLitUntil = Instant(nanoseconds: Int64.min / 2)
    /// When the light went off.
    var darkSince = Instant(nanoseconds: Int64.min / 2)
    /// Orders to switch it off that aren't answered yet.
    var pendingOffs = 0
    /// The indicator's lasting pattern, as it was ordered last.
    var indicated = IndicatorPattern.off

    let roles: [ButtonRole]
    var buttons: [Button]
    var shelf: FrameShelf
    var numbers = NumberSupply()
    /// Shots that wait, in order of their commit.
    var queue: [Shot] = []
    var working: [ShotInWork] = []
    var clips: [Clip] = []
    /// The clip that is recording: committed, no end decided.
    var recordingClip: ClipKey?
    var lastClipKey: UInt32 = 0
    var encoderTrust = EncoderTrust()

    /// `buttons`: how many the board has; number 0 is the shutter button. `roles`: what each is for; one without a role
    /// has a contact and means nothing. `cameras`: how many the board has, 1 and up.
    public init(
        settings: SessionSettings, buttons: Int, roles: [ButtonRole] = [], cameras: Int = 1,
        firstCamera: CameraID = CameraID(0)
    ) {
        self.settings = settings
        self.roles = roles
        active = firstCamera
        abilities = Array(repeating: nil, count: max(1, cameras, firstCamera.index + 1))
        optics = Array(repeating: Optics(), count: abilities.count)
        budgets = Array(repeating: TorchBudget(), count: abilities.count)
        self.buttons = Array(repeating: Button(), count: max(1, buttons))
        shelf = FrameShelf(capacity: max(64, settings.frameSlots + 1))
        queue.reserveCapacity(max(8, settings.shotQueue))
        working.reserveCapacity(max(8, settings.shotsInWork))
        clips.reserveCapacity(Self.maximumClips + 1)
    }

    /// Takes one fact and appends what is to be done, in order.
    public mutating func reduce(_ fact: Fact, into effects: inout Effects) {
        let first = effects.list.count
        if let time = fact.time { latest = max(latest, time) }
        take(fact, into: &effects)
        followRecording(into: &effects)
        advanceLateShots(into: &effects)
        followFlash(into: &effects)
        beginSwitch(into: &effects)
        considerStandby(into: &effects)
        indicate(since: first, into: &effects)
    }

    private mutating func take(_ fact: Fact, into effects: inout Effects) {
        switch fact {
        case .edge(let button, let pressed, let at):
            guard buttons.indices.contains(button.index) else { return }
            takeEdge(button.index, pressed, at: at, into: &effects)
        case .level(let button, let pressed, let at):
            guard buttons.indices.contains(button.index) else { return }
            now = max(now, at)
            takeLevel(button.index, pressed, at: at, into: &effects)
        case .lineLost(let button, let at):
            guard buttons.indices.contains(button.index) else { return }
            loseLine(button.index, at: at, into: &effects)
        case .lineFound(let button, let pressed, let at):
            guard buttons.indices.contains(button.index) else { return }
            findLine(button.index, pressed, at: at, into: &effects)
        case .softwareContact(let button, let pressed, let source, let at):
            guard buttons.indices.contains(button.index) else { return }
            takeSoftwareContact(button.index, pressed, source, at: at, into: &effects)

        case .shotRequested(let token, let source, let flash, let at):
            requestShot(token, source, flash: flash, at: at, into: &effects)
        case .recordingRequested(let token, let source, let maximum, let torch, let at):
            requestRecording(token, source, maximum: maximum, torch: torch, at: at, into: &effects)
        case .stopRequested(let token, let source, let at):
            requestStop(token, source, at: at, into: &effects)
        case .pressRefused(let source):
            reject(source, .queueFull, into: &effects)
        case .buttonEnabled(let enabled):
            settings.buttonEnabled = enabled
        case .settingsChanged(let changed):
            if changed.light.flash != settings.light.flash { flashByHand = nil }
            changeOptics(to: changed, into: &effects)
            settings = changed
            makeRoom(into: &effects)
            dispatchShots(into: &effects)
        case .settingsGiven(let given): follow(given, into: &effects)

        case .frame(let frame):
            takeFrame(frame, into: &effects)
        case .sensorFrame(let frame): takeSensorFrame(frame, into: &effects)
        case .sensorFailed(let camera, _): loseSensor(camera, into: &effects)
        case .camera(let state, let at):
            // What is told of a camera that was stopped for a switch is old.
            guard switching?.oldIsStopped != true else { return }
            changeCamera(state, at: at, into: &effects)

        case .abilities(let camera, let known):
            guard abilities.indices.contains(camera.index) else { return }
            abilities[camera.index] = known
            adoptOptics(of: camera, into: &effects)
        case .cameraFailed(let camera, let reason, let at):
            loseCandidateCamera(camera, reason, at: at, into: &effects)
        case .light(let camera, let level, let at):
            takeLight(camera, level: level, at: at, into: &effects)
        case .lightFailed(let camera, _):
            loseLight(camera, into: &effects)
        case .command(let command, let token, let source, let at):
            take(command, token, source, at: at, into: &effects)

        case .numbersReserved(let next, let limit):
            numbers.add(next: next, limit: limit)
            reserveNumbersIfNeeded(into: &effects)
        case .storage(let state, let at):
            changeStorage(state, at: at, into: &effects)

        case .shotSaved(let number):
            endShot(number, failure: nil, into: &effects)
        case .shotFailed(let number, let reason):
            endShot(number, failure: reason, into: &effects)
        case .layerTaken(let number):
            takeLayer(number, into: &effects)
        case .layerRefused(let number):
            takeBackLayer(number)
        case .clipSaved(let key):
            endClip(key, .saved, into: &effects)
        case .clipEmpty(let key):
            endClip(key, .empty, into: &effects)
        case .clipFailed(let key, let reason):
            endClip(key, .failed(reason), into: &effects)
        case .encoderLost(let key, let at):
            loseEncoder(key, at: at, into: &effects)

        case .shutdown(let at):
            shutDown(at: at, into: &effects)
        case .time(let at):
            now = max(now, at)
            passTime(into: &effects)
        }
    }

    /// When `reduce` wants a `Fact.time`, at the latest; `nil`: nothing is waited for.
    public var nextDeadline: Instant? {
        var earliest = gestureDeadline
        for index in buttons.indices {
            let due = buttons[index].line.deadline(bounce: settings.bounce, poll: settings.levelPoll)
            earliest = Self.earlier(earliest, due)
        }
        for index in queue.indices where !queue[index].candidate.isResolved && queue[index].sensor != .exposing {
            earliest = Self.earlier(earliest, queue[index].deadline)
        }
        for shot in queue { earliest = Self.earlier(earliest, focusDeadline(of: shot)) }
        earliest = Self.earlier(earliest, sensorDeadline)
        for index in clips.indices { earliest = Self.earlier(earliest, deadline(ofClip: index)) }
        earliest = Self.earlier(earliest, lightDeadline)
        earliest = Self.earlier(earliest, flashDeadline)
        earliest = Self.earlier(earliest, stackDeadline)
        earliest = Self.earlier(earliest, switchDeadline)
        earliest = Self.earlier(earliest, optics[active.index].deadline(settings.optics))
        earliest = Self.earlier(earliest, standbyDeadline)
        return Self.earlier(earliest, indicatorDeadline)
    }

    private static func earlier(_ left: Instant?, _ right: Instant?) -> Instant? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }

    mutating func passTime(into effects: inout Effects) {
        for index in buttons.indices { passContactTime(index, into: &effects) }
        passGestureTime(into: &effects)
        passLightTime(into: &effects)
        passSwitchTime(into: &effects)
        optics[active.index].passTime(now, settings.optics, into: &effects)
        advanceFlash(into: &effects)
        passFocusTime(into: &effects)
        passSensorTime(into: &effects)
        passStackTime()
        passShotTime(into: &effects)
        passClipTime(into: &effects)
    }

    /// Nothing is under way: no clip, no shot, no press that may become one, no switch of cameras.
    public var isIdle: Bool {
        clips.isEmpty && queue.isEmpty && working.isEmpty && switching == nil && sensor == nil
            && buttons[Self.shutter].gesture.press == nil
    }

    /// Shots that wait for a frame or a worker.
    public var queuedShots: Int { queue.count }
    /// Shots that are encoded or stored now.
    public var shotsInWork: Int { working.count }
    /// Frames that the shell holds for Core.
    public var heldFrames: Int { shelf.held.count }

    public var recording: RecordingState {
        if let key = recordingClip, let index = clipIndex(key), let number = clips[index].number {
            return clips[index].first == nil ? .starting(number) : .running(number)
        }
        for index in clips.indices.reversed() {
            if let number = clips[index].number { return .finishing(number) }
        }
        return .idle
    }

    public var gesture: GestureState {
        switch buttons[Self.shutter].gesture {
        case .idle: .idle
        case .down: .down
        case .window, .second: .waitingForSecondPress
        case .holding: .holding
        case .spent: .spent
        }
    }

    /// How long after a press or an end a frame is waited for.
    var wait: Duration { Self.frameWait + max(settings.frameInterval, frameGap) * 2 }

    /// Why nothing can be photographed or recorded now.
    var obstacle: FailureReason? {
        // The camera that is being switched to will do.
        if switching != nil { return storageObstacle }
        switch camera {
        case .down(let reason): return reason
        case .released: return .cameraReleased
        case .standby where isStopping: return .cameraReleased
        case .starting, .up, .standby: break
        }
        return storageObstacle
    }

    var storageObstacle: FailureReason? {
        switch storage {
        case .ready: nil
        case .low: .storageLow
        case .unwritable: .storageUnwritable
        }
    }

    mutating func takeNumber(into effects: inout Effects) -> (number: MediaNumber, isReserved: Bool) {
        let taken = numbers.take()
        reserveNumbersIfNeeded(into: &effects)
        return taken
    }

    mutating func reserveNumbersIfNeeded(into effects: inout Effects) {
        if numbers.needsReservation() { effects.append(.reserveNumbers) }
    }

    mutating func reject(_ source: Source, _ reason: RejectionReason, into effects: inout Effects) {
        counters.rejected += 1
        effects.append(.announce(.rejected(source, reason)))
    }

    mutating func reject(
        _ token: RequestToken, _ source: Source, _ reason: RejectionReason, into effects: inout Effects
    ) {
        effects.append(.answer(token, .rejected(reason)))
        reject(source, reason, into: &effects)
    }

    mutating func changeStorage(_ state: StorageState, at: Instant, into effects: inout Effects) {
        let before = storage
        storage = state
        if state != before {
            // An order for numbers that failed with the storage is given again.
            numbers.forgetRequest()
            if state == .low { effects.append(.announce(.storageLow)) }
        }
        if state == .ready { reserveNumbersIfNeeded(into: &effects) }
        if state != .ready, let key = recordingClip {
            stop(key, end: at, state == .low ? .storageLow : .error, into: &effects)
        }
    }

    mutating func shutDown(at: Instant, into effects: inout Effects) {
        guard !isStopping else { return }
        isStopping = true
        cancelSwitch(into: &effects)
        forgetFlash(into: &effects)
        abandonSensor(.stopping, into: &effects)
        endStacks()
        endGesture(at: at, into: &effects)
        if let key = recordingClip { stop(key, end: at, .shutdown, into: &effects) }
        endAllLight(into: &effects)
        dispatchShots(into: &effects)
        for index in queue.indices { queue[index].deadline = min(queue[index].deadline, at + wait) }
    }
}
