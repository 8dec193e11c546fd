import FieldcamCore
import FieldcamDirector
import FieldcamLinux
import FieldcamPorts
import FieldcamSimulator

/// A whole camera on a virtual clock: the director stepped by hand, simulated devices, files in memory.
public final class Studio {
    public let clock: ManualClock
    public let world: SimulatedWorld
    public let buttons: SimulatedButtons
    public let store = MemoryStore()
    public let writers = CountingClipWriters()
    public let desk = FrontDesk()
    public let director: Director
    /// What is asked of each camera.
    public let request: CameraRequest
    /// In the order of the board.
    public let cameras: [WatchedCamera]
    /// The indicator's line.
    public let indicator: NotedLine
    private var seen: UInt64 = 0

    final class DirectorClock: Clock {
        let clock: ManualClock
        init(_ clock: ManualClock) { self.clock = clock }
        var now: Instant { clock.now }
        var wallNanoseconds: Int64 { 1_796_050_000_000_000_000 + clock.now.nanoseconds }
        var isTrusted: Bool { true }
    }

    public init(
        settings: SessionSettings = SessionSettings(), size: Size = Size(width: 640, height: 480),
        framerate: Double = 30,
        slots: Int = 24, startsCamera: Bool = true, stillEncoder: any StillEncoder = LumaEncoder(),
        clipWriters: (any ClipWriterFactory)? = nil, encoders: [String] = ["counting"],
        quality: ClipQuality? = nil, cameras: Int = 1, light: ((SimulatedWorld) -> any Light)? = nil,
        sensor: Size? = nil, orientation: Orientation = .upright, framing: Framing = Framing(),
        profile: SensorProfile? = nil, photoQuality: Int = 92,
        change: (inout SimulatedCamera.Properties) -> Void = { _ in }
    ) {
        clock = ManualClock()
        world = clock.makeWorld()
        buttons = SimulatedButtons(world: world)
        let light = light?(world)
        var stations: [Plant.Station] = []
        var watched: [WatchedCamera] = []
        for variant in 0..<cameras {
            var properties =
                profile.map { SimulatedCamera.Properties(profile: $0, variant: variant, hasLight: light != nil) }
                ?? SimulatedCamera.Properties(
                    sensor: sensor ?? size, rotation: orientation.rotation, mirror: orientation.mirror,
                    variant: variant, hasLight: light != nil)
            change(&properties)
            watched.append(WatchedCamera(SimulatedCamera(world: world, properties: properties)))
            stations.append(
                Plant.Station(
                    role: variant == 0 ? "rear" : "front",
                    camera: watched[variant],
                    light: light))
        }
        self.cameras = watched
        indicator = NotedLine(clock)
        let limits = (clipWriters ?? writers).limits(of: encoders[0])
        let possible = quality?.granted(camera: nil, limits: limits)
        request = CameraRequest(
            still: size, video: possible.map { Size(width: $0.width, height: $0.height) } ?? size,
            framerate: possible?.framerate ?? framerate, slots: slots)
        var live = LiveSettings(
            session: settings, requests: Array(repeating: request, count: cameras), photoQuality: photoQuality,
            encoders: encoders, videoBitRate: nil, everyFrameIsKey: false, framerate: framerate, recordsSound: true,
            framing: framing)
        live.quality = quality
        live.encoderLimits = limits
        let plant = Plant(
            clock: DirectorClock(clock), stations: stations,
            startsCamera: startsCamera, buttons: buttons, buttonRoles: ["shutter"], indicator: indicator,
            microphone: SimulatedMicrophone(world: world), stillEncoders: [stillEncoder],
            clipWriters: SimulatedClipWriters(world: world, factory: clipWriters ?? writers), store: store,
            mediaFolder: "memory",
            settings: live,
            make: "fieldcam", software: "test")
        director = Director(plant: plant, desk: desk, labour: .inline)
        director.start()
        director.step()
    }

    public var now: Instant { clock.now }

    /// Lets time pass: the world's devices and the director each act when they are due.
    public func run(for span: Duration) {
        run(until: clock.now + span)
    }

    public func run(until end: Instant) {
        while true {
            var next = end
            if let due = clock.nextDue { next = min(next, due) }
            next = min(next, director.nextDeadline)
            clock.advance(to: max(next, clock.now))
            director.step()
            if clock.now >= end { return }
            // What is due now and stays due must not stop time.
            if next <= clock.now, director.nextDeadline <= clock.now, clock.nextDue.map({ $0 <= clock.now }) ?? true {
                clock.advance(to: min(end, clock.now + .microseconds(100)))
            }
        }
    }

    /// A press of the shutter button that begins now.
    public func press(for length: Duration) throws {
        try buttons.press(at: clock.now, for: length)
    }

    /// Hands an order to the director, at the virtual clock's time.
    public func submit(_ order: Order) -> Bool { desk.submit(order, at: clock.now) }

    /// The events since the last look.
    public func events() -> [Event] {
        let events = desk.events.events(after: seen)
        if let last = events.last { seen = last.sequence }
        return events
    }
}
