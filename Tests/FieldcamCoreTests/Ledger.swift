import FieldcamCore

/// Keeps the books on everything a session orders, and notes each breach of the house rules.
final class Ledger {
    struct ClipAccount {
        var press: Instant
        var frames: [Frame] = []
        var number: MediaNumber?
        var isFinished = false
        var isDropped = false
    }
    enum Telling: Int {
        case requested, started, stopped, ended
    }

    let slots: Int
    let budget: Int
    private(set) var faults: [String] = []
    /// Frames that others are merged with, by shot; frames merged.
    private var references: [MediaNumber: Frame] = [:]
    private(set) var merged = 0
    /// By slot: what the shell holds for Core.
    private(set) var held: [Int: Frame] = [:]
    /// By slot: holds of workers.
    private var workers: [Int: Int] = [:]
    /// Filled by the camera, not yet told.
    private var filled: Set<Int> = []
    private(set) var reported = 0
    private(set) var dropped = 0
    private(set) var clips: [ClipKey: ClipAccount] = [:]
    private(set) var shots: [MediaNumber: (press: Instant, frame: Frame)] = [:]
    private var photos: [MediaNumber: Telling] = [:]
    private var recordings: [MediaNumber: Telling] = [:]
    private var lastNumber = 0
    private(set) var answers: [(token: RequestToken, answer: Answer)] = []
    private(set) var highestQueue = 0
    private(set) var highestHeld = 0

    // The light, by orders
    private(set) var lit: (camera: Int, since: Int64, level: Double, deadline: Int64)?
    /// When it was on, and until when it was allowed to be.
    private(set) var lights: [(on: Int64, off: Int64, deadline: Int64)] = []
    var longestLight: Duration = .seconds(600)
    /// The torch may be on by hand: then it outlives a clip.
    var handMayShine = false
    // The cameras
    var running: Set<Int> = []
    private(set) var active = 0
    private(set) var switches = 0
    /// Mode switches to the full sensor.
    private(set) var exposures = 0
    private var isInSensorMode = false

    /// `slots`: what the camera has; `budget`: what the session may use of it.
    init(slots: Int, budget: Int) {
        self.slots = slots
        self.budget = budget
    }

    func fault(_ sentence: String) {
        if faults.count < 20 { faults.append(sentence) }
    }

    // MARK: Frames

    func freeSlot() -> Int? {
        (0..<slots).first { held[$0] == nil && (workers[$0] ?? 0) == 0 && !filled.contains($0) }
    }

    func fill(_ slot: Int) { filled.insert(slot) }

    func report(_ frame: Frame) {
        if held[frame.ref.slot] != nil { fault("slot \(frame.ref.slot) was filled while it was held") }
        filled.remove(frame.ref.slot)
        held[frame.ref.slot] = frame
        reported += 1
    }

    func workerLetGo(_ frame: Frame) { workers[frame.ref.slot, default: 0] -= 1 }

    func frames(of key: ClipKey) -> Int { clips[key]?.frames.count ?? 0 }

    private func expectHeld(_ frame: Frame, for use: String) {
        if held[frame.ref.slot] != frame { fault("\(use): frame \(frame.ref) isn't held") }
    }

    // MARK: Effects

    func check(_ effect: Effect, at now: Int64) {
        switch effect {
        case .dropFrame(let ref):
            if held[ref.slot]?.ref == ref {
                held[ref.slot] = nil
                dropped += 1
            } else {
                fault("frame \(ref) was dropped, but isn't held")
            }
        case .readLevel, .doublePress, .reserveNumbers: break
        case .encodeShot(let number, let frame, let press):
            expectHeld(frame, for: "shot \(number.value)")
            workers[frame.ref.slot, default: 0] += 1
            if shots[number] != nil { fault("shot \(number.value) was encoded twice") }
            if photos[number] != .requested {
                fault("shot \(number.value) was encoded, but is \(photos[number] as Any)")
            }
            shots[number] = (press, frame)
            if let reference = references[number], reference != frame {
                fault("shot \(number.value) isn't its reference")
            }
        case .stackFrame(let number, let frame, let reference):
            expectHeld(frame, for: "a frame of shot \(number.value)")
            expectHeld(reference, for: "the reference of shot \(number.value)")
            if shots[number] != nil { fault("shot \(number.value) got a frame after it was encoded") }
            // Until the first one counts, another may take its place.
            if frame != reference, let known = references[number], known != reference {
                fault("shot \(number.value) has another reference")
            }
            references[number] = reference
            merged += 1
        case .beginClip(let key, let press):
            if clips[key] != nil { fault("clip \(key) began twice") }
            clips[key] = ClipAccount(press: press)
        case .appendFrame(let key, let frame):
            expectHeld(frame, for: "clip \(key.value)")
            guard let account = clips[key], !account.isFinished, !account.isDropped else {
                fault("a frame was given to clip \(key.value), which isn't open")
                return
            }
            if frame.exposureStart < account.press { fault("clip \(key.value) got a frame from before its press") }
            if let last = account.frames.last, last.ref.camera != frame.ref.camera {
                fault("clip \(key.value) has frames of two cameras")
            }
            if let last = account.frames.last, last.exposureStart >= frame.exposureStart {
                fault("clip \(key.value) got its frames out of order")
            }
            clips[key]?.frames.append(frame)
        case .commitClip(let key, let number):
            guard let account = clips[key], account.number == nil, !account.isFinished, !account.isDropped else {
                fault("clip \(key.value) was committed, but isn't speculative")
                return
            }
            clips[key]?.number = number
        case .dropClip(let key):
            guard let account = clips[key], account.number == nil, !account.isDropped else {
                fault("clip \(key.value) was dropped, but isn't speculative")
                return
            }
            clips[key]?.isDropped = true
        case .finishClip(let key, let end):
            guard let account = clips[key], account.number != nil, !account.isFinished else {
                fault("clip \(key.value) was finished, but wasn't recording")
                return
            }
            if let last = account.frames.last, last.exposureStart >= end, !isLateReleaseAllowed {
                fault("clip \(key.value) has a frame after its end")
            }
            clips[key]?.isFinished = true
        case .lightOn(let camera, let level, let deadline):
            if level <= 0 || level > 1 { fault("the light was ordered to \(level)") }
            if camera.index != active { fault("the light of camera \(camera.index) was ordered, which doesn't count") }
            if let lit, lit.camera != camera.index { fault("two lights were ordered on") }
            let since = lit?.since ?? now
            if deadline.nanoseconds - since > longestLight.inNanoseconds { fault("the light's deadline is too late") }
            lit = (camera.index, since, level, deadline.nanoseconds)
        case .lightOff(let camera):
            guard let was = lit, was.camera == camera.index else { return fault("a light was ordered off that is off") }
            lights.append((was.since, min(now, was.deadline), was.deadline))
            lit = nil
        case .startCamera: break
        case .exposeSensor(let camera, _, _):
            if camera.index != active { fault("the sensor of camera \(camera.index) was ordered, which doesn't count") }
            if isInSensorMode { fault("the full sensor was ordered twice") }
            isInSensorMode = true
            exposures += 1
        case .resumeStream:
            if !isInSensorMode { fault("the stream was ordered back, but wasn't left") }
            isInSensorMode = false
        case .stopCamera(let camera), .releaseCamera(let camera):
            running.remove(camera.index)
            isInSensorMode = false
        case .useCamera(let camera):
            if !running.contains(camera.index) { fault("camera \(camera.index) counts, but doesn't run") }
            active = camera.index
            switches += 1
        case .announce(let announcement): check(announcement)
        case .answer(let token, let answer): answers.append((token, answer))
        default: break
        }
    }

    /// Where the shell sleeps, frames may have been given before their release was told.
    var isLateReleaseAllowed = false

    private func take(_ number: MediaNumber) {
        if number.value <= lastNumber { fault("number \(number.value) was given after \(lastNumber)") }
        lastNumber = max(lastNumber, number.value)
    }

    private func check(_ announcement: Announcement) {
        switch announcement {
        case .photoRequested(let number, _):
            take(number)
            photos[number] = .requested
        case .photoSaved(let number, _, let frame, let offset, _):
            if photos[number] != .requested { fault("photo \(number.value) was saved out of turn") }
            photos[number] = .ended
            if let shot = shots[number] {
                if shot.frame != frame || frame.middle - shot.press != offset {
                    fault("photo \(number.value) isn't told as it was encoded")
                }
            } else {
                fault("photo \(number.value) was saved, but never encoded")
            }
        case .photoFailed(let number, _, _):
            if photos[number] != .requested { fault("photo \(number.value) failed out of turn") }
            photos[number] = .ended
        case .recordingRequested(let number, _):
            take(number)
            let open = recordings.filter { $0.value.rawValue < Telling.stopped.rawValue }
            if !open.isEmpty { fault("recording \(number.value) was requested while \(open.keys) run") }
            recordings[number] = .requested
        case .recordingStarted(let number, _, let key, let offset):
            if recordings[number] != .requested { fault("recording \(number.value) started out of turn") }
            recordings[number] = .started
            if let clip = clips[key], clip.frames.first.map({ $0.exposureStart - clip.press }) != offset {
                fault("recording \(number.value) tells a wrong first frame")
            }
        case .recordingStopped(let number, _, _):
            if recordings[number] != .requested, recordings[number] != .started {
                fault("recording \(number.value) stopped out of turn")
            }
            if recordings[number] == .requested,
                let clip = clips.values.first(where: { $0.number == number }), !clip.frames.isEmpty
            {
                fault("recording \(number.value) has frames, but its start was left out")
            }
            recordings[number] = .stopped
            if lit != nil, !handMayShine { fault("recording \(number.value) was told stopped while the light was on") }
        case .clipSaved(let number, _, _), .clipFailed(let number, _, _, _), .clipDiscarded(let number, _, _):
            if recordings[number] != .stopped { fault("clip \(number.value) ended out of turn") }
            recordings[number] = .ended
        default: break
        }
    }

    // MARK: State

    func check(_ session: Session) {
        // A loss ends it as well.
        if !session.isInSensorMode { isInSensorMode = false }
        if session.heldFrames != held.count {
            fault("the session keeps \(session.heldFrames) frames, the shell \(held.count)")
        }
        if held.count > budget { fault("\(held.count) frames are held, \(budget) are allowed") }
        if session.queuedShots > session.settings.shotQueue { fault("\(session.queuedShots) shots are queued") }
        if session.shotsInWork > session.settings.shotsInWork { fault("\(session.shotsInWork) shots are in work") }
        if (session.light == nil) != (lit == nil) { fault("the session and the orders disagree about the light") }
        if session.active.index != active { fault("the session and the orders disagree about the camera") }
        highestQueue = max(highestQueue, session.queuedShots)
        highestHeld = max(highestHeld, held.count)
    }

    /// After everything was drained: nothing is left over.
    func close(_ session: Session) {
        if lit != nil, !handMayShine { fault("the light is still on") }
        if running.count > 1 || !running.isSubset(of: [active]) { fault("cameras \(running) run, \(active) counts") }
        if !session.isIdle { fault("the session isn't idle") }
        if session.heldFrames > session.settings.ringFrames { fault("\(session.heldFrames) frames are still held") }
        for (number, telling) in photos where telling != .ended { fault("photo \(number.value) never ended") }
        for (number, telling) in recordings where telling != .ended { fault("clip \(number.value) never ended") }
        for (key, clip) in clips where !clip.isFinished && !clip.isDropped {
            // Failed by the shell itself: told by its terminal event, needs no order.
            guard let number = clip.number, recordings[number] == .ended else {
                fault("clip \(key.value) was neither finished nor dropped")
                continue
            }
        }
        if reported != dropped + held.count { fault("\(reported) frames came, \(dropped) were dropped") }
        for (slot, holds) in workers where holds != 0 { fault("slot \(slot) has \(holds) holds of workers") }
    }
}
