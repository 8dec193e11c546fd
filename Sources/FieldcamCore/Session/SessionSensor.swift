// Shots of the full sensor by a mode switch: stop, configure, expose, back to the stream (contract §4, §5.2, §5.7, §5.8).
extension Session {
    /// Whether the camera that counts is away from its stream for a shot.
    public var isInSensorMode: Bool { sensor != nil }

    /// Goes on with shots of the full sensor: refuses those that can't be, begins the next one.
    mutating func advanceSensor(into effects: inout Effects) {
        for index in queue.indices where queue[index].sensor == .wanted {
            if let why = sensorRefusal(queue[index]) { refuseSensor(index, why, into: &effects) }
        }
        guard sensor == nil, switching == nil, camera == .up, flash == nil, let last = lastFrame, clipsNeedNoFrames,
            !queue.contains(where: { $0.focus.end != nil || $0.flash == .wanted }),
            let index = queue.firstIndex(where: {
                $0.sensor == .wanted && $0.focus.isOver && $0.candidate.isResolved && $0.candidate.camera == active
            })
        else { return }
        beginSensor(index, after: last, into: &effects)
    }

    private func sensorRefusal(_ shot: Shot) -> SensorRefusal? {
        if isStopping { return .stopping }
        if recordingClip != nil { return .recording }
        switch shot.flash {
        case .firing, .fired: return .flash
        case .none, .wanted: break
        }
        // It has its picture, of a camera that may never come back, or doesn't count any more.
        if shot.candidate.frame != nil, isGone { return .cameraFailed }
        return shot.candidate.isResolved && shot.candidate.camera != active ? .cameraFailed : nil
    }

    /// Whether the camera that counts neither streams nor is about to.
    var isGone: Bool { !isStreaming && switching == nil }

    /// Whether no clip would miss a frame.
    private var clipsNeedNoFrames: Bool { clips.allSatisfy { $0.phase == .saving } }

    mutating func refuseSensor(_ index: Int, _ why: SensorRefusal, into effects: inout Effects) {
        queue[index].sensor = .over
        effects.append(.announce(.sensorRefused(queue[index].number, queue[index].source, why)))
    }

    private mutating func beginSensor(_ index: Int, after last: Frame, into effects: inout Effects) {
        queue[index].sensor = .exposing
        let controls = optics[active.index].controlsOfSensorShot(carrying: last)
        sensor = SensorExposure(
            camera: active, number: queue[index].number, deadline: latest + SensorExposure.patience,
            carried: SensorExposure.amount(controls.shutter, controls.gain), focus: heldFocus(controls, last))
        camera = .starting
        lastFrame = nil
        shelf.trimRing(to: 0, into: &effects)
        // Presses from here on are queued: for the sensor as it is, or for the stream when it is back.
        for other in queue.indices where !queue[other].candidate.isResolved {
            guard queue[other].candidate.camera == active else { continue }
            queue[other].candidate.settle()
            queue[other].deadline = max(queue[other].deadline, queue[other].press + SensorExposure.patience)
        }
        if var press = buttons[Self.shutter].gesture.press, press.candidate.camera == active {
            press.candidate.settle()
            buttons[Self.shutter].gesture.update(press)
        }
        effects.append(.exposeSensor(active, controls, zoom: optics[active.index].zoom))
    }

    private func heldFocus(_ controls: CameraControls, _ last: Frame) -> FocusState? {
        if case .manual = controls.focus { last.focus } else { nil }
    }

    /// A picture of the full sensor.
    mutating func takeSensorFrame(_ frame: Frame, into effects: inout Effects) {
        var frame = frame
        // A lens that is held where it was focused says nothing of that itself.
        if frame.focus == .idle, let focus = sensor?.focus { frame.focus = focus }
        guard var current = sensor, current.camera.index == frame.ref.camera, let number = current.number,
            let index = queue.firstIndex(where: { $0.number == number })
        else {
            effects.append(.dropFrame(frame.ref))
            return
        }
        let isGood = current.accepts(frame, press: queue[index].press)
        sensor = current
        guard isGood else {
            effects.append(.dropFrame(frame.ref))
            return
        }
        let held = shelf.add(frame)
        queue[index].candidate.exchange(for: held, on: &shelf, into: &effects)
        queue[index].candidate.settle()
        queue[index].sensor = .taken
        shelf.trimRing(to: 0, into: &effects)
        dispatchShots(into: &effects)
        // Presses that came meanwhile get theirs now, so that the modes aren't switched for each of them.
        if let next = nextOfSensor {
            queue[next].sensor = .exposing
            sensor?.number = queue[next].number
            sensor?.deadline = latest + SensorExposure.patience
        } else {
            returnToStream(into: &effects)
        }
    }

    private var nextOfSensor: Int? {
        guard !isStopping, clipsNeedNoFrames, recordingClip == nil else { return nil }
        return queue.firstIndex {
            $0.sensor == .wanted && $0.focus.isOver && $0.flash.isOver && $0.candidate.camera == active
        }
    }

    private mutating func returnToStream(into effects: inout Effects) {
        guard let camera = sensor?.camera else { return }
        sensor?.number = nil
        effects.append(.resumeStream(camera))
    }

    /// The camera can't be had in that mode.
    mutating func loseSensor(_ camera: CameraID, into effects: inout Effects) {
        guard let current = sensor, current.camera == camera, let number = current.number else { return }
        if let index = queue.firstIndex(where: { $0.number == number }) {
            refuseSensor(index, .cameraFailed, into: &effects)
        }
        // Another try for the next one would fail as well.
        for index in queue.indices where queue[index].sensor == .wanted && queue[index].candidate.camera == camera {
            refuseSensor(index, .cameraFailed, into: &effects)
        }
        returnToStream(into: &effects)
        dispatchShots(into: &effects)
    }

    /// The camera is lost, given up, or the service stops: the picture of the stream is taken.
    mutating func abandonSensor(_ why: SensorRefusal, into effects: inout Effects) {
        guard let current = sensor else { return }
        sensor = nil
        guard let index = queue.firstIndex(where: { $0.number == current.number }) else { return }
        refuseSensor(index, why, into: &effects)
    }

    mutating func passSensorTime(into effects: inout Effects) {
        guard let current = sensor, let number = current.number, current.deadline <= now else { return }
        if let index = queue.firstIndex(where: { $0.number == number }) {
            refuseSensor(index, .noFrame, into: &effects)
        }
        returnToStream(into: &effects)
        dispatchShots(into: &effects)
    }

    var sensorDeadline: Instant? { sensor?.number == nil ? nil : sensor?.deadline }
}
