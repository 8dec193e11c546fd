// Switching cameras: the old one counts until the new one delivered a good frame (contract §5.7).
extension Session {
    /// The camera that is being switched to; `nil`: none.
    public var switchTarget: CameraID? { switching?.target }

    /// The camera whose frames a press from now on gets.
    var comingCamera: CameraID { switching?.target ?? active }

    mutating func requestSwitch(
        _ wanted: CameraID?, _ token: RequestToken?, _ source: Source, into effects: inout Effects
    ) {
        let count = abilities.count
        guard count > 1 || wanted == active else { return refuse(token, source, .unsupported, into: &effects) }
        let target = wanted ?? CameraID((active.index + 1) % count)
        guard abilities.indices.contains(target.index) else {
            return refuse(token, source, .outOfRange, into: &effects)
        }
        guard switching == nil, sensor == nil, !isStopping else {
            return refuse(token, source, .switching, into: &effects)
        }
        guard target != active else {
            if let token { effects.append(.answer(token, .effective(.camera(active)))) }
            return
        }
        guard recordingClip == nil || settings.switchWhileRecording == .newClip else {
            return refuse(token, source, .recording, into: &effects)
        }
        // It was given up on purpose: only `start` takes it back, as with shots and clips.
        guard camera != .released else { return refuse(token, source, .cameraOff, into: &effects) }
        switching = CameraSwitch(
            target: target, source: source, token: token, before: camera, deadline: latest + CameraSwitch.patience,
            oldIsStopped: !isStreaming)
        // One that is being brought back isn't any more.
        if case .down = camera { effects.append(.stopCamera(active)) }
        moveClips(from: active, to: target, into: &effects)
        if flashIsUnderWay, isStreaming {
            switching?.waitsForFlash = true
        } else {
            effects.append(.startCamera(target))
        }
    }

    /// A shot that was pressed before the switch has its flash first.
    mutating func beginSwitch(into effects: inout Effects) {
        guard let current = switching, current.waitsForFlash, !flashIsUnderWay else { return }
        switching?.waitsForFlash = false
        switching?.deadline = latest + CameraSwitch.patience
        effects.append(.startCamera(current.target))
    }

    /// The new camera's first good frame: from here on it counts.
    mutating func completeSwitch(at: Instant, into effects: inout Effects) {
        guard var done = switching else { return }
        let old = active
        endRecordingForSwitch(&done, at: at, into: &effects)
        endAllLight(into: &effects)
        leave(old, for: done.target, into: &effects)
        switching = nil
        active = done.target
        lastFrame = nil
        effects.append(.useCamera(active))
        adoptOptics(of: active, into: &effects)
        // Each camera knows its own light: what counts now may differ from what was told last.
        if optics[active.index].lowLight.isActive != optics[old.index].lowLight.isActive {
            effects.append(.announce(.lowLightChanged(optics[active.index].lowLight.isActive)))
        }
        if !done.oldIsStopped { effects.append(.stopCamera(old)) }
        effects.append(.announce(.cameraSwitched(active)))
        if let token = done.token { effects.append(.answer(token, .effective(.camera(active)))) }
        changeCamera(.up, at: at, into: &effects)
        if let successor = done.successor { begin(successor, at: at, into: &effects) }
    }

    mutating func loseCandidateCamera(
        _ camera: CameraID, _ reason: FailureReason, at: Instant, into effects: inout Effects
    ) {
        guard var current = switching, current.target == camera, current.retry == nil else { return }
        guard reason == .cameraBusy, latest < current.deadline, !isStopping else {
            return failSwitch(reason, into: &effects)
        }
        current.reason = reason
        if !current.oldIsStopped {
            endRecordingForSwitch(&current, at: at, into: &effects)
            current.oldIsStopped = true
            endAllLight(into: &effects)
            leave(active, for: current.target, into: &effects)
            self.camera = .starting
            lastFrame = nil
            effects.append(.stopCamera(active))
            effects.append(.startCamera(current.target))
        } else {
            current.retry = latest + CameraSwitch.pause
        }
        switching = current
    }

    /// Back to the old camera.
    private mutating func failSwitch(_ reason: FailureReason, into effects: inout Effects) {
        guard let failed = switching else { return }
        switching = nil
        moveClips(from: failed.target, to: active, into: &effects)
        effects.append(.announce(.cameraSwitchFailed(failed.target, reason)))
        if let token = failed.token { effects.append(.answer(token, .effective(.camera(active)))) }
        if let button = failed.successor?.button, case .holding = buttons[button].gesture {
            buttons[button].gesture = .spent
        }
        guard failed.oldIsStopped, !isStopping else {
            moveShots(from: failed.target, to: active)
            shotsMeetCamera(camera, at: latest, into: &effects)
            return
        }
        switch failed.before {
        case .up, .starting, .down: restart(into: &effects)
        case .standby where !isIdle: restart(into: &effects)
        case .standby: changeCamera(.standby, at: latest, into: &effects)
        case .released:
            moveShots(from: failed.target, to: active)
            changeCamera(.released, at: latest, into: &effects)
        }
        // They wait anew, for the old camera.
        moveShots(from: failed.target, to: active)
    }

    private mutating func restart(into effects: inout Effects) {
        changeCamera(.starting, at: latest, into: &effects)
        effects.append(.startCamera(active))
    }

    /// The service stops: no further camera is brought up.
    mutating func cancelSwitch(into effects: inout Effects) {
        guard let current = switching else { return }
        if !current.waitsForFlash { effects.append(.stopCamera(current.target)) }
        failSwitch(.cameraLost, into: &effects)
    }

    mutating func passSwitchTime(into effects: inout Effects) {
        guard var current = switching else { return }
        guard latest < current.deadline else {
            if !current.waitsForFlash { effects.append(.stopCamera(current.target)) }
            failSwitch(current.reason, into: &effects)
            return
        }
        guard let retry = current.retry, retry <= latest else { return }
        current.retry = nil
        if !current.oldIsReleased {
            current.oldIsReleased = true
            effects.append(.releaseCamera(active))
        }
        switching = current
        effects.append(.startCamera(current.target))
    }

    var switchDeadline: Instant? {
        guard let switching else { return nil }
        return min(switching.retry ?? switching.deadline, switching.deadline)
    }

    // MARK: Who goes with it

    /// Frames of the old camera don't come any more: what has its picture keeps it, the rest waits for the new one.
    private mutating func leave(_ old: CameraID, for target: CameraID, into effects: inout Effects) {
        for index in queue.indices where queue[index].candidate.camera == old {
            guard !queue[index].candidate.isResolved else { continue }
            if queue[index].candidate.frame != nil {
                queue[index].candidate.settle()
            } else {
                queue[index].candidate.camera = target
            }
        }
        if var press = buttons[Self.shutter].gesture.press, press.candidate.camera == old {
            if press.candidate.frame != nil { press.candidate.settle() } else { press.candidate.camera = target }
            buttons[Self.shutter].gesture.update(press)
        }
        for index in clips.indices where clips[index].camera == old && clips[index].phase == .ending {
            finish(index, into: &effects)
        }
        shelf.trimRing(to: 0, into: &effects)
    }

    private mutating func moveShots(from old: CameraID, to new: CameraID) {
        for index in queue.indices where queue[index].candidate.camera == old {
            queue[index].candidate.camera = new
            queue[index].deadline = latest + Self.startWait
        }
        if var press = buttons[Self.shutter].gesture.press, press.candidate.camera == old {
            press.candidate.camera = new
            buttons[Self.shutter].gesture.update(press)
        }
    }

    /// Clips that no end is decided for, other than the one that records with a picture, are recorded by the other
    /// camera. One that is worth nothing yet begins anew, so that no clip has the frames of two.
    private mutating func moveClips(from old: CameraID, to new: CameraID, into effects: inout Effects) {
        for index in clips.indices where clips[index].camera == old {
            switch clips[index].phase {
            case .recording where clips[index].first == nil:
                releaseWithheld(index, into: &effects)
                clips[index].camera = new
            case .recording, .ending, .saving: break
            case .speculative:
                let isEmpty = clips[index].first == nil && clips[index].withheldThrough == nil
                releaseWithheld(index, into: &effects)
                clips[index].camera = new
                guard !isEmpty else { continue }
                beginAnew(index, into: &effects)
            }
        }
    }

    private mutating func endRecordingForSwitch(_ current: inout CameraSwitch, at: Instant, into effects: inout Effects)
    {
        guard let key = recordingClip, let index = clipIndex(key), clips[index].camera == active else { return }
        let clip = clips[index]
        current.successor = ClipSuccessor(
            source: clip.source, maximum: clip.maximum, button: clip.button, torch: clip.torch, ended: key)
        stop(key, end: at, .cameraSwitch, into: &effects)
    }

    mutating func begin(_ successor: ClipSuccessor, at: Instant, into effects: inout Effects) {
        var button = successor.button
        if let index = button {
            // Released meanwhile: there is nothing to go on with.
            guard case .holding(successor.ended) = buttons[index].gesture else { return }
        }
        guard !isStopping, recordingClip == nil,
            let key = beginClip(press: at, successor.source, maximum: successor.maximum, into: &effects),
            let clip = clipIndex(key)
        else {
            if let index = button { buttons[index].gesture = .spent }
            return
        }
        clips[clip].button = button
        clips[clip].torch = successor.torch
        if let index = button { buttons[index].gesture = .holding(key) }
        button = nil
        commit(key, into: &effects)
    }
}
