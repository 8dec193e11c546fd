import FieldcamCore
import FieldcamLinux
import FieldcamPorts

/// What stands for the camera of a board that has none: the service runs, and a press says why nothing comes of it.
final class NoCamera: Camera {
    private let event = EventFD()
    var descriptor: Int32 { event.descriptor }

    func open() throws(HardwareError) {
        throw HardwareError(.absent, "open a camera", detail: "the board's profile has none; add a [[camera]] to it")
    }

    func configure(_ request: CameraRequest) throws(HardwareError) -> CameraMode {
        throw HardwareError(.absent, "configure a camera", detail: "the board's profile has none")
    }

    func start() throws(HardwareError) {
        throw HardwareError(.absent, "start a camera", detail: "the board's profile has none")
    }

    func stop() {}
    func close() {}
    func control(_ controls: CameraControls) {}

    func drain(_ body: (CameraFact) -> Void) {}
    func requeue(now: Instant) {}
    var nextDeadline: Instant? { nil }
}
