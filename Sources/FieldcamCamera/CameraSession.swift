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
    let usesHeap: Bool
    var controls: ControlBook
    private(set) var isRunning = false

    /// Controls reach the sensor in the order of the requests: what waits in front of a request delays its controls. So many
    /// are enough for the pipeline to lose no frame.
    static let depth = 4
    /// Frames from a sensor's registers to the picture, at most.
    static let sensorDelay = 3
    private let depth: Int
    var controlDelay: Int { depth + Self.sensorDelay }

    private let memory: CameraMemory
    private let streams: Int
    /// Whether the pipeline says that it keeps a frame rate; its frames must agree.
    private let hasFramerate: Bool
    private var requests: RequestBook
    /// Slots of our own without a frame; unused where frames stay in the camera's buffers.
    private var vacant: UInt64
    private var clock = SensorClock()
    private var grid: FrameGrid?
    /// Frames since `begin`, which are judged together.
    private var paced: (begin: Instant?, frames: Int) = (nil, 0)
    private var loss = Loss.none
    private var last: (sequence: UInt64, at: Instant)?
    /// Added to the pipeline's own count: runs follow one another, and points of the grid without a free request count.
    private var base: UInt64?
    private var missed: UInt64 = 0
    /// Whether the camera had no request since the last frame, where it sets the pace itself.
    private var wasStarved = false

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
        usesHeap = mode.uses_heap == 1
        controls = ControlBook(mode)
        depth = controls.hasOptics ? min(Self.depth, Int(mode.buffers)) : Int(mode.buffers)
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
        paced = (nil, 0)
        loss = .none
        base = nil
        missed = 0
        wasStarved = false
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
            let sequence = count(record.sequence, at)
            judgePace(at)
            last = (sequence, at)
            guard let slot = keep(request, arrived) else {
                // Every slot is held: this frame is lost, and the gap in the count tells it.
                complete(request, arrived)
                return
            }
            body(.frame(frame(record, FrameRef(slot: slot, sequence: sequence), at)))
        case FC_CAMERA_FRAME_FAILED.rawValue:
            complete(request, arrived)
            body(.frameFailed(at: arrived))
        case FC_CAMERA_CANCELLED.rawValue:
            complete(request, arrived)
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

    private func complete(_ request: Int, _ arrived: Instant, isHeld: Bool = false) {
        requests.complete(request, at: arrived, isHeld: isHeld)
        if grid == nil && requests.queued == 0 { wasStarved = true }
    }

    /// The slot that holds a completed request's frame from now on; `nil`: there is none.
    private func keep(_ request: Int, _ arrived: Instant) -> Int? {
        guard copiesFrames else {
            memory.synchronise(buffer: request, begin: true)
            complete(request, arrived, isHeld: true)
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
        complete(request, arrived)
        return slot
    }

    private func count(_ sequence: UInt64, _ at: Instant) -> UInt64 {
        let next = last.map { $0.sequence + 1 } ?? 0
        let base = self.base ?? next &- sequence
        self.base = base
        // A pipeline that counts badly must not make two frames one.
        let counted = max(base &+ sequence &+ missed, next)
        guard wasStarved, let last else { return counted }
        wasStarved = false
        // Some pipelines count only what they deliver: then the time without a request tells what was lost.
        let passed = Int64((Double((at - last.at).inNanoseconds) / Double(interval.inNanoseconds)).rounded())
        let lost = passed - 1 - Int64(counted - next)
        guard lost > 0 else { return counted }
        missed += UInt64(lost)
        return counted + UInt64(lost)
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
        var frame = Frame(
            ref: ref, exposureStart: at - (exposure ?? .zero), exposureEnd: at, exposure: exposure,
            gain: known(record.gain), lux: known(record.lux), lensPosition: known(record.lens_position), focus: focus,
            exposureSettled: record.exposure_settled < 0 ? nil : record.exposure_settled == 1)
        if record.crop.width > 0 {
            frame.crop = UnitRect(
                x: record.crop.x, y: record.crop.y, width: record.crop.width, height: record.crop.height)
        }
        return frame
    }

    /// A pipeline may advertise a frame rate and not keep to it: eight frames in less than the time of seven prove it, since
    /// a sensor that was told the shortest frame never goes below it.
    private func judgePace(_ at: Instant) {
        guard grid == nil else { return }
        guard let begin = paced.begin, paced.frames < 8 else {
            paced = (at, 0)
            return
        }
        paced.frames += 1
        guard paced.frames == 8, at - begin < interval * 7 else { return }
        grid = FrameGrid(interval: interval, start: at + interval)
        Log.notice("the pipeline keeps no frame rate; frames are asked for one by one")
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
        guard loss == .none, hasRoom, grid?.isDue(now) ?? true, let request = requests.ready(now) else { return nil }
        if let passed = grid?.advance(now), requests.queued == 0 { missed += UInt64(passed) }
        requests.queue(request)
        return request
    }

    /// Whether the camera has fewer requests than it works with.
    private var hasRoom: Bool { requests.queued.nonzeroBitCount < depth }

    func turn() { requests.turn() }

    var nextDeadline: Instant? {
        guard loss == .none, hasRoom, let ready = requests.nextReady else { return nil }
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
