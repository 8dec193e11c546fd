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
            guard poll(&ready, 1, 5000) == 1 else { return XCTFail("no frame came after \(sequences)") }
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

    func testTwoStreamsShowTheSameInstantEachAtItsSize() throws {
        let rig = try CameraRig(still: nil, video: Size(width: 640, height: 360), slots: 3)
        XCTAssertEqual(rig.mode.pool.still.width, 1920)
        XCTAssertEqual(rig.mode.pool.video.width, 640)
        for _ in 0..<5 {
            rig.next { frame, lease in
                let still = StripReader.read(lease.still)
                XCTAssertEqual(still?.exposureEnd, frame.exposureEnd)
                XCTAssertEqual(StripReader.read(lease.video), still)
            }
        }
    }

    func testWishesBeyondTheSensorAreCutAndTold() throws {
        let rig = try CameraRig(
            still: Size(width: 9999, height: 9999), video: Size(width: 641, height: 361), framerate: 500, slots: 100)
        XCTAssertEqual(rig.mode.pool.still.width, 1920)
        XCTAssertEqual(rig.mode.pool.still.height, 1080)
        XCTAssertEqual(rig.mode.pool.video.width, 640)
        XCTAssertEqual(rig.mode.frameInterval, .nanoseconds(8_333_333))
        XCTAssertEqual(rig.mode.pool.slots, FramePool.maximumSlots)
    }

    func testSenselessRequestsAreRefused() throws {
        let camera = SimulatedCamera(world: SimulatedWorld(clock: .manual(Instant(nanoseconds: 5))))
        let size = Size(width: 640, height: 360)
        func kind(_ request: CameraRequest) -> HardwareError.Kind? {
            do throws(HardwareError) {
                _ = try camera.configure(request)
                return nil
            } catch {
                return error.kind
            }
        }
        let good = CameraRequest(still: size, video: size, framerate: 30, slots: 4)
        XCTAssertEqual(kind(good), .invalid, "it isn't open")
        try camera.open()
        XCTAssertThrowsError(try camera.start(), "it isn't configured")
        for change: (inout CameraRequest) -> Void in [
            { $0.framerate = 0 }, { $0.framerate = .nan }, { $0.slots = 0 }, { $0.video.width = -1 },
            { $0.still = Size(width: 0, height: 5) },
        ] {
            var request = good
            change(&request)
            XCTAssertEqual(kind(request), .invalid)
        }
        XCTAssertNil(kind(good))
    }

    func testAHeldSlotIsNeverWrittenAndFramesWithoutASlotAreLost() throws {
        let rig = try CameraRig(slots: 3)
        let size = rig.mode.pool.still.byteCount
        func sum(_ image: Image) -> Int {
            UnsafeRawBufferPointer(start: image.base, count: size).reduce(0) { $0 &* 31 &+ Int($1) }
        }
        rig.clock.advance(by: .milliseconds(95))
        var frames: [Frame] = []
        rig.drain { frames.append($0) }
        XCTAssertEqual(frames.map(\.ref.sequence), [0, 1])
        let first = rig.mode.pool.lease(frames[0].ref)
        let second = rig.mode.pool.lease(frames[1].ref)
        let sums = (sum(first.still), sum(second.still))
        // One slot is left; it is drained but not let go of, so that frames 3 … 8 find none.
        rig.clock.advance(by: .milliseconds(200))
        frames = []
        rig.drain { frames.append($0) }
        XCTAssertEqual(frames.map(\.ref.sequence), [2])
        let third = rig.mode.pool.lease(frames[0].ref)
        XCTAssertEqual(Set([first.ref.slot, second.ref.slot, third.ref.slot]).count, 3)
        rig.clock.advance(by: .milliseconds(200))
        frames = []
        rig.drain { frames.append($0) }
        XCTAssertEqual(frames, [])
        XCTAssertEqual(sum(first.still), sums.0)
        XCTAssertEqual(sum(second.still), sums.1)

        rig.release(consume second)
        rig.clock.advance(by: .milliseconds(34))
        rig.drain { frames.append($0) }
        let last = try XCTUnwrap(frames.first)
        XCTAssertGreaterThan(last.ref.sequence, 8, "the lost ones are missing in the count")
        XCTAssertEqual(sum(first.still), sums.0)
        rig.release(rig.mode.pool.lease(last.ref))
        rig.release(consume first)
        rig.release(consume third)
    }

    func testASlotThatIsHeldOverStopAndStartStaysUntouched() throws {
        let rig = try CameraRig(slots: 2)
        rig.clock.advance(by: .milliseconds(60))
        var frames: [Frame] = []
        rig.drain { frames.append($0) }
        let held = rig.mode.pool.lease(frames[0].ref)
        rig.camera.stop()
        try rig.camera.start()
        for _ in 0..<4 {
            rig.next { frame, lease in
                XCTAssertNotEqual(frame.ref.slot, held.ref.slot)
                XCTAssertEqual(StripReader.read(lease.still)?.exposureEnd, frame.exposureEnd)
            }
        }
        XCTAssertEqual(StripReader.read(held.still)?.exposureEnd, frames[0].exposureEnd)
        rig.release(consume held)
    }

    func testStoppedItIsSilentAndStartsAnew() throws {
        let rig = try CameraRig(slots: 3)
        rig.clock.advance(by: .milliseconds(100))
        rig.camera.stop()
        rig.camera.stop()
        rig.drain { XCTFail("frame \($0.ref.sequence) after stop") }
        XCTAssertNil(rig.clock.nextDue)
        rig.clock.advance(by: .seconds(3))
        let begin = rig.clock.now
        try rig.camera.start()
        let frame = try XCTUnwrap(rig.next())
        XCTAssertEqual(frame.ref.sequence, 0)
        XCTAssertEqual((frame.exposureEnd - begin).inNanoseconds, 33_333_333)
        rig.camera.close()
        rig.camera.close()
        XCTAssertThrowsError(try rig.camera.start())
    }

    // MARK: - Faults

    func testAStallIsSilenceUntilTheNextStart() throws {
        let rig = try CameraRig(slots: 4)
        rig.next()
        rig.world.inject(.stall(nil))
        rig.clock.advance(by: .seconds(5))
        rig.drain { XCTFail("frame \($0.ref.sequence) during a stall") }
        XCTAssertFalse(rig.isLost, "nobody says a word")
        rig.camera.stop()
        try rig.camera.start()
        XCTAssertNotNil(rig.next())
    }

    func testAStallCanEndByItself() throws {
        let rig = try CameraRig(slots: 4)
        let before = try XCTUnwrap(rig.next())
        rig.world.inject(.stall(.seconds(1)))
        let after = try XCTUnwrap(rig.next())
        XCTAssertEqual(Int(after.ref.sequence - before.ref.sequence), 30)
        XCTAssertEqual(after.exposureEnd - before.exposureEnd, .seconds(1))
    }

    func testAnUnpluggedCameraIsLostAndAbsentUntilItIsBack() throws {
        let rig = try CameraRig(slots: 4)
        rig.next()
        rig.world.inject(.disconnect(.seconds(2)))
        rig.clock.advance(by: .milliseconds(50))
        rig.drain { XCTFail("frame \($0.ref.sequence) without a camera") }
        XCTAssertTrue(rig.isLost)
        rig.camera.stop()
        XCTAssertThrowsError(try rig.camera.start()) { XCTAssertEqual(($0 as? HardwareError)?.kind, .absent) }
        rig.camera.close()
        XCTAssertThrowsError(try rig.camera.open()) { XCTAssertEqual(($0 as? HardwareError)?.kind, .absent) }
        rig.clock.advance(by: .seconds(2))
        try rig.camera.open()
        let mode = try rig.camera.configure(
            CameraRequest(still: nil, video: Size(width: 640, height: 360), framerate: 30, slots: 3))
        try rig.camera.start()
        rig.clock.advance(by: .milliseconds(60))
        var frames = 0
        rig.camera.drain { if case .frame(let frame) = $0 { frames += mode.pool.holds(of: frame.ref.slot) + 1 } }
        XCTAssertEqual(frames, 1)
    }

    func testCancelledFramesFailAndTheNextAreGood() throws {
        let rig = try CameraRig(slots: 4)
        let before = try XCTUnwrap(rig.next())
        rig.world.inject(.cancelFrames(3))
        let after = try XCTUnwrap(rig.next())
        XCTAssertEqual(rig.failed, 3)
        XCTAssertEqual(after.ref.sequence, before.ref.sequence + 4)
    }

    func testASlowStartDelaysTheFirstFrame() throws {
        let rig = try CameraRig(slots: 4) { $0.inject(.slowStart(.seconds(2))) }
        let frame = try XCTUnwrap(rig.next())
        XCTAssertEqual((frame.exposureEnd - rig.start).inNanoseconds, 2_033_333_333)
    }

    func testACameraCanBeBusyOrDenied() throws {
        let world = SimulatedWorld(clock: .manual(Instant(nanoseconds: 7)))
        let camera = SimulatedCamera(world: world)
        for kind in [HardwareError.Kind.busy, .denied, .absent] {
            world.inject(.cameraUnavailable(kind))
            XCTAssertThrowsError(try camera.open()) { XCTAssertEqual(($0 as? HardwareError)?.kind, kind) }
        }
        world.clearFaults()
        try camera.open()
    }
}
