// Shots: from the commit to the terminal event (contract §5.2, §5.7).
extension Session {
    mutating func requestShot(
        _ token: RequestToken, _ source: Source, flash: FlashMode?, at: Instant, into effects: inout Effects
    ) {
        guard !isStopping else { return reject(token, source, .unsupported, into: &effects) }
        wake(into: &effects)
        var candidate = newCandidate(press: at)
        for index in shelf.held.indices where !candidate.isResolved {
            candidate.consider(shelf.held[index], on: &shelf, into: &effects)
        }
        commitShot(source, candidate, flash: flash, token: token, into: &effects)
    }

    /// Takes a number and a place in the queue. The candidate's pin goes to the shot.
    mutating func commitShot(
        _ source: Source, _ candidate: Candidate, flash: FlashMode? = nil, token: RequestToken?,
        into effects: inout Effects
    ) {
        var candidate = candidate
        guard queue.count < settings.shotQueue else {
            candidate.release(on: &shelf, into: &effects)
            if let token {
                reject(token, source, .queueFull, into: &effects)
            } else {
                reject(source, .queueFull, into: &effects)
            }
            return
        }
        let (number, isReserved) = takeNumber(into: &effects)
        counters.shots += 1
        if let token { effects.append(.answer(token, .accepted(number))) }
        effects.append(.announce(.photoRequested(number, source)))
        let failure =
            (candidate.frame == nil ? obstacle : storageObstacle) ?? (isReserved ? nil : .storageUnwritable)
        if let failure {
            candidate.release(on: &shelf, into: &effects)
            effects.append(.announce(.photoFailed(number, source, failure)))
            return
        }
        if let switching, switching.oldIsStopped, candidate.frame == nil, candidate.camera == active {
            candidate.camera = switching.target
        }
        if camera != .up, camera != .starting, candidate.camera == active { candidate.settle() }
        queue.append(
            Shot(
                number: number, source: source, candidate: candidate,
                deadline: candidate.press + patience(for: candidate), committed: latest,
                flashAsked: flash, flash: wantsFlash(flash ?? flashMode) ? .wanted : .none,
                focus: settings.focusWait == .off ? .none : .wanted,
                sensor: settings.photoSource == .sensor ? .wanted : .none,
                stack: newStack(candidate)))
        tellUnmerged(queue[queue.count - 1], into: &effects)
        advanceFlash(into: &effects)
        makeRoom(into: &effects)
        // After a long press the time to wait is over already.
        passShotTime(into: &effects)
    }

    /// A picture for a press from now on.
    func newCandidate(press: Instant) -> Candidate {
        Candidate(press: press, camera: comingCamera, needsConvergence: !convergence.isOver)
    }

    /// How long after its press a shot waits for its frame.
    private func patience(for candidate: Candidate) -> Duration {
        if isStopping { return wait }
        if candidate.camera != active { return CameraSwitch.patience + Self.startWait }
        if candidate.needsConvergence, !candidate.isResolved { return Self.startWait + Self.convergenceWait }
        return candidate.frame == nil && camera == .starting ? Self.startWait : wait
    }

    /// Gives shots that have their frame to free workers, in order.
    mutating func dispatchShots(into effects: inout Effects) {
        var index = 0
        while index < queue.count, working.count < settings.shotsInWork {
            guard queue[index].isReady, let frame = queue[index].candidate.frame
            else {
                index += 1
                continue
            }
            var shot = queue.remove(at: index)
            effects.append(.encodeShot(shot.number, frame: frame, press: shot.press))
            working.append(
                ShotInWork(
                    number: shot.number, source: shot.source, frame: frame, press: shot.press,
                    flashFired: shot.flash.isProven, isStacked: shot.stack.hasReference))
            shot.candidate.release(on: &shelf, into: &effects)
        }
    }

    /// Shots that are exposed after their commit, for the lens or from the full sensor.
    mutating func advanceLateShots(into effects: inout Effects) {
        guard queue.contains(where: { !$0.focus.isOver || !$0.sensor.isOver }) else { return }
        advanceFocusWait(into: &effects)
        advanceFlash(into: &effects)
        advanceSensor(into: &effects)
        dispatchShots(into: &effects)
    }

    mutating func endShot(_ number: MediaNumber, failure: FailureReason?, into effects: inout Effects) {
        guard let index = working.firstIndex(where: { $0.number == number }) else { return }
        let shot = working.remove(at: index)
        if let failure {
            effects.append(.announce(.photoFailed(number, shot.source, failure)))
        } else {
            effects.append(
                .announce(
                    .photoSaved(
                        number, shot.source, frame: shot.frame, pressOffset: shot.frame.middle - shot.press,
                        flashFired: shot.flashFired)))
        }
        dispatchShots(into: &effects)
    }

    /// A shot whose time to wait for a frame is over takes the best there is, or fails.
    mutating func passShotTime(into effects: inout Effects) {
        var index = 0
        while index < queue.count {
            guard !queue[index].candidate.isResolved, queue[index].sensor != .exposing, queue[index].deadline <= now
            else {
                index += 1
                continue
            }
            if !settleShot(index, .cameraLost, into: &effects) { index += 1 }
        }
        dispatchShots(into: &effects)
    }

    /// No further frame comes for this shot. Returns whether it failed, and so left the queue.
    private mutating func settleShot(_ index: Int, _ reason: FailureReason, into effects: inout Effects) -> Bool {
        guard queue[index].candidate.frame == nil else {
            queue[index].candidate.settle()
            return false
        }
        let shot = queue.remove(at: index)
        effects.append(.announce(.photoFailed(shot.number, shot.source, reason)))
        return true
    }

    mutating func shotsMeetCamera(_ state: CameraState, at: Instant, into effects: inout Effects) {
        var index = 0
        while index < queue.count {
            // One that has its picture isn't lit by a camera that may never come back.
            if state != .up, queue[index].candidate.camera == active, queue[index].candidate.frame != nil,
                queue[index].flash == .wanted
            {
                queue[index].flash = .none
            }
            if queue[index].candidate.camera == active, endFocusWait(index, state, into: &effects) { continue }
            // What waits for another camera doesn't care.
            guard !queue[index].candidate.isResolved, queue[index].candidate.camera == active else {
                index += 1
                continue
            }
            switch state {
            case .up:
                if queue[index].candidate.frame == nil {
                    let extra = queue[index].candidate.needsConvergence ? Self.convergenceWait : .zero
                    queue[index].deadline = max(queue[index].press, at) + wait + extra
                }
                index += 1
            case .starting, .standby:
                if queue[index].candidate.frame != nil {
                    queue[index].candidate.settle()
                } else if !isStopping {
                    queue[index].deadline = queue[index].press + patience(for: queue[index].candidate)
                }
                index += 1
            case .down(let reason): if !settleShot(index, reason, into: &effects) { index += 1 }
            case .released: if !settleShot(index, .cameraReleased, into: &effects) { index += 1 }
            }
        }
        advanceFlash(into: &effects)
        dispatchShots(into: &effects)
    }
}
