import FieldcamCore
import FieldcamMedia
import FieldcamMediaKit
import FieldcamPorts
import Glibc
import XCTest

/// A clip being made of test pictures and a microphone whose clock may be wrong, on a time of its own.
final class ClipStage {
    let writer: any ClipWriter
    let picture: TestPicture
    let path: String
    let descriptor: Int32
    let plan: ClipPlan
    /// The press: nothing of a clip depends on what the clock shows.
    let zero = Instant(nanoseconds: 987_654_321_012_345)

    init(_ plan: ClipPlan, factory: FFmpegClipWriterFactory = FFmpegClipWriterFactory()) throws {
        self.plan = plan
        // First, so that a refusal leaves no file behind.
        writer = try factory.begin(plan)
        var template = Array("/tmp/fieldcam-clip-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        picture = TestPicture(
            width: plan.layout.width, height: plan.layout.height, format: plan.layout.format,
            colour: plan.layout.colour, alignment: 2)
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    static func plan(
        width: Int = 160, height: Int = 120, format: PixelFormat = .nv12, colour: ColourSpace = .sycc,
        encoders: [String] = ["libx264"], audio: AudioFormat? = nil, _ change: (inout ClipPlan) -> Void = { _ in }
    ) -> ClipPlan {
        var plan = ClipPlan(
            encoders: encoders,
            layout: .packed(width: width, height: height, format: format, colour: colour, alignment: 2),
            framerate: 30, audio: audio)
        change(&plan)
        return plan
    }

    func instant(_ seconds: Double) -> Instant { zero + .nanoseconds(Int64((seconds * 1e9).rounded())) }

    /// Adds a picture that differs from its neighbours.
    func frame(at seconds: Double, phase: Int? = nil) throws {
        picture.fill(phase: phase ?? Int(seconds * 30))
        try withExtendedLifetime(picture) { try writer.append(picture.image, at: instant(seconds)) }
    }

    /// Adds frames at 30 a second, from the first time up to and without the second.
    func frames(_ from: Double, _ to: Double) throws {
        var index = Int((from * 30).rounded(.up))
        while Double(index) / 30 < to - 1e-9 {
            try frame(at: Double(index) / 30)
            index += 1
        }
    }

    /// Sound between two true times, in pieces of 10 ms by the card's count. `signal` gives the value at a true time; the card's
    /// clock is `skew` parts in a million fast.
    func sound(_ from: Double, _ to: Double, skew: Double = 0, _ signal: (Double) -> Double) throws {
        let format = plan.audio!
        let rate = Double(format.rate) * (1 + skew * 1e-6)
        let size = format.rate / 100
        var piece = [Int16](repeating: 0, count: size * format.channels)
        // The card counts from time 0 on, so that pieces join exactly.
        var index = Int((from * rate).rounded(.up))
        let end = Int((to * rate).rounded(.up))
        while index < end {
            let count = min(size, end - index)
            for sample in 0..<count {
                let value = Int16((signal(Double(index + sample) / rate) * 32000).rounded())
                for channel in 0..<format.channels { piece[sample * format.channels + channel] = value }
            }
            let at = instant(Double(index) / rate)
            try piece.withUnsafeBufferPointer { piece in
                try writer.append(
                    sound: UnsafeBufferPointer(rebasing: piece[0..<(count * format.channels)]), at: at)
            }
            index += count
        }
    }

    func attach() throws { try writer.attach(file: descriptor) }

    func finish(_ seconds: Double) throws -> ClipFacts? { try writer.finish(end: instant(seconds)) }

    func decoded(file: StaticString = #filePath, line: UInt = #line) throws -> DecodedClip {
        let clip = DecodedClip(path: path)
        return try XCTUnwrap(clip, "the clip can't be opened", file: file, line: line)
    }
}
