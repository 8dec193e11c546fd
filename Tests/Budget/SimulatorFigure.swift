import CFieldcamCount
import FieldcamCore
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import Glibc

/// `Budget simulator`: what a simulated frame costs in CPU time, and its heap allocations, stepped on a virtual clock; at
/// most 10 ms for 1920 × 1080, or the simulator would take a good part of a core from what it is there to test.
enum SimulatorFigure {
    private static let frames = 300
    private static let limit = Duration.milliseconds(10)

    static func run(_ arguments: [String]) -> Int32 {
        let full = Size(width: 1920, height: 1080)
        let small = Size(width: 640, height: 360)
        let results = [
            measure("1920x1080, steady light", still: full, video: full),
            measure("1920x1080 and 640x360, steady light", still: full, video: small),
            measure("1920x1080, light that changes with every frame", still: full, video: full, lux: { 60 + $0 % 40 }),
            measure("1280x720, steady light", still: small, video: Size(width: 1280, height: 720)),
        ]
        return results.allSatisfy { $0 } ? 0 : 1
    }

    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private static func measure(_ name: String, still: Size, video: Size, lux: ((Int) -> Int)? = nil) -> Bool {
        let clock = ManualClock()
        let world = clock.makeWorld()
        let camera = SimulatedCamera(world: world)
        let mode: CameraMode
        do {
            try camera.open()
            mode = try camera.configure(CameraRequest(still: still, video: video, framerate: 30, slots: 6))
            try camera.start()
        } catch {
            print("\(error)")
            return false
        }
        defer { camera.close() }
        var made = 0
        func step() {
            if let due = clock.nextDue { clock.advance(to: due) }
            camera.drain { fact in
                guard case .frame(let frame) = fact else { return }
                let lease = mode.pool.lease(frame.ref)
                made += lease.ref.slot >= 0 ? 1 : 0
            }
            camera.requeue(now: clock.now)
        }
        for _ in 0..<30 { step() }
        made = 0
        let allocations: Int64
        let begin = processorTime
        fc_count_start()
        for index in 0..<frames {
            if let lux { world.set(lux: Double(lux(index))) }
            step()
        }
        fc_count_stop()
        allocations = fc_count_all()
        let each = (processorTime - begin) / frames
        let microseconds = each.inNanoseconds / 1000
        print(
            "figure: simulator \(name): \(microseconds) us of CPU time a frame (at most \(limit.inNanoseconds / 1000)),"
                + " \(made) frames, \(allocations) allocations, the stepping clock's included")
        return each <= limit && made == frames
    }
}
