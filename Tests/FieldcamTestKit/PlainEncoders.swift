import FieldcamCore
import FieldcamPorts

/// A "photo" that is the picture's luma rows as they are: cheap to make, and its strip can be read.
public final class LumaEncoder: StillEncoder, @unchecked Sendable {
    // Proof of Sendable: used by one worker.
    private var buffer: [UInt8] = []

    public init() {}

    public func encode(_ image: Image, plan: StillPlan) throws(HardwareError) -> UnsafeRawBufferPointer {
        let image = plan.cut.map { image.cut($0) } ?? image
        let width = image.layout.width
        buffer.removeAll(keepingCapacity: true)
        for row in 0..<image.layout.height {
            buffer.append(
                contentsOf: UnsafeBufferPointer(start: image.plane(0) + row * image.layout.first.stride, count: width))
        }
        return buffer.withUnsafeBytes { $0 }
    }
}

/// Clip writers that only keep account: which frames and how much sound came, and when.
public final class CountingClipWriters: ClipWriterFactory, @unchecked Sendable {
    // Proof of Sendable: in tests with inline labour one thread does everything.
    public struct Clip: Sendable {
        public var frames: [Instant] = []
        public var soundSamples = 0
        public var end: Instant?
        public var isAttached = false
        public var encoder = ""
    }
    public private(set) var finished: [Clip] = []
    public private(set) var cancelled = 0

    public init() {}

    public func begin(_ plan: ClipPlan) throws(HardwareError) -> any ClipWriter {
        Writer(self, encoder: plan.encoders.first ?? "counting")
    }
    public func probe(_ encoders: [String]) -> String? { "counting" }
    public func measure(path: String) throws(HardwareError) -> ClipFacts {
        ClipFacts(duration: .zero, frames: 0, silence: .zero, driftPPM: 0)
    }

    private final class Writer: ClipWriter {
        let encoder: String
        let owner: CountingClipWriters
        var clip = Clip()
        var isOver = false
        var encodedFrames: Int? { clip.frames.count }
        init(_ owner: CountingClipWriters, encoder: String) {
            self.owner = owner
            self.encoder = encoder
            clip.encoder = encoder
        }

        func append(_ image: Image, at: Instant) throws(HardwareError) {
            if let last = clip.frames.last, at <= last {
                throw HardwareError(.invalid, "append", detail: "time went back")
            }
            clip.frames.append(at)
        }
        func append(sound: UnsafeBufferPointer<Int16>, at: Instant) throws(HardwareError) {
            clip.soundSamples += sound.count
        }
        func attach(file descriptor: Int32) throws(HardwareError) { clip.isAttached = true }
        func finish(end: Instant) throws(HardwareError) -> ClipFacts? {
            isOver = true
            clip.end = end
            guard let first = clip.frames.first else { return nil }
            owner.finished.append(clip)
            return ClipFacts(duration: end - first, frames: clip.frames.count, silence: .zero, driftPPM: 0)
        }
        func cancel() {
            if !isOver { owner.cancelled += 1 }
            isOver = true
        }
    }
}
