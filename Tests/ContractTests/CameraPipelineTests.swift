import CFieldcamCameraTable
import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc
import XCTest

@testable import FieldcamCamera

/// The libcamera adapter over a pipeline that does what hardware does once a year.
final class CameraPipelineTests: XCTestCase {
    private var pipeline = CameraPipelineDouble(buffers: 4, hasFramerate: true)
    private var camera: LibcameraCamera!
    private var mode: CameraMode!
    private var now = Instant(nanoseconds: 0)

    private func start(buffers: Int = 4, hasFramerate: Bool = true, slots: Int = 4) throws {
        pipeline = CameraPipelineDouble(buffers: buffers, hasFramerate: hasFramerate)
        camera = pipeline.camera()
        try camera.open()
        mode = try camera.configure(
            CameraRequest(still: nil, video: Size(width: 64, height: 32), framerate: 25, slots: slots))
        try camera.start()
        now = SystemClock.now
    }

    override func tearDown() {
        camera?.close()
        camera = nil
    }

    private func pass(_ milliseconds: Int) { now = now + .milliseconds(milliseconds) }

    private func drain() -> [CameraFact] {
        var facts: [CameraFact] = []
        camera.drain { facts.append($0) }
        camera.requeue(now: now)
        return facts
    }

    private func frames(_ facts: [CameraFact]) -> [Frame] {
        facts.compactMap { if case .frame(let frame) = $0 { frame } else { nil } }
    }

    private func isReadable(_ descriptor: Int32) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) > 0
    }

    func testAFrameCarriesWhatItsMetadataTell() throws {
        try start()
        pass(40)
        pipeline.complete(sequence: 7, at: now) {
            $0.exposure_ns = 10_000_000
            $0.gain = 2.5
            $0.lux = 120
            $0.lens_position = 1.5
            $0.focus = 2
            $0.exposure_settled = 1
        }
        let frame = try XCTUnwrap(frames(drain()).first)
        XCTAssertEqual(frame.exposureEnd, now)
        XCTAssertEqual(frame.exposureStart, now - .milliseconds(10))
        XCTAssertEqual(frame.exposure, .milliseconds(10))
        XCTAssertEqual(frame.gain, 2.5)
        XCTAssertEqual(frame.lux, 120)
        XCTAssertEqual(frame.lensPosition, 1.5)
        XCTAssertEqual(frame.focus, .focused)
        XCTAssertEqual(frame.exposureSettled, true)
    }

    func testAFrameWithoutMetadataIsAnInstantAndSaysSo() throws {
        try start()
        pipeline.complete(at: now)
        let frame = try XCTUnwrap(frames(drain()).first)
        XCTAssertEqual(frame.exposureStart, frame.exposureEnd)
        XCTAssertNil(frame.exposure)
        XCTAssertNil(frame.gain)
        XCTAssertNil(frame.lux)
        XCTAssertNil(frame.lensPosition)
        XCTAssertNil(frame.exposureSettled)
        XCTAssertEqual(frame.focus, .unsupported)
    }

    func testAFailedFrameIsToldAndItsRequestIsQueuedAgainOneTurnLater() throws {
        try start()
        pipeline.complete(FC_CAMERA_FRAME_FAILED, at: now)
        guard case .frameFailed(let at)? = drain().first else { return XCTFail("nothing was told") }
        XCTAssertEqual(at, now)
        XCTAssertEqual(pipeline.queued.count, 3, "it was queued right behind its completion")
        XCTAssertEqual(camera.nextDeadline, now + .milliseconds(1))
        pass(1)
        XCTAssertTrue(drain().isEmpty)
        XCTAssertEqual(pipeline.queued.count, 4)
        XCTAssertNil(camera.nextDeadline)
    }

    func testRequestsCancelledWhileRunningAreALossThatIsToldOnceAndAStartHeals() throws {
        try start()
        for _ in 0..<4 { pipeline.complete(FC_CAMERA_CANCELLED, at: now) }
        let facts = drain()
        XCTAssertEqual(facts.count, 1)
        guard case .lost? = facts.first else { return XCTFail("told as \(facts)") }
        pass(100)
        XCTAssertTrue(drain().isEmpty)
        XCTAssertEqual(pipeline.queued, [], "a lost camera got requests")
        XCTAssertNil(camera.nextDeadline)
        camera.stop()
        try camera.start()
        XCTAssertEqual(pipeline.queued.count, 4)
        pipeline.complete(at: now)
        XCTAssertEqual(frames(drain()).count, 1)
    }

    func testAFrameBeforeTheLossIsToldBeforeIt() throws {
        try start()
        pipeline.complete(at: now)
        pipeline.complete(FC_CAMERA_DISCONNECTED, at: now)
        let facts = drain()
        XCTAssertEqual(facts.count, 2)
        guard case .lost? = facts.last else { return XCTFail("told as \(facts)") }
    }

    func testACameraThatTakesNoRequestIsLost() throws {
        try start()
        pipeline.complete(FC_CAMERA_FRAME_FAILED, at: now)
        _ = drain()
        pipeline.queueError = -ENODEV
        pass(1)
        XCTAssertTrue(drain().isEmpty)
        XCTAssertTrue(isReadable(camera.descriptor), "nobody would look again")
        guard case .lost? = drain().first else { return XCTFail("nothing was told") }
    }

    func testCountsGoOnOverAStopAndLossesOfThePipelineStayGaps() throws {
        try start()
        pipeline.complete(sequence: 0, at: now)
        pass(40)
        pipeline.complete(sequence: 3, at: now)
        XCTAssertEqual(frames(drain()).map(\.ref.sequence), [0, 3])
        camera.stop()
        try camera.start()
        pass(400)
        // The pipeline starts its count anew; two of the four requests are still held.
        pipeline.complete(sequence: 0, at: now)
        pass(40)
        pipeline.complete(sequence: 1, at: now)
        XCTAssertEqual(frames(drain()).map(\.ref.sequence), [4, 5])
    }

    func testWithFewerBuffersThanSlotsFramesAreCopiedAndRequestsReturnAtOnce() throws {
        try start(buffers: 2, slots: 3)
        XCTAssertTrue(mode.copiesFrames)
        var leases: [LeaseOfTest] = []
        for sequence in 1...3 {
            pass(40)
            _ = drain()
            pipeline.complete(sequence: UInt64(sequence), at: now)
            for frame in frames(drain()) { leases.append(LeaseOfTest(mode.pool.lease(frame.ref))) }
        }
        XCTAssertEqual(leases.map(\.firstByte), [1, 2, 3])
        pass(40)
        _ = drain()
        // No slot is left: the frame is lost, the pipeline goes on.
        pipeline.complete(sequence: 4, at: now)
        XCTAssertEqual(frames(drain()).count, 0)
        leases.removeFirst()
        pass(40)
        _ = drain()
        XCTAssertEqual(pipeline.queued.count, 2)
        pipeline.complete(sequence: 5, at: now)
        let frame = try XCTUnwrap(frames(drain()).first)
        // The count begins with the run, at the pipeline's first frame.
        XCTAssertEqual(frame.ref.sequence, 4)
        XCTAssertEqual(leases.map(\.firstByte), [2, 3])
    }

    func testWithoutAFrameRateControlRequestsAreQueuedOnTheGrid() throws {
        try start(hasFramerate: false)
        XCTAssertEqual(pipeline.queued.count, 1, "the grid's first point is the start")
        let next = try XCTUnwrap(camera.nextDeadline)
        XCTAssertGreaterThan(next, now)
        XCTAssertLessThanOrEqual(next, now + .milliseconds(40))
        now = next
        _ = drain()
        XCTAssertEqual(pipeline.queued.count, 2)
        XCTAssertEqual(camera.nextDeadline, next + .milliseconds(40))
    }

    func testAPipelineThatRunsAwayIsPutOnTheGrid() throws {
        try start()
        for sequence in 0..<9 {
            pass(10)
            pipeline.complete(sequence: UInt64(sequence), at: now)
            for frame in frames(drain()) { _ = mode.pool.lease(frame.ref) }
            pass(2)
            _ = drain()
        }
        pass(2)
        _ = drain()
        let before = pipeline.queued.count
        while !pipeline.queued.isEmpty {
            pipeline.complete(sequence: 9, at: now)
            for frame in frames(drain()) { _ = mode.pool.lease(frame.ref) }
        }
        XCTAssertGreaterThan(before, 0)
        pass(2)
        _ = drain()
        let deadline = try XCTUnwrap(camera.nextDeadline)
        now = deadline
        _ = drain()
        XCTAssertEqual(pipeline.queued.count, 1, "one request each interval")
        XCTAssertEqual(camera.nextDeadline, deadline + .milliseconds(40))
    }
}

/// A lease in an array.
private final class LeaseOfTest {
    private let lease: FrameLease
    init(_ lease: consuming FrameLease) { self.lease = lease }
    var firstByte: UInt8 { lease.still.plane(0)[0] }
}
