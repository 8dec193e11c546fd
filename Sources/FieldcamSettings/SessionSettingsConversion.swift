import FieldcamCore

extension Settings {
    /// The part that the decisions need. `frameInterval` is nominal: the camera's mode may tell a better one.
    public func session(for board: BoardProfile) -> SessionSettings {
        var session = SessionSettings()
        session.hold = button.hold
        session.doublePress = button.doublePress
        session.doublePressIsBound = isDoublePressBound(on: board)
        session.shutterRole = button.shutterRole
        session.buttonEnabled = button.enabled
        session.maximumDuration = video.maximumDuration
        session.frameInterval = .nanoseconds(Int64((1_000_000_000 / video.effectiveFramerate).rounded()))
        return session
    }

    private func isDoublePressBound(on board: BoardProfile) -> Bool {
        switch button.doublePressAction {
        case .none: false
        case .cycleFlash, .switchCamera: true
        case .auto: FeatureSet.switchesCameras && board.cameras.count > 1
        }
    }

    /// The camera to start with, as an index into the board's cameras; `nil`: the board has none.
    public func defaultCamera(of board: BoardProfile) -> Int? {
        switch camera.default {
        case .first, .last: board.cameras.isEmpty ? nil : 0
        case .role(let role): board.cameras.firstIndex { $0.role == role }
        }
    }
}

extension LoadedSettings {
    /// What the settings ask of a board that it hasn't got; empty: all is well.
    public func complaints(about board: BoardProfile) -> [Complaint] {
        guard case .role(let role) = settings.camera.default, settings.defaultCamera(of: board) == nil else {
            return []
        }
        let roles = board.cameras.map(\.role)
        let place = origins["camera.default"] ?? Place(file: "settings")
        guard !roles.isEmpty else {
            return [Complaint(place, "camera.default is \(quoted(role)), but the board '\(board.name)' has no camera")]
        }
        return [
            Complaint(
                place,
                "camera.default is \(quoted(role)), but the board '\(board.name)' has: \(roles.joined(separator: ", "))"
            )
        ]
    }
}
