import Clibavcodec
import Clibavformat
import Clibavutil
import FieldcamCore
import FieldcamPorts
import Glibc
import XCTest

@testable import FieldcamMedia

/// Clips are decoded from first to last frame by FFmpeg: every frame is there, at its time.
final class ClipTests: XCTestCase {
    func testEveryFrameIsThereAtItsOwnTime() throws {
        for format in [PixelFormat.nv12, .yuv420, .bgr888, .rgb888] {
            let isRGB = format == .bgr888 || format == .rgb888
            let stage = try ClipStage(ClipStage.plan(format: format, colour: isRGB ? .srgb : .sycc))
            try stage.attach()
            // A camera's grid: jitter, a lost frame, a slow stretch.
            var times: [Double] = []
            for index in 0..<40 where index != 17 {
                let jitter = index % 3 == 0 ? 0.0007 : 0
                times.append(Double(index) / 30 + jitter)
            }
            for index in 0..<6 { times.append(1.4 + Double(index) / 10) }
            let start = times[0]
            for time in times { try stage.frame(at: 5 + time) }
            let facts = try XCTUnwrap(stage.finish(5 + 2.0))
            XCTAssertEqual(facts.frames, times.count)
            let clip = try stage.decoded()
            XCTAssertEqual(clip.times.count, times.count, "\(format)")
            XCTAssertEqual(clip.decodeErrors, 0)
            for (decoded, time) in zip(clip.times, times) { XCTAssertEqual(decoded, time - start, accuracy: 0.00002) }
            XCTAssertEqual(facts.duration, .nanoseconds(Int64(2e9) - Int64(start * 1e9)))
            XCTAssertFalse(clip.hasSound)
        }
    }

    func testFragmentsOfOneSecondBeginWithAKeyFrame() throws {
        let stage = try ClipStage(ClipStage.plan())
        try stage.attach()
        try stage.frames(0, 3.5)
        _ = try stage.finish(3.5)
        let clip = try stage.decoded()
        XCTAssertEqual(clip.keys.enumerated().filter { $0.element }.map(\.offset), [0, 30, 60, 90])
    }

    func testInLowLightFragmentsAreStillOneSecond() throws {
        let stage = try ClipStage(ClipStage.plan())
        try stage.attach()
        for index in 0..<30 { try stage.frame(at: Double(index) / 10) }
        _ = try stage.finish(3)
        let clip = try stage.decoded()
        XCTAssertEqual(clip.keys.enumerated().filter { $0.element }.map(\.offset), [0, 10, 20])
    }

    func testThePictureIsTheOneThatWasGiven() throws {
        for encoder in ["libx264", "mjpeg"] {
            for colour in [ColourSpace.sycc, .rec709, .smpte170m] {
                let stage = try ClipStage(ClipStage.plan(width: 638, height: 478, colour: colour, encoders: [encoder]))
                try stage.attach()
                for index in 0..<5 { try stage.frame(at: Double(index) / 30, phase: index * 9) }
                var expected: [Double] = []
                for index in 0..<5 {
                    stage.picture.fill(phase: index * 9)
                    var sum = 0
                    for y in 0..<478 { for x in 0..<638 { sum += stage.picture.value(0, x, y) } }
                    expected.append(Double(sum) / Double(638 * 478))
                }
                _ = try stage.finish(0.2)
                let clip = try stage.decoded()
                XCTAssertEqual([clip.width, clip.height], [638, 478])
                for (found, wanted) in zip(clip.lumas, expected) {
                    // JPEG is always full range; BT.709's luma moves with chroma and isn't compared here.
                    let isConverted = encoder == "mjpeg" && colour != .sycc
                    if isConverted && colour == .rec709 { continue }
                    let full = isConverted ? (wanted - 16) * 255 / 219 : wanted
                    XCTAssertEqual(found, full, accuracy: 1, "\(encoder) \(colour)")
                }
                let isFull = encoder == "mjpeg" || colour == .sycc
                XCTAssertEqual(clip.colour[0], (isFull ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG).rawValue)
                if encoder == "libx264" {
                    let matrix = colour == .rec709 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M
                    XCTAssertEqual(clip.colour[3], matrix.rawValue)
                }
            }
        }
    }

    func testAllIntraMakesEveryFrameAKey() throws {
        for encoder in ["libx264", "mjpeg"] {
            let stage = try ClipStage(
                ClipStage.plan(width: 320, height: 240, encoders: [encoder]) {
                    $0.everyFrameIsKey = true
                    $0.bitRate = 4_000_000
                })
            try stage.attach()
            try stage.frames(0, 1.5)
            _ = try stage.finish(1.5)
            let clip = try stage.decoded()
            XCTAssertEqual(clip.keys, Array(repeating: true, count: 45))
            XCTAssertEqual(clip.times.count, 45)
        }
    }

    func testMotionJPEGFindsItsBitRate() throws {
        let stage = try ClipStage(
            ClipStage.plan(width: 640, height: 480, encoders: ["mjpeg"]) { $0.bitRate = 3_000_000 })
        try stage.attach()
        try stage.frames(0, 4)
        _ = try stage.finish(4)
        let bits = Double(lseek(stage.descriptor, 0, SEEK_END)) * 8 / 4
        XCTAssertEqual(bits, 3_000_000, accuracy: 600_000)
    }

    func testTheTrackIsTurnedAndMirrored() throws {
        for (rotation, mirror) in [(0, false), (90, false), (180, false), (270, false), (90, true), (0, true)] {
            let stage = try ClipStage(
                ClipStage.plan {
                    $0.rotation = rotation
                    $0.mirror = mirror
                })
            try stage.attach()
            try stage.frames(0, 0.2)
            _ = try stage.finish(0.2)
            let matrix = try stage.decoded().matrix
            guard rotation != 0 || mirror else {
                XCTAssertTrue(matrix.isEmpty || matrix == [65536, 0, 0, 0, 65536, 0, 0, 0, 1 << 30])
                continue
            }
            // Where the corners of a 160x120 picture go: the first pixel's and the first row's end.
            func turned(_ x: Int, _ y: Int) -> [Int] {
                let m = matrix.map { Int($0) }
                return [(m[0] * x + m[3] * y + m[6]) >> 16, (m[1] * x + m[4] * y + m[7]) >> 16]
            }
            let (origin, right) = (turned(0, 0), turned(160, 0))
            switch (rotation, mirror) {
            case (90, false): XCTAssertEqual([origin, right], [[120, 0], [120, 160]])
            case (180, false): XCTAssertEqual([origin, right], [[160, 120], [0, 120]])
            case (270, false): XCTAssertEqual([origin, right], [[0, 160], [0, 0]])
            case (90, true): XCTAssertEqual([origin, right], [[0, 0], [0, 160]])
            default: XCTAssertEqual([origin, right], [[160, 0], [0, 0]])
            }
        }
    }

    func testTheFileTellsWhenItWasTakenOnlyIfTheClockIsTrusted() throws {
        for isTrusted in [true, false] {
            let stage = try ClipStage(
                ClipStage.plan {
                    $0.taken = WallTime(
                        year: 2026, month: 3, day: 1, hour: 0, minute: 30, second: 5, nanosecond: 0, offset: 3600,
                        isTrusted: isTrusted)
                })
            try stage.attach()
            try stage.frames(0, 0.2)
            _ = try stage.finish(0.2)
            XCTAssertEqual(try stage.decoded().creationTime?.prefix(19), isTrusted ? "2026-02-28T23:30:05" : nil)
        }
    }

    func testAFinishedFileIsPlainWhereTheLibraryCan() throws {
        let stage = try ClipStage(ClipStage.plan(audio: AudioFormat(rate: 48000, channels: 1)))
        try stage.frames(0, 0.5)
        try stage.attach()
        try stage.frames(0.5, 3.2)
        XCTAssertEqual(try topBoxes(stage.descriptor).filter { $0 == "moof" }.count, 3)
        _ = try stage.finish(3.2)
        let boxes = try topBoxes(stage.descriptor)
        // FFmpeg 7.1 is the first that can.
        let isPlain = avformat_version() >= 61 << 16 | 7 << 8 | 100
        XCTAssertEqual(boxes.contains("moof"), !isPlain, "\(boxes)")
        XCTAssertEqual(boxes.filter { $0 == "moov" }.count, 1)
        XCTAssertEqual(try stage.decoded().times.count, 96)
    }

    /// The names of a file's outermost boxes, in order.
    private func topBoxes(_ descriptor: Int32) throws -> [String] {
        var boxes: [String] = []
        var position: off_t = 0
        var header = [UInt8](repeating: 0, count: 16)
        while pread(descriptor, &header, 16, position) >= 8 {
            func number(_ range: Range<Int>) -> Int { header[range].reduce(0) { $0 << 8 | Int($1) } }
            boxes.append(String(decoding: header[4..<8], as: UTF8.self))
            let size = number(0..<4) == 1 ? number(8..<16) : number(0..<4)
            guard size >= 8 else { break }
            position += off_t(size)
        }
        XCTAssertEqual(position, lseek(descriptor, 0, SEEK_END), "the last box is cut: \(boxes)")
        return boxes
    }

    // MARK: Before and after the file

    func testWhatCameBeforeTheHoldIsInTheFile() throws {
        let stage = try ClipStage(ClipStage.plan())
        try stage.frames(0, 0.4)
        XCTAssertEqual(lseek(stage.descriptor, 0, SEEK_END), 0)
        try stage.attach()
        try stage.frames(0.4, 2.4)
        _ = try stage.finish(2.4)
        XCTAssertEqual(try stage.decoded().times.count, 72)
    }

    func testALateFileGetsAllFragmentsThatWait() throws {
        let stage = try ClipStage(ClipStage.plan())
        try stage.frames(0, 2.5)
        try stage.attach()
        XCTAssertGreaterThan(lseek(stage.descriptor, 0, SEEK_END), 0)
        XCTAssertEqual(try stage.decoded().times.count, 60)
        _ = try stage.finish(2.5)
        XCTAssertEqual(try stage.decoded().times.count, 75)
    }

    func testATapLeavesNothing() throws {
        let stage = try ClipStage(ClipStage.plan(audio: AudioFormat(rate: 48000, channels: 1)))
        try stage.frames(0, 0.2)
        stage.writer.cancel()
        stage.writer.cancel()
        XCTAssertThrowsError(try stage.frame(at: 0.3))
        XCTAssertEqual(lseek(stage.descriptor, 0, SEEK_END), 0)
    }

    func testWithoutAFrameThereIsNoClip() throws {
        let stage = try ClipStage(ClipStage.plan(audio: AudioFormat(rate: 48000, channels: 1)))
        try stage.attach()
        try stage.sound(0, 0.5) { _ in 0.1 }
        XCTAssertNil(try stage.finish(0.5))
        stage.writer.cancel()
        XCTAssertEqual(lseek(stage.descriptor, 0, SEEK_END), 0)
    }

    func testOneFrameIsAClip() throws {
        let stage = try ClipStage(ClipStage.plan(audio: AudioFormat(rate: 48000, channels: 2)))
        try stage.attach()
        try stage.frame(at: 1)
        let facts = try XCTUnwrap(stage.finish(1.02))
        XCTAssertEqual(facts.frames, 1)
        XCTAssertEqual(facts.duration, .milliseconds(20))
        XCTAssertEqual(try stage.decoded().times.count, 1)
    }

    func testAFileCutAnywhereAfterItsFirstFragmentPlays() throws {
        for encoder in ["libx264", "mjpeg"] {
            let stage = try ClipStage(
                ClipStage.plan(encoders: [encoder], audio: AudioFormat(rate: 48000, channels: 1)))
            try stage.attach()
            // The file's length when each second was complete.
            var lengths: [Int] = []
            for second in 0..<5 {
                try stage.sound(Double(second), Double(second + 1)) { sin($0 * 2 * .pi * 440) * 0.5 }
                try stage.frames(Double(second), Double(second + 1))
                lengths.append(Int(lseek(stage.descriptor, 0, SEEK_END)))
            }
            // Here the process dies: nothing is finished. What lies in the file is whole fragments, each written at once.
            XCTAssertEqual(Set(lengths).count, 5)
            let cut = try XCTUnwrap(open(stage.path, O_RDWR))
            defer { close(cut) }
            var pieces: [Int] = []
            for length in lengths[2...] { pieces += [length, length - 1, length - 700] }
            pieces.append(lengths[1])
            for length in pieces.sorted().reversed() {
                ftruncate(cut, off_t(length))
                let clip = try stage.decoded()
                let whole = lengths.lastIndex { $0 <= length }!
                XCTAssertGreaterThanOrEqual(clip.times.count, whole * 30, "\(encoder) cut at \(length) of \(lengths)")
                XCTAssertGreaterThan(clip.strength(of: 440, 0.2, Double(whole) - 0.2), 0.4)
            }
            stage.writer.cancel()
        }
    }

    func testAFullDiskIsToldAndTheFragmentsBeforeItStay() throws {
        let stage = try ClipStage(ClipStage.plan(width: 320, height: 240))
        try stage.attach()
        try stage.frames(0, 1.1)
        let room = lseek(stage.descriptor, 0, SEEK_END)
        // The kernel refuses bytes beyond a process's file size limit as it does on a full disk.
        signal(SIGXFSZ, SIG_IGN)
        var before = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &before)
        var limit = rlimit(rlim_cur: rlim_t(room + 1000), rlim_max: before.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        defer { setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &before) }
        var failure: HardwareError?
        do { try stage.frames(1.1, 3) } catch { failure = error as? HardwareError }
        XCTAssertEqual(failure?.code, EFBIG)
        // The clip ends with its last whole fragment.
        XCTAssertEqual(
            try stage.finish(3), ClipFacts(duration: .seconds(1), frames: 30, silence: .zero, driftPPM: 0))
        XCTAssertEqual(lseek(stage.descriptor, 0, SEEK_END), room)
        XCTAssertEqual(try stage.decoded().times.count, 30)
    }

    func testADiskThatTakesNothingLeavesNoClip() throws {
        let stage = try ClipStage(ClipStage.plan())
        let full = open("/dev/full", O_RDWR)
        defer { close(full) }
        try stage.writer.attach(file: full)
        var failure: HardwareError?
        do { try stage.frames(0, 2) } catch { failure = error as? HardwareError }
        XCTAssertEqual(failure?.kind, .full)
        XCTAssertThrowsError(try stage.finish(2)) { error in
            XCTAssertEqual((error as? HardwareError)?.kind, .full)
        }
    }

    /// Gives pictures until it dies.
    private final class MortalEncoder: VideoEncoder {
        let living: MotionJPEGEncoder
        var left: Int
        var name: String { "mortal" }
        init(_ plan: ClipPlan, frames: Int) throws {
            living = try MotionJPEGEncoder(plan: plan)
            left = frames
        }
        func describe(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws(HardwareError) {
            try living.describe(parameters)
        }
        func encode(_ image: Image, ticks: Int64, asKey: Bool) throws(HardwareError) {
            left -= 1
            guard left >= 0 else { throw HardwareError(.io, "encode a frame with 'mortal'") }
            try living.encode(image, ticks: ticks, asKey: asKey)
        }
        func flush() throws(HardwareError) {
            guard left >= 0 else { throw HardwareError(.io, "end the encoding with 'mortal'") }
        }
        func receive(_ packet: UnsafeMutablePointer<AVPacket>) throws(HardwareError) -> Bool {
            try living.receive(packet)
        }
        func close() { living.close() }
    }

    func testADeadEncoderTakesOnlyItsLastPicturesWithIt() throws {
        let plan = ClipStage.plan(encoders: ["mjpeg"], audio: AudioFormat(rate: 48000, channels: 1))
        let stage = try ClipStage(plan)
        let writer = try FFmpegClipWriter(plan: plan, video: MortalEncoder(plan, frames: 47))
        try writer.attach(file: stage.descriptor)
        var failures = 0
        for index in 0..<50 {
            do {
                try withExtendedLifetime(stage.picture) {
                    try writer.append(stage.picture.image, at: stage.instant(Double(index) / 30))
                }
            } catch { failures += 1 }
        }
        XCTAssertEqual(failures, 3)
        let facts = try XCTUnwrap(writer.finish(end: stage.instant(1.6)))
        XCTAssertEqual(facts.frames, 47)
        XCTAssertEqual(facts.duration, .milliseconds(1600))
        XCTAssertEqual(try stage.decoded().times.count, 47)
    }

    // MARK: Encoders

    func testTheFirstEncoderThatWorksIsTaken() throws {
        let factory = FFmpegClipWriterFactory()
        XCTAssertEqual(factory.probe(["no_such_encoder", "libx264", "mjpeg"]), "libx264")
        XCTAssertEqual(factory.probe(["no_such_encoder", "mjpeg"]), "mjpeg")
        XCTAssertNil(factory.probe(["no_such_encoder"]))
        let stage = try ClipStage(ClipStage.plan(encoders: ["no_such_encoder", "libx264"]), factory: factory)
        XCTAssertEqual(stage.writer.encoder, "libx264")
        XCTAssertThrowsError(try ClipStage(ClipStage.plan(encoders: ["no_such_encoder"]), factory: factory)) { error in
            XCTAssertEqual((error as? HardwareError)?.kind, .unsupported)
        }
    }

    func testSeveralThreadsLoseNoFrame() throws {
        let stage = try ClipStage(
            ClipStage.plan(width: 640, height: 480), factory: FFmpegClipWriterFactory(threads: 4))
        try stage.attach()
        try stage.frames(0, 1.7)
        _ = try stage.finish(1.7)
        XCTAssertEqual(try stage.decoded().times.count, 51)
    }

    func testAFrameOfAnotherLayoutIsRefused() throws {
        let stage = try ClipStage(ClipStage.plan())
        let other = TestPicture(width: 320, height: 240, format: .nv12)
        XCTAssertThrowsError(
            try withExtendedLifetime(other) { try stage.writer.append(other.image, at: stage.instant(0)) }
        ) { error in
            XCTAssertEqual((error as? HardwareError)?.kind, .invalid)
        }
    }

    func testALeftoverIsMeasured() throws {
        let factory = FFmpegClipWriterFactory()
        let stage = try ClipStage(ClipStage.plan(), factory: factory)
        try stage.attach()
        try stage.frames(0, 3.2)
        // Not finished: three whole fragments.
        let facts = try factory.measure(path: stage.path)
        XCTAssertEqual(facts.frames, 90)
        XCTAssertEqual(Double(facts.duration.inNanoseconds) / 1e9, 3, accuracy: 0.04)
        stage.writer.cancel()
        XCTAssertThrowsError(try factory.measure(path: "/nonexistent/clip.mp4")) { error in
            XCTAssertEqual((error as? HardwareError)?.kind, .absent)
        }
    }
}
