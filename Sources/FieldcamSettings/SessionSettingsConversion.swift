import FieldcamCore

extension Settings {
    /// The part that the decisions need. `frameInterval` is nominal: the camera's mode may tell a better one.
    public func session(for board: BoardProfile) -> SessionSettings {
        var session = SessionSettings()
        session.hold = button.hold
        session.doublePress = button.doublePress
        session.doublePressAction = button.doublePressAction
        session.shutterRole = button.shutterRole
        session.buttonEnabled = button.enabled
        session.maximumDuration = video.maximumDuration
        session.frameInterval = .nanoseconds(Int64((1_000_000_000 / video.effectiveFramerate).rounded()))
        session.standbyAfter = camera.standbyAfter
        session.switchWhileRecording = camera.switchWhileRecording
        session.light = light(on: board)
        session.optics = optics
        session.photoSource = photo.source
        session.focusWait = photo.waitForFocus
        return session
    }

    /// Flash and torch, each light within its own limits.
    private func light(on board: BoardProfile) -> SessionSettings.Light {
        var light = SessionSettings.Light()
        light.flash = flash.mode
        light.torch = torch.mode
        light.torchLevel = torch.level
        // The board's light is shared by all cameras without one of their own.
        let shared = board.cameras.firstIndex { !$0.hasOwnLight } ?? 0
        light.limits = board.cameras.indices.map { camera in
            let profile = board.light(of: camera)
            return SessionSettings.Light.Limits(
                light: board.cameras[camera].hasOwnLight ? camera : shared,
                maximumFlash: profile?.maximumFlash ?? light.maximumFlash,
                maximumTorch: profile?.maximumTorch ?? light.maximumTorch)
        }
        return light
    }

    private var optics: OpticsSettings {
        var optics = OpticsSettings()
        optics.focusMode = focus.mode
        optics.focusTap = focus.tap
        optics.resumeOnChange = focus.resumeOnChange
        optics.resumeAfter = focus.resumeAfter
        optics.focusWhileRecording = focus.whileRecording
        optics.compensation = exposure.compensation
        optics.metering = exposure.metering
        switch exposure.shutter {
        case .auto: break
        case .fraction(let parts): optics.shutter = .nanoseconds(1_000_000_000 / Int64(parts))
        case .time(let time): optics.shutter = time
        }
        if case .times(let gain) = exposure.gain { optics.gain = gain }
        optics.lowLight = lowLight.enabled
        optics.enterLux = lowLight.enterLux
        optics.leaveLux = lowLight.leaveLux
        optics.minimumFramerate = lowLight.minimumFramerate
        optics.stack = lowLight.stack
        optics.zoom = zoom.enabled
        if case .factor(let factor) = zoom.maximum { optics.zoomMaximum = factor }
        return optics
    }

    /// The camera to start with, as an index into the board's cameras; `nil`: the board has none.
    /// - Parameter last: the role of the camera that was used last.
    public func defaultCamera(of board: BoardProfile, last: String? = nil) -> Int? {
        switch camera.default {
        case .first: board.cameras.isEmpty ? nil : 0
        case .last: board.cameras.firstIndex { $0.role == last } ?? (board.cameras.isEmpty ? nil : 0)
        case .role(let role): board.cameras.firstIndex { $0.role == role }
        }
    }
}

extension LoadedSettings {
    /// What the settings ask of a board that it hasn't got, and of each other; empty: all is well.
    public func complaints(about board: BoardProfile) -> [Complaint] {
        let framing = framingComplaints + contradictions
        guard case .role(let role) = settings.camera.default, settings.defaultCamera(of: board) == nil else {
            return framing
        }
        let roles = board.cameras.map(\.role)
        let place = origins["camera.default"] ?? Place(file: "settings")
        guard !roles.isEmpty else {
            return framing + [
                Complaint(place, "camera.default is \(quoted(role)), but the board '\(board.name)' has no camera")
            ]
        }
        return framing + [
            Complaint(
                place,
                "camera.default is \(quoted(role)), but the board '\(board.name)' has: \(roles.joined(separator: ", "))"
            )
        ]
    }
}
