import FieldcamCore
import FieldcamPorts

/// What the director works by, as far as the owner may change it while the service runs.
public struct LiveSettings: Hashable, Sendable {
    public var session: SessionSettings
    /// What is asked of each camera, by `CameraID.index`; a change of it needs an idle camera.
    public var requests: [CameraRequest]
    public var photoQuality: Int
    /// The encoder that was found to work, and the order in which others are tried.
    public var encoders: [String]
    /// Bits a second that a clip may have; nil: as its quality needs.
    public var videoBitRate: Int?
    public var everyFrameIsKey: Bool
    public var framerate: Double
    public var recordsSound: Bool
    /// Guide, aspect and overlay: from the next shot and the next clip on.
    public var framing: Framing
    /// Size of shots by a mode switch to the full sensor; `nil`: the whole of it.
    public var sensorStill: Size?
    /// What clips are asked to be, and what the encoder that was found can do. `nil`: the camera's own picture, with the bit
    /// rate, key frames and frame rate above.
    public var quality: ClipQuality?
    public var encoderLimits = EncoderLimits(name: "")

    public init(
        session: SessionSettings, requests: [CameraRequest], photoQuality: Int, encoders: [String],
        videoBitRate: Int?, everyFrameIsKey: Bool, framerate: Double, recordsSound: Bool,
        framing: Framing = Framing()
    ) {
        self.session = session
        self.requests = requests
        self.photoQuality = photoQuality
        self.encoders = encoders
        self.videoBitRate = videoBitRate
        self.everyFrameIsKey = everyFrameIsKey
        self.framerate = framerate
        self.recordsSound = recordsSound
        self.framing = framing
    }
}
