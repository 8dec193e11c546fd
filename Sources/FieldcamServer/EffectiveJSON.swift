import FieldcamCore
import FieldcamDirector

extension Effective {
    /// The answer to a live control: what it is now. `cameras`: their roles by `CameraID.index`.
    func json(cameras: [String]) -> JSON {
        switch self {
        case .focus(let point?):
            .members(["mode": .string("auto"), "x": .number(point.x), "y": .number(point.y)])
        case .focus(nil): .members(["mode": .string("continuous")])
        case .dioptres(let dioptres): .members(["mode": .string("manual"), "dioptres": .number(dioptres)])
        case .zoom(let factor): .members(["zoom": .number(factor)])
        case .flash(let mode): .members(["flash": .string(mode.rawValue)])
        case .torch(let level): .members(["level": .number(level)])
        case .camera(let camera):
            .members(["role": cameras.indices.contains(camera.index) ? .string(cameras[camera.index]) : .null])
        case .cameraState(let state): .members(["state": .string(state.word)])
        }
    }
}

extension CameraState {
    /// As the status says it.
    var word: String {
        switch self {
        case .starting: "starting"
        case .up: "up"
        case .down: "down"
        case .standby: "standby"
        case .released: "released"
        }
    }
}
