import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc
import Synchronization

/// A camera without hardware. In a live world its thread `fc-sim-camera` makes frames in real time; in a manual one
/// `SimulatedWorld.advance(to:)` makes them in the caller's thread, with the same code.
///
/// Frame n's first row ends its exposure exactly n + 1 intervals after `start`; the frame is handed over when the last row
/// is read. A frame that finds no free slot is lost: its sequence is missing.
public final class SimulatedCamera: Camera {
    /// What a simulated camera is like.
    public struct Properties: Hashable, Sendable {
        public var model: String
        /// The largest frame; even sides.
        public var sensor: Size
        /// `yuv420` or `nv12`.
        public var format: PixelFormat
        public var rotation: Int
        public var mirror: Bool
        /// Scenes of cameras with different numbers differ.
        public var variant: Int
        /// Frames a second, at most.
        public var maximumFramerate: Double
        /// Whether the lens can focus.
        public var hasFocus: Bool
        /// Whether a light of the board belongs to it.
        public var hasLight: Bool
        /// The sensor that it pretends to be; `nil`: none in particular.
        public var profile: SensorProfile?

        public init(
            model: String = "simulator", sensor: Size = Size(width: 1920, height: 1080), format: PixelFormat = .yuv420,
            rotation: Int = 0, mirror: Bool = false, variant: Int = 0, maximumFramerate: Double = 120,
            hasFocus: Bool = true, hasLight: Bool = false
        ) {
            self.model = model
            self.sensor = sensor
            self.format = format
            self.rotation = rotation
            self.mirror = mirror
            self.variant = variant
            self.maximumFramerate = maximumFramerate
            self.hasFocus = hasFocus
            self.hasLight = hasLight
        }

        /// A real sensor, as libcamera tells of it.
        public init(
            profile: SensorProfile, rotation: Int = 0, mirror: Bool = false, variant: Int = 0, hasLight: Bool = false
        ) {
            self.init(
                model: profile.model.rawValue, sensor: profile.pixels, rotation: rotation, mirror: mirror,
                variant: variant, maximumFramerate: profile.modes.map(\.framerate).max() ?? 30,
                hasFocus: profile.focus != nil, hasLight: hasLight)
            self.profile = profile
        }
    }

    private enum Stage {
        case closed
        case open
        case configured
        case running
    }

    /// What makes frames; under its lock for as long as a frame takes.
    private struct Source {
        var stage = Stage.closed
        var pool: FramePool?
        var still: SceneRenderer?
        /// `nil` with one stream.
        var video: SceneRenderer?
        var noise: Noise?
        var exposure = AutoExposure(frameInterval: 1.0 / 30)
        var framerate = 30.0
        /// The sensor's mode, where it pretends to be one.
        var mode: SensorProfile.Mode?
        var field = Size(width: 2, height: 2)
        var longestFrame = SimulatedCamera.longestFrame
        var maximumFramerate = 120.0
        var lens = Lens()
        var controls = CameraControls()
        var grid = FrameGrid(start: Instant(nanoseconds: 0), framerate: 30)
        var next: Int64 = 0
        var isLost = false
        var thread: Thread?
    }

    /// What lies between the source and the director; its lock is held for a moment only.
    fileprivate struct Exchange: ~Copyable {
        var pool: FramePool?
        /// Slots that may be filled.
        var free: UInt64 = 0
        /// Slots handed to the director.
        var out: UInt64 = 0
        var facts: FactRing
        /// What the director asked for last, until the next frame takes it.
        var controls: CameraControls?
        var isRunning = false
    }

    public let properties: Properties
    private let world: SimulatedWorld
    private let arrived = EventFD()
    private let freed = EventFD()
    private let stopping = EventFD()
    private let source = Mutex(Source())
    private let exchange = Mutex(Exchange(facts: FactRing()))

    public init(world: SimulatedWorld, properties: Properties = Properties()) {
        precondition(properties.sensor.width % 2 == 0 && properties.sensor.height % 2 == 0)
        self.world = world
        self.properties = properties
        if !world.isLive { world.attach(self) }
    }

    // MARK: - Camera thread

    public var descriptor: Int32 { arrived.descriptor }

    public func open() throws(HardwareError) {
        try checkPresence("open")
        guard world.hold(camera: place, by: ObjectIdentifier(self)) else {
            throw HardwareError(
                .busy, "open the camera '\(properties.model)'", code: EBUSY, detail: "another object holds it")
        }
        source.withLock { if $0.stage == .closed { $0.stage = .open } }
    }

    public var limits: CameraLimits {
        CameraLimits(sensor: properties.sensor, memory: world.contiguousMemory.map { MemoryBudget(contiguous: $0) })
    }

    public func configure(_ request: CameraRequest) throws(HardwareError) -> CameraMode {
        try checkPresence("configure")
        let operation = "configure the camera '\(properties.model)'"
        guard request.video.width > 0, request.video.height > 0, request.framerate > 0, request.framerate.isFinite,
            request.still.map({ $0.width > 0 && $0.height > 0 }) ?? true, request.slots > 0
        else {
            throw HardwareError(
                .invalid, operation, code: EINVAL, detail: "sizes, frame rate and slots must be above 0")
        }
        let stillSize = fitted(request.still ?? properties.sensor)
        let videoSize = request.isStillOnly ? stillSize : fitted(request.video)
        let sensorMode = properties.profile?.mode(
            for: Size(width: max(stillSize.width, videoSize.width), height: max(stillSize.height, videoSize.height)))
        let maximumFramerate = sensorMode?.framerate ?? properties.maximumFramerate
        let framerate = min(max(request.framerate, 1), maximumFramerate)
        func layout(_ size: Size) -> ImageLayout {
            .packed(width: size.width, height: size.height, format: properties.format, colour: .sycc)
        }
        let hasTwoStreams = stillSize != videoSize
        let pool = FramePool(
            slots: min(request.slots, FramePool.maximumSlots), still: layout(stillSize),
            video: hasTwoStreams ? layout(videoSize) : nil, freed: freed)
        let variant = properties.variant
        let field = sensorMode?.field ?? properties.sensor
        let abilities = abilities(still: stillSize, framerate: framerate, mode: sensorMode)
        let range = AutoExposure.Range(abilities)
        let interval = try source.withLock { (source) throws(HardwareError) -> Duration in
            guard source.stage == .open || source.stage == .configured else {
                throw HardwareError(
                    .invalid, operation, code: EINVAL, detail: "it must be open and stopped")
            }
            if source.pool?.still != pool.still || source.still == nil || source.field != field {
                source.still = SceneRenderer(layout: pool.still, field: field, variant: variant)
            }
            if !hasTwoStreams {
                source.video = nil
            } else if source.pool?.video != pool.video || source.video == nil || source.field != field {
                source.video = SceneRenderer(layout: pool.video, field: field, variant: variant)
            }
            if source.noise == nil { source.noise = Noise(seed: UInt64(truncatingIfNeeded: variant) &+ 1) }
            source.pool = pool
            source.framerate = framerate
            source.field = field
            source.mode = sensorMode
            source.maximumFramerate = maximumFramerate
            source.longestFrame = abilities.frame?.upperBound ?? Self.longestFrame
            source.lens.range = abilities.focus ?? Lens.range
            source.exposure = AutoExposure(frameInterval: 1 / framerate, range: range, after: source.exposure)
            source.stage = .configured
            let interval = FrameGrid(start: Instant(nanoseconds: 0), framerate: framerate).interval
            source.controls.shortestFrame = interval
            source.controls.longestFrame = interval
            return interval
        }
        exchange.withLock {
            $0.pool = pool
            $0.free = 0
            $0.out = 0
            $0.facts.removeAll()
        }
        var mode = CameraMode(
            model: properties.model, pool: pool, frameInterval: interval,
            // Pretended: simulated frames lie in memory of our own anyway.
            copiesFrames: request.buffers.map { $0 < request.slots } ?? false,
            rotation: properties.rotation, mirror: properties.mirror, hasFocus: properties.hasFocus)
        mode.abilities = abilities
        return mode
    }

    private func abilities(still: Size, framerate: Double, mode: SensorProfile.Mode?) -> CameraAbilities {
        var abilities: CameraAbilities
        let field: Size
        if let mode, let profile = properties.profile {
            abilities = profile.abilities(mode)
            field = mode.field
        } else {
            abilities = CameraAbilities()
            field = properties.sensor
            abilities.focus = properties.hasFocus ? Lens.range : nil
            abilities.canZoom = true
            abilities.exposure = .nanoseconds(Int64(AutoExposure.shortest * 1e9))...Self.longestFrame
            abilities.gain = AutoExposure.gains
            abilities.hasExposureValue = true
            abilities.hasMetering = true
            abilities.reportsLux = true
            abilities.reportsExposureState = true
            abilities.frame = .nanoseconds(Int64(1e9 / properties.maximumFramerate))...Self.longestFrame
            abilities.readout = FrameGrid(start: Instant(nanoseconds: 0), framerate: framerate).readOut
        }
        abilities.nativeZoom = max(
            1, min(Double(field.width) / Double(still.width), Double(field.height) / Double(still.height)))
        abilities.controlDelay = AutoExposure.controlDelay
        abilities.rotation = properties.rotation
        abilities.mirror = properties.mirror
        abilities.fieldAspect = Double(field.width) / Double(field.height)
        abilities.streamAspect = Double(still.width) / Double(still.height)
        abilities.hasLight = properties.hasLight
        return abilities
    }

    /// No frame takes longer.
    static let longestFrame = Duration.seconds(1)

    public func start() throws(HardwareError) {
        try checkPresence("start")
        let slow = world.slowStart
        if world.isLive, slow > .zero {
            // Real drivers block here too: powering a sensor takes as long as it takes.
            var ready = pollfd(fd: stopping.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&ready, 1, Int32(min(slow.inNanoseconds / 1_000_000, 60_000)))
        }
        let model = properties.model
        let isLive = world.isLive
        let begin = isLive ? world.now : world.now + slow
        try source.withLock { (source) throws(HardwareError) in
            guard source.stage == .configured, let pool = source.pool else {
                throw HardwareError(
                    .invalid, "start the camera '\(model)'", code: EINVAL, detail: "it must be configured and stopped")
            }
            world.cameraWasStarted()
            source.grid = FrameGrid(
                start: begin, framerate: source.framerate,
                readOut: source.mode.flatMap { properties.profile?.readOut($0) })
            source.next = 0
            source.isLost = false
            source.stage = .running
            stopping.clear()
            exchange.withLock { exchange in
                exchange.facts.removeAll()
                _ = pool.takeFreed()
                exchange.out = 0
                exchange.free = 0
                for slot in 0..<pool.slots {
                    if pool.holds(of: slot) == 0 {
                        exchange.free |= 1 << UInt64(slot)
                    } else {
                        exchange.out |= 1 << UInt64(slot)
                    }
                }
                exchange.isRunning = true
            }
            if isLive {
                source.thread = Thread(name: "fc-sim-camera") { [self] in runLive() }
            }
        }
    }

    public func stop() {
        let thread = source.withLock { source -> Thread? in
            guard source.stage == .running else { return nil }
            source.stage = .configured
            defer { source.thread = nil }
            return source.thread
        }
        stopping.signal()
        thread?.join()
        stopping.clear()
        exchange.withLock {
            $0.isRunning = false
            $0.facts.removeAll()
        }
        arrived.clear()
    }

    public func close() {
        stop()
        source.withLock {
            $0.stage = .closed
            $0.pool = nil
            $0.still = nil
            $0.video = nil
        }
        exchange.withLock { $0.pool = nil }
        world.letGo(camera: place, by: ObjectIdentifier(self))
    }

    deinit { world.letGo(camera: place, by: ObjectIdentifier(self)) }

    /// Names the simulated piece of hardware: objects with the same model and variant are holders of one camera.
    private var place: String { "\(properties.model) \(properties.variant)" }

    private func checkPresence(_ verb: String) throws(HardwareError) {
        let operation = "\(verb) the camera '\(properties.model)'"
        if world.cameraIsGone(at: world.now) {
            throw HardwareError(.absent, operation, code: ENODEV, detail: "the simulated camera is unplugged")
        }
        if let kind = world.cameraUnavailable {
            throw HardwareError(kind, operation, detail: "the simulated camera was told to be \(kind.rawValue)")
        }
    }

    private func fitted(_ size: Size) -> Size {
        Size(
            width: max(64, min(size.width, properties.sensor.width) / 2 * 2),
            height: max(64, min(size.height, properties.sensor.height) / 2 * 2))
    }

    // MARK: - Director

    public func control(_ controls: CameraControls) {
        exchange.withLock { $0.controls = controls }
    }

    public func drain(_ body: (CameraFact) -> Void) {
        arrived.clear()
        while let fact = exchange.withLock({ $0.takeFact() }) { body(fact) }
    }

    public func requeue(now: Instant) {
        exchange.withLock { exchange in
            guard let pool = exchange.pool else { return }
            var freed = pool.takeFreed() & exchange.out
            while freed != 0 {
                let slot = freed.trailingZeroBitCount
                freed &= freed - 1
                // A slot that was let go of while the camera stood still may be held again by now.
                guard pool.holds(of: slot) == 0 else { continue }
                exchange.out &= ~(1 << UInt64(slot))
                exchange.free |= 1 << UInt64(slot)
            }
        }
    }

    public var nextDeadline: Instant? { nil }

    // MARK: - Making frames

    private func runLive() {
        let timer = TimerFD()
        while let due = nextDue {
            timer.arm(at: due)
            var ready = (
                pollfd(fd: timer.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stopping.descriptor, events: Int16(POLLIN), revents: 0)
            )
            withUnsafeMutableBytes(of: &ready) { raw in
                _ = poll(raw.bindMemory(to: pollfd.self).baseAddress, 2, -1)
            }
            timer.clear()
            makeFrames(until: SystemClock.now)
        }
    }

    /// Makes, or loses, all frames that are due at `now`.
    private func makeFrames(until now: Instant) {
        var isDone = false
        while !isDone {
            isDone = source.withLock { source in
                guard source.stage == .running, !source.isLost, source.grid.delivery(of: source.next) <= now else {
                    return true
                }
                makeFrame(&source, now: now)
                return false
            }
        }
    }

    private func makeFrame(_ source: inout Source, now: Instant) {
        let index = source.next
        source.next += 1
        if let controls = exchange.withLock({ $0.takeControls() }) { take(controls, in: &source) }
        let end = source.grid.exposureEnd(of: index)
        let delivery = source.grid.delivery(of: index)
        // With a global shutter all rows see the same moment, though they are read one after another.
        let readOut = properties.profile?.hasGlobalShutter == true ? .zero : source.grid.readOut
        // The next frame is as long as its exposure needs, within the limits.
        defer {
            let needed = Int64(source.exposure.current.exposure / AutoExposure.exposedPart * 1e9)
            let interval = min(
                max(.nanoseconds(needed), source.controls.shortestFrame), source.controls.longestFrame)
            source.grid = source.grid.changing(to: interval, from: index + 1)
        }
        if world.cameraIsGone(at: delivery) {
            source.isLost = true
            post(.lost)
            return
        }
        let setting = source.exposure.current
        let exposure = Duration.nanoseconds(Int64((setting.exposure * 1e9).rounded()))
        let scene = world.scene
        let lux = scene.lux(from: end - exposure, to: end)
        source.lens.travel(
            for: source.grid.interval, distance: scene.distance(within: source.controls.focusWindow), lux: lux,
            controls: source.controls)
        let timing = SceneRenderer.Timing(
            exposureEnd: end, exposure: exposure, gain: setting.gain, readOut: readOut, sequence: UInt64(index),
            crop: source.controls.crop,
            defocus: properties.hasFocus ? source.lens.defocus(distance: scene.distance) : 0)
        // A machine that is much too slow loses frames as a bus does, instead of falling behind for ever.
        let isTooLate = world.isLive && now - delivery > source.grid.interval * 4
        guard !world.cameraIsSilent(at: delivery), !isTooLate else {
            source.exposure.frameWasLost()
            return
        }
        if world.takeCancelledFrame() {
            source.exposure.frameWasLost()
            post(.frameFailed(at: end))
            return
        }
        let isSettled = source.exposure.frameWasExposed(
            ratio: SceneRenderer.ratio(scene: scene, timing: timing)
                * (scene.window?.brightening(in: timing.crop, source.controls.metering) ?? 1))
        guard let pool = source.pool, let still = source.still, let noise = source.noise,
            let slot = exchange.withLock({ $0.takeFreeSlot() })
        else { return }
        still.paint(into: pool.stillBase(slot), scene: scene, timing: timing, noise: noise)
        source.video?.paint(into: pool.videoBase(slot), scene: scene, timing: timing, noise: noise)
        if properties.profile?.isMonochrome == true {
            Self.bleach(pool.stillBase(slot), pool.still)
            if source.video != nil { Self.bleach(pool.videoBase(slot), pool.video) }
        }
        var frame = Frame(
            ref: FrameRef(slot: slot, sequence: UInt64(index)), exposureStart: end - exposure, exposureEnd: end,
            exposure: exposure, gain: setting.gain, lux: lux, exposureSettled: isSettled)
        if properties.hasFocus {
            frame.lensPosition = source.lens.position
            frame.focus = source.lens.state
        }
        frame.crop = still.shown(of: source.controls.crop)
        post(.frame(frame))
    }

    /// No colour: all chroma is neutral.
    private static func bleach(_ base: UnsafeMutableRawPointer, _ layout: ImageLayout) {
        memset(base + layout.second.offset, 128, layout.byteCount - layout.second.offset)
    }

    /// Exposure, gain and frame length take hold after the control delay, crop and lens at once.
    private func take(_ wanted: CameraControls, in source: inout Source) {
        let fastest = Duration.nanoseconds(Int64(1e9 / source.maximumFramerate))
        let longest = source.longestFrame
        var controls = wanted
        controls.shortestFrame = min(max(wanted.shortestFrame, fastest), longest)
        controls.longestFrame = min(max(wanted.longestFrame, controls.shortestFrame), longest)
        if !controls.crop.isInside { controls.crop = source.controls.crop }
        source.controls = controls
        source.exposure.longest =
            Double(controls.longestFrame.inNanoseconds) / 1e9 * AutoExposure.exposedPart
        source.exposure.fixedExposure = controls.shutter.map { Double($0.inNanoseconds) / 1e9 }
        let gains = source.exposure.range.gains
        source.exposure.fixedGain = controls.gain.map {
            min(max($0, gains.lowerBound), gains.upperBound)
        }
        source.exposure.exposureValue = min(max(controls.exposureValue, -8), 8)
    }

    private func post(_ fact: CameraFact) {
        exchange.withLock { if $0.isRunning { $0.facts.append(fact) } }
        arrived.signal()
    }
}

extension AutoExposure.Range {
    fileprivate init(_ abilities: CameraAbilities) {
        self.init()
        if let gain = abilities.gain { gains = gain }
        if let exposure = abilities.exposure { shortest = Double(exposure.lowerBound.inNanoseconds) / 1e9 }
    }
}

extension SimulatedCamera: SteppedDevice {
    var nextDue: Instant? {
        source.withLock { source in
            source.stage == .running && !source.isLost ? source.grid.delivery(of: source.next) : nil
        }
    }

    func advance(to instant: Instant) { makeFrames(until: instant) }
}

extension SimulatedCamera.Exchange {
    mutating func takeFreeSlot() -> Int? {
        guard free != 0 else { return nil }
        let slot = free.trailingZeroBitCount
        free &= free - 1
        return slot
    }

    mutating func takeControls() -> CameraControls? {
        let taken = controls
        controls = nil
        return taken
    }

    mutating func takeFact() -> CameraFact? {
        let fact = facts.takeFirst()
        if case .frame(let frame) = fact { out |= 1 << UInt64(frame.ref.slot) }
        return fact
    }
}

/// Facts that wait for the director: never more frames than slots; failures beyond the room are left out.
struct FactRing: ~Copyable {
    private static let capacity = FramePool.maximumSlots + 16
    private let facts = UnsafeMutablePointer<CameraFact>.allocate(capacity: capacity)
    private var first = 0
    private var count = 0

    init() { facts.initialize(repeating: .lost, count: Self.capacity) }
    deinit { facts.deallocate() }

    mutating func append(_ fact: CameraFact) {
        if case .frameFailed = fact, count >= Self.capacity - FramePool.maximumSlots - 1 { return }
        guard count < Self.capacity else { return }
        facts[(first + count) % Self.capacity] = fact
        count += 1
    }

    mutating func takeFirst() -> CameraFact? {
        guard count > 0 else { return nil }
        defer {
            first = (first + 1) % Self.capacity
            count -= 1
        }
        return facts[first]
    }

    mutating func removeAll() {
        first = 0
        count = 0
    }
}
