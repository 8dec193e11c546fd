// Merging frames of a dark, still scene into one shot (contract §4 `low_light.stack`, §5.2).
extension Session {
    /// How long after its last frame a stack waits for the next one, beside `wait`: a busy machine, a slow sensor.
    private static let stackPatience: Duration = .seconds(1)

    /// Frames that a shot committed now is merged of: 1 unless it is dark, and while a clip runs (its frames are short).
    private var stackSize: Int {
        guard settings.photoSource == .stream, recordingClip == nil, !isStopping, camera == .up, switching == nil,
            convergence.isOver,
            optics[active.index].lowLight.isActive
        else { return 1 }
        return settings.optics.stack
    }

    /// For a shot that is committed now.
    func newStack(_ candidate: Candidate) -> StackStage {
        let size = stackSize
        guard size > 1, candidate.camera == active else { return .none }
        return .waiting(size, taken: 0, since: latest, until: latest + Self.startWait)
    }

    /// A shot of the full sensor is one exposure: that it would have been merged is told.
    mutating func tellUnmerged(_ shot: Shot, into effects: inout Effects) {
        let size = settings.optics.stack
        guard shot.sensor == .wanted, shot.flash == .none, shot.candidate.camera == active, recordingClip == nil,
            size > 1, optics[active.index].lowLight.isActive
        else { return }
        effects.append(.announce(.stackRefused(shot.number, shot.source, frames: size)))
    }

    /// Gives the frame to the first shot that is merged. Its first frame is exposed after the commit: from then on the
    /// indicator is dark, and that frame is what the picture shows.
    mutating func offerToStack(_ held: FrameShelf.Held, into effects: inout Effects) {
        for index in queue.indices {
            guard case .waiting(let size, var taken, let since, var until) = queue[index].stack,
                queue[index].flash.isOver, queue[index].focus.isOver, queue[index].candidate.camera == active
            else { continue }
            if queue[index].flash != .none {
                // A lit picture needs no merging.
                queue[index].stack = .none
                continue
            }
            until = max(until, held.frame.exposureEnd + wait + Self.stackPatience)
            defer { queue[index].stack = .waiting(size, taken: taken, since: since, until: until) }
            // There is one memory to merge in: the stack before is saved first.
            guard !working.contains(where: \.isStacked) else { return }
            let frame = held.frame
            let start = frame.exposure == nil ? frame.exposureEnd - settings.frameInterval : frame.exposureStart
            guard start >= since, taken < size else { return }
            if taken == 0 {
                queue[index].candidate.exchange(for: held, on: &shelf, into: &effects)
                queue[index].candidate.settle()
            }
            guard let reference = queue[index].candidate.frame else { return }
            effects.append(.stackFrame(queue[index].number, frame, onto: reference))
            taken += 1
            break
        }
    }

    /// The merging thread has the frame; with the last one the picture is decided.
    mutating func takeLayer(_ number: MediaNumber, into effects: inout Effects) {
        guard let index = queue.firstIndex(where: { $0.number == number }),
            case .waiting(let size, let taken, _, _) = queue[index].stack, taken >= size
        else { return }
        queue[index].stack = .over(taken)
        dispatchShots(into: &effects)
    }

    /// The merging thread had no room for a frame: a later one takes its place.
    mutating func takeBackLayer(_ number: MediaNumber) {
        guard let index = queue.firstIndex(where: { $0.number == number }),
            case .waiting(let size, let taken, let since, let until) = queue[index].stack
        else { return }
        queue[index].stack = .waiting(size, taken: max(0, taken - 1), since: since, until: until)
    }

    /// No further frame is fit to be merged: shots take what they have.
    mutating func endStacks() {
        for index in queue.indices { endStack(index) }
    }

    private mutating func endStack(_ index: Int) {
        guard case .waiting(_, let taken, _, _) = queue[index].stack else { return }
        queue[index].stack = taken > 0 ? .over(taken) : .none
    }

    mutating func passStackTime() {
        for index in queue.indices {
            guard case .waiting(_, _, _, let until) = queue[index].stack, until <= now else { continue }
            endStack(index)
        }
    }

    var stackDeadline: Instant? {
        var earliest: Instant?
        for index in queue.indices {
            guard case .waiting(_, _, _, let until) = queue[index].stack else { continue }
            earliest = min(earliest ?? until, until)
        }
        return earliest
    }
}
