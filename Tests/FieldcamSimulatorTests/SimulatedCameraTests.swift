import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import Glibc
import XCTest

/// The camera on a virtual clock: nothing here waits for real time.
final class SimulatedCameraTests: XCTestCase {
    func testFramesLieOnAnExactGridFromTheStart() throws {
        for framerate in [30.0, 24, 29.97, 60] {
            let rig = try CameraRig(framerate: framerate)
            for index in 0..<100 {
                let frame = try XCTUnwrap(rig.next())
                let exact = Double(index + 1) / framerate * 1e9
                XCTAssertEqual(
                    Double(frame.exposureEnd.nanoseconds - rig.start.nanoseconds), exact, accuracy: 1.5,
                    "frame \(index) at \(framerate) a second")
                XCTAssertEqual(frame.ref.sequence, UInt64(index))
                XCTAssertEqual(frame.exposureEnd - frame.exposureStart, frame.exposure)
                XCTAssertGreaterThan(rig.clock.now, frame.exposureEnd, "it is handed over after the read-out")
            }
        }
    }

    func testEachFrameCarriesItsOwnInstantAtEverySize() throws {
        let sizes = [
            (352, 288), (640, 360), (640, 480), (960, 540), (1280, 720), (1920, 1080), (1440, 1080), (1080, 1080),
        ]
        for format in [PixelFormat.yuv420, .nv12] {
            for (width, height) in sizes {
                let rig = try CameraRig(
                    still: Size(width: width, height: height), video: Size(width: width, height: height), slots: 2,
                    properties: .init(format: format))
                for _ in 0..<3 {
                    try rig.next { frame, lease in
                        let strip = try XCTUnwrap(StripReader.read(lease.still), "\(width)x\(height)")
                        XCTAssertEqual(strip.sequence, UInt32(frame.ref.sequence))
                        XCTAssertEqual(strip.exposureStart, frame.exposureStart)
                        XCTAssertEqual(strip.exposureEnd, frame.exposureEnd)
                    }
                }
            }
        }
    }

    func testALiveCameraMakesFramesInRealTime() throws {
        let camera = SimulatedCamera(world: SimulatedWorld())
        try camera.open()
        let mode = try camera.configure(
            CameraRequest(
                still: Size(width: 640, height: 360), video: Size(width: 640, height: 360), framerate: 60, slots: 4))
        let begin = SystemClock.now
        try camera.start()
        defer { camera.stop() }
        var sequences: [UInt64] = []
        while sequences.count < 12 {
            var ready = pollfd(fd: camera.descriptor, events: Int16(POLLIN), revents: 0)
            XCTAssertEqual(poll(&ready, 1, 5000), 1, "a frame comes")
            camera.drain { fact in
                guard case .frame(let frame) = fact else { return XCTFail("\(fact)") }
                let lease = mode.pool.lease(frame.ref)
                XCTAssertEqual(StripReader.read(lease.still)?.sequence, UInt32(frame.ref.sequence))
                XCTAssertLessThan(frame.exposureEnd, SystemClock.now)
                XCTAssertGreaterThan(frame.exposureEnd, begin)
                sequences.append(frame.ref.sequence)
            }
            camera.requeue(now: SystemClock.now)
        }
        XCTAssertEqual(sequences, sequences.sorted())
        XCTAssertEqual(Set(sequences).count, sequences.count)
    }
}
