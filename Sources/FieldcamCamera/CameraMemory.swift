import CFieldcamCameraTable

/// The mapped buffers of one configuration; they stay readable until the last frame pool over them is gone.
final class CameraMemory: @unchecked Sendable {
    // Proof of Sendable: the handle never changes, and the functions that take it may be called from any thread.
    private let table: UnsafePointer<fc_camera_table>
    private let handle: OpaquePointer

    /// Takes the handle over.
    init(table: UnsafePointer<fc_camera_table>, handle: OpaquePointer) {
        self.table = table
        self.handle = handle
    }

    deinit { table.pointee.unmap(handle) }

    func image(buffer: Int, stream: Int) -> UnsafeMutableRawPointer {
        table.pointee.image(handle, UInt32(buffer), UInt32(stream))
    }

    /// Before and after the processor reads a buffer.
    func synchronise(buffer: Int, begin: Bool) {
        table.pointee.synchronise(handle, UInt32(buffer), begin ? 1 : 0)
    }
}
