// The light: a lease with one owner and an end that is known from the beginning (contract §5, §6, §9).
extension Session {
    /// Who has the light, and its level as it was read back (as ordered until then); `nil`: it's off.
    public var light: (owner: LightOwner, level: Double)? {
        lease.map { ($0.owner, $0.shines ?? $0.level) }
    }

    /// Whether the light is held below the level that its owner wants, since it has been on for long.
    public var lightIsHeldBack: Bool { lease.map { $0.level < $0.wanted } ?? false }

    /// When the torch may be lit again that was on for as long as it may; `nil`: it may now.
    public var torchRestsUntil: Instant? {
        guard lease == nil else { return nil }
        return budget.rest(of: limits.maximumTorch)
    }

    /// Whether the light has been on for so long that it must cool first, or the clip that runs is dark for that.
    public var lightMustCool: Bool {
        guard lease == nil else { return false }
        if let key = recordingClip, let index = clipIndex(key), clips[index].torchIsRefused { return true }
        var budget = budget
        budget.advance(to: latest)
        return budget.remaining(of: limits.maximumTorch) == .zero
    }

    var activeAbilities: CameraAbilities { abilities[active.index] ?? CameraAbilities() }
    var hasLight: Bool { activeAbilities.hasLight }

    /// Whether a scene needs light, for `auto`.
    func isDim(_ frame: Frame) -> Bool {
        if let lux = frame.lux { return lux < settings.light.dimLux }
        guard let exposure = frame.exposure else { return false }
        return exposure * (frame.gain ?? 1) >= settings.light.dimExposure
    }

    /// The limits of the light that is on, or of the one that the camera which counts has.
    private var limits: SessionSettings.Light.Limits { settings.light.limits(of: lease?.camera ?? active) }

    /// Of that light.
    var budget: TorchBudget {
        get { budgets[limits.light % budgets.count] }
        set { budgets[limits.light % budgets.count] = newValue }
    }

    /// Of the camera that counts.
    var maximumFlash: Duration { settings.light.limits(of: active).maximumFlash }

    // MARK: Lease

    /// Gives the light to an owner, out of the hands of another one if need be.
    private mutating func lightUp(
        _ owner: LightOwner, _ wanted: Double, _ level: Double, for span: Duration, token: RequestToken? = nil,
        into effects: inout Effects
    ) {
        answerTorch(into: &effects)
        let deadline = latest + span
        lease = LightLease(
            owner: owner, camera: active, wanted: wanted, level: level, since: lease?.since ?? latest,
            deadline: deadline, shines: nil, token: token)
        budget.turn(on: true, at: latest)
        effects.append(.lightOn(active, level: level, deadline: deadline))
    }

    /// The light goes off, whoever has it.
    mutating func endLight(into effects: inout Effects) {
        guard let ended = lease else { return }
        answerTorch(into: &effects, level: 0)
        budget.turn(on: false, at: latest)
        lease = nil
        darkSince = latest
        if case .hand = ended.owner { handTorch = nil }
        pendingOffs += 1
        effects.append(.lightOff(ended.camera))
        if ended.shines != nil { effects.append(.announce(.lightChanged(ended.owner, level: 0))) }
    }

    /// Every way out: shots under way lose their flash, the light goes off.
    mutating func endAllLight(into effects: inout Effects) {
        abandonFlash(into: &effects)
        endLight(into: &effects)
    }

    mutating func takeLight(_ camera: CameraID, level: Double, at: Instant, into effects: inout Effects) {
        if level <= 0 {
            darkSince = max(darkSince, at)
            if flashedSince != nil { flashLitUntil = max(flashLitUntil, at) }
            if let since = flashedSince { restsUntil = max(restsUntil, at + (at - since)) }
            flashedSince = nil
            if pendingOffs > 0 {
                pendingOffs -= 1
            } else if lease?.camera == camera {
                failLight(into: &effects)
            }
            return
        }
        guard let current = lease, current.camera == camera, pendingOffs == 0 else { return }
        lease?.shines = level
        if current.shines != level { effects.append(.announce(.lightChanged(current.owner, level: level))) }
        answerTorch(into: &effects)
        flash?.shines(at: at, frameInterval: settings.frameInterval)
    }

    mutating func loseLight(_ camera: CameraID, into effects: inout Effects) {
        guard lease?.camera == camera else { return }
        failLight(into: &effects)
    }

    /// Ordered on, but it doesn't shine.
    private mutating func failLight(into effects: inout Effects) {
        if let token = lease?.token {
            lease?.token = nil
            reject(token, .api, .unsupported, into: &effects)
        }
        abandonFlash(into: &effects)
        endLight(into: &effects)
        dispatchShots(into: &effects)
    }

    /// The client that waits for the light's level is told.
    private mutating func answerTorch(into effects: inout Effects, level: Double? = nil) {
        guard let token = lease?.token else { return }
        effects.append(.answer(token, .effective(.torch(level ?? lease?.shines ?? lease?.level ?? 0))))
        lease?.token = nil
    }

    // MARK: Torch

    mutating func commandTorch(
        _ level: Double, _ token: RequestToken?, _ source: Source, into effects: inout Effects
    ) {
        guard level >= 0, level <= 1 else { return refuse(token, source, .outOfRange, into: &effects) }
        if level == 0 {
            if lease?.isTorch == true { endLight(into: &effects) }
            handTorch = .off
            if let token { effects.append(.answer(token, .effective(.torch(0)))) }
            return
        }
        guard abilities[active.index]?.hasLight != false, !isStopping else {
            return refuse(token, source, .unsupported, into: &effects)
        }
        // No camera is needed; one that is given up for another one takes its light with it.
        guard switching?.oldIsStopped != true else { return refuse(token, source, .switching, into: &effects) }
        budget.advance(to: latest)
        // Too hot to be lit again.
        guard budget.remaining(of: limits.maximumTorch) > .zero else {
            return refuse(token, source, .outOfRange, into: &effects)
        }
        abandonFlash(into: &effects)
        handTorch = .on(level)
        lightTorch(.hand, level, token: token, into: &effects)
        dispatchShots(into: &effects)
    }

    /// Hands the torch back to `torch.mode`.
    mutating func releaseHandTorch(_ token: RequestToken?, into effects: inout Effects) {
        handTorch = nil
        if let key = recordingClip, let index = clipIndex(key) { clips[index].torchIsDecided = false }
        if case .hand? = lease?.owner, !considerTorch(into: &effects) { endLight(into: &effects) }
        considerTorch(into: &effects)
        if let token {
            effects.append(.answer(token, .effective(.torch(lease?.isTorch == true ? lease?.level ?? 0 : 0))))
        }
    }

    /// Lights the running clip if `torch.mode` says so. Returns whether the clip has the light now.
    @discardableResult
    mutating func considerTorch(into effects: inout Effects) -> Bool {
        guard let key = recordingClip, let index = clipIndex(key), let number = clips[index].number,
            clips[index].camera == active, !clips[index].torchIsDecided, !flashIsUnderWay, camera == .up,
            let last = lastFrame
        else { return false }
        clips[index].torchIsDecided = true
        let wish = clips[index].torch
        // What was asked for with the clip counts for more than a torch that is off by hand; one that is lit stays so.
        if wish == nil || handTorch != .off { guard handTorch == nil else { return false } }
        guard hasLight, !isStopping else { return false }
        switch wish?.mode ?? settings.light.torch {
        case .off: return false
        case .on: break
        case .auto: guard isDim(last) else { return false }
        }
        budget.advance(to: latest)
        guard budget.remaining(of: limits.maximumTorch) > .zero else {
            clips[index].torchIsRefused = true
            effects.append(.announce(.lightRefused(.clip(number))))
            return false
        }
        lightTorch(.clip(number), wish?.level ?? settings.light.torchLevel, token: nil, into: &effects)
        return true
    }

    /// The clip has the light already; its level is `torch.level` from now on.
    mutating func lightClip(_ number: MediaNumber, into effects: inout Effects) {
        guard lease?.wanted != settings.light.torchLevel else { return }
        lightTorch(.clip(number), settings.light.torchLevel, token: nil, into: &effects)
    }

    private mutating func lightTorch(
        _ owner: LightOwner, _ level: Double, token: RequestToken?, into effects: inout Effects
    ) {
        let maximum = limits.maximumTorch
        budget.advance(to: latest)
        lightUp(
            owner, level, min(level, budget.level(of: maximum)), for: budget.remaining(of: maximum), token: token,
            into: &effects)
    }

    /// The clip ends: its light goes off before that is told.
    mutating func endTorch(of number: MediaNumber?, into effects: inout Effects) {
        guard let number, lease?.owner == .clip(number) else { return }
        endLight(into: &effects)
    }

    // MARK: Time

    mutating func passLightTime(into effects: inout Effects) {
        guard let current = lease else { return }
        budget.advance(to: latest)
        guard latest < current.deadline else {
            if current.isTorch { endLight(into: &effects) } else { endFlashAttempt(into: &effects) }
            return
        }
        guard current.isTorch else { return }
        let level = min(current.wanted, budget.level(of: limits.maximumTorch))
        guard level < current.level else { return }
        lease?.level = level
        effects.append(.lightOn(current.camera, level: level, deadline: current.deadline))
    }

    var lightDeadline: Instant? {
        guard let lease else { return nil }
        guard lease.isTorch, let step = budgetStep(lease) else { return lease.deadline }
        return min(step, lease.deadline)
    }

    /// When the level must fall; `nil`: not before the end.
    private func budgetStep(_ lease: LightLease) -> Instant? {
        var budget = budget
        budget.advance(to: latest)
        guard budget.level(of: limits.maximumTorch) > 0.25 else { return nil }
        return budget.untilNextStep(of: limits.maximumTorch).map { latest + $0 }
    }
}
