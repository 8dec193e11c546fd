import FieldcamCore

/// A camera of a story's world.
struct CameraWorld {
    var runs = false
    var isWanted = false
    /// Stopped by an order: it doesn't come up by itself.
    var isStopped = false
    /// Rises with each start and stop: what was under way then is void.
    var generation = 0
    var nextFrameStart: Int64 = 0
    /// It reads its full sensor for a shot.
    var isExposing = false
    /// Frames from before this generation are lost with their buffers.
    var floor = 0
    /// What focus is while a frame is exposed.
    var focus: (Story) -> FocusState = { _ in .unsupported }
    /// Whether the full sensor can be read.
    var hasSensorMode: (Story) -> Bool = { _ in true }
    var abilities = CameraAbilities()
    /// From the order to start to the first exposure, ns.
    var startTime: (Story) -> Int64 = { _ in 200_000_000 }
    /// Why it can't start; `nil`: it can.
    var failure: (Story) -> FailureReason? = { _ in nil }
}

/// What the cameras look at: ambient light, a LED and what automatic exposure makes of both.
final class Scene {
    enum LED {
        case works
        /// Switches as ordered and reads back so, but shines not.
        case dead
        case refuses
        case readsBackOff
    }

    /// Frames carry metadata and brightness.
    var isMeasured = false
    var led = LED.works
    /// Linear light per second of exposure at gain 1.
    var ambient = 0.4
    /// As the pipeline tells it; `nil`: not at all.
    var lux: Double?
    /// What the full LED adds.
    var flash = 6.0
    /// By the frame: how settled exposure is told; `nil`: not at all.
    var tellsExposure = true
    /// As with a flickering lamp.
    var neverSettles = false
    /// Frames from what automatic exposure sees to the frame that shows it.
    var delay = 3
    var gain = 8.0
    private var gains: [Double] = []
    private var seen = 0
    private(set) var windows: [(on: Int64, off: Int64?, deadline: Int64, level: Double)] = []

    func startAutomaticExposure() {
        gains = []
    }

    func turnOn(_ level: Double, at now: Int64, deadline: Int64) {
        turnOff(at: now)
        windows.append((now, nil, deadline, level))
    }

    func turnOff(at now: Int64) {
        guard let last = windows.last, last.off == nil else { return }
        windows[windows.count - 1].off = min(now, last.deadline)
    }

    /// How long the light shone between two instants, times its level, ns.
    private func shining(_ from: Int64, _ to: Int64) -> Double {
        var sum = 0.0
        for window in windows {
            let off = window.off ?? window.deadline
            sum += Double(max(0, min(to, off) - max(from, window.on))) * window.level
        }
        return sum
    }

    /// The linear light of a row whose exposure begins so long after the first one's.
    private func row(_ frame: Frame, _ offset: Int64, gain: Double) -> Double {
        let (start, end) = (frame.exposureStart.nanoseconds + offset, frame.exposureEnd.nanoseconds + offset)
        let led = led == .works ? shining(start, end) * flash : 0
        return min(1, (Double(end - start) * ambient + led) / 1e9 * gain)
    }

    func expose(_ frame: inout Frame, readout: Int64) {
        let used = gains.count > delay ? gains[gains.count - 1 - delay] : gain
        let linear =
            (row(frame, 0, gain: used) + row(frame, readout / 2, gain: used) + row(frame, readout, gain: used)) / 3
        frame.exposure = frame.exposureEnd - frame.exposureStart
        frame.gain = used
        frame.lux = lux
        // Encoded with the square: not the curve that Core assumes.
        frame.luma = linear.squareRoot()
        let ratio = 0.18 / max(linear, 0.0001)
        if tellsExposure {
            frame.exposureSettled = ratio > 0.8 && ratio < 1.25 || used >= 16 && ratio > 1 || used <= 1 && ratio < 1
        }
        if neverSettles { frame.exposureSettled = false }
        gains.append(min(16, max(1, used * min(2, max(0.5, ratio)))))
    }

    /// Whether every row of the frame was lit for all of its exposure.
    func isEvenlyLit(_ frame: Frame, readout: Int64) -> Bool {
        guard led == .works else { return false }
        let (start, end) = (frame.exposureStart.nanoseconds, frame.exposureEnd.nanoseconds + readout)
        return windows.contains { $0.on <= start && end <= min($0.off ?? $0.deadline, $0.deadline) }
    }
}
