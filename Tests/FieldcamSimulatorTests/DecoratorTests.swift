import FieldcamCore
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// The disk that fills and the encoder that stalls, around any store and any encoder.
final class DecoratorTests: XCTestCase {
    private final class MemoryStore: MediaStore {
        func recover() -> [Leftover] { [] }
        func reserveNumbers(_ count: Int) -> (next: MediaNumber, limit: MediaNumber) {
            (MediaNumber(1), MediaNumber(1 + count))
        }
        func savePhoto(_ number: MediaNumber, taken: WallTime, parts: [PhotoPart]) -> [SavedFile] {
            parts.map { SavedFile(path: "photo", byteCount: $0.bytes.count) }
        }
        func beginClip(_ number: MediaNumber, taken: WallTime, source: Source?) -> PartialClip {
            PartialClip(number: number, descriptor: -1, path: "clip", folder: "undated")
        }
        func publish(_ clip: PartialClip) -> SavedFile { SavedFile(path: "clip", byteCount: 1) }
        func discard(_ clip: PartialClip) {}
        func headroom() -> Int64 { 5_000_000 }
    }

    private final class CountingWriters: ClipWriterFactory {
        func begin(_ plan: ClipPlan) -> any ClipWriter { CountingWriter() }
        func probe(_ encoders: [String]) -> String? { encoders.first }
        func measure(path: String) -> ClipFacts {
            ClipFacts(duration: .zero, frames: 0, silence: .zero, driftPPM: 0)
        }
    }
    private final class CountingWriter: ClipWriter {
        private var frames = 0
        let encoder = "counting"
        var encodedFrames: Int? { frames }
        func append(_ image: Image, at: Instant) { frames += 1 }
        func append(sound: UnsafeBufferPointer<Int16>, at: Instant) {}
        func attach(file descriptor: Int32) {}
        func finish(end: Instant) -> ClipFacts? {
            ClipFacts(duration: .zero, frames: frames, silence: .zero, driftPPM: 0)
        }
        func cancel() {}
    }

    private let taken = WallTime(
        year: 2026, month: 11, day: 30, hour: 12, minute: 0, second: 0, nanosecond: 0, offset: 0, isTrusted: true)

    func testAFullDiskTakesNothingNew() throws {
        let world = ManualClock().makeWorld()
        let disk = SimulatedDisk(world: world, store: MemoryStore())
        let bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        XCTAssertEqual(try disk.headroom(), 5_000_000)
        let clip = try disk.beginClip(MediaNumber(1), taken: taken)

        world.inject(.diskFull(true))
        XCTAssertLessThan(try disk.headroom(), 0)
        XCTAssertThrowsError(try disk.savePhoto(MediaNumber(2), taken: taken, bytes: bytes)) {
            XCTAssertEqual(($0 as? HardwareError)?.kind, .full)
        }
        XCTAssertThrowsError(try disk.beginClip(MediaNumber(3), taken: taken)) {
            XCTAssertEqual(($0 as? HardwareError)?.kind, .full)
        }
        XCTAssertEqual(try disk.publish(clip).path, "clip", "what is written stays")

        world.inject(.diskFull(false))
        XCTAssertEqual(try disk.savePhoto(MediaNumber(4), taken: taken, bytes: bytes).path, "photo")
    }

    func testAStalledEncoderTakesFramesAndGivesNone() throws {
        let world = ManualClock().makeWorld()
        let writers = SimulatedClipWriters(world: world, factory: CountingWriters())
        XCTAssertEqual(writers.probe(["libx264"]), "libx264")
        let layout = ImageLayout.packed(width: 64, height: 64, format: .yuv420, colour: .sycc)
        let writer = try writers.begin(ClipPlan(encoders: ["counting"], layout: layout, framerate: 30, audio: nil))
        let memory = UnsafeMutableRawPointer.allocate(byteCount: layout.byteCount, alignment: 64)
        defer { memory.deallocate() }
        let image = Image(layout: layout, base: memory)
        try writer.append(image, at: world.now)
        world.inject(.encoderStall(true))
        try writer.append(image, at: world.now)
        XCTAssertEqual(writer.encodedFrames, 1, "it took the frame and gave nothing")
        world.inject(.encoderStall(false))
        try writer.append(image, at: world.now)
        XCTAssertEqual(writer.encodedFrames, 2)
        XCTAssertEqual(try writer.finish(end: world.now)?.frames, 2)
    }
}
