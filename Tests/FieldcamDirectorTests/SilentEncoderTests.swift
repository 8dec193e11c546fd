import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// An encoder that takes frames and gives nothing (contract §10), on the virtual clock.
final class SilentEncoderTests: XCTestCase {
    private func number(_ event: Event?, _ key: String) -> Int64 {
        if case .integer(let value)? = event?[key] { value } else { -1 }
    }

    func testAnEncoderThatFallsSilentIsRestartedAndTheRecordingGoesOn() throws {
        let studio = Studio()
        studio.run(for: .seconds(1))
        _ = studio.events()
        try studio.press(for: .seconds(8))
        studio.run(for: .seconds(3))
        studio.world.inject(.encoderStall(true))
        studio.run(for: .milliseconds(2100))
        studio.world.inject(.encoderStall(false))
        studio.run(for: .seconds(5))
        let events = studio.events()
        XCTAssertEqual(
            events.map(\.name),
            [
                "recording.requested", "recording.started", "recording.stopped", "recording.requested",
                "clip.saved", "recording.started", "recording.stopped", "clip.saved",
            ])
        XCTAssertEqual(events[2]["reason"], .string("encoder_lost"))
        XCTAssertEqual(events[6]["reason"], .string("released"))
        // All of the press but the two seconds of silence.
        let clips = studio.writers.finished
        XCTAssertEqual(clips.count, 2)
        XCTAssertEqual(Double(clips[0].frames.count), 90, accuracy: 2)
        XCTAssertEqual(Double(clips[1].frames.count), 90, accuracy: 2)
        let last = try XCTUnwrap(clips[0].frames.last)
        XCTAssertLessThan(try XCTUnwrap(clips[1].frames.first), last + .milliseconds(2150))
        // The sound has no hole: the first clip's goes on to its end.
        XCTAssertGreaterThan(clips[0].soundSamples, 48_000 * 49 / 10)
        XCTAssertEqual(number(events[4], "dropped"), 0)
        XCTAssertEqual(studio.store.openClips, 0)
    }

    func testAnEncoderThatStaysSilentIsReplacedByMotionJPEG() throws {
        let studio = Studio()
        studio.run(for: .seconds(1))
        _ = studio.events()
        studio.world.inject(.encoderStall(true))
        XCTAssertTrue(studio.desk.submit(.record(studio.desk.newToken(), .api, maximum: nil), at: studio.now))
        studio.run(for: .seconds(8))
        XCTAssertTrue(studio.desk.submit(.stop(studio.desk.newToken(), .api), at: studio.now))
        studio.run(for: .seconds(2))
        let events = studio.events()
        let fallbacks = events.filter { $0.name == "quality.fallback" }
        XCTAssertEqual(fallbacks.count, 1)
        XCTAssertEqual(fallbacks.first?["effective"], .string("mjpeg"))
        XCTAssertEqual(events.filter { $0.name == "recording.started" }.last?["encoder"], .string("mjpeg"))
        XCTAssertEqual(events.last?.name, "clip.saved")
        let last = try XCTUnwrap(studio.writers.finished.last)
        XCTAssertEqual(last.encoder, "mjpeg")
        // Four seconds were lost to two silences; everything after is there.
        XCTAssertEqual(Double(last.frames.count), 120, accuracy: 4)
        XCTAssertEqual(studio.store.openClips, 0)

        // The next clip is Motion JPEG at once.
        try studio.press(for: .seconds(1))
        studio.run(for: .seconds(2))
        XCTAssertEqual(studio.writers.finished.last?.encoder, "mjpeg")
        XCTAssertEqual(studio.events().last?.name, "clip.saved")
    }
}
