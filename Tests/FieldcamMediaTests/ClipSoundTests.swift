import FieldcamCore
import FieldcamMedia
import FieldcamPorts
import Glibc
import XCTest

/// Sound lies where it was heard, whatever the card's clock and its gaps.
final class ClipSoundTests: XCTestCase {
    private let mono = AudioFormat(rate: 48000, channels: 1)

    private func tone(_ time: Double) -> Double { sin(time * 2 * .pi * 1000) * 0.5 }

    /// A burst of 50 ms at each whole second.
    private func clicks(_ time: Double) -> Double {
        let place = time - time.rounded(.down)
        return place < 0.05 ? sin(time * 2 * .pi * 2000) * 0.8 : 0
    }

    func testAToneKeepsItsFrequencyAtEveryRateAndChannelCount() throws {
        for encoder in ["libx264", "mjpeg"] {
            for format in [
                mono, AudioFormat(rate: 44100, channels: 2), AudioFormat(rate: 16000, channels: 1),
                AudioFormat(rate: 37800, channels: 1), AudioFormat(rate: 48000, channels: 4),
            ] {
                let stage = try ClipStage(ClipStage.plan(encoders: [encoder], audio: format))
                try stage.attach()
                for step in 0..<20 {
                    try stage.sound(Double(step) / 10, Double(step + 1) / 10, tone)
                    try stage.frames(Double(step) / 10, Double(step + 1) / 10)
                }
                let facts = try XCTUnwrap(stage.finish(2))
                let clip = try stage.decoded()
                XCTAssertEqual(clip.times.count, 60)
                XCTAssertEqual(clip.channels, min(2, format.channels))
                XCTAssertGreaterThan(clip.strength(of: 1000, 0.1, 1.9), 0.35, "\(encoder) \(format)")
                XCTAssertEqual(clip.soundStart, 0, accuracy: 0.0001)
                let length = Double(clip.sound.count) / Double(clip.rate)
                XCTAssertEqual(length, 2, accuracy: 0.13)
                XCTAssertLessThan(facts.silence, .milliseconds(1))
            }
        }
    }

    func testAClickIsHeardWhenItHappened() throws {
        let stage = try ClipStage(ClipStage.plan(audio: mono))
        try stage.attach()
        for step in 0..<50 {
            // Sound and picture of the same time, sound first, as it mostly comes.
            try stage.sound(0.4 + Double(step) / 10, 0.5 + Double(step) / 10, clicks)
            try stage.frames(0.5 + Double(step) / 10, 0.6 + Double(step) / 10)
        }
        _ = try stage.finish(5.5)
        let onsets = try stage.decoded().onsets()
        // The first frame is at 0.5, so the click of second 1 is at media time 0.5.
        XCTAssertEqual(onsets.count, 5)
        for (index, onset) in onsets.enumerated() { XCTAssertEqual(onset, 0.5 + Double(index), accuracy: 0.003) }
    }

    func testSoundBeforeTheFirstFrameIsCutAndLateSoundBeginsWithSilence() throws {
        for start in [0.0, 2.0] {
            let stage = try ClipStage(ClipStage.plan(audio: mono))
            try stage.attach()
            // The first frame is at 1: early sound waits for it, later sound leaves silence.
            if start < 1 { try stage.sound(start, 1.0, clicks) }
            for step in 0..<40 {
                let time = 1 + Double(step) / 10
                if time >= start { try stage.sound(time, time + 0.1, clicks) }
                try stage.frames(time, time + 0.1)
            }
            let facts = try XCTUnwrap(stage.finish(5))
            let onsets = try stage.decoded().onsets()
            let expected: [Double] = start < 1 ? [0.02, 1, 2, 3] : [1, 2, 3]
            XCTAssertEqual(onsets.count, expected.count)
            for (onset, wanted) in zip(onsets, expected) { XCTAssertEqual(onset, wanted, accuracy: 0.005) }
            XCTAssertEqual(Double(facts.silence.inNanoseconds) / 1e9, start < 1 ? 0 : 1, accuracy: 0.03)
        }
    }

    /// A card's stamp, less the piece's length, may lie before the clock's own zero.
    func testSoundFromBeforeTheClocksZeroIsCut() throws {
        let stage = try ClipStage(ClipStage.plan(audio: mono))
        try stage.attach()
        let piece = [Int16](repeating: 9000, count: 480)
        try piece.withUnsafeBufferPointer { piece in
            try stage.writer.append(sound: piece, at: Instant(nanoseconds: -5_000_000))
        }
        try withExtendedLifetime(stage.picture) {
            try stage.writer.append(stage.picture.image, at: Instant(nanoseconds: 0))
        }
        XCTAssertEqual(try stage.writer.finish(end: Instant(nanoseconds: 100_000_000))?.frames, 1)
    }

    func testAGapBecomesSilenceAndWhatFollowsStaysInPlace() throws {
        let stage = try ClipStage(ClipStage.plan(audio: mono))
        try stage.attach()
        for step in 0..<60 {
            let time = Double(step) / 10
            // An xrun: 0.3 s are lost.
            if !(2.3..<2.6).contains(time) { try stage.sound(time, time + 0.1, tone) }
            try stage.frames(time, time + 0.1)
        }
        let facts = try XCTUnwrap(stage.finish(6))
        let clip = try stage.decoded()
        XCTAssertLessThan(clip.loudness(2.32, 2.58), 0.02)
        XCTAssertGreaterThan(clip.loudness(2.65, 2.75), 0.3)
        XCTAssertGreaterThan(clip.loudness(2.15, 2.25), 0.3)
        XCTAssertEqual(Double(facts.silence.inNanoseconds) / 1e9, 0.3, accuracy: 0.01)
    }

    func testAMicrophoneThatGoesAwayLeavesSilenceToTheEnd() throws {
        let stage = try ClipStage(ClipStage.plan(audio: mono))
        try stage.attach()
        for step in 0..<60 {
            let time = Double(step) / 10
            if time < 1 { try stage.sound(time, time + 0.1, tone) }
            try stage.frames(time, time + 0.1)
        }
        let facts = try XCTUnwrap(stage.finish(6))
        let clip = try stage.decoded()
        XCTAssertEqual(Double(clip.sound.count) / Double(clip.rate), 6, accuracy: 0.05)
        XCTAssertLessThan(clip.loudness(1.1, 6), 0.02)
        XCTAssertEqual(Double(facts.silence.inNanoseconds) / 1e9, 5, accuracy: 0.03)
    }

    func testAClipWithoutAnySoundIsSilentForItsWholeLength() throws {
        let stage = try ClipStage(ClipStage.plan(audio: mono))
        try stage.attach()
        try stage.frames(0, 4)
        let facts = try XCTUnwrap(stage.finish(4))
        let clip = try stage.decoded()
        XCTAssertEqual(Double(clip.sound.count) / Double(clip.rate), 4, accuracy: 0.05)
        XCTAssertEqual(Double(facts.silence.inNanoseconds) / 1e9, 4, accuracy: 0.05)
    }

    func testSoundEndsWithTheClip() throws {
        let stage = try ClipStage(ClipStage.plan(audio: mono))
        try stage.attach()
        for step in 0..<20 {
            try stage.sound(Double(step) / 10, Double(step + 1) / 10, tone)
            try stage.frames(Double(step) / 10, Double(step + 1) / 10)
        }
        // The button was released at 1.97; what was heard after it isn't kept.
        _ = try stage.finish(1.97)
        let clip = try stage.decoded()
        XCTAssertLessThan(clip.loudness(1.98, 3), 0.05)
        XCTAssertGreaterThan(clip.loudness(1.80, 1.93), 0.3)
    }

    /// The contract's promise is 40 ms after an hour with a card of 200 ppm; here three minutes, in Budget the hour.
    func testACardThatRunsFastOrSlowStaysWithThePicture() throws {
        for skew in [200.0, -200.0] {
            let stage = try ClipStage(
                ClipStage.plan(width: 32, height: 32, audio: AudioFormat(rate: 16000, channels: 1)))
            try stage.attach()
            for second in 0..<180 {
                try stage.sound(Double(second), Double(second + 1), skew: skew, clicks)
                try stage.frames(Double(second), Double(second + 1))
            }
            let facts = try XCTUnwrap(stage.finish(180))
            let onsets = try stage.decoded().onsets()
            // The click at 0 lies where AAC's encoder starts.
            XCTAssertEqual(onsets.count, 179)
            for (index, onset) in onsets.enumerated() {
                XCTAssertEqual(onset, Double(index + 1), accuracy: 0.005, "skew \(skew)")
            }
            XCTAssertEqual(facts.driftPPM, skew, accuracy: 5)
            XCTAssertLessThan(facts.silence, .milliseconds(5))
        }
    }
}
