import FieldcamCore
import FieldcamLinux
import FieldcamPorts

/// Where any `Camera` is put to the test.
public protocol CameraBench: Bench {
    /// An object for the bench's camera, closed; a further one is another holder of the same camera.
    func makeCamera() -> any Camera
    /// An object for a camera that isn't there.
    func makeAbsentCamera() -> any Camera
    /// What this camera can do.
    var abilities: CameraPromises { get }
}

/// What differs between cameras, so that the suite can demand it exactly.
public struct CameraPromises: Sendable {
    /// Two sizes that it streams as asked, the first one larger.
    public var large: Size
    public var small: Size
    /// Whether it makes both at once.
    public var hasTwoStreams: Bool
    /// A frame rate that it reaches on this machine.
    public var framerate: Double
    /// How much longer than nominal the median of frame intervals may be, as a factor.
    public var slack: Double
    /// Slots that it has memory for itself; more are copied into.
    public var ownSlots: Int
    /// Whether a second holder finds it busy.
    public var isExclusive: Bool

    public init(
        large: Size, small: Size, hasTwoStreams: Bool, framerate: Double, slack: Double, ownSlots: Int,
        isExclusive: Bool
    ) {
        self.large = large
        self.small = small
        self.hasTwoStreams = hasTwoStreams
        self.framerate = framerate
        self.slack = slack
        self.ownSlots = ownSlots
        self.isExclusive = isExclusive
    }
}

/// What any `Camera` promises.
public enum CameraContract {
    public static let cases: [ContractCase<any CameraBench>] = modes + memory + frames + lives

    // MARK: Modes

    private static let modes: [ContractCase<any CameraBench>] = [
        ContractCase("one size asked for is one stream of that size") { bench throws(ContractFailure) in
            let size = bench.abilities.large
            let watch = try CameraWatch(bench, still: size, video: size)
            let pool = watch.mode.pool
            try expect(pool.video.size == size, "\(size) was asked for, \(pool.video.size) came")
            try expect(pool.still == pool.video, "photos and clips differ in layout: \(pool.still), \(pool.video)")
            try expect(
                (0..<pool.slots).allSatisfy { pool.stillBase($0) == pool.videoBase($0) },
                "one stream lies in two places")
        },
        ContractCase("as many slots come as were asked for, and it says whether it copies") {
            bench throws(ContractFailure) in
            for slots in [4, 12] {
                let watch = try CameraWatch(bench, slots: slots)
                try expect(watch.mode.pool.slots >= slots, "\(slots) slots wished, \(watch.mode.pool.slots) came")
                let copies = slots > bench.abilities.ownSlots
                try expect(watch.mode.copiesFrames == copies, "with \(slots) slots: copiesFrames is \(!copies)")
                watch.camera.close()
            }
        },
        ContractCase("the largest size is streamed where none is named") { bench throws(ContractFailure) in
            let watch = try CameraWatch(bench, still: nil, video: bench.abilities.small)
            let pool = watch.mode.pool
            let (still, video) = (pool.still.size, pool.video.size)
            let isLarger = still.width * still.height > video.width * video.height
            try expect(
                isLarger || !bench.abilities.hasTwoStreams, "still \(still) isn't larger than video \(video)")
        },
        ContractCase(
            "it leaves its stream for a photo of its largest size, comes back, and all that is held stays readable"
        ) {
            bench throws(ContractFailure) in
            let small = bench.abilities.small
            let watch = try CameraWatch(bench, still: small, video: small)
            let stream = watch.request
            var shot = CameraRequest(
                still: nil, video: small, framerate: stream.framerate, slots: 3)
            shot.isStillOnly = true
            for _ in 0..<3 {
                try watch.start()
                try watch.wait("a frame of the stream") { !$0.frames.isEmpty }
                watch.camera.stop()
                watch.request = shot
                try watch.configure(still: nil, video: small)
                let pool = watch.mode.pool
                try expect(
                    pool.still == pool.video
                        && (0..<pool.slots).allSatisfy { pool.stillBase($0) == pool.videoBase($0) },
                    "photos only are two streams: \(pool.still), \(pool.video)")
                try expect(
                    pool.still.width * pool.still.height >= small.width * small.height,
                    "the largest photo is \(pool.still.size), the stream \(small)")
                var controls = CameraControls()
                controls.crop = watch.mode.abilities.crop(zoom: 1)
                watch.camera.control(controls)
                watch.keep = 1
                let before = watch.frames.count
                try watch.start()
                try watch.wait("a frame of the largest size") { $0.frames.count > before && !$0.held.isEmpty }
                let photo = watch.held.removeFirst()
                watch.keep = 0
                watch.camera.stop()
                watch.request = stream
                try watch.configure(still: small, video: small)
                let back = watch.frames.count
                try watch.start()
                try watch.wait("frames of the stream again") { $0.frames.count >= back + 3 }
                try photo.checkUnchanged()
                watch.camera.stop()
            }
            try expect(watch.failures == 0 || !watch.isLost, "a mode switch was told as a loss")
        },
        ContractCase("senseless wishes are invalid") { bench throws(ContractFailure) in
            let camera = bench.makeCamera()
            defer { camera.close() }
            try expectError(.invalid) { () throws(HardwareError) in try camera.start() }
            let size = bench.abilities.small
            let good = CameraRequest(still: size, video: size, framerate: 30, slots: 4)
            try expectError(.invalid) { () throws(HardwareError) in _ = try camera.configure(good) }
            try attempt { () throws(HardwareError) in try camera.open() }
            try expectError(.invalid) { () throws(HardwareError) in try camera.start() }
            var bad = good
            bad.framerate = 0
            try expectError(.invalid) { () throws(HardwareError) in _ = try camera.configure(bad) }
            bad = good
            bad.video.width = 0
            try expectError(.invalid) { () throws(HardwareError) in _ = try camera.configure(bad) }
        },
    ]

    // MARK: Memory

    /// What depends on whose memory frames lie in.
    public static let memory: [ContractCase<any CameraBench>] = [
        ContractCase("each layout lies within its memory") { bench throws(ContractFailure) in
            let watch = try CameraWatch(bench, still: bench.abilities.large, video: bench.abilities.small)
            try checkLayout(watch.mode.pool.still)
            try checkLayout(watch.mode.pool.video)
        },
        ContractCase("two sizes at once are both written") { bench throws(ContractFailure) in
            let abilities = bench.abilities
            let watch = try CameraWatch(bench, still: abilities.large, video: abilities.small)
            let pool = watch.mode.pool
            let still = abilities.hasTwoStreams ? abilities.large : abilities.small
            try expect(
                pool.still.size == still && pool.video.size == abilities.small,
                "still \(pool.still.size), video \(pool.video.size); expected \(still) and \(abilities.small)")
            try watch.start()
            watch.keep = 1
            try watch.wait("three frames") { $0.frames.count >= 3 }
            let frame = watch.held[0]
            try expect(hasPicture(frame.lease.still), "the still image is all one byte")
            try expect(hasPicture(frame.lease.video), "the video image is all one byte")
        },
        ContractCase("another size is configured after a stop, and frames held from before stay readable") {
            bench throws(ContractFailure) in
            let watch = try CameraWatch(bench, still: bench.abilities.large, video: bench.abilities.large)
            try watch.start()
            watch.keep = 1
            try watch.wait("a frame") { !$0.held.isEmpty }
            let old = watch.held.removeFirst()
            watch.camera.stop()
            try watch.configure(still: bench.abilities.small, video: bench.abilities.small)
            try expect(
                watch.mode.pool.video.size == bench.abilities.small, "it stays at \(watch.mode.pool.video.size)")
            try watch.start()
            try watch.wait("frames of the other size") { $0.frames.count >= 3 }
            try old.checkUnchanged()
        },
        ContractCase("held frames stay as they are while others come") { bench throws(ContractFailure) in
            for slots in [4, 8] {
                let watch = try CameraWatch(bench, slots: slots)
                try watch.start()
                watch.keep = slots / 2
                try watch.wait("frames to hold") { $0.held.count == slots / 2 }
                let kept = watch.held
                let slotsKept = Set(kept.map(\.frame.ref.slot))
                let before = watch.frames.count
                watch.isKeeping = false
                try watch.wait("more frames than slots") { $0.frames.count >= before + slots + 2 }
                for frame in watch.frames[before...] where slotsKept.contains(frame.ref.slot) {
                    throw ContractFailure("slot \(frame.ref.slot) was filled again while it was held")
                }
                for frame in kept { try frame.checkUnchanged() }
                watch.camera.close()
            }
        },
    ]

    // MARK: Frames

    private static let frames: [ContractCase<any CameraBench>] = [
        ContractCase("frames rise in sequence and time") { bench throws(ContractFailure) in
            let watch = try CameraWatch(bench)
            try watch.start()
            try watch.wait("twelve frames") { $0.frames.count >= 12 }
            for (earlier, later) in zip(watch.frames, watch.frames.dropFirst()) {
                try expect(
                    later.ref.sequence > earlier.ref.sequence && later.exposureEnd > earlier.exposureEnd,
                    "frame \(earlier) is followed by \(later)")
            }
        },
        ContractCase("time stamps lie between the start and the arrival, exposures between them") {
            bench throws(ContractFailure) in
            let watch = try CameraWatch(bench)
            let started = bench.now
            try watch.start()
            try watch.wait("eight frames") { $0.frames.count >= 8 }
            for (frame, drained) in zip(watch.frames, watch.drained) {
                try expect(
                    frame.exposureEnd >= started && frame.exposureEnd <= drained,
                    "started at \(started.nanoseconds), drained at \(drained.nanoseconds), stamped \(frame)")
                let exposure = frame.exposureEnd - frame.exposureStart
                try expect(
                    exposure == frame.exposure ?? .zero, "exposed for \(exposure), told as \(frame)")
            }
        },
        ContractCase("with all slots held no frame comes, and after letting go they come again, the gap counted") {
            bench throws(ContractFailure) in
            for slots in [4, 8] {
                let watch = try CameraWatch(bench, slots: slots)
                let held = watch.mode.pool.slots
                try watch.start()
                watch.keep = held
                try watch.wait("a frame in each slot") { $0.held.count == held }
                let starved = watch.frames.count
                // A slow machine's camera has intervals of its own.
                watch.run(for: max(watch.mode.frameInterval, watch.meanInterval) * 8)
                try expect(watch.frames.count == starved, "a frame came though all \(held) slots are held")
                for frame in watch.held { try frame.checkUnchanged() }
                watch.isKeeping = false
                watch.held = []
                try watch.wait("frames again") { $0.frames.count >= starved + held + 2 }
                let gap = watch.frames[starved].ref.sequence - watch.frames[starved - 1].ref.sequence
                try expect(gap > 1, "eight intervals without a slot leave no gap in the count")
                watch.camera.close()
            }
        },
        ContractCase("a slot let go of on another thread wakes the director") { bench throws(ContractFailure) in
            let watch = try CameraWatch(bench, slots: 4)
            try watch.start()
            let held = watch.mode.pool.slots
            watch.keep = held
            try watch.wait("a frame in each slot") { $0.held.count == held }
            // What the director's own letting go has signalled is seen by its requeue.
            watch.run(for: watch.mode.frameInterval)
            let last = LastHold(watch.held.removeLast())
            let worker = Thread(name: "worker") { last.end() }
            bench.wait(.seconds(2) * bench.slowness, for: watch.mode.pool.freed.descriptor)
            worker.join()
            let before = watch.frames.count
            watch.isKeeping = false
            try watch.wait("a frame in the slot") { $0.frames.count > before }
        },
        ContractCase("frames come at the rate asked for") { bench throws(ContractFailure) in
            let watch = try CameraWatch(bench)
            try watch.start()
            // Pipelines that don't keep to a rate they advertise are found out by their first frames.
            try watch.wait("the first frames") { $0.frames.count >= 12 }
            let first = watch.frames.count
            try watch.wait("twenty frames") { $0.frames.count >= first + 21 }
            let times = watch.frames[first...].map(\.exposureEnd)
            let intervals = zip(times, times.dropFirst()).map { $1 - $0 }.sorted()
            let median = intervals[intervals.count / 2]
            let nominal = watch.mode.frameInterval
            let wished = Duration.nanoseconds(Int64(1e9 / bench.abilities.framerate))
            try expect(
                nominal >= wished * 0.99 && nominal <= wished * 1.01, "\(wished) was wished, \(nominal) is told")
            try expect(
                median >= nominal * 0.85 && median <= nominal * bench.abilities.slack,
                "the median of frame intervals is \(median), nominal \(nominal)")
        },
    ]

    // MARK: Lives

    private static let lives: [ContractCase<any CameraBench>] = [
        ContractCase("it stops with requests queued, and no frame comes after") { bench throws(ContractFailure) in
            let watch = try CameraWatch(bench)
            try watch.start()
            try watch.wait("a frame") { !$0.frames.isEmpty }
            watch.camera.stop()
            var late = 0
            watch.camera.drain { _ in late += 1 }
            bench.wait(watch.mode.frameInterval * 4, for: nil)
            watch.camera.drain { _ in late += 1 }
            watch.camera.requeue(now: bench.now)
            watch.camera.drain { _ in late += 1 }
            try expect(late == 0, "\(late) facts came after the stop")
            watch.camera.stop()
        },
        ContractCase("it starts again after a stop, and what was held stays held") { bench throws(ContractFailure) in
            for slots in [4, 8] {
                let watch = try CameraWatch(bench, slots: slots)
                try watch.start()
                watch.keep = 2
                try watch.wait("frames to hold") { $0.held.count == 2 }
                let kept = watch.held
                watch.isKeeping = false
                for _ in 0..<3 {
                    watch.camera.stop()
                    let before = watch.frames.count
                    try watch.start()
                    try watch.wait("frames of the next run") { $0.frames.count >= before + slots + 2 }
                    let slotsKept = Set(kept.map(\.frame.ref.slot))
                    for frame in watch.frames[before...] where slotsKept.contains(frame.ref.slot) {
                        throw ContractFailure("slot \(frame.ref.slot) was filled again while it was held")
                    }
                }
                for frame in kept { try frame.checkUnchanged() }
                try expect(watch.failures == 0 && !watch.isLost, "stopping was told as a fault")
                watch.camera.close()
            }
        },
        ContractCase("it opens again after it was closed, and a frame held stays readable") {
            bench throws(ContractFailure) in
            let watch = try CameraWatch(bench)
            try watch.start()
            watch.keep = 1
            try watch.wait("a frame") { !$0.held.isEmpty }
            let old = watch.held.removeFirst()
            watch.isKeeping = false
            watch.camera.close()
            watch.camera.close()
            try old.checkUnchanged()
            try watch.open()
            let before = watch.frames.count
            try watch.start()
            try watch.wait("frames") { $0.frames.count >= before + 3 }
        },
        ContractCase("the descriptor stays the same and is quiet when all is drained") {
            bench throws(ContractFailure) in
            let watch = try CameraWatch(bench)
            let descriptor = watch.camera.descriptor
            try watch.start()
            try watch.wait("a frame") { !$0.frames.isEmpty }
            watch.camera.stop()
            let before = bench.now
            bench.wait(watch.mode.frameInterval * 2, for: descriptor)
            try expect(
                bench.now - before >= watch.mode.frameInterval * 2, "a stopped camera signals its descriptor")
            watch.camera.close()
            try watch.open()
            try expect(watch.camera.descriptor == descriptor, "the descriptor changed from one opening to the next")
        },
        ContractCase("a camera that isn't there is absent, and the error names it") { bench throws(ContractFailure) in
            let camera = bench.makeAbsentCamera()
            try expectError(.absent) { () throws(HardwareError) in try camera.open() }
        },
        ContractCase("a second holder finds it busy, until the first closes it") { bench throws(ContractFailure) in
            guard bench.abilities.isExclusive else { return }
            let first = bench.makeCamera()
            let second = bench.makeCamera()
            defer { second.close() }
            try attempt { () throws(HardwareError) in try first.open() }
            try expectError(.busy) { () throws(HardwareError) in try second.open() }
            first.close()
            try attempt { () throws(HardwareError) in try second.open() }
        },
    ]

    // MARK: Words

    private static func checkLayout(_ layout: ImageLayout) throws(ContractFailure) {
        let halved = (width: (layout.width + 1) / 2, height: (layout.height + 1) / 2)
        let planes: [(plane: ImageLayout.Plane, bytes: Int, rows: Int)] =
            switch layout.format {
            case .yuv420:
                [
                    (layout.first, layout.width, layout.height), (layout.second, halved.width, halved.height),
                    (layout.third, halved.width, halved.height),
                ]
            case .nv12: [(layout.first, layout.width, layout.height), (layout.second, halved.width * 2, halved.height)]
            case .bgr888, .rgb888: [(layout.first, layout.width * 3, layout.height)]
            }
        var end = 0
        for (plane, bytes, rows) in planes {
            try expect(plane.stride >= bytes, "a row of \(bytes) bytes has a stride of \(plane.stride): \(layout)")
            try expect(plane.offset >= end, "planes lie on each other: \(layout)")
            end = plane.offset + plane.stride * rows
        }
        try expect(end <= layout.byteCount, "planes end at \(end) of \(layout.byteCount) bytes: \(layout)")
        let isRGB = layout.format == .bgr888 || layout.format == .rgb888
        try expect(isRGB == (layout.colour == .srgb), "format \(layout.format) has colours \(layout.colour)")
    }

    private static func hasPicture(_ image: Image) -> Bool {
        let bytes = UnsafeRawBufferPointer(start: image.base, count: image.layout.byteCount)
        return bytes.contains { $0 != bytes[0] }
    }

    static func expectError(
        _ kind: HardwareError.Kind, _ body: () throws(HardwareError) -> Void
    ) throws(ContractFailure) {
        do throws(HardwareError) {
            try body()
        } catch {
            try expect(error.kind == kind, "told as \(error.kind.rawValue) instead of \(kind.rawValue): \(error)")
            return
        }
        throw ContractFailure("it worked; \(kind.rawValue) was expected")
    }

    static func attempt(_ body: () throws(HardwareError) -> Void) throws(ContractFailure) {
        do throws(HardwareError) { try body() } catch { throw ContractFailure("\(error)") }
    }
}

/// The last hold of a frame, to be ended on another thread.
private final class LastHold: @unchecked Sendable {
    // Proof of Sendable: the thread that made it doesn't touch it any more.
    private var frame: HeldFrame?
    init(_ frame: HeldFrame) { self.frame = frame }
    func end() { frame = nil }
}

extension ImageLayout {
    var size: Size { Size(width: width, height: height) }
}
