import FieldcamCore
import FieldcamPorts

/// Clip writers whose encoder falls silent at the world's word: everything else is the factory underneath.
public final class SimulatedClipWriters: ClipWriterFactory {
    private let world: SimulatedWorld
    private let factory: any ClipWriterFactory

    public init(world: SimulatedWorld, factory: any ClipWriterFactory) {
        self.world = world
        self.factory = factory
    }

    public func begin(_ plan: ClipPlan) throws(HardwareError) -> any ClipWriter {
        StallingClipWriter(world: world, pulse: plan.pulse, writer: try factory.begin(plan))
    }

    public func probe(_ encoders: [String]) -> String? { factory.probe(encoders) }

    public func limits(of encoder: String) -> EncoderLimits { factory.limits(of: encoder) }

    public func measure(path: String) throws(HardwareError) -> ClipFacts { try factory.measure(path: path) }
}

/// A clip whose encoder gives nothing while the world says so; Motion JPEG has no hardware that could.
final class StallingClipWriter: ClipWriter {
    private let world: SimulatedWorld
    private let pulse: EncoderPulse?
    private let writer: any ClipWriter
    private let canStall: Bool

    init(world: SimulatedWorld, pulse: EncoderPulse? = nil, writer: any ClipWriter) {
        self.world = world
        self.pulse = pulse
        self.writer = writer
        canStall = writer.encoder != "mjpeg"
    }

    var encoder: String { writer.encoder }

    var encodedFrames: Int? { writer.encodedFrames }

    func append(_ image: Image, at: Instant) throws(HardwareError) {
        if canStall, world.isLive, world.encoderHangs {
            pulse?.begin()
            world.waitForEncoder()
            pulse?.end()
        }
        if canStall, world.encoderIsStalled { return }
        try writer.append(image, at: at)
    }

    func append(sound: UnsafeBufferPointer<Int16>, at: Instant) throws(HardwareError) {
        try writer.append(sound: sound, at: at)
    }

    func attach(file descriptor: Int32) throws(HardwareError) { try writer.attach(file: descriptor) }

    func finish(end: Instant) throws(HardwareError) -> ClipFacts? { try writer.finish(end: end) }

    func cancel() { writer.cancel() }
}
