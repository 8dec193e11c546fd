// Flash: one shot at a time is lit, proven, or taken without (contract §5.2, §9).
extension Session {
    /// How long a flash waits for frames of the usual length: the control delay of five frames at 5 fps.
    private static let longFrameWait: Duration = .seconds(1)

    /// How long after a flash automatic exposure may tell a scene brighter than it is.
    static let readapting: Duration = .seconds(1)

    public var flashMode: FlashMode { flashByHand ?? settings.light.flash }

    /// Whether a shot that is committed now may need the light; decided once a frame tells.
    func wantsFlash(_ mode: FlashMode) -> Bool { mode != .off && recordingClip == nil && !isStopping }

    /// Whether it is proven that a shot in work is lit by the flash; `nil`: its camera has no light.
    public func flashFired(for number: MediaNumber) -> Bool? {
        guard let shot = working.first(where: { $0.number == number }),
            abilities[shot.frame.ref.camera]?.hasLight == true
        else { return nil }
        return shot.flashFired
    }

    mutating func setFlash(_ mode: FlashMode, into effects: inout Effects) {
        flashByHand = mode
        effects.append(.announce(.flashChanged(mode)))
    }

    mutating func cycleFlash(_ source: Source, into effects: inout Effects) {
        switch flashMode {
        case .off where abilities[active.index].map(\.hasLight) == false:
            reject(source, .unsupported, into: &effects)
        case .off: setFlash(.on, into: &effects)
        case .on: setFlash(.auto, into: &effects)
        case .auto: setFlash(.off, into: &effects)
        }
    }

    /// Goes on with the flash under way, or begins the next one.
    mutating func advanceFlash(into effects: inout Effects) {
        var index = 0
        while index < queue.count, flash == nil {
            defer { index += 1 }
            // The lens first.
            guard queue[index].flash == .wanted, queue[index].focus.isOver else { continue }
            let mode = queue[index].flashAsked ?? flashMode
            guard mayFlash(mode) else {
                queue[index].flash = .none
                continue
            }
            guard queue[index].candidate.camera == active else {
                // It has its picture of a camera that doesn't count any more.
                if queue[index].candidate.frame != nil { queue[index].flash = .none }
                continue
            }
            guard camera == .up, let last = lastFrame else { continue }
            guard mode == .on || isDim(last) else {
                queue[index].flash = .none
                continue
            }
            queue[index].flash = .firing
            flash = FlashExposure(number: queue[index].number, begun: latest)
        }
        if flash != nil { optics[active.index].setFlashing(true, settings.optics, into: &effects) }
        fire(into: &effects)
    }

    /// Nothing forbids the light. While a camera starts it isn't known yet whether it has one.
    private func mayFlash(_ mode: FlashMode) -> Bool {
        guard mode != .off, !isStopping, lease?.isTorch != true else { return false }
        switch camera {
        case .up: return hasLight
        case .starting: return true
        case .down, .standby, .released: return switching != nil
        }
    }

    /// Switches the light on, after it was off as long as it was on, and a picture without it has come.
    private mutating func fire(into effects: inout Effects) {
        guard let current = flash, current.ordered == nil, lease == nil, latest >= restsUntil, camera == .up,
            let last = lastFrame, last.exposureStart >= darkSince
        else { return }
        // Low light's long frames pass first: in them exposure would settle too late.
        if optics[active.index].isOverlong(last, gap: frameGap), latest < current.begun + Self.longFrameWait { return }
        lightShot(current.number, into: &effects)
        if let lease { flash?.fire(at: latest, deadline: lease.deadline, after: last) }
    }

    private mutating func lightShot(_ number: MediaNumber, into effects: inout Effects) {
        let deadline = latest + maximumFlash
        lease = LightLease(
            owner: .shot(number), camera: active, wanted: 1, level: 1, since: latest, deadline: deadline, shines: nil,
            token: nil)
        budget.turn(on: true, at: latest)
        effects.append(.lightOn(active, level: 1, deadline: deadline))
    }

    mutating func offerToFlash(_ held: FrameShelf.Held, into effects: inout Effects) {
        guard lease?.isTorch == false, lease?.shines != nil, var current = flash,
            let index = queue.firstIndex(where: { $0.number == current.number })
        else { return }
        let verdict = current.consider(held.frame, activeAbilities, frameInterval: settings.frameInterval)
        flash = current
        guard case .take(let isProven) = verdict else { return }
        queue[index].candidate.exchange(for: held, on: &shelf, into: &effects)
        queue[index].candidate.settle()
        if isProven {
            queue[index].flash = .fired(isProven: true)
            flash = nil
            endFlashLight(into: &effects)
        } else {
            endFlashAttempt(into: &effects)
        }
    }

    /// No proven picture came of it: once more, or the shot is taken as it is.
    mutating func endFlashAttempt(into effects: inout Effects) {
        endFlashLight(into: &effects)
        guard let current = flash else { return }
        let asked = queue.first { $0.number == current.number }?.flashAsked
        guard current.attempt == 1, mayFlash(asked ?? flashMode) else { return abandonFlash(into: &effects) }
        flash?.rest()
    }

    /// The light stays off as long as it was on.
    private mutating func endFlashLight(into effects: inout Effects) {
        guard let ended = lease, !ended.isTorch else { return }
        restsUntil = latest + (latest - ended.since)
        flashedSince = ended.since
        flashLitUntil = latest
        endLight(into: &effects)
    }

    /// The flash under way comes to nothing: the shot keeps the picture that it has.
    mutating func abandonFlash(into effects: inout Effects) {
        endFlashLight(into: &effects)
        guard let current = flash else { return }
        flash = nil
        guard let index = queue.firstIndex(where: { $0.number == current.number }) else { return }
        queue[index].flash = .fired(isProven: false)
    }

    /// A shot that was pressed before is lit, or will be as soon as the camera tells.
    var flashIsUnderWay: Bool {
        flash != nil || (camera == .up && queue.contains { $0.flash == .wanted && $0.candidate.camera == active })
    }

    /// No shot is lit any more.
    mutating func forgetFlash(into effects: inout Effects) {
        abandonFlash(into: &effects)
        for index in queue.indices where queue[index].flash == .wanted { queue[index].flash = .none }
    }

    /// No shot is lit any more: low light has its say again.
    mutating func followFlash(into effects: inout Effects) {
        guard flash == nil else { return }
        for index in optics.indices {
            optics[index].setFlashing(false, settings.optics, into: &effects)
        }
    }

    var flashDeadline: Instant? {
        guard let flash, flash.ordered == nil, restsUntil > latest else { return nil }
        return restsUntil
    }
}
