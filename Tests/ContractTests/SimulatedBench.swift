import FieldcamCore
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import Glibc

/// A bench of simulated devices on a virtual clock: waiting moves the clock.
class SimulatedBench: Bench, @unchecked Sendable {
    // Proof of Sendable: used by the one thread that runs the case.
    let clock = ManualClock()
    let world: SimulatedWorld
    let slowness = 1.0

    init() { world = clock.makeWorld() }

    var now: Instant { clock.now }

    func wait(_ span: Duration, for descriptor: Int32?) {
        let end = now + max(.zero, span)
        while !isReadable(descriptor) {
            guard let due = clock.nextDue, due <= end else { return clock.advance(to: end) }
            clock.advance(to: max(due, now))
        }
    }

    private func isReadable(_ descriptor: Int32?) -> Bool {
        guard let descriptor else { return false }
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) > 0
    }
}

/// Contacts that a script presses.
final class SimulatedButtonsBench: SimulatedBench, ButtonsBench, @unchecked Sendable {
    private var buttons: SimulatedButtons?
    private var levels = [false, false, false]
    private var isPlugged = true

    func makeButtons(_ count: Int) -> any Buttons {
        let made = SimulatedButtons(world: world, count: count)
        buttons = made
        for contact in 0..<count {
            if levels[contact] { must { try made.schedule(ButtonID(contact), pressed: true, at: now) } }
            if !isPlugged { must { try made.lose(ButtonID(contact), at: now) } }
        }
        return made
    }

    func set(_ contact: Int, pressed: Bool) {
        levels[contact] = pressed
        guard let buttons, contact < buttons.count else { return }
        must { try buttons.schedule(ButtonID(contact), pressed: pressed, at: now) }
    }

    func unplug() {
        isPlugged = false
        guard let buttons else { return }
        for contact in 0..<buttons.count { must { try buttons.lose(ButtonID(contact), at: now) } }
    }

    func plug() {
        isPlugged = true
        levels = [false, false, false]
        guard let buttons else { return }
        for contact in 0..<buttons.count {
            must {
                try buttons.scheduleSilently(ButtonID(contact), pressed: false, at: now)
                try buttons.find(ButtonID(contact), at: now)
            }
        }
    }

    private func must(_ body: () throws -> Void) {
        do { try body() } catch { fatalError("\(error)") }
    }
}

/// A line whose wire is what it says it is, turned where it is active low; a wire that nobody drives is low.
final class SimulatedLinesBench: SimulatedBench, LinesBench, @unchecked Sendable {
    private var line: SimulatedLine?
    private var isActiveLow = false

    func makeLine(activeLow: Bool) throws(HardwareError) -> any OutputLine {
        let made = SimulatedLine()
        line = made
        isActiveLow = activeLow
        return made
    }

    func wireIsHigh() -> Bool {
        guard let isOn = try? line?.isOn() else { return false }
        return isOn != isActiveLow
    }
}

/// A camera in real time: its own thread makes the frames.
final class LiveCameraBench: RealBench, CameraFaultBench {
    let slowness = 4.0
    let abilities = CameraPromises(
        large: Size(width: 640, height: 480), small: Size(width: 320, height: 240), hasTwoStreams: true, framerate: 60,
        slack: 1.5, ownSlots: FramePool.maximumSlots, isExclusive: true)
    private let world = SimulatedWorld()

    func makeCamera() -> any Camera { SimulatedCamera(world: world) }

    func makeAbsentCamera() -> any Camera {
        let empty = SimulatedWorld()
        empty.inject(.disconnect(nil))
        return SimulatedCamera(world: empty)
    }

    func failFrames(_ count: Int) { world.inject(.cancelFrames(count)) }
    func disconnect() { world.inject(.disconnect(nil)) }
    func reconnect() { world.inject(.reconnect) }
}

/// A microphone in a world with one tone. Reading from it takes the time that it waits.
final class SimulatedMicrophoneBench: SimulatedBench, MicrophoneBench, @unchecked Sendable {
    let jitter = Duration.microseconds(2)
    let stall = Duration.microseconds(2)

    func makeMicrophone() -> any Microphone {
        WaitingMicrophone(microphone: SimulatedMicrophone(world: world), clock: clock)
    }

    func makeAbsentMicrophone() -> any Microphone {
        let empty = clock.makeWorld()
        empty.inject(.microphoneGone(true))
        return SimulatedMicrophone(world: empty)
    }

    func play(frequency: Double) { world.sound = .tone(frequency) }

    func unplug() { world.inject(.microphoneGone(true)) }
    func plug() { world.inject(.microphoneGone(false)) }

    func holdElsewhere() { world.inject(.microphoneUnavailable(.busy)) }
}

/// What waiting for a period is to a live microphone is a step of the clock here.
final class WaitingMicrophone: Microphone {
    private let microphone: SimulatedMicrophone
    private let clock: ManualClock

    init(microphone: SimulatedMicrophone, clock: ManualClock) {
        self.microphone = microphone
        self.clock = clock
    }

    func open() throws(HardwareError) -> AudioFormat { try microphone.open() }

    func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(HardwareError) -> AudioPiece {
        let piece = try microphone.read(into: buffer)
        guard piece.samples == 0 else { return piece }
        clock.advance(by: .milliseconds(10))
        return try microphone.read(into: buffer)
    }

    func close() { microphone.close() }
}
