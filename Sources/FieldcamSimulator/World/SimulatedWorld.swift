import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Synchronization

/// What all simulated devices share: the clock, the scene before the cameras, and the faults in force. Any thread.
///
/// *Live*, the clock is the machine's monotonic clock and the devices run by themselves. *Manual*, it stands still until
/// `advance(to:)`, which makes all that is due (frames, edges) in the caller's thread: the same code, stepped by hand.
public final class SimulatedWorld: Sendable {
    public enum Clock: Hashable, Sendable {
        case live
        /// Stepped by hand, from this instant on.
        case manual(Instant)
    }

    private struct State {
        var now: Instant
        var scene: SceneState
        var faults = Faults()
        var sound = SceneSound.marks
        var contiguousMemory: Int64?
        var nextLight = 0
        var devices: [Attached] = []
        weak var buttons: SimulatedButtons?
        /// Which object holds which camera.
        var holders: [String: ObjectIdentifier] = [:]
    }
    private struct Attached {
        weak var device: (any SteppedDevice)?
    }

    public let isLive: Bool
    private let state: Mutex<State>
    /// Wakes who waits for the end of a fault.
    private let faultsChanged = Bell()

    /// A scene of 100 lux with a subject moving at 1 m.
    public init(clock: Clock = .live) {
        let start: Instant
        switch clock {
        case .live:
            isLive = true
            start = SystemClock.now
        case .manual(let instant):
            isLive = false
            start = instant
        }
        state = Mutex(State(now: start, scene: SceneState(at: start)))
    }

    // MARK: - Time

    public var now: Instant { isLive ? SystemClock.now : state.withLock { $0.now } }

    /// When a device has something to do next; `nil`: nothing is planned.
    public var nextDue: Instant? {
        let devices = state.withLock { $0.devices }
        var earliest: Instant?
        for attached in devices {
            guard let due = attached.device?.nextDue else { continue }
            if earliest.map({ due < $0 }) ?? true { earliest = due }
        }
        return earliest
    }

    /// Manual clock only: time passes up to `instant`, and all that is due until then happens, in order of time.
    public func advance(to instant: Instant) {
        precondition(!isLive, "a live world's clock can't be moved")
        let devices = state.withLock { $0.devices }
        while true {
            var first: (any SteppedDevice)?
            var firstDue = instant
            for attached in devices {
                guard let device = attached.device, let due = device.nextDue, due <= firstDue else { continue }
                if due < firstDue || first == nil {
                    first = device
                    firstDue = due
                }
            }
            guard let first else { break }
            let reached = state.withLock {
                $0.now = max($0.now, firstDue)
                return $0.now
            }
            first.advance(to: reached)
        }
        state.withLock { $0.now = max($0.now, instant) }
    }

    func attach(_ device: any SteppedDevice) {
        state.withLock {
            $0.devices.removeAll { $0.device == nil }
            $0.devices.append(Attached(device: device))
        }
    }

    /// The buttons that a request presses: those made last.
    var buttons: SimulatedButtons? {
        get { state.withLock { $0.buttons } }
        set { state.withLock { $0.buttons = newValue } }
    }

    /// Takes a camera for one object; false: another holds it.
    func hold(camera: String, by holder: ObjectIdentifier) -> Bool {
        state.withLock { state in
            guard let current = state.holders[camera] else {
                state.holders[camera] = holder
                return true
            }
            return current == holder
        }
    }

    func letGo(camera: String, by holder: ObjectIdentifier) {
        state.withLock { if $0.holders[camera] == holder { $0.holders[camera] = nil } }
    }

    // MARK: - Scene

    /// Changes the scene from now on. Lux 0 … 200,000; distance of the subject in metres, 0.05 … 100.
    public func set(lux: Double? = nil, distance: Double? = nil, moving: Bool? = nil) {
        let now = now
        state.withLock { state in
            if let lux { state.scene.setAmbient(min(max(lux, 0), 200_000), at: now) }
            if let distance { state.scene.setDistance(min(max(distance, 0.05), 100), at: now) }
            if let moving { state.scene.setMoving(moving, at: now) }
        }
    }

    /// Puts the subject into a part of the field, where it stays; `nil`: it walks again.
    public func place(subject: UnitRect?) {
        state.withLock { $0.scene.subject = subject }
    }
    /// A part of the field that is so many EV brighter than the rest, -6 … 6; `nil`: none.
    public func set(window: UnitRect?, value: Double = 0) {
        state.withLock { $0.scene.window = window.map { Window(place: $0, value: min(max(value, -6), 6)) } }
    }
    /// Another room behind the subject, 0 … 7: the picture changes as when the camera is turned.
    public func set(backdrop: Int) {
        state.withLock { $0.scene.backdrop = min(max(backdrop, 0), 7) }
    }
    public var subject: UnitRect? { state.withLock { $0.scene.subject } }
    var window: Window? { state.withLock { $0.scene.window } }
    public var backdrop: Int { state.withLock { $0.scene.backdrop } }

    /// Brightness of the scene with all lights that are on, lux.
    public var illumination: Double {
        let now = now
        return state.withLock { $0.scene.illumination(at: now) }
    }
    /// Brightness without them, lux.
    public var lux: Double { state.withLock { $0.scene.ambient } }
    public var distance: Double { state.withLock { $0.scene.distance } }
    public var isMoving: Bool { state.withLock { $0.scene.isMoving } }

    /// Free contiguous memory that cameras find when they are configured, bytes; `nil`: there is no limit.
    public var contiguousMemory: Int64? {
        get { state.withLock { $0.contiguousMemory } }
        set { state.withLock { $0.contiguousMemory = newValue } }
    }

    /// What the microphones hear.
    public var sound: SceneSound {
        get { state.withLock { $0.sound } }
        set { state.withLock { $0.sound = newValue } }
    }

    func addLight() -> Int {
        state.withLock {
            $0.nextLight += 1
            return $0.nextLight
        }
    }

    /// - Parameters:
    ///   - lux: what the light gives at a subject 1 m away; 0: off.
    ///   - until: when it goes off by itself.
    func set(light: Int, lux: Double, until: Instant) {
        let now = now
        state.withLock { $0.scene.set(light: light, lux: lux, until: until, at: now) }
    }

    /// The scene as it is now, with its latest changes.
    var scene: SceneState {
        state.withLock { $0.scene }
    }

    // MARK: - Faults

    public func inject(_ fault: Fault) {
        defer { faultsChanged.ring() }
        let now = now
        state.withLock { state in
            func span(_ length: Duration?) -> Faults.Span { Faults.Span(since: now, end: length.map { now + $0 }) }
            switch fault {
            case .stall(let length): state.faults.stall = span(length)
            case .disconnect(let length): state.faults.disconnection = span(length)
            case .reconnect: state.faults.disconnection = nil
            case .cancelFrames(let count): state.faults.cancelledFrames = max(0, count)
            case .slowStart(let length): state.faults.slowStart = max(.zero, length)
            case .cameraUnavailable(let kind): state.faults.cameraUnavailable = kind
            case .bounce(let length): state.faults.bounce = max(.zero, length)
            case .lostEdges(let count): state.faults.lostEdges = max(0, count)
            case .microphoneGone(let gone): state.faults.microphoneIsGone = gone
            case .microphoneUnavailable(let kind): state.faults.microphoneUnavailable = kind
            case .microphoneSkew(let ppm): state.faults.microphoneSkewPPM = min(max(ppm, -10_000), 10_000)
            case .diskFull(let full): state.faults.diskIsFull = full
            case .encoderStall(let stalled): state.faults.encoderIsStalled = stalled
            case .encoderHang(let hangs): state.faults.encoderHangs = hangs
            }
        }
    }

    /// Everything works again.
    public func clearFaults() {
        state.withLock { $0.faults = Faults() }
        faultsChanged.ring()
    }

    var faults: Faults { state.withLock { $0.faults } }

    func cameraIsSilent(at instant: Instant) -> Bool {
        state.withLock { $0.faults.stall?.covers(instant) ?? false }
    }
    func cameraIsGone(at instant: Instant) -> Bool {
        state.withLock { $0.faults.disconnection?.covers(instant) ?? false }
    }
    /// A camera was started again: a stall without an end of its own is over.
    func cameraWasStarted() {
        state.withLock { if $0.faults.stall?.end == nil { $0.faults.stall = nil } }
    }
    func takeCancelledFrame() -> Bool {
        state.withLock {
            guard $0.faults.cancelledFrames > 0 else { return false }
            $0.faults.cancelledFrames -= 1
            return true
        }
    }
    var slowStart: Duration { state.withLock { $0.faults.slowStart } }
    var cameraUnavailable: HardwareError.Kind? { state.withLock { $0.faults.cameraUnavailable } }
    var bounce: Duration { state.withLock { $0.faults.bounce } }
    func takeLostEdge() -> Bool {
        state.withLock {
            guard $0.faults.lostEdges > 0 else { return false }
            $0.faults.lostEdges -= 1
            return true
        }
    }
    var microphoneIsGone: Bool { state.withLock { $0.faults.microphoneIsGone } }
    var microphoneUnavailable: HardwareError.Kind? { state.withLock { $0.faults.microphoneUnavailable } }
    var microphoneSkewPPM: Double { state.withLock { $0.faults.microphoneSkewPPM } }
    var diskIsFull: Bool { state.withLock { $0.faults.diskIsFull } }
    var encoderIsStalled: Bool { state.withLock { $0.faults.encoderIsStalled } }
    var encoderHangs: Bool { state.withLock { $0.faults.encoderHangs } }

    /// Keeps the caller, as an encoder that hangs does, until it works again.
    func waitForEncoder() {
        while true {
            let count = faultsChanged.count
            guard encoderHangs else { return }
            _ = faultsChanged.wait(after: count, until: SystemClock.now + .seconds(60))
        }
    }
}

/// A device that a manual clock steps.
protocol SteppedDevice: AnyObject, Sendable {
    /// When it has something to do next; a past instant means at once. `nil`: nothing, or it runs by itself.
    var nextDue: Instant? { get }
    /// Does all that is due at `instant`; afterwards `nextDue` lies later.
    func advance(to instant: Instant)
}
