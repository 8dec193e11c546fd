// Live control, by command and by buttons other than the shutter (contract §2, §4).
extension Session {
    /// `token`: `nil` for a button.
    mutating func take(
        _ command: ControlCommand, _ token: RequestToken?, _ source: Source, at: Instant, into effects: inout Effects
    ) {
        lastUse = max(lastUse, at)
        switch command {
        case .focus, .focusAutomatically, .focusManually, .zoom:
            takeOptics(command, token, source, at: at, into: &effects)
        case .flash(let mode):
            guard mode == .off || abilities[active.index].map(\.hasLight) != false else {
                return refuse(token, source, .unsupported, into: &effects)
            }
            setFlash(mode, into: &effects)
            if let token { effects.append(.answer(token, .effective(.flash(mode)))) }
        case .torch(let level): commandTorch(level, token, source, into: &effects)
        case .torchAutomatically: releaseHandTorch(token, into: &effects)
        case .switchCamera(let camera): requestSwitch(camera, token, source, into: &effects)
        case .start: commandStart(token, into: &effects)
        case .standby: commandStandby(token, source, into: &effects)
        case .release: commandRelease(token, source, into: &effects)
        }
    }

    /// A confirmed press of a button that isn't the shutter.
    mutating func rolePressed(_ index: Int, at: Instant, _ source: Source, into effects: inout Effects) {
        guard !isStopping, roles.indices.contains(index) else { return }
        guard settings.buttonEnabled else { return reject(source, .buttonDisabled, into: &effects) }
        lastUse = max(lastUse, at)
        switch roles[index] {
        case .flash: cycleFlash(source, into: &effects)
        case .switchCamera: requestSwitch(nil, nil, source, into: &effects)
        case .focus: take(.focus(UnitPoint(x: 0.5, y: 0.5)), nil, source, at: at, into: &effects)
        case .shutter, .trigger: break
        }
    }

    /// The action of a second press.
    enum BoundAction {
        case switchCamera
        case cycleFlash
    }

    var boundAction: BoundAction? {
        switch settings.doublePressAction {
        case .none: nil
        case .auto: abilities.count > 1 ? .switchCamera : nil
        case .switchCamera: .switchCamera
        case .cycleFlash: .cycleFlash
        }
    }

    mutating func actOnDoublePress(_ source: Source, into effects: inout Effects) {
        switch boundAction {
        case .switchCamera: requestSwitch(nil, nil, source, into: &effects)
        case .cycleFlash: cycleFlash(source, into: &effects)
        case nil: break
        }
    }

    /// Refuses a command, or what a button meant.
    mutating func refuse(
        _ token: RequestToken?, _ source: Source, _ reason: RejectionReason, into effects: inout Effects
    ) {
        if let token {
            reject(token, source, reason, into: &effects)
        } else {
            reject(source, reason, into: &effects)
        }
    }
}
