import FieldcamCore
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit

/// A started camera, its clock, and the frames that were handed out.
final class CameraRig {
    let clock = ManualClock()
    let world: SimulatedWorld
    let camera: SimulatedCamera
    let mode: CameraMode
    let start: Instant
    private(set) var failed = 0
    private(set) var isLost = false

    init(
        still: Size? = Size(width: 640, height: 360), video: Size = Size(width: 640, height: 360),
        framerate: Double = 30, slots: Int = 6, properties: SimulatedCamera.Properties = .init(),
        prepare: (SimulatedWorld) -> Void = { _ in }
    ) throws {
        world = clock.makeWorld()
        prepare(world)
        camera = SimulatedCamera(world: world, properties: properties)
        try camera.open()
        mode = try camera.configure(
            CameraRequest(still: still, video: video, framerate: framerate, slots: slots))
        start = clock.now
        try camera.start()
    }

    /// Sets controls, starting from the ones that were set last.
    func control(_ change: (inout CameraControls) -> Void) {
        change(&controls)
        camera.control(controls)
    }
    private var controls = CameraControls()

    /// Time passes until a frame came; nobody looks at it.
    @discardableResult
    func next() -> Frame? { next { _, _ in } }

    /// Time passes until a frame came; the body sees it while it is held.
    @discardableResult
    func next(_ body: (Frame, borrowing FrameLease) throws -> Void) rethrows -> Frame? {
        while let due = clock.nextDue {
            clock.advance(to: due)
            var frame: Frame?
            drain { frame = $0 }
            guard let frame else { continue }
            let lease = mode.pool.lease(frame.ref)
            try body(frame, lease)
            release(consume lease)
            return frame
        }
        return nil
    }

    func drain(_ body: (Frame) -> Void) {
        camera.drain { fact in
            switch fact {
            case .frame(let frame): body(frame)
            case .frameFailed: failed += 1
            case .lost: isLost = true
            }
        }
    }

    func release(_ lease: consuming FrameLease) {
        discard(lease)
        camera.requeue(now: clock.now)
    }
    private func discard(_ lease: consuming FrameLease) {}
}
