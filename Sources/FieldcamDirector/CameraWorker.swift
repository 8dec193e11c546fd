import FieldcamCore
import FieldcamLinux
import FieldcamPorts

/// `fc-camera`: the calls of a camera that may block for a second or more.
final class CameraWorker: @unchecked Sendable {
    // Proof of Sendable: the mailbox is thread-safe; `isOpen` and `mode` belong to `perform`, which runs on one thread.
    enum Job: Sendable {
        /// Opens if it isn't open, configures if it isn't configured, starts.
        case start(CameraRequest)
        /// Stops and starts, keeping the buffers.
        case restart(CameraRequest)
        /// Gives the camera up first, then as `start`.
        case reopen(CameraRequest)
        /// Stops it; it stays configured, with its buffers.
        case pause
        case close
        /// Leaves the stream for another mode, whose first frame has these controls, the crop by the zoom in its own shape.
        case expose(CameraRequest, CameraControls, zoom: Double)
        /// From another mode back to the stream, whose first frame has these controls.
        case resume(CameraRequest, CameraControls)

        /// One order in the place of another that wasn't begun, and this one after it.
        func after(_ earlier: Job) -> Job {
            switch (earlier, self) {
            case (.close, .pause), (.reopen, .pause): .close
            case (.pause, .start(let request)), (.restart, .start(let request)): .restart(request)
            // The stream's configuration is gone or is to be given up.
            case (.close, .start(let request)), (.reopen, .start(let request)), (.resume, .start(let request)),
                (.expose, .start(let request)), (.close, .restart(let request)), (.reopen, .restart(let request)):
                .reopen(request)
            default: self
            }
        }
    }

    private let id: CameraID
    private let camera: any Camera
    private let facts: FactBox
    private let box = Mailbox<Job>(capacity: 8)
    private var thread: Thread?
    private var isOpen = false
    private var mode: CameraMode?
    /// Contiguous memory that the configuration takes, as it was planned.
    private var held: Int64 = 0

    init(id: CameraID, camera: any Camera, facts: FactBox) {
        self.id = id
        self.camera = camera
        self.facts = facts
    }

    func start() {
        thread = Thread(name: id.index == 0 ? "fc-camera" : "fc-camera-\(id.index)") { [self] in
            while let job = box.take() { perform(job) }
        }
    }

    func stop() {
        box.close()
        thread?.join()
    }

    func post(_ job: Job) {
        let refused = box.post(job)
        precondition(refused == nil, "the director asks one thing of the camera at a time")
    }

    func workOnce() -> Bool {
        guard thread == nil, let job = box.takeIfAny() else { return false }
        perform(job)
        return true
    }

    private func perform(_ job: Job) {
        switch job {
        case .start(let request): bringUp(request)
        case .restart(let request):
            camera.stop()
            bringUp(request)
        case .pause:
            camera.stop()
            facts.post(.camera(id, .stopped))
        case .reopen(let request):
            shutDown()
            bringUp(request)
        case .close:
            shutDown()
            facts.post(.camera(id, .stopped))
        case .expose(let request, let controls, let zoom): expose(request, controls, zoom)
        case .resume(let request, let controls):
            camera.stop()
            mode = nil
            bringUp(request, controls)
        }
    }

    private func expose(_ request: CameraRequest, _ controls: CameraControls, _ zoom: Double) {
        camera.stop()
        // The stream is configured anew afterwards, whatever comes of this.
        mode = nil
        do throws(HardwareError) {
            if !isOpen {
                try camera.open()
                isOpen = true
            }
            let mode = try camera.configure(fitted(request))
            var controls = controls
            controls.crop = mode.abilities.crop(zoom: zoom)
            camera.control(controls)
            try camera.start()
            facts.post(.camera(id, .sensorStarted(mode)))
        } catch {
            facts.post(.camera(id, .sensorFailed(error)))
        }
    }

    private func bringUp(_ request: CameraRequest, _ controls: CameraControls? = nil) {
        do throws(HardwareError) {
            if !isOpen {
                try camera.open()
                isOpen = true
            }
            let mode: CameraMode
            if let known = self.mode {
                mode = known
            } else {
                mode = try camera.configure(fitted(request))
                self.mode = mode
            }
            if let controls { camera.control(controls) }
            try camera.start()
            facts.post(.camera(id, .started(mode)))
        } catch {
            // Half-open is of no use: the next try begins from nothing.
            shutDown()
            facts.post(.camera(id, .failed(error)))
        }
    }

    /// The request as far as the memory allows, which is told.
    private func fitted(_ request: CameraRequest) -> CameraRequest {
        // What was configured before is given back by being configured anew.
        let step = MemoryStep(request, camera.limits, held: held)
        held = step?.plan.contiguous ?? 0
        facts.post(.memoryPlanned(id, step))
        return step?.request ?? request
    }

    private func shutDown() {
        held = 0
        camera.stop()
        camera.close()
        isOpen = false
        mode = nil
    }
}
