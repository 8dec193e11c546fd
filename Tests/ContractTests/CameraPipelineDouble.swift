import CFieldcamCameraTable
import FieldcamCore
import Glibc
import Synchronization

@testable import FieldcamCamera

/// Stands where a camera library stands: its requests complete when the test says so, as the test says.
final class CameraPipelineDouble: @unchecked Sendable {
    // Proof of Sendable: used by the one thread of a test.
    let buffers: Int
    let hasFramerate: Bool
    private(set) var queued: [Int] = []
    private(set) var isRunning = false
    var queueError: Int32 = 0
    /// Changes what the camera says of itself.
    var change: (inout fc_camera_mode) -> Void = { _ in }
    /// What it was started with, and what came with its requests.
    private(set) var first = fc_camera_controls()
    /// What it was configured for.
    private(set) var wish = fc_camera_wish()
    private(set) var changes: [fc_camera_controls] = []
    private var records: [fc_camera_record] = []
    private var event: Int32 = -1
    private let memory: UnsafeMutableRawPointer
    private let bytes = 64 * 48

    init(buffers: Int, hasFramerate: Bool) {
        self.buffers = buffers
        self.hasFramerate = hasFramerate
        memory = .allocate(byteCount: bytes * buffers, alignment: 4096)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytes * buffers)
    }

    deinit { memory.deallocate() }

    func camera() -> LibcameraCamera {
        Self.current.withLock { $0 = self }
        return LibcameraCamera(match: "double", library: CameraLibrary(table: Self.table, path: "double"))
    }

    /// The oldest request is done: a good frame unless said otherwise.
    func complete(
        _ kind: fc_camera_record_kind = FC_CAMERA_FRAME, sequence: UInt64 = 0, at: Instant,
        change: (inout fc_camera_record) -> Void = { _ in }
    ) {
        var record = fc_camera_record()
        record.kind = kind.rawValue
        record.sequence = sequence
        record.sensor_ns = at.nanoseconds
        record.arrived_ns = at.nanoseconds
        record.exposure_ns = -1
        record.gain = .nan
        record.lux = .nan
        record.lens_position = .nan
        record.focus = -1
        record.exposure_settled = -1
        if kind != FC_CAMERA_DISCONNECTED {
            let request = queued.removeFirst()
            record.buffer = UInt32(request)
            memset(memory + request * bytes, Int32(sequence & 0xff), bytes)
        }
        change(&record)
        records.append(record)
        var one: UInt64 = 1
        write(event, &one, 8)
    }

    // MARK: The table

    private static let current = Mutex<CameraPipelineDouble?>(nil)

    /// Every handle is the double itself.
    private static func of(_ handle: OpaquePointer) -> CameraPipelineDouble {
        Unmanaged<CameraPipelineDouble>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
    }
    private var handle: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

    nonisolated(unsafe) private static let table: UnsafePointer<fc_camera_table> = {
        let table = UnsafeMutablePointer<fc_camera_table>.allocate(capacity: 1)
        table.initialize(
            to: fc_camera_table(
                version: UInt32(FC_CAMERA_TABLE_VERSION), library_version: UnsafePointer(strdup("double")!),
                list: { _, _, _, _ in 0 },
                open: { _, event, result, _, _ in
                    let double = CameraPipelineDouble.current.withLock { $0! }
                    double.event = event
                    result.pointee = double.handle
                    return 0
                },
                configure: { handle, wish, mode, memory, _, _ in
                    let double = CameraPipelineDouble.of(handle)
                    double.wish = wish.pointee
                    mode.pointee = fc_camera_mode()
                    mode.pointee.streams = 1
                    mode.pointee.buffers = UInt32(double.buffers)
                    mode.pointee.has_framerate = double.hasFramerate ? 1 : 0
                    mode.pointee.frame_interval_ns = Int64(1e9 / wish.pointee.framerate)
                    mode.pointee.stream.0.width = 64
                    mode.pointee.stream.0.height = 32
                    mode.pointee.stream.0.format = FC_CAMERA_NV12.rawValue
                    mode.pointee.stream.0.planes = 2
                    mode.pointee.stream.0.stride = (64, 64, 0)
                    mode.pointee.stream.0.offset = (0, 64 * 32, 0)
                    mode.pointee.stream.0.bytes = UInt32(double.bytes)
                    double.change(&mode.pointee)
                    memory.pointee = double.handle
                    return 0
                },
                start: { handle, controls, _, _ in
                    let double = CameraPipelineDouble.of(handle)
                    double.isRunning = true
                    double.first = controls.pointee
                    double.changes = []
                    return 0
                },
                stop: { handle in
                    let double = CameraPipelineDouble.of(handle)
                    double.isRunning = false
                    double.queued = []
                    double.records = []
                },
                close: { _ in },
                model: { _ in UnsafePointer(CameraPipelineDouble.name) },
                pixels: { handle, width, height in
                    width.pointee = 64
                    height.pointee = 32
                    return 0
                },
                queue: { handle, request, controls in
                    let double = CameraPipelineDouble.of(handle)
                    if let controls { double.changes.append(controls.pointee) }
                    if double.queueError == 0 { double.queued.append(Int(request)) }
                    return double.queueError
                },
                take: { handle, record in
                    let double = CameraPipelineDouble.of(handle)
                    guard !double.records.isEmpty else { return 0 }
                    record.pointee = double.records.removeFirst()
                    return 1
                },
                image: { handle, request, _ in
                    let double = CameraPipelineDouble.of(handle)
                    return double.memory + Int(request) * double.bytes
                },
                synchronise: { _, _, _ in },
                unmap: { _ in }))
        return UnsafePointer(table)
    }()
    nonisolated(unsafe) private static let name: UnsafeMutablePointer<CChar> = strdup("double")!
}
