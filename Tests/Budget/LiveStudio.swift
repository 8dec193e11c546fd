import FieldcamCore
import FieldcamDirector
import FieldcamLinux
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import Glibc

/// The director on its own thread with the simulator in real time, as the service runs; files go to memory.
final class LiveStudio {
    let world = SimulatedWorld()
    let buttons: SimulatedButtons
    let store = MemoryStore()
    let desk = FrontDesk()
    let director: Director
    private let thread: Thread
    private var seen: UInt64 = 0

    init(
        size: Size = Size(width: 1920, height: 1080), framerate: Double = 30,
        session: SessionSettings = SessionSettings(),
        stillEncoders: [any StillEncoder] = [LumaEncoder(), LumaEncoder()],
        clipWriters: any ClipWriterFactory = IdleClipWriters(), encoders: [String] = ["idle"],
        hasMicrophone: Bool = true
    ) {
        buttons = SimulatedButtons(world: world)
        var session = session
        session.frameInterval = .nanoseconds(Int64(1e9 / framerate))
        let camera = SimulatedCamera(world: world, properties: SimulatedCamera.Properties(sensor: size))
        let plant = Plant(
            clock: MachineClock(), stations: [Plant.Station(role: "rear", camera: camera)], buttons: buttons,
            buttonRoles: ["shutter"], microphone: hasMicrophone ? SimulatedMicrophone(world: world) : nil,
            stillEncoders: stillEncoders, clipWriters: clipWriters, store: store, mediaFolder: "memory",
            settings: LiveSettings(
                session: session,
                requests: [CameraRequest(still: size, video: size, framerate: framerate, slots: 24)],
                photoQuality: 92, encoders: encoders, videoBitRate: nil, everyFrameIsKey: false, framerate: framerate,
                recordsSound: true),
            make: "fieldcam", software: "budget")
        let director = Director(plant: plant, desk: desk)
        self.director = director
        thread = Thread(name: "fc-director", stackBytes: 4 << 20) { director.run() }
    }

    func stop() {
        _ = desk.submit(.shutDown)
        thread.join()
    }

    /// Waits until so many frames came since the start.
    func waitForFrames(_ count: Int) {
        wait { $0.counters.frames >= count }
    }

    func wait(until condition: (Status) -> Bool) {
        while !condition(desk.status) { waitForChange(milliseconds: 5) }
    }

    /// The next event of one of these names; gives up after 30 s.
    func nextEvent(_ names: String...) -> Event? {
        let end = SystemClock.now + .seconds(30)
        while SystemClock.now < end {
            for event in desk.events.events(after: seen) {
                seen = event.sequence
                if names.contains(event.name) { return event }
            }
            waitForChange(milliseconds: 50)
        }
        return nil
    }

    private func waitForChange(milliseconds: Int32) {
        var polled = pollfd(fd: desk.changed.descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&polled, 1, milliseconds)
        desk.changed.clear()
    }
}

/// Clip writers that do nothing with what they get and allocate nothing for it.
final class IdleClipWriters: ClipWriterFactory {
    func begin(_ plan: ClipPlan) throws(HardwareError) -> any ClipWriter { Writer() }
    func probe(_ encoders: [String]) -> String? { "idle" }
    func measure(path: String) throws(HardwareError) -> ClipFacts {
        ClipFacts(duration: .zero, frames: 0, silence: .zero, driftPPM: 0)
    }

    private final class Writer: ClipWriter {
        let encoder = "idle"
        private var frames = 0
        private var first: Instant?
        func append(_ image: Image, at: Instant) throws(HardwareError) {
            first = first ?? at
            frames += 1
        }
        func append(sound: UnsafeBufferPointer<Int16>, at: Instant) throws(HardwareError) {}
        func attach(file descriptor: Int32) throws(HardwareError) {}
        func finish(end: Instant) throws(HardwareError) -> ClipFacts? {
            first.map { ClipFacts(duration: end - $0, frames: frames, silence: .zero, driftPPM: 0) }
        }
        func cancel() {}
    }
}
