import FieldcamCore
import FieldcamPorts

/// A frame that is held, and what its bytes were at first.
public final class HeldFrame: Sendable {
    public let frame: Frame
    public let lease: FrameLease
    private let digest: UInt64

    init(_ frame: Frame, _ lease: consuming FrameLease) {
        self.frame = frame
        digest = Self.digest(lease.still) ^ Self.digest(lease.video) &* 31
        self.lease = lease
    }

    public func checkUnchanged() throws(ContractFailure) {
        let now = Self.digest(lease.still) ^ Self.digest(lease.video) &* 31
        try expect(now == digest, "the bytes of slot \(frame.ref.slot) changed while it was held")
    }

    /// FNV-1a over eight bytes at a time.
    private static func digest(_ image: Image) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for place in stride(from: 0, to: image.layout.byteCount - 7, by: 8) {
            hash = (hash ^ image.base.loadUnaligned(fromByteOffset: place, as: UInt64.self)) &* 0x100_0000_01b3
        }
        return hash
    }
}

/// The smallest director: it waits, drains, holds some frames, and requeues.
public final class CameraWatch {
    public let camera: any Camera
    public private(set) var mode: CameraMode
    /// All good frames so far, and when each was drained.
    public private(set) var frames: [Frame] = []
    public private(set) var drained: [Instant] = []
    public private(set) var failures = 0
    public private(set) var isLost = false
    /// Frames that are held, oldest first; the newest go when `keep` are there.
    public var held: [HeldFrame] = []
    /// How many frames to hold.
    public var keep = 0
    /// False: frames that come are let go of at once, those held stay.
    public var isKeeping = true

    private let bench: any CameraBench
    public var request: CameraRequest

    /// An opened and configured camera; sizes default to the bench's small one.
    public init(
        _ bench: any CameraBench, still: Size?, video: Size, slots: Int = 4
    ) throws(ContractFailure) {
        self.bench = bench
        camera = bench.makeCamera()
        request = CameraRequest(still: still, video: video, framerate: bench.abilities.framerate, slots: slots)
        mode = try Self.open(camera, request)
    }

    public convenience init(_ bench: any CameraBench, slots: Int = 4) throws(ContractFailure) {
        try self.init(bench, still: bench.abilities.small, video: bench.abilities.small, slots: slots)
    }

    deinit { camera.close() }

    private static func open(_ camera: any Camera, _ request: CameraRequest) throws(ContractFailure) -> CameraMode {
        do throws(HardwareError) {
            try camera.open()
            return try camera.configure(request)
        } catch {
            throw ContractFailure("\(error)")
        }
    }

    /// Opens and configures once more, as at first.
    public func open() throws(ContractFailure) { mode = try Self.open(camera, request) }

    public func configure(still: Size?, video: Size) throws(ContractFailure) {
        request.still = still
        request.video = video
        held = []
        do throws(HardwareError) { mode = try camera.configure(request) } catch { throw ContractFailure("\(error)") }
    }

    public func start() throws(ContractFailure) {
        do throws(HardwareError) { try camera.start() } catch { throw ContractFailure("\(error)") }
    }

    /// One turn of the loop, which ends at `end` at the latest.
    public func turn(until end: Instant) {
        let now = bench.now
        // What was let go of since the last turn.
        camera.requeue(now: now)
        let wake = min(end, camera.nextDeadline ?? end)
        bench.wait(max(.zero, wake - now), for: camera.descriptor)
        camera.drain { fact in
            switch fact {
            case .frame(let frame):
                frames.append(frame)
                drained.append(bench.now)
                let lease = mode.pool.lease(frame.ref)
                if isKeeping && held.count < keep { held.append(HeldFrame(frame, lease)) }
            case .frameFailed: failures += 1
            case .lost: isLost = true
            }
        }
        camera.requeue(now: bench.now)
    }

    /// Runs until the condition holds.
    public func wait(
        _ what: String, within limit: Duration = .seconds(5), until condition: (CameraWatch) -> Bool
    ) throws(ContractFailure) {
        let started = bench.now
        let end = started + limit * bench.slowness
        while !condition(self) {
            guard bench.now < end else {
                throw ContractFailure(
                    "waited for \(what) for \(end - started): \(frames.count) frames, \(failures) failed,"
                        + " \(held.count) held\(isLost ? ", lost" : "")")
            }
            turn(until: end)
        }
    }

    /// The time from one frame to the next so far; 0 with less than two frames.
    public var meanInterval: Duration {
        guard frames.count > 1 else { return .zero }
        return (frames[frames.count - 1].exposureEnd - frames[0].exposureEnd) / (frames.count - 1)
    }

    /// Runs for a span, whatever comes.
    public func run(for span: Duration) {
        let end = bench.now + span
        while bench.now < end { turn(until: end) }
    }
}
