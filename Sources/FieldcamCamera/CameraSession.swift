import CFieldcamCameraTable
import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc

/// One configuration of a camera: its slots, where its requests are, and what its frames mean.
final class CameraSession {
    let pool: FramePool
    let interval: Duration
    let copiesFrames: Bool
    let hasFocus: Bool
    private(set) var isRunning = false

    private let memory: CameraMemory
    private let streams: Int
    /// Whether the pipeline says that it keeps a frame rate; its frames must agree.
    private let hasFramerate: Bool
    private var requests: RequestBook
    /// Slots of our own without a frame; unused where frames stay in the camera's buffers.
    private var vacant: UInt64
    private var clock = SensorClock()
    private var grid: FrameGrid?
    private var early = 0
    private var loss = Loss.none
    private var last: (sequence: UInt64, at: Instant)?
    /// Added to the pipeline's own count: runs follow one another, and points of the grid without a free request count.
    private var base: UInt64?
    private var missed: UInt64 = 0

    private enum Loss {
        case none
        case happened
        case told
    }

    init(mode: fc_camera_mode, memory: CameraMemory, slots: Int, freed: EventFD) {
        self.memory = memory
        streams = Int(mode.streams)
        interval = .nanoseconds(mode.frame_interval_ns)
        hasFramerate = mode.has_framerate == 1
        hasFocus = mode.has_focus == 1
        let buffers = Int(mode.buffers)
        requests = RequestBook(count: buffers)
        copiesFrames = buffers < slots
        let still = ImageLayout(mode.stream.0)
        let video = mode.streams == 2 ? ImageLayout(mode.stream.1) : nil
        if copiesFrames {
            pool = FramePool(slots: slots, still: still, video: video, freed: freed)
            vacant = slots == 64 ? .max : (1 << UInt64(slots)) - 1
        } else {
            let stillBases = (0..<buffers).map { memory.image(buffer: $0, stream: 0) }
            let videoBases = video == nil ? stillBases : (0..<buffers).map { memory.image(buffer: $0, stream: 1) }
            pool = FramePool(
                still: still, video: video ?? still, stillBases: stillBases, videoBases: videoBases, freed: freed,
                memory: memory)
            vacant = 0
        }
    }

    func start(now: Instant, bootOffset: Duration) {
        clock = SensorClock(bootOffset: bootOffset)
        grid = hasFramerate ? nil : FrameGrid(interval: interval, start: now)
        early = 0
        loss = .none
        base = nil
        missed = 0
        isRunning = true
    }

    func stop() {
        isRunning = false
        requests.stop()
    }

    // MARK: Frames

    func handle(_ record: fc_camera_record, _ body: (CameraFact) -> Void) {
        let arrived = Instant(nanoseconds: record.arrived_ns)
        let request = Int(record.buffer)
        switch record.kind {
        case FC_CAMERA_FRAME.rawValue:
            let at = clock.instant(of: record.sensor_ns, arrived: arrived)
            let sequence = count(record.sequence)
            judgePace(at)
            last = (sequence, at)
            guard let slot = keep(request, arrived) else {
                // Every slot is held: this frame is lost, and the gap in the count tells it.
                requests.complete(request, at: arrived, isHeld: false)
                return
            }
            body(.frame(frame(record, FrameRef(slot: slot, sequence: sequence), at)))
        case FC_CAMERA_FRAME_FAILED.rawValue:
            requests.complete(request, at: arrived, isHeld: false)
            body(.frameFailed(at: arrived))
        case FC_CAMERA_CANCELLED.rawValue:
            requests.complete(request, at: arrived, isHeld: false)
            fail()
        default:
            fail()
        }
    }

    func fail() {
        if loss == .none { loss = .happened }
    }

    /// Once a run, after the frames that came before.
    func tellLoss(_ body: (CameraFact) -> Void) {
        guard loss == .happened else { return }
        loss = .told
        body(.lost)
    }

    /// The slot that holds a completed request's frame from now on; `nil`: there is none.
    private func keep(_ request: Int, _ arrived: Instant) -> Int? {
        guard copiesFrames else {
            memory.synchronise(buffer: request, begin: true)
            requests.complete(request, at: arrived, isHeld: true)
            return request
        }
        guard vacant != 0 else { return nil }
        let slot = vacant.trailingZeroBitCount
        vacant &= vacant - 1
        memory.synchronise(buffer: request, begin: true)
        memcpy(pool.stillBase(slot), memory.image(buffer: request, stream: 0), pool.still.byteCount)
        if streams == 2 {
            memcpy(pool.videoBase(slot), memory.image(buffer: request, stream: 1), pool.video.byteCount)
        }
        memory.synchronise(buffer: request, begin: false)
        requests.complete(request, at: arrived, isHeld: false)
        return slot
    }

    private func count(_ sequence: UInt64) -> UInt64 {
        let next = last.map { $0.sequence + 1 } ?? 0
        let base = self.base ?? next &- sequence
        self.base = base
        // A pipeline that counts badly must not make two frames one.
        return max(base &+ sequence &+ missed, next)
    }

    private func frame(_ record: fc_camera_record, _ ref: FrameRef, _ at: Instant) -> Frame {
        let exposure: Duration? = record.exposure_ns >= 0 ? .nanoseconds(record.exposure_ns) : nil
        func known(_ value: Double) -> Double? { value.isNaN ? nil : value }
        let focus: FocusState =
            switch record.focus {
            case 1: .scanning
            case 2: .focused
            case 3: .failed
            default: hasFocus ? .idle : .unsupported
            }
        return Frame(
            ref: ref, exposureStart: at - (exposure ?? .zero), exposureEnd: at, exposure: exposure,
            gain: known(record.gain), lux: known(record.lux), lensPosition: known(record.lens_position), focus: focus,
            exposureSettled: record.exposure_settled < 0 ? nil : record.exposure_settled == 1)
    }

    /// A pipeline may advertise a frame rate and not keep to it: five frames in a row that come a quarter too early prove it.
    private func judgePace(_ at: Instant) {
        guard grid == nil, let last else { return }
        early = at - last.at < interval * 0.75 ? early + 1 : 0
        if early == 5 {
            grid = FrameGrid(interval: interval, start: at + interval)
            Log.notice("the pipeline keeps no frame rate; frames are asked for one by one")
        }
    }

    // MARK: Requests

    func takeFreed() {
        let bits = pool.takeFreed()
        guard bits != 0 else { return }
        guard !copiesFrames else {
            vacant |= bits
            return
        }
        var rest = bits
        while rest != 0 {
            memory.synchronise(buffer: rest.trailingZeroBitCount, begin: false)
            rest &= rest - 1
        }
        requests.letGo(bits)
    }

    /// The next request to queue now.
    func takeDue(_ now: Instant) -> Int? {
        guard loss == .none, grid?.isDue(now) ?? true, let request = requests.ready(now) else { return nil }
        if let passed = grid?.advance(now), requests.queued == 0 { missed += UInt64(passed) }
        requests.queue(request)
        return request
    }

    func turn() { requests.turn() }

    var nextDeadline: Instant? {
        guard loss == .none, let ready = requests.nextReady else { return nil }
        guard let grid else { return ready }
        return max(ready, grid.next)
    }
}

extension ImageLayout {
    init(_ stream: fc_camera_stream) {
        let format: PixelFormat =
            switch stream.format {
            case FC_CAMERA_YUV420.rawValue: .yuv420
            case FC_CAMERA_NV12.rawValue: .nv12
            case FC_CAMERA_BGR888.rawValue: .bgr888
            default: .rgb888
            }
        let colour: ColourSpace =
            switch stream.colour {
            case FC_CAMERA_SYCC.rawValue: .sycc
            case FC_CAMERA_SMPTE170M.rawValue: .smpte170m
            case FC_CAMERA_REC709.rawValue: .rec709
            default: .srgb
            }
        self.init(
            width: Int(stream.width), height: Int(stream.height), format: format, colour: colour,
            first: Plane(offset: Int(stream.offset.0), stride: Int(stream.stride.0)),
            second: Plane(offset: Int(stream.offset.1), stride: Int(stream.stride.1)),
            third: Plane(offset: Int(stream.offset.2), stride: Int(stream.stride.2)), byteCount: Int(stream.bytes))
    }
}
