// Frames and the camera: who keeps which frame, and what a camera's loss means.
extension Session {
    /// Frames come, or will come.
    var isStreaming: Bool { camera == .up || camera == .starting }

    mutating func takeFrame(_ frame: Frame, into effects: inout Effects) {
        if frame.ref.camera != active.index, switching?.target.index == frame.ref.camera {
            completeSwitch(at: frame.exposureStart, into: &effects)
        }
        guard isStreaming, frame.ref.camera == active.index, switching?.oldIsStopped != true else {
            // A straggler of a camera that is gone.
            effects.append(.dropFrame(frame.ref))
            return
        }
        if sensor?.number == nil { sensor = nil }
        if camera == .starting { changeCamera(.up, at: frame.exposureEnd, into: &effects) }
        if frame.exposureStart > latestFrame, lastFrame != nil {
            let gap = frame.exposureStart - latestFrame
            if gap <= Self.longestFrameGap { frameGap = gap }
        }
        latestFrame = max(latestFrame, frame.exposureStart)
        lastFrame = frame
        if !convergence.isOver { _ = convergence.take(frame) }
        let held = shelf.add(frame)
        if var press = buttons[Self.shutter].gesture.press, press.mayBeShot, !press.candidate.isResolved {
            press.candidate.consider(held, on: &shelf, into: &effects)
            buttons[Self.shutter].gesture.update(press)
        }
        for index in queue.indices { queue[index].candidate.consider(held, on: &shelf, into: &effects) }
        for index in clips.indices { offer(held, to: index, into: &effects) }
        considerMaximum(into: &effects)
        considerTorch(into: &effects)
        optics[active.index].take(
            frame, isLit: flash != nil || frame.exposureStart < flashLitUntil + Self.readapting, settings.optics,
            into: &effects)
        offerToFocusWait(held, into: &effects)
        offerToFlash(held, into: &effects)
        advanceFlash(into: &effects)
        offerToStack(held, into: &effects)
        makeRoom(into: &effects)
        dispatchShots(into: &effects)
    }

    mutating func changeCamera(_ state: CameraState, at: Instant, into effects: inout Effects) {
        let before = camera
        camera = state
        // The idle time begins when there is a camera to be idle.
        if state != before { lastUse = max(lastUse, at) }
        switch state {
        case .up: break
        case .starting where before != .up: break
        case .starting, .down, .standby, .released:
            abandonSensor(.cameraFailed, into: &effects)
            // A torch by hand that was lit without the camera doesn't go with it.
            if case .hand? = lease?.owner, before != .up, switching == nil {
                abandonFlash(into: &effects)
            } else {
                endAllLight(into: &effects)
            }
            endStacks()
            lastFrame = nil
            shelf.trimRing(to: 0, into: &effects)
            clipsMeetLostCamera(state, at: at, into: &effects)
            if var press = buttons[Self.shutter].gesture.press, press.candidate.frame != nil,
                press.candidate.camera == active
            {
                press.candidate.settle()
                buttons[Self.shutter].gesture.update(press)
            }
        }
        shotsMeetCamera(state, at: at, into: &effects)
    }

    /// Frames that are held for Core or in work, together.
    private var framesInUse: Int {
        var count = shelf.held.count
        for index in working.indices where !shelf.contains(working[index].frame.ref) { count += 1 }
        return count
    }

    /// Keeps the account: the ring gives way first, then queued shots share a frame, then withheld frames go.
    mutating func makeRoom(into effects: inout Effects) {
        shelf.trimRing(to: max(1, settings.ringFrames), into: &effects)
        let room = max(2, settings.frameSlots)
        while framesInUse > room, shelf.ringCount > 1 { shelf.trimRing(to: shelf.ringCount - 1, into: &effects) }
        while framesInUse > room {
            if shareFrame(into: &effects) || letGoOfWithheld(into: &effects) || shareCandidate(into: &effects)
                || shareLateFrame(into: &effects)
            {
                continue
            }
            break
        }
    }

    /// The newest queued shot that has a frame of its own takes another's, the nearest to its press.
    private mutating func shareFrame(into effects: inout Effects) -> Bool {
        for index in queue.indices.reversed() where !queue[index].stack.hasReference && !queue[index].wasExposedLate {
            guard let other = substitute(for: queue[index].candidate) else { continue }
            queue[index].candidate.exchange(for: other, on: &shelf, into: &effects)
            return true
        }
        return false
    }

    /// As the last resort also one whose picture was made for it; it isn't told as such any more.
    private mutating func shareLateFrame(into effects: inout Effects) -> Bool {
        for index in queue.indices.reversed() where !queue[index].stack.hasReference {
            guard let other = substitute(for: queue[index].candidate) else { continue }
            queue[index].candidate.exchange(for: other, on: &shelf, into: &effects)
            if queue[index].flash.isProven { queue[index].flash = .fired(isProven: false) }
            if queue[index].sensor == .taken { refuseSensor(index, .memory, into: &effects) }
            return true
        }
        return false
    }

    private mutating func shareCandidate(into effects: inout Effects) -> Bool {
        guard var press = buttons[Self.shutter].gesture.press, let other = substitute(for: press.candidate) else {
            return false
        }
        press.candidate.exchange(for: other, on: &shelf, into: &effects)
        buttons[Self.shutter].gesture.update(press)
        return true
    }

    /// The held frame nearest the press, other than the candidate's own, which nobody else keeps; `nil` if its own
    /// takes no room or there is no other. A frame that is pinned anyway comes before one of the ring.
    private func substitute(for candidate: Candidate) -> FrameShelf.Held? {
        guard candidate.frame != nil else { return nil }
        let own = shelf.pins(candidate.order)
        guard own.count == 1, !own.isInRing else { return nil }
        var best: FrameShelf.Held?
        for held in shelf.held where held.order != candidate.order {
            guard let current = best else {
                best = held
                continue
            }
            if (held.pins > 0) != (current.pins > 0) {
                if held.pins > 0 { best = held }
            } else if candidate.distance(held.frame.middle) < candidate.distance(current.frame.middle) {
                best = held
            }
        }
        return best
    }
}
