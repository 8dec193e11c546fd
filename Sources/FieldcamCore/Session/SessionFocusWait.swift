// Shots that wait for the lens (contract §4, `photo.wait_for_focus`; §5.2, §9).
extension Session {
    /// The waits that can begin, begin.
    mutating func advanceFocusWait(into effects: inout Effects) {
        for index in queue.indices where queue[index].focus == .wanted {
            let candidate = queue[index].candidate
            guard candidate.isResolved else { continue }
            guard candidate.camera == active, !isStopping, !isGone, settings.focusWait != .off else {
                queue[index].focus = .over
                continue
            }
            guard camera == .up else { continue }
            let waits = optics[active.index].focusForShot(
                after: lastFrame, isStrict: settings.focusWait == .strict, settings.optics, into: &effects)
            queue[index].focus = waits ? .waiting(until: latest + settings.focusWait.limit) : .over
        }
    }

    /// The first focused picture after the commit is the shot's; or, once it waited for long enough, the next one.
    mutating func offerToFocusWait(_ held: FrameShelf.Held, into effects: inout Effects) {
        for index in queue.indices {
            guard let until = queue[index].focus.end, queue[index].candidate.camera == active,
                held.frame.exposureStart >= queue[index].committed
            else { continue }
            let isLate = settings.focusWait != .strict && held.frame.exposureEnd >= until
            let isFocused = held.frame.focus == .focused && !optics[active.index].awaitsScan
            guard isFocused || isLate else { continue }
            queue[index].candidate.exchange(for: held, on: &shelf, into: &effects)
            queue[index].candidate.settle()
            queue[index].focus = .over
        }
    }

    /// No further picture is waited for: a strict shot fails, another one takes the picture that it has.
    mutating func passFocusTime(into effects: inout Effects) {
        var index = 0
        while index < queue.count {
            guard let due = focusDeadline(of: queue[index]), due <= now else {
                index += 1
                continue
            }
            guard settings.focusWait == .strict else {
                queue[index].focus = .over
                continue
            }
            failShot(index, .focusTimeout, into: &effects)
        }
    }

    func focusDeadline(of shot: Shot) -> Instant? {
        guard let until = shot.focus.end else { return nil }
        // After a short wait the next picture is taken, if one comes.
        return settings.focusWait == .strict ? until : until + wait
    }

    /// The camera that was to focus doesn't stream any more. Returns whether the shot failed, and so left the queue.
    mutating func endFocusWait(_ index: Int, _ state: CameraState, into effects: inout Effects) -> Bool {
        guard !queue[index].focus.isOver, queue[index].candidate.frame != nil else { return false }
        switch state {
        case .up, .starting: return false
        case .standby, .released, .down: break
        }
        guard settings.focusWait == .strict, queue[index].focus != .wanted else {
            queue[index].focus = .over
            return false
        }
        if case .down(let reason) = state {
            failShot(index, reason, into: &effects)
        } else {
            failShot(index, .cameraReleased, into: &effects)
        }
        return true
    }

    mutating func failShot(_ index: Int, _ reason: FailureReason, into effects: inout Effects) {
        var shot = queue.remove(at: index)
        shot.candidate.release(on: &shelf, into: &effects)
        effects.append(.announce(.photoFailed(shot.number, shot.source, reason)))
    }
}
