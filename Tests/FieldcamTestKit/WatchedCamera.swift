import FieldcamCore
import FieldcamPorts

/// A camera, and what it was told and gave: the controls that it has, and each frame with the mean luma of a part of it.
public final class WatchedCamera: Camera, @unchecked Sendable {
    // Proof of Sendable: in tests with inline labour one thread does everything.
    public struct Seen: Sendable {
        public var frame: Frame
        /// Of `region`, 0 … 1, as encoded.
        public var luma: Double?
    }

    private let camera: any Camera
    private var pool: FramePool?
    public private(set) var controls = CameraControls()
    /// Calls of `control`.
    public private(set) var orders = 0
    /// The frames since `region` was set, or since `forget`.
    public private(set) var seen: [Seen] = []
    /// The latest frame.
    public private(set) var last: Frame?
    /// Whose luma is measured, in the image; `nil`: no frames are kept.
    public var region: UnitRect?

    public init(_ camera: any Camera) { self.camera = camera }

    public func forget() { seen.removeAll() }

    public var descriptor: Int32 { camera.descriptor }
    public var limits: CameraLimits { camera.limits }
    public func open() throws(HardwareError) { try camera.open() }
    public func configure(_ request: CameraRequest) throws(HardwareError) -> CameraMode {
        let mode = try camera.configure(request)
        pool = mode.pool
        return mode
    }
    public func start() throws(HardwareError) { try camera.start() }
    public func stop() { camera.stop() }
    public func close() { camera.close() }
    public func drain(_ body: (CameraFact) -> Void) {
        camera.drain { fact in
            if case .frame(let frame) = fact {
                last = frame
                if region != nil { seen.append(Seen(frame: frame, luma: luma(of: frame))) }
            }
            body(fact)
        }
    }
    public func requeue(now: Instant) { camera.requeue(now: now) }
    public func control(_ controls: CameraControls) {
        self.controls = controls
        orders += 1
        camera.control(controls)
    }
    public var nextDeadline: Instant? { camera.nextDeadline }

    /// Of all its pixels: the slot isn't filled again before its fact was handed on.
    private func luma(of frame: Frame) -> Double? {
        guard let region, let pool else { return nil }
        let layout = pool.video
        let pixels = UnsafePointer(
            (pool.videoBase(frame.ref.slot) + layout.first.offset).assumingMemoryBound(to: UInt8.self))
        let (width, height) = (Double(layout.width), Double(layout.height))
        let columns = Int(region.x * width)..<Int((region.x + region.width) * width)
        var sum = 0
        let rows = Int(region.y * height)..<Int((region.y + region.height) * height)
        for row in rows { for column in columns { sum += Int(pixels[row * layout.first.stride + column]) } }
        return Double(sum) / Double(columns.count * rows.count * 255)
    }
}
