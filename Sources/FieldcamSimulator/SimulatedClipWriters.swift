import FieldcamCore
import FieldcamPorts
import Glibc

/// Clip writers whose encoder gives up at the world's word: everything else is the factory underneath.
public final class SimulatedClipWriters: ClipWriterFactory {
    private let world: SimulatedWorld
    private let factory: any ClipWriterFactory

    public init(world: SimulatedWorld, factory: any ClipWriterFactory) {
        self.world = world
        self.factory = factory
    }

    public func begin(_ plan: ClipPlan) throws(HardwareError) -> any ClipWriter {
        StallingClipWriter(world: world, writer: try factory.begin(plan))
    }

    public func probe(_ encoders: [String]) -> String? { factory.probe(encoders) }

    public func limits(of encoder: String) -> EncoderLimits { factory.limits(of: encoder) }

    public func measure(path: String) throws(HardwareError) -> ClipFacts { try factory.measure(path: path) }
}

/// A clip whose encoder takes no frames while the world says so.
final class StallingClipWriter: ClipWriter {
    private let world: SimulatedWorld
    private let writer: any ClipWriter

    init(world: SimulatedWorld, writer: any ClipWriter) {
        self.world = world
        self.writer = writer
    }

    var encoder: String { writer.encoder }

    func append(_ image: Image, at: Instant) throws(HardwareError) {
        if world.encoderIsStalled {
            throw HardwareError(
                .timedOut, "encode a frame", code: ETIMEDOUT, detail: "the simulated encoder is stalled")
        }
        try writer.append(image, at: at)
    }

    func append(sound: UnsafeBufferPointer<Int16>, at: Instant) throws(HardwareError) {
        try writer.append(sound: sound, at: at)
    }

    func attach(file descriptor: Int32) throws(HardwareError) { try writer.attach(file: descriptor) }

    func finish(end: Instant) throws(HardwareError) -> ClipFacts? { try writer.finish(end: end) }

    func cancel() { writer.cancel() }
}
