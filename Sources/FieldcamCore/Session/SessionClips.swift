// Clips: speculative, recording, ending, saving; each committed one ends exactly once (contract §5.3, §6).
extension Session {
    enum ClipOutcome {
        case saved
        case empty
        case failed(FailureReason)
    }

    func clipIndex(_ key: ClipKey) -> Int? {
        clips.firstIndex { $0.key == key }
    }

    /// Who asked for a clip that isn't finished.
    public func source(of key: ClipKey) -> Source? { clipIndex(key).map { clips[$0].source } }

    mutating func newClipKey() -> ClipKey {
        lastClipKey &+= 1
        return ClipKey(lastClipKey)
    }

    // MARK: Requests

    mutating func requestRecording(
        _ token: RequestToken, _ source: Source, maximum: Duration?, torch: ClipTorch? = nil, at: Instant,
        into effects: inout Effects
    ) {
        guard !isStopping else { return reject(token, source, .unsupported, into: &effects) }
        guard recordingClip == nil else { return reject(token, source, .alreadyRecording, into: &effects) }
        guard !settings.recordingIsUnsupported else { return reject(token, source, .unsupported, into: &effects) }
        if let torch {
            guard torch.level.map({ $0 > 0 && $0 <= 1 }) ?? true else {
                return reject(token, source, .outOfRange, into: &effects)
            }
            guard torch.mode == .off || abilities[active.index].map(\.hasLight) != false else {
                return reject(token, source, .unsupported, into: &effects)
            }
        }
        wake(into: &effects)
        if let reason = obstacle {
            failClip(newClipKey(), source, reason, token: token, into: &effects)
            return
        }
        let maximum = maximum ?? settings.maximumDuration
        guard let key = beginClip(press: at, source, maximum: maximum, into: &effects) else {
            return reject(token, source, .queueFull, into: &effects)
        }
        if let index = clipIndex(key) { clips[index].torch = torch }
        commit(key, token: token, into: &effects)
    }

    mutating func requestStop(_ token: RequestToken, _ source: Source, at: Instant, into effects: inout Effects) {
        guard let key = recordingClip, let index = clipIndex(key), let number = clips[index].number else {
            return reject(token, source, .notRecording, into: &effects)
        }
        effects.append(.answer(token, .accepted(number)))
        stop(key, end: at, .command, into: &effects)
    }

    // MARK: Life

    /// Begins a clip at a press, with the frames since then that have come already; `nil`: too many are alive.
    mutating func beginClip(
        press: Instant, _ source: Source, maximum: Duration, into effects: inout Effects
    ) -> ClipKey? {
        guard clips.count < Self.maximumClips else { return nil }
        let key = newClipKey()
        clips.append(Clip(key: key, press: press, source: source, maximum: maximum, camera: comingCamera))
        effects.append(.beginClip(key, press: press))
        let index = clips.count - 1
        for place in shelf.held.indices { offer(shelf.held[place], to: index, into: &effects) }
        return key
    }

    /// Number, file and events: from here on the clip ends with exactly one terminal event.
    mutating func commit(_ key: ClipKey, token: RequestToken? = nil, into effects: inout Effects) {
        guard let index = clipIndex(key) else { return }
        let source = clips[index].source
        let button = clips[index].button
        if let reason = storageObstacle {
            drop(index, into: &effects)
            if let button { buttons[button].gesture = .spent }
            failClip(key, source, reason, token: token, into: &effects)
            return
        }
        tellPendingStops(into: &effects)
        let (number, isReserved) = takeNumber(into: &effects)
        guard isReserved else {
            drop(index, into: &effects)
            if let button { buttons[button].gesture = .spent }
            failClip(key, source, .storageUnwritable, number: number, token: token, into: &effects)
            return
        }
        counters.clips += 1
        clips[index].number = number
        clips[index].phase = .recording
        recordingClip = key
        if let token { effects.append(.answer(token, .accepted(number))) }
        effects.append(.commitClip(key, number))
        effects.append(.announce(.recordingRequested(number, source)))
        // Shots that were pressed before have their flash; it shows in the clip, which begins with its press nevertheless.
        endStacks()
        considerTorch(into: &effects)
        dispatchShots(into: &effects)
        tellStart(index, into: &effects)
        if let cut = clips[index].cut {
            stop(key, end: cut, .cameraLost, into: &effects)
        } else {
            considerMaximum(into: &effects)
        }
    }

    /// Decides the end of the clip that records.
    mutating func stop(_ key: ClipKey, end: Instant, _ reason: StopReason, into effects: inout Effects) {
        guard let index = clipIndex(key), clips[index].phase == .recording else { return }
        var end = end
        var reason = reason
        switch reason {
        case .released, .command, .button, .lineLost, .shutdown:
            // Judged by media time, also when it is delivered late (T6).
            if let limit = clips[index].limit, end >= limit {
                end = limit
                reason = .maximumDuration
            }
        case .maximumDuration, .storageLow, .cameraLost, .encoderLost, .cameraSwitch, .error: break
        }
        clips[index].end = end
        clips[index].reason = reason
        clips[index].phase = .ending
        clips[index].deadline = end + wait
        recordingClip = nil
        // Nothing shines any more when the stop is told.
        if flash?.ordered != nil { abandonFlash(into: &effects) }
        endTorch(of: clips[index].number, into: &effects)
        appendWithheld(index, into: &effects)
        // Without a frame yet the start may still have to be told before the stop.
        if clips[index].startTold { tellStop(index, into: &effects) }
        if latestFrame >= end || now >= end + wait || reason == .cameraLost || reason == .encoderLost
            || reason == .cameraSwitch || !isStreaming
        {
            finish(index, into: &effects)
        }
    }

    mutating func finish(_ index: Int, into effects: inout Effects) {
        guard clips[index].phase == .ending, let end = clips[index].end else { return }
        tellStop(index, into: &effects)
        clips[index].phase = .saving
        clips[index].deadline = nil
        effects.append(.finishClip(clips[index].key, end: end))
    }

    /// Forgets a clip that was never committed.
    mutating func drop(_ index: Int, into effects: inout Effects) {
        releaseWithheld(index, into: &effects)
        effects.append(.dropClip(clips[index].key))
        clips.remove(at: index)
    }

    /// A speculative clip that is to be another camera's: what it has is forgotten, the press stays.
    mutating func beginAnew(_ index: Int, into effects: inout Effects) {
        let old = clips[index]
        releaseWithheld(index, into: &effects)
        effects.append(.dropClip(old.key))
        let key = newClipKey()
        var clip = Clip(key: key, press: old.press, source: old.source, maximum: old.maximum, camera: old.camera)
        clip.withheldFrom = old.withheldFrom
        clips[index] = clip
        effects.append(.beginClip(key, press: old.press))
        for button in buttons.indices {
            guard case .down(var press) = buttons[button].gesture, press.clip == old.key else { continue }
            press.clip = key
            buttons[button].gesture.update(press)
        }
    }

    mutating func endClip(_ key: ClipKey, _ outcome: ClipOutcome, into effects: inout Effects) {
        guard let index = clipIndex(key) else { return }
        guard let number = clips[index].number else {
            if case .failed(let reason) = outcome { abandon(index, reason, into: &effects) }
            return
        }
        let source = clips[index].source
        let failure = clips[index].failure
        if clips[index].phase == .recording {
            clips[index].reason = .error
            recordingClip = nil
        }
        endTorch(of: number, into: &effects)
        tellStop(index, into: &effects)
        releaseWithheld(index, into: &effects)
        clips.remove(at: index)
        switch outcome {
        case .saved: effects.append(.announce(.clipSaved(number, source, key)))
        case .empty where failure != nil:
            effects.append(.announce(.clipFailed(number, source, key, failure ?? .cameraLost)))
        case .empty: effects.append(.announce(.clipDiscarded(number, source, key)))
        case .failed(let reason): effects.append(.announce(.clipFailed(number, source, key, reason)))
        }
    }

    mutating func loseEncoder(_ key: ClipKey, at: Instant, into effects: inout Effects) {
        guard let index = clipIndex(key) else { return }
        switch clips[index].phase {
        case .speculative: abandon(index, .encoderLost, into: &effects)
        case .recording:
            let clip = clips[index]
            stop(key, end: at, .encoderLost, into: &effects)
            replaceEncoder(of: clip, at: at, into: &effects)
        case .ending: finish(index, into: &effects)
        case .saving: break
        }
    }

    /// The clip ended with what was encoded; the next one goes on from there with another encoder.
    private mutating func replaceEncoder(of clip: Clip, at: Instant, into effects: inout Effects) {
        switch encoderTrust.lose(at: at) {
        case .restart: break
        case .fallBack: effects.append(.fallBackEncoder)
        case .none: return
        }
        var maximum = clip.maximum
        if maximum > .zero, let first = clip.first {
            maximum -= at - first
            guard maximum > .zero else { return }
        }
        // The frame that is being exposed now came too late for the clip that ended.
        let next = latestFrame + .nanoseconds(1)
        begin(
            ClipSuccessor(
                source: clip.source, maximum: maximum, button: clip.button, torch: clip.torch, ended: clip.key),
            at: at - next < settings.frameInterval * 2 ? min(at, next) : at, into: &effects)
    }

    /// A clip that never came to be: asked for, but something stood in its way.
    mutating func failClip(
        _ key: ClipKey, _ source: Source, _ reason: FailureReason, number taken: MediaNumber? = nil,
        token: RequestToken? = nil, into effects: inout Effects
    ) {
        tellPendingStops(into: &effects)
        let number = taken ?? takeNumber(into: &effects).number
        counters.clips += 1
        if let token { effects.append(.answer(token, .accepted(number))) }
        effects.append(.announce(.recordingRequested(number, source)))
        effects.append(.announce(.recordingStopped(number, source, .error)))
        effects.append(.announce(.clipFailed(number, source, key, reason)))
    }

    /// A speculative clip can't go on: its press remembers why, should it become a hold.
    private mutating func abandon(_ index: Int, _ reason: FailureReason, into effects: inout Effects) {
        let key = clips[index].key
        drop(index, into: &effects)
        for button in buttons.indices {
            guard case .down(var press) = buttons[button].gesture, press.clip == key else { continue }
            press.clip = nil
            press.obstacle = reason
            buttons[button].gesture.update(press)
        }
    }

    mutating func clipsMeetLostCamera(_ state: CameraState, at: Instant, into effects: inout Effects) {
        var index = 0
        while index < clips.count {
            let count = clips.count
            guard clips[index].camera == active else {
                index += 1
                continue
            }
            switch clips[index].phase {
            case .speculative:
                if clips[index].first != nil {
                    clips[index].cut = clips[index].cut ?? at
                } else if state != .starting {
                    abandon(index, obstacle ?? .cameraLost, into: &effects)
                }
            case .recording:
                if clips[index].first == nil, state != .starting {
                    // Never a frame: as if it had been asked for without a camera.
                    clips[index].failure = obstacle
                    stop(clips[index].key, end: at, .error, into: &effects)
                } else {
                    stop(
                        clips[index].key, end: at, state == .released || state == .standby ? .command : .cameraLost,
                        into: &effects)
                }
            case .ending: finish(index, into: &effects)
            case .saving: break
            }
            if clips.count == count { index += 1 }
        }
    }

    // MARK: Frames

    /// Offers the next frame in order of time.
    mutating func offer(_ held: FrameShelf.Held, to index: Int, into effects: inout Effects) {
        let start = held.frame.exposureStart
        guard held.order > clips[index].cursor, clips[index].cut == nil,
            held.frame.ref.camera == clips[index].camera.index
        else { return }
        guard start >= clips[index].press else {
            clips[index].cursor = held.order
            return
        }
        switch clips[index].phase {
        case .speculative, .recording:
            if let limit = clips[index].limit, start >= limit {
                clips[index].reachedMaximum = true
            } else if clips[index].withheldThrough != nil || clips[index].withheldFrom.map({ start >= $0 }) == true {
                guard held.order > clips[index].withheldThrough ?? 0 else { return }
                shelf.pin(held.order)
                clips[index].withheldThrough = held.order
            } else {
                append(held, to: index, into: &effects)
            }
        case .ending:
            if let end = clips[index].end, start < end {
                append(held, to: index, into: &effects)
            } else {
                finish(index, into: &effects)
            }
        case .saving: break
        }
    }

    private mutating func append(_ held: FrameShelf.Held, to index: Int, into effects: inout Effects) {
        clips[index].cursor = held.order
        effects.append(.appendFrame(clips[index].key, held.frame))
        if clips[index].first == nil {
            clips[index].first = held.frame.exposureStart
            tellStart(index, into: &effects)
        }
        if clips[index].phase == .ending { tellStop(index, into: &effects) }
    }

    /// The withheld frames before the end, if one is decided, belong to the clip; the others are let go.
    mutating func appendWithheld(_ index: Int, into effects: inout Effects) {
        guard let through = clips[index].withheldThrough else { return }
        clips[index].withheldThrough = nil
        while let held = firstWithheld(index, through) {
            if clips[index].end.map({ held.frame.exposureStart < $0 }) ?? true {
                append(held, to: index, into: &effects)
            }
            clips[index].cursor = held.order
            shelf.unpin(held.order, into: &effects)
        }
    }

    /// The withheld frames are those of the clip's own camera: what another one left on the shelf is kept by others.
    private func firstWithheld(_ index: Int, _ through: UInt64) -> FrameShelf.Held? {
        shelf.first(of: clips[index].camera, after: clips[index].cursor, through: through)
    }

    mutating func releaseWithheld(_ index: Int, into effects: inout Effects) {
        guard let through = clips[index].withheldThrough else { return }
        clips[index].withheldThrough = nil
        while let held = firstWithheld(index, through) {
            clips[index].cursor = held.order
            shelf.unpin(held.order, into: &effects)
        }
    }

    /// Memory forbids to withhold it: the oldest withheld frame of any clip is let go. Returns whether there was one.
    mutating func letGoOfWithheld(into effects: inout Effects) -> Bool {
        for index in clips.indices {
            guard let through = clips[index].withheldThrough,
                let held = firstWithheld(index, through)
            else { continue }
            clips[index].cursor = held.order
            if held.order == through { clips[index].withheldThrough = nil }
            shelf.unpin(held.order, into: &effects)
            return true
        }
        return false
    }

    // MARK: Maximum duration

    /// A frame beyond the maximum ends the clip, or the watchdog if frames stop, unless a release before it is still
    /// under way.
    mutating func considerMaximum(into effects: inout Effects) {
        guard let key = recordingClip, let index = clipIndex(key), !isEndPending(index) else { return }
        if let watchdog = watchdog(index), watchdog <= now {
            let end = clips[index].limit ?? clips[index].press + clips[index].maximum
            stop(key, end: end, .maximumDuration, into: &effects)
            return
        }
        guard clips[index].reachedMaximum, let limit = clips[index].limit else { return }
        if let button = clips[index].button, !buttons[button].isKnownDown(at: limit) {
            guard let asked = clips[index].asked else {
                let at = max(now, latestFrame)
                clips[index].asked = at
                buttons[button].line.askLevel(at: at)
                effects.append(.readLevel(ButtonID(button)))
                return
            }
            guard now >= asked + settings.bounce else { return }
        }
        stop(key, end: limit, .maximumDuration, into: &effects)
    }

    /// A change of the button that may end the clip isn't confirmed yet.
    private func isEndPending(_ index: Int) -> Bool {
        if let button = clips[index].button { return buttons[button].position.changing != nil }
        guard case .down(let press) = buttons[Self.shutter].gesture, !press.isConfirmed, press.role == .videoLatch,
            case .duringClip(clips[index].key) = press.meaning, let limit = clips[index].limit
        else { return false }
        return press.at < limit
    }

    /// When a clip ends by its maximum though no frame tells so (contract §10). Media time begins with the first frame: a
    /// camera that is still starting, or that never brings one, ends the clip by its own loss.
    private func watchdog(_ index: Int) -> Instant? {
        guard clips[index].phase == .recording, let end = clips[index].limit else { return nil }
        return end + max(.milliseconds(500), settings.frameInterval * 2)
    }

    mutating func passClipTime(into effects: inout Effects) {
        considerMaximum(into: &effects)
        for index in clips.indices {
            if let deadline = clips[index].deadline, deadline <= now { finish(index, into: &effects) }
        }
    }

    func deadline(ofClip index: Int) -> Instant? {
        if let deadline = clips[index].deadline { return deadline }
        guard clips[index].phase == .recording, !isEndPending(index) else { return nil }
        if clips[index].reachedMaximum, let asked = clips[index].asked { return asked + settings.bounce }
        return watchdog(index)
    }

    // MARK: Telling

    private mutating func tellStart(_ index: Int, into effects: inout Effects) {
        guard !clips[index].startTold, !clips[index].stopTold, let first = clips[index].first,
            let number = clips[index].number
        else { return }
        clips[index].startTold = true
        effects.append(
            .announce(
                .recordingStarted(
                    number, clips[index].source, clips[index].key, firstFrameOffset: first - clips[index].press)))
    }

    private mutating func tellStop(_ index: Int, into effects: inout Effects) {
        guard !clips[index].stopTold, let number = clips[index].number, let reason = clips[index].reason else { return }
        clips[index].stopTold = true
        effects.append(.announce(.recordingStopped(number, clips[index].source, reason)))
    }

    /// Before a new recording is told, every earlier one's stop is.
    private mutating func tellPendingStops(into effects: inout Effects) {
        for index in clips.indices where clips[index].phase == .ending { tellStop(index, into: &effects) }
    }
}
