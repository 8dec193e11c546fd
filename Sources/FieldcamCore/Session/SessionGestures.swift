// Gestures of the shutter button (contract §5.2–5.9).
extension Session {
    mutating func pressBegan(_ index: Int, at: Instant, _ source: Source, into effects: inout Effects) {
        switch buttons[index].gesture {
        case .idle: break
        case .window(let first, let released):
            if at <= released + first.window {
                buttons[index].gesture = .second(first, released: released, at: at, source: source)
                return
            }
            commitTap(index, first, into: &effects)
        case .down, .second, .holding, .spent: return
        }
        guard !isStopping else {
            buttons[index].gesture = .spent
            return
        }
        if settings.buttonEnabled { wake(into: &effects) }
        var press = Press(
            at: at, source: source, meaning: .free, role: settings.shutterRole, hold: settings.hold,
            window: settings.doublePress, isBound: settings.doublePressIsBound || boundAction != nil,
            maximum: settings.maximumDuration,
            candidate: newCandidate(press: at))
        if !settings.buttonEnabled {
            press.meaning = .disabled
        } else if let key = recordingClip {
            press.meaning = .duringClip(key)
        }
        beginWork(&press, into: &effects)
        buttons[index].gesture = .down(press)
    }

    /// What can be dropped starts at the edge: the tap's picture is kept, the hold's clip begins.
    private mutating func beginWork(_ press: inout Press, into effects: inout Effects) {
        if case .disabled = press.meaning { return }
        if press.mayBeShot {
            for index in shelf.held.indices where !press.candidate.isResolved {
                press.candidate.consider(shelf.held[index], on: &shelf, into: &effects)
            }
        }
        guard case .free = press.meaning, press.role != .photoOnly else { return }
        press.obstacle = obstacle
        if press.obstacle == nil, !settings.recordingIsUnsupported {
            press.clip = beginClip(press: press.at, press.source, maximum: press.maximum, into: &effects)
        }
    }

    mutating func pressConfirmed(_ index: Int, at: Instant, into effects: inout Effects) {
        switch buttons[index].gesture {
        case .down(var press):
            counters.presses += 1
            press.isConfirmed = true
            if case .disabled = press.meaning {
                buttons[index].gesture = .spent
                reject(press.source, .buttonDisabled, into: &effects)
                return
            }
            switch press.role {
            case .photoVideo, .photoOnly: buttons[index].gesture = .down(press)
            case .videoHold, .videoLatch: decideClip(index, press, at: press.at, into: &effects)
            }
        case .second(let first, _, _, let source):
            counters.presses += 1
            if settings.buttonEnabled {
                discard(first, into: &effects)
                buttons[index].gesture = .spent
                counters.doublePresses += 1
                effects.append(.doublePress(ButtonID(index)))
                actOnDoublePress(source, into: &effects)
            } else {
                commitTap(index, first, into: &effects)
                buttons[index].gesture = .spent
                reject(source, .buttonDisabled, into: &effects)
            }
        case .idle, .window, .holding, .spent: break
        }
    }

    mutating func pressWasNoise(_ index: Int, into effects: inout Effects) {
        switch buttons[index].gesture {
        case .down(let press):
            buttons[index].gesture = .idle
            discard(press, into: &effects)
            considerMaximum(into: &effects)
        case .second(let first, let released, _, _):
            buttons[index].gesture = .window(first, released: released)
            closeWindow(index, into: &effects)
        case .spent: buttons[index].gesture = .idle
        case .idle, .window, .holding: break
        }
    }

    /// Frames from there on are withheld until the release is confirmed.
    mutating func releaseBegan(_ index: Int, at: Instant) {
        guard let key = clipKey(ofButton: index), let clip = clipIndex(key) else { return }
        clips[clip].withheldFrom = at
    }

    mutating func releaseWasNoise(_ index: Int, into effects: inout Effects) {
        if let key = clipKey(ofButton: index), let clip = clipIndex(key) {
            clips[clip].withheldFrom = nil
            clips[clip].asked = nil
            appendWithheld(clip, into: &effects)
        }
        considerGesture(index, into: &effects)
    }

    mutating func releaseConfirmed(_ index: Int, at: Instant, _ reason: StopReason, into effects: inout Effects) {
        if case .down(let press) = buttons[index].gesture {
            if at < press.holdTime {
                tap(index, press, released: at, into: &effects)
                return
            }
            // Everything came late: the hold is decided only now.
            decideHold(index, press, into: &effects)
        }
        switch buttons[index].gesture {
        case .holding(let key):
            buttons[index].gesture = .idle
            stop(key, end: at, reason, into: &effects)
        case .spent: buttons[index].gesture = .idle
        case .idle, .down, .window, .second: break
        }
    }

    /// Time or a reading may have decided what was open.
    mutating func considerGesture(_ index: Int, into effects: inout Effects) {
        guard index == Self.shutter else { return }
        considerHold(index, into: &effects)
        considerMaximum(into: &effects)
    }

    mutating func passGestureTime(into effects: inout Effects) {
        let index = Self.shutter
        considerHold(index, into: &effects)
        closeWindow(index, into: &effects)
    }

    /// No second press came in time: the tap is a shot.
    private mutating func closeWindow(_ index: Int, into effects: inout Effects) {
        guard case .window(let first, let released) = buttons[index].gesture, now >= released + first.window else {
            return
        }
        commitTap(index, first, into: &effects)
    }

    var gestureDeadline: Instant? {
        switch buttons[Self.shutter].gesture {
        case .down(let press):
            guard press.isConfirmed, buttons[Self.shutter].position.changing == nil else { return nil }
            return press.asked.map { $0 + settings.bounce } ?? press.holdTime
        case .window(let first, let released): return released + first.window
        case .idle, .second, .holding, .spent: return nil
        }
    }

    /// The service stops: a press under way is as if released now.
    mutating func endGesture(at: Instant, into effects: inout Effects) {
        let index = Self.shutter
        switch buttons[index].gesture {
        case .down(let press):
            if !press.isConfirmed {
                discard(press, into: &effects)
            } else if at >= press.holdTime {
                decideHold(index, press, into: &effects)
            } else {
                dropClip(of: press, into: &effects)
                commitTap(index, press, into: &effects)
            }
        case .window(let first, _), .second(let first, _, _, _): commitTap(index, first, into: &effects)
        case .idle, .holding, .spent: break
        }
        let position = buttons[index].position
        buttons[index].gesture = position.isDown || position.changing != nil ? .spent : .idle
    }

    // MARK: Decisions

    /// Still down at `hold`? The line is read once more, so that a release whose edge is still under way counts.
    private mutating func considerHold(_ index: Int, into effects: inout Effects) {
        guard case .down(var press) = buttons[index].gesture, press.isConfirmed, now >= press.holdTime,
            buttons[index].position.changing == nil
        else { return }
        if !buttons[index].isKnownDown(at: press.holdTime) {
            guard let asked = press.asked else {
                press.asked = now
                buttons[index].gesture.update(press)
                buttons[index].line.askLevel(at: now)
                effects.append(.readLevel(ButtonID(index)))
                return
            }
            guard now >= asked + settings.bounce else { return }
        }
        decideHold(index, press, into: &effects)
    }

    private mutating func decideHold(_ index: Int, _ press: Press, into effects: inout Effects) {
        if press.role == .photoOnly {
            commitTap(index, press, into: &effects)
            buttons[index].gesture = .spent
        } else {
            decideClip(index, press, at: press.holdTime, into: &effects)
        }
    }

    /// A press that means a clip: begins one, or ends the one that runs; `at` is when it means so.
    private mutating func decideClip(_ index: Int, _ press: Press, at: Instant, into effects: inout Effects) {
        var press = press
        press.candidate.release(on: &shelf, into: &effects)
        buttons[index].gesture = .spent
        if case .duringClip(let key) = press.meaning {
            if press.role == .videoHold {
                reject(press.source, .alreadyRecording, into: &effects)
            } else if recordingClip == key {
                stop(key, end: at, .button, into: &effects)
            } else {
                reject(press.source, .notRecording, into: &effects)
            }
            return
        }
        if recordingClip != nil {
            dropClip(of: press, into: &effects)
            reject(press.source, .alreadyRecording, into: &effects)
            return
        }
        guard let key = press.clip, let clip = clipIndex(key) else {
            if settings.recordingIsUnsupported {
                reject(press.source, .unsupported, into: &effects)
            } else if let reason = press.obstacle {
                failClip(newClipKey(), press.source, reason, into: &effects)
            } else {
                // As many clips as can be are still being finished.
                reject(press.source, .queueFull, into: &effects)
            }
            return
        }
        clips[clip].button = press.role == .videoLatch ? nil : index
        if press.role != .videoLatch { buttons[index].gesture = .holding(key) }
        commit(key, into: &effects)
    }

    private mutating func tap(_ index: Int, _ press: Press, released: Instant, into effects: inout Effects) {
        dropClip(of: press, into: &effects)
        var tap = press
        tap.clip = nil
        guard tap.isBound else {
            commitTap(index, tap, into: &effects)
            return
        }
        buttons[index].gesture = .window(tap, released: released)
    }

    private mutating func commitTap(_ index: Int, _ press: Press, into effects: inout Effects) {
        buttons[index].gesture = .idle
        commitShot(press.source, press.candidate, token: nil, into: &effects)
    }

    private mutating func dropClip(of press: Press, into effects: inout Effects) {
        if let key = press.clip, let clip = clipIndex(key) { drop(clip, into: &effects) }
    }

    private mutating func discard(_ press: Press, into effects: inout Effects) {
        var press = press
        dropClip(of: press, into: &effects)
        press.candidate.release(on: &shelf, into: &effects)
    }

    /// The clip whose frames depend on whether this button is down.
    private func clipKey(ofButton index: Int) -> ClipKey? {
        switch buttons[index].gesture {
        case .down(let press): press.clip
        case .holding(let key): key
        case .idle, .window, .second, .spent: nil
        }
    }
}
