import FieldcamCore
import FieldcamLinux

/// What is asked of a camera. Sizes are wishes: `CameraMode` tells what came of them.
public struct CameraRequest: Hashable, Sendable {
    /// Size for photos; `nil`: the largest the camera streams.
    public var still: Size?
    /// Size for clips.
    public var video: Size
    /// Frames a second.
    public var framerate: Double
    /// Frame slots wanted: ring, shots in work, queued shots and the encoder together.
    public var slots: Int
    /// Photos only: one stream of `still`'s size, in the still role, with as few buffers as will do. `video` doesn't count.
    public var isStillOnly = false
    /// Buffers of the camera's own; `nil`: as many as slots. With fewer, frames are copied into slots of our own.
    public var buffers: Int?

    public init(still: Size?, video: Size, framerate: Double, slots: Int) {
        self.still = still
        self.video = video
        self.framerate = framerate
        self.slots = slots
    }
}

public struct Size: Hashable, Sendable {
    public var width: Int
    public var height: Int
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// What limits a camera's frames.
public struct CameraLimits: Hashable, Sendable {
    /// The sensor's pixels; `nil`: not told.
    public var sensor: Size?
    /// `nil`: as much memory as the machine has.
    public var memory: MemoryBudget?

    public init(sensor: Size? = nil, memory: MemoryBudget? = nil) {
        self.sensor = sensor
        self.memory = memory
    }
}

/// What a configured camera really does.
public struct CameraMode: Sendable {
    /// libcamera's model, such as "imx708", for EXIF and status.
    public var model: String
    public var pool: FramePool
    /// Nominal; the frames' own times are the truth.
    public var frameInterval: Duration
    /// Whether frames are copied into slots of our own on arrival.
    public var copiesFrames: Bool
    /// Degrees clockwise that make the picture upright: 0, 90, 180, 270.
    public var rotation: Int
    public var mirror: Bool
    public var hasFocus: Bool
    public var abilities = CameraAbilities()

    public init(
        model: String, pool: FramePool, frameInterval: Duration, copiesFrames: Bool, rotation: Int = 0,
        mirror: Bool = false, hasFocus: Bool = false
    ) {
        self.model = model
        self.pool = pool
        self.frameInterval = frameInterval
        self.copiesFrames = copiesFrames
        self.rotation = rotation
        self.mirror = mirror
        self.hasFocus = hasFocus
    }
}

/// What a running camera tells, drained by the director.
public enum CameraFact: Sendable {
    /// A good frame; its slot is without holds and stays untouched until the director leased and let go of it.
    case frame(Frame)
    /// A frame that failed, came with an error status, or is a start-up frame; nothing can be used of it.
    case frameFailed(at: Instant)
    /// Requests were cancelled while running: the hardware timed out or went away. Nothing more comes until stop and start.
    case lost
}

/// A camera. Calls marked *camera thread* may block for a second or more and come from `fc-camera` only, one at a time;
/// calls marked *director* never block and come from the director's thread only, between `start` and `stop`.
public protocol Camera: AnyObject, Sendable {
    /// Readable when facts wait to be drained. The same for the object's whole life.
    var descriptor: Int32 { get }

    /// Camera thread. Finds and acquires the camera: `absent`, `busy`, `denied`.
    func open() throws(HardwareError)
    /// Camera thread, while it's open: what its frames must fit into.
    var limits: CameraLimits { get }
    /// Camera thread. Chooses streams and allocates; may be called again after `stop`, with another request.
    func configure(_ request: CameraRequest) throws(HardwareError) -> CameraMode
    /// Camera thread.
    func start() throws(HardwareError)
    /// Camera thread. Everything queued comes back; facts not yet drained may be dropped. Idempotent.
    func stop()
    /// Camera thread. Gives the camera up so that another program can use it. Idempotent.
    func close()

    /// Director. Hands out what came since the last call, in order, and clears the descriptor.
    func drain(_ body: (CameraFact) -> Void)
    /// Director. Queues again the slots that became free, and what the frame grid makes due.
    func requeue(now: Instant)
    /// Director; camera thread between `configure` and `start`, for the first frame. Sets the controls with the next request
    /// that is queued; the latest call counts. Never allocates once the camera runs.
    func control(_ controls: CameraControls)
    /// Director. When `requeue` wants to be called even if nothing happens; `nil`: only after a slot became free.
    var nextDeadline: Instant? { get }
}

extension Camera {
    public var limits: CameraLimits { CameraLimits() }
}
