import FieldcamCore
import FieldcamLinux
import FieldcamPorts

/// One camera of the board as the director drives it.
final class Station {
    let id: CameraID
    let role: String
    let camera: any Camera
    let light: (any Light)?
    let worker: CameraWorker
    var request: CameraRequest
    var mode: CameraMode?
    /// What its pictures carry; kept when it is given up, for shots that still wait with one of its frames.
    private(set) var identity = Identity()
    var link: CameraLink
    /// Core wants it to run; recovery is tried as long as this holds.
    var isWanted = false
    /// Between the answer that it was started and the next order to its thread: only then it is drained.
    var runs = false
    /// An order was given to its thread and isn't answered yet.
    private var isBusy = false
    /// What is ordered of its thread next, once it has answered.
    private var waiting: CameraWorker.Job?
    var controls = CameraControls()
    /// It is away from its stream for shots of the full sensor, or ordered to.
    var isExposing = false
    /// What it does there; `nil`: it isn't there yet.
    var sensorMode: CameraMode?
    /// What the memory allowed of the latest request.
    var memory: MemoryStep?
    /// It comes back from there, which is no news.
    var returns = false
    /// The order to come back was given.
    var isReturning = false
    /// Its frames must be gone first.
    var leaving: FramePool?
    /// Added to the camera's own count, so that frames of different runs have different names.
    private var base: UInt64 = 0
    private var last: UInt64 = 0

    /// What the frames that come now are like.
    var streaming: CameraMode? { isExposing ? sensorMode : mode }

    /// Its thread does one thing at a time; what is ordered meanwhile is done after it, as one order.
    func order(_ job: CameraWorker.Job) {
        guard !isBusy else {
            waiting = waiting.map { job.after($0) } ?? job
            return
        }
        isBusy = true
        worker.post(job)
    }

    /// Its thread has answered. False: another order was given since, whose answer will tell how things are.
    func takesAnswer() -> Bool {
        isBusy = false
        guard let job = waiting else { return true }
        waiting = nil
        order(job)
        return false
    }

    /// A new run begins.
    func beginCount() { base = last &+ 1 }

    func name(_ frame: inout Frame) {
        frame.ref.camera = id.index
        frame.ref.sequence &+= base
        last = max(last, frame.ref.sequence)
    }

    /// Back from the full sensor, or never arrived there.
    func leaveSensor() {
        isExposing = false
        sensorMode = nil
        returns = false
        isReturning = false
    }

    struct Identity {
        var model = ""
        var rotation = 0
        var mirror = false
    }

    func adopt(_ mode: CameraMode) {
        self.mode = mode
        identity = Identity(model: mode.model, rotation: mode.rotation, mirror: mode.mirror)
    }

    init(id: CameraID, _ station: Plant.Station, request: CameraRequest, interval: Duration, facts: FactBox) {
        self.id = id
        role = station.role
        camera = station.camera
        light = station.light
        self.request = request
        worker = CameraWorker(id: id, camera: station.camera, facts: facts)
        link = CameraLink(interval: interval)
    }
}
