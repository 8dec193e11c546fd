import FieldcamCore
import FieldcamLinux
import FieldcamPorts

// Shots of the full sensor: the camera leaves its stream for another mode, and comes back.
extension Director {
    func expose(_ station: Station, _ controls: CameraControls, _ zoom: Double) {
        station.runs = false
        station.isExposing = true
        station.sensorMode = nil
        // A clip that begins meanwhile waits for the stream's layout.
        station.mode = nil
        station.link.forget()
        station.order(.expose(sensorRequest(station), controls, zoom: zoom))
    }

    func resume(_ station: Station) {
        guard station.isWanted else { return }
        // Where memory is short the stream's buffers have no room beside a frame that is still being encoded.
        if station.memory != nil, let mode = station.sensorMode, !mode.copiesFrames { station.leaving = mode.pool }
        station.leaveSensor()
        station.runs = false
        station.returns = true
        station.link.forget()
        resumeOnceReleased(station)
    }

    func resumeOnceReleased(_ station: Station) {
        guard station.returns, !station.isReturning else { return }
        if let pool = station.leaving, (0..<pool.slots).contains(where: { pool.holds(of: $0) > 0 }) { return }
        station.leaving = nil
        station.isReturning = true
        station.order(.resume(station.request, station.controls))
    }

    /// One picture is exposed while the one before is being encoded, and one must be free for the camera to fill.
    private func sensorRequest(_ station: Station) -> CameraRequest {
        var request = CameraRequest(
            still: settings.sensorStill, video: station.request.video, framerate: settings.framerate, slots: 3)
        request.isStillOnly = true
        return request
    }

    func sensorStarted(_ station: Station, _ mode: CameraMode) {
        // Core didn't wait for it, or the camera is given up: what was ordered since will be answered.
        guard station.isWanted, station.isExposing else { return }
        station.sensorMode = mode
        station.runs = true
        station.beginCount()
        station.link.started(interval: mode.frameInterval, now: plant.clock.now)
        station.camera.requeue(now: plant.clock.now)
    }

    func sensorFailed(_ station: Station, _ error: HardwareError) {
        guard station.isWanted, station.isExposing else { return }
        Log.error("the full sensor can't be read", ["role": station.role, "reason": error.description])
        reduce(.sensorFailed(station.id, at: plant.clock.now))
    }

    func tellStackRefused(_ number: MediaNumber, _ source: Source, _ frames: Int) {
        send(
            "quality.fallback", number: number,
            fields: [
                .source(source), .init("key", .string("low_light.stack")),
                .init("requested", .string("low_light.stack \(frames)")),
                .init("effective", .string("low_light.stack 1")),
                .reason("a picture of the full sensor is one exposure; with photo.source = \"stream\" it is merged"),
            ])
    }

    func tellSensorRefused(_ number: MediaNumber, _ source: Source, _ why: SensorRefusal) {
        send(
            "quality.fallback", number: number,
            fields: [
                .source(source), .init("key", .string("photo.source")), .init("requested", .string("sensor")),
                .init("effective", .string("stream")), .reason(why.sentence),
            ])
    }
}

extension SensorRefusal {
    fileprivate var sentence: String {
        switch self {
        case .recording: "a clip is being recorded, and it would miss frames"
        case .flash: "the flash is timed by the running stream"
        case .cameraFailed: "the camera can't be had in the mode of its full sensor"
        case .noFrame: "no good frame of the full sensor came in time"
        case .stopping: "the service stops"
        case .memory: "so many frames are held that this one had to give way"
        }
    }
}
