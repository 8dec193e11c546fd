import Clibavcodec
import Clibavutil
import FieldcamCore
import FieldcamMedia
import FieldcamPorts
import Glibc
import XCTest

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
            // The demuxer takes the last frame to be as long as the usual one.
            XCTAssertEqual(clip.end, times[times.count - 1] - start + 1.0 / 30, accuracy: 0.001)
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
}
