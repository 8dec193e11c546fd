// Start, standby, release: who may have the camera while nobody needs it (contract §5.10).
extension Session {
    mutating func commandStart(_ token: RequestToken?, into effects: inout Effects) {
        switch camera {
        // The camera that is being switched to starts already.
        case _ where switching != nil: break
        case .up, .starting, .down: break
        case .standby: wake(into: &effects)
        case .released:
            changeCamera(.starting, at: latest, into: &effects)
            effects.append(.startCamera(active))
        }
        wantsStandby = false
        answerState(token, into: &effects)
    }

    mutating func commandStandby(_ token: RequestToken?, _ source: Source, into effects: inout Effects) {
        guard recordingClip == nil else { return refuse(token, source, .recording, into: &effects) }
        guard switching == nil else { return refuse(token, source, .switching, into: &effects) }
        switch camera {
        case .up, .starting, .down:
            // What is under way gets its frames first.
            wantsStandby = true
            considerStandby(into: &effects)
            if let token { effects.append(.answer(token, .effective(.cameraState(.standby)))) }
        case .standby, .released: answerState(token, into: &effects)
        }
    }

    mutating func commandRelease(_ token: RequestToken?, _ source: Source, into effects: inout Effects) {
        guard switching == nil else { return refuse(token, source, .switching, into: &effects) }
        if camera != .released {
            endAllLight(into: &effects)
            changeCamera(.released, at: latest, into: &effects)
            effects.append(.releaseCamera(active))
        }
        wantsStandby = false
        answerState(token, into: &effects)
    }

    private func answerState(_ token: RequestToken?, into effects: inout Effects) {
        if let token { effects.append(.answer(token, .effective(.cameraState(camera)))) }
    }

    /// Somebody needs the camera.
    mutating func wake(into effects: inout Effects) {
        lastUse = latest
        guard camera == .standby, !isStopping, switching == nil else { return }
        convergence = Convergence()
        changeCamera(.starting, at: latest, into: &effects)
        effects.append(.startCamera(active))
    }

    /// Goes to standby when that was asked for and nothing is under way, or when nobody did anything for long enough.
    mutating func considerStandby(into effects: inout Effects) {
        if !isIdle || lease != nil { lastUse = max(lastUse, latest) }
        guard isStreaming || wantsStandby, isIdle, !isStopping, camera != .standby, camera != .released else { return }
        guard wantsStandby || standbyDeadline.map({ $0 <= latest }) == true else { return }
        wantsStandby = false
        endAllLight(into: &effects)
        changeCamera(.standby, at: latest, into: &effects)
        effects.append(.stopCamera(active))
    }

    var standbyDeadline: Instant? {
        guard settings.standbyAfter > .zero, camera == .up, isIdle, lease == nil, !isStopping else { return nil }
        return lastUse + settings.standbyAfter
    }
}
