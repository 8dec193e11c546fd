import CFieldcamCameraTable
import FieldcamCore

/// Which controls a camera was told, and what the next request must change: only what the camera advertises, and of that
/// only what differs.
struct ControlBook {
    private let advertised: UInt32
    private let abilities: CameraAbilities
    private let interval: Duration
    /// As the camera has them; `nil`: its own defaults.
    private var applied: CameraControls?
    private var wanted: CameraControls?

    init(_ mode: fc_camera_mode) {
        advertised = mode.controls
        abilities = CameraAbilities(mode)
        interval = .nanoseconds(mode.frame_interval_ns)
    }

    /// Whether it is a camera with more to set than its frame rate.
    var hasOptics: Bool { advertised & ~FC_CAMERA_FRAME_DURATION.rawValue != 0 }

    /// The latest call counts.
    mutating func tell(_ controls: CameraControls) { wanted = controls }

    /// For the start of the stream: all that was told, or else its frame rate and continuous focus.
    mutating func first(_ controls: CameraControls?) -> fc_camera_controls {
        wanted = nil
        applied = controls
        guard let controls else {
            var plain = CameraControls()
            plain.shortestFrame = interval
            plain.longestFrame = interval
            var record = changes(to: plain, from: nil)
            record.set &= FC_CAMERA_FRAME_DURATION.rawValue | FC_CAMERA_FOCUS_MODE.rawValue
            return record
        }
        return changes(to: controls, from: nil)
    }

    /// For the next request; `nil`: nothing changes.
    mutating func next() -> fc_camera_controls? {
        guard let wanted else { return nil }
        self.wanted = nil
        guard wanted != applied else { return nil }
        var record = changes(to: wanted, from: applied)
        if let scan = applied?.focusScan ?? (wanted.focusScan == 0 ? nil : 0), scan != wanted.focusScan,
            wanted.focus == .oneShot
        {
            record.set |= FC_CAMERA_FOCUS_SCAN.rawValue & advertised
        }
        applied = wanted
        return record.set == 0 ? nil : record
    }

    private func changes(to: CameraControls, from: CameraControls?) -> fc_camera_controls {
        var record = fc_camera_controls()
        func mark(_ control: fc_camera_control, _ isChanged: Bool) {
            if from == nil || isChanged { record.set |= control.rawValue & advertised }
        }
        record.crop = part(to.crop == .whole ? abilities.streamedField : to.crop)
        mark(FC_CAMERA_CROP, to.crop != from?.crop)
        focus(to, from, &record)
        record.exposure_value = to.exposureValue
        mark(FC_CAMERA_EXPOSURE_VALUE, to.exposureValue != from?.exposureValue)
        record.metering = Int32(
            bitPattern: (to.metering == .spot
                ? FC_CAMERA_SPOT : to.metering == .matrix ? FC_CAMERA_MATRIX : FC_CAMERA_CENTRE).rawValue)
        mark(FC_CAMERA_METERING, to.metering != from?.metering)
        record.exposure_ns = to.shutter.map { clamp($0, to: abilities.exposure).inNanoseconds } ?? 0
        mark(FC_CAMERA_EXPOSURE_TIME, to.shutter != from?.shutter)
        record.gain = to.gain.map { clamp($0, to: abilities.gain) } ?? 0
        mark(FC_CAMERA_GAIN, to.gain != from?.gain)
        record.shortest_frame_ns = clamp(to.shortestFrame, to: abilities.frame).inNanoseconds
        record.longest_frame_ns = max(
            record.shortest_frame_ns, clamp(to.longestFrame, to: abilities.frame).inNanoseconds)
        mark(
            FC_CAMERA_FRAME_DURATION,
            to.shortestFrame != from?.shortestFrame || to.longestFrame != from?.longestFrame)
        record.long_exposure = to.prefersLongExposure ? 1 : 0
        mark(FC_CAMERA_LONG_EXPOSURE, to.prefersLongExposure != from?.prefersLongExposure)
        record.denoises_most = to.denoisesMost ? 1 : 0
        mark(FC_CAMERA_DENOISE, to.denoisesMost != from?.denoisesMost)
        record.night = to.nightMode ? 1 : 0
        mark(FC_CAMERA_NIGHT, to.nightMode != from?.nightMode)
        return record
    }

    private func focus(_ to: CameraControls, _ from: CameraControls?, _ record: inout fc_camera_controls) {
        if let window = to.focusWindow { record.focus_window = part(window) }
        record.focus_pause = to.focusIsPaused ? 1 : 0
        record.focus_slow = to.focusIsSlow ? 1 : 0
        let isNewMode = from.map { mode($0.focus) != mode(to.focus) } ?? true
        record.focus_mode = Int32(bitPattern: mode(to.focus).rawValue)
        var bits: UInt32 = 0
        if isNewMode { bits |= FC_CAMERA_FOCUS_MODE.rawValue }
        if from == nil || to.focusWindow != from?.focusWindow { bits |= FC_CAMERA_FOCUS_WINDOW.rawValue }
        if from == nil || to.focusIsSlow != from?.focusIsSlow { bits |= FC_CAMERA_FOCUS_SPEED.rawValue }
        switch to.focus {
        case .manual(let dioptres):
            record.lens_position = clamp(dioptres, to: abilities.focus)
            if to.focus != from?.focus { bits |= FC_CAMERA_LENS_POSITION.rawValue }
        case .continuous:
            // A new mode isn't paused; pauses are of the continuous mode alone.
            let isPaused = !isNewMode && from?.focusIsPaused == true
            if to.focusIsPaused != isPaused { bits |= FC_CAMERA_FOCUS_PAUSE.rawValue }
        case .oneShot: break
        }
        if advertised & FC_CAMERA_FOCUS_MODE.rawValue != 0 { record.set |= bits & advertised }
    }

    private func mode(_ focus: CameraControls.Focus) -> fc_camera_focus_mode {
        switch focus {
        case .continuous: FC_CAMERA_FOCUS_CONTINUOUS
        case .oneShot: FC_CAMERA_FOCUS_ONE_SHOT
        case .manual: FC_CAMERA_FOCUS_MANUAL
        }
    }

    private func part(_ rect: UnitRect) -> fc_camera_part {
        fc_camera_part(x: rect.x, y: rect.y, width: rect.width, height: rect.height)
    }

    private func clamp<Value: Comparable>(_ value: Value, to range: ClosedRange<Value>?) -> Value {
        range.map { min(max(value, $0.lowerBound), $0.upperBound) } ?? value
    }
}

extension CameraAbilities {
    /// What a configured camera advertises; rotation, mirror and delay aren't the pipeline's to tell.
    init(_ mode: fc_camera_mode) {
        self.init()
        func has(_ control: fc_camera_control) -> Bool { mode.controls & control.rawValue != 0 }
        func range(_ range: fc_camera_range, _ control: fc_camera_control) -> ClosedRange<Double>? {
            has(control) && range.from <= range.to ? range.from...range.to : nil
        }
        func span(_ span: fc_camera_range, _ control: fc_camera_control) -> ClosedRange<Duration>? {
            range(span, control).map { nanoseconds($0.lowerBound)...nanoseconds($0.upperBound) }
        }
        func nanoseconds(_ value: Double) -> Duration { .nanoseconds(Int64(min(max(value, 0), 9e18))) }
        focus = has(FC_CAMERA_FOCUS_MODE) ? range(mode.lens_position, FC_CAMERA_LENS_POSITION) : nil
        exposure = span(mode.exposure, FC_CAMERA_EXPOSURE_TIME)
        gain = range(mode.gain, FC_CAMERA_GAIN)
        frame = span(mode.frame, FC_CAMERA_FRAME_DURATION)
        hasExposureValue = has(FC_CAMERA_EXPOSURE_VALUE)
        hasMetering = has(FC_CAMERA_METERING)
        hasLongExposure = has(FC_CAMERA_LONG_EXPOSURE)
        hasDenoise = has(FC_CAMERA_DENOISE)
        hasNightMode = has(FC_CAMERA_NIGHT)
        reportsLux = mode.reports_lux == 1
        reportsExposureState = mode.reports_exposure_state == 1
        // A frame can't be shorter than the reading of its rows.
        readout = min(frame?.lowerBound ?? .nanoseconds(mode.frame_interval_ns), .nanoseconds(mode.frame_interval_ns))

        // Both streams are cut from the same part of the field, the first in its own shape.
        let stream = (width: Double(mode.stream.0.width), height: Double(mode.stream.0.height))
        if stream.width > 0, stream.height > 0 { streamAspect = stream.width / stream.height }
        fieldAspect = streamAspect
        guard mode.field_width > 0, mode.field_height > 0, stream.width > 0 else { return }
        fieldAspect = Double(mode.field_width) / Double(mode.field_height)
        canZoom = has(FC_CAMERA_CROP)
        nativeZoom = canZoom ? max(1, Double(mode.field_width) * streamedField.width / stream.width) : 1
    }

    /// What is streamed without zoom: the stream's shape, centred in the field.
    var streamedField: UnitRect {
        let width = min(1, streamAspect / fieldAspect)
        let height = min(1, fieldAspect / streamAspect)
        return UnitRect(x: (1 - width) / 2, y: (1 - height) / 2, width: width, height: height)
    }
}
