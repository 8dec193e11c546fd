import CFieldcamCameraTable
import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc

/// A camera of libcamera.
///
/// Frames are used where the camera wrote them, if it has as many buffers as slots were wished for; else they are copied on
/// arrival into slots of our own. Where the pipeline keeps no frame rate, requests are queued on the grid of the wished one.
public final class LibcameraCamera: Camera, @unchecked Sendable {
    // Proof of Sendable: the camera's thread changes state only before `start` and after `stop`, the director only between
    // them; the orders that pass from one to the other go through a queue, which orders memory as well.
    private let match: String
    private let rotation: Int
    private let mirror: Bool
    private let folders: [String]
    private let heaps: [String]
    private let arrived = EventFD()
    private let freed = EventFD()

    private var library: CameraLibrary?
    private var handle: OpaquePointer?
    private var session: CameraSession?
    /// As told last; a camera that starts again has them from its first frame on.
    private var controls: CameraControls?
    /// What frames told once, they tell again.
    private var reports: (lux: Bool, exposureState: Bool) = (false, false)

    /// - Parameters:
    ///   - match: which camera: "location:back", "location:front", "location:external", "id:…", "model:…", "index:0".
    ///   - rotation: degrees clockwise from the board profile, on top of what libcamera knows: 0, 90, 180, 270.
    ///   - mirror: from the board profile.
    ///   - folders: where the camera libraries lie.
    ///   - heaps: devices of dma heaps; the first that is there gives the frames' memory. None: libcamera allocates.
    public init(
        match: String, rotation: Int = 0, mirror: Bool = false, folders: [String] = CameraLibrary.standardFolders,
        heaps: [String] = LibcameraCamera.standardHeaps
    ) {
        self.match = match
        self.rotation = rotation
        self.mirror = mirror
        self.folders = folders
        self.heaps = heaps
    }

    /// The heap that Raspberry Pi OS makes for its camera: cached memory, which is several times faster to read.
    public static let standardHeaps = ["/dev/dma_heap/vidbuf_cached"]

    /// With a table that is loaded already.
    init(match: String, library: CameraLibrary) {
        self.match = match
        rotation = 0
        mirror = false
        folders = []
        heaps = []
        self.library = library
    }

    deinit { close() }

    public var descriptor: Int32 { arrived.descriptor }
    /// Camera thread. Whether the configured camera's frames lie in memory of a heap.
    public var usesHeap: Bool { session?.usesHeap ?? false }

    public func open() throws(HardwareError) {
        guard handle == nil else { return }
        if library == nil { library = try CameraLibrary.load(from: folders) }
        guard let library else { return }
        let text = ErrorText()
        var opened: OpaquePointer?
        let code = library.table.pointee.open(match, arrived.descriptor, &opened, text.start, text.size)
        guard code == 0, let opened else {
            throw .errno(code, "open the camera '\(match)'", detail: text.string)
        }
        handle = opened
        Log.notice("camera opened", ["match": match, "model": model, "libcamera": library.version])
    }

    public var limits: CameraLimits {
        guard let handle, let table = library?.table else { return CameraLimits() }
        var size: (width: UInt32, height: UInt32) = (0, 0)
        let isContiguous = table.pointee.pixels(handle, &size.width, &size.height) == 1
        return CameraLimits(
            sensor: size.width > 0 ? Size(width: Int(size.width), height: Int(size.height)) : nil,
            memory: isContiguous && !heapIsOrdinary ? MemoryInformation.budget : nil)
    }

    /// On a Pi 5 the camera's heap is a link to ordinary memory, which its pipeline can use.
    private var heapIsOrdinary: Bool {
        guard let heap = heaps.first(where: { access($0, R_OK | W_OK) == 0 }), let path = realpath(heap, nil) else {
            return false
        }
        defer { free(path) }
        return String(cString: path).hasSuffix("/system")
    }

    public func configure(_ request: CameraRequest) throws(HardwareError) -> CameraMode {
        let operation = "configure the camera '\(match)'"
        guard let handle, let table = library?.table else {
            throw HardwareError(.invalid, operation, detail: "it isn't open; open it first")
        }
        session = nil
        let slots = min(max(request.slots, 1), FramePool.maximumSlots)
        var wish = fc_camera_wish(
            still_width: UInt32(clamping: request.still?.width ?? 0),
            still_height: UInt32(clamping: request.still?.height ?? 0),
            video_width: UInt32(clamping: request.video.width), video_height: UInt32(clamping: request.video.height),
            framerate: request.framerate, only_still: request.isStillOnly ? 1 : 0,
            buffers: UInt32(min(max(request.buffers ?? request.slots, 1), slots)), heap: nil)
        var mode = fc_camera_mode()
        var memory: OpaquePointer?
        let text = ErrorText()
        let code = withHeap { heap in
            wish.heap = heap
            return table.pointee.configure(handle, &wish, &mode, &memory, text.start, text.size)
        }
        guard code == 0, let memory else { throw .errno(code, operation, detail: text.string) }
        let session = CameraSession(
            mode: mode, memory: CameraMemory(table: table, handle: memory), slots: slots, freed: freed)
        self.session = session
        var told = CameraMode(
            model: model, pool: session.pool, frameInterval: session.interval, copiesFrames: session.copiesFrames,
            rotation: (Int(mode.rotation) + rotation) % 360, mirror: (mode.mirror == 1) != mirror,
            hasFocus: session.hasFocus)
        told.abilities = CameraAbilities(mode)
        told.abilities.rotation = told.rotation
        told.abilities.mirror = told.mirror
        told.abilities.controlDelay = session.controlDelay
        if reports.lux { told.abilities.reportsLux = true }
        if reports.exposureState { told.abilities.reportsExposureState = true }
        return told
    }

    public func start() throws(HardwareError) {
        let operation = "start the camera '\(match)'"
        guard let handle, let table = library?.table, let session else {
            throw HardwareError(.invalid, operation, detail: "it isn't configured; configure it first")
        }
        guard !session.isRunning else { return }
        let text = ErrorText()
        var first = session.controls.first(controls)
        let code = table.pointee.start(handle, &first, text.start, text.size)
        guard code == 0 else { throw .errno(code, operation, detail: text.string) }
        session.start(now: SystemClock.now, bootOffset: SystemClock.bootOffset)
        requeue(now: SystemClock.now)
    }

    public func stop() {
        guard let handle, let table = library?.table else { return }
        table.pointee.stop(handle)
        session?.stop()
        arrived.clear()
    }

    public func close() {
        guard let handle, let table = library?.table else { return }
        stop()
        session = nil
        table.pointee.close(handle)
        self.handle = nil
    }

    public func control(_ controls: CameraControls) {
        self.controls = controls
        session?.controls.tell(controls)
    }

    public func drain(_ body: (CameraFact) -> Void) {
        arrived.clear()
        guard let handle, let table = library?.table, let session, session.isRunning else { return }
        var record = fc_camera_record()
        while table.pointee.take(handle, &record) == 1 {
            if !record.lux.isNaN { reports.lux = true }
            if record.exposure_settled >= 0 { reports.exposureState = true }
            session.handle(record, body)
        }
        session.tellLoss(body)
    }

    public func requeue(now: Instant) {
        guard let handle, let table = library?.table, let session, session.isRunning else { return }
        // Before the slots are looked at: one that becomes free in between signals again.
        freed.clear()
        session.takeFreed()
        while let request = session.takeDue(now) {
            guard queue(request, handle, table, session) == 0 else {
                session.fail()
                arrived.signal()
                break
            }
        }
        session.turn()
    }

    private func queue(
        _ request: Int, _ handle: OpaquePointer, _ table: UnsafePointer<fc_camera_table>, _ session: CameraSession
    ) -> Int32 {
        guard var changes = session.controls.next() else {
            return table.pointee.queue(handle, UInt32(request), nil)
        }
        return table.pointee.queue(handle, UInt32(request), &changes)
    }

    public var nextDeadline: Instant? {
        guard let session, session.isRunning else { return nil }
        return session.nextDeadline
    }

    private func withHeap(_ body: (UnsafePointer<CChar>?) -> Int32) -> Int32 {
        guard let heap = heaps.first(where: { access($0, R_OK | W_OK) == 0 }) else { return body(nil) }
        return heap.withCString { body($0) }
    }

    private var model: String {
        guard let handle, let table = library?.table else { return "" }
        return String(cString: table.pointee.model(handle))
    }
}
