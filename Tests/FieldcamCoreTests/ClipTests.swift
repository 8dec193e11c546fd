import XCTest

@testable import FieldcamCore

final class ClipTests: XCTestCase {
    func testNextClipBeginsWhileOneFinishes() {
        let story = Story()
        story.clipTime = { _ in 3_000_000_000 }
        story.press(0, 600)
        story.press(800, 1500)
        story.press(1700, 2500)
        story.run(until: 8000)
        for number in 1...3 {
            XCTAssertEqual(
                story.words.filter { $0.hasPrefix("recording") && $0.contains(" \(number)") },
                [
                    "recording.requested \(number)", "recording.started \(number)",
                    "recording.stopped \(number) released",
                ])
        }
        XCTAssertEqual(story.words.filter { $0.hasPrefix("clip.saved") }.count, 3)
        story.ledger.close(story.session)
        story.expectNoFault()
    }

    func testMoreClipsThanCanBeFinishedAreRejected() {
        let story = Story()
        story.clipTime = { _ in 60_000_000_000 }
        for press in 0..<9 { story.press(Double(press) * 1000, Double(press) * 1000 + 500) }
        story.run(until: 120_000)
        XCTAssertEqual(story.words.filter { $0.hasPrefix("clip.saved") }.count, 8)
        XCTAssertEqual(story.words.filter { $0 == "rejected queue_full" }.count, 1)
        story.ledger.close(story.session)
        story.expectNoFault()
    }

    func testHoldWithoutCameraOrSpaceFailsAndSaysWhy() {
        let camera = Story()
        camera.endCamera(at: -10, .down(.cameraBusy))
        camera.press(0, 1000)
        camera.run(until: 2000)
        camera.expect(["recording.requested 1", "recording.stopped 1 error", "clip.failed 1 camera_busy"])

        let disk = Story()
        disk.fact(at: -10, .storage(.unwritable, at: Story.instant(-10)))
        disk.press(0, 1000)
        disk.run(until: 2000)
        disk.expect(["recording.requested 1", "recording.stopped 1 error", "clip.failed 1 storage_unwritable"])

        let command = Story()
        command.endCamera(at: -10, .released)
        command.record(0)
        command.run(until: 2000)
        command.expect(["recording.requested 1", "recording.stopped 1 error", "clip.failed 1 camera_released"])
        XCTAssertEqual(command.ledger.answers.first?.answer, .accepted(MediaNumber(1)))
    }

    func testCameraThatNeverComesFailsTheClip() {
        let story = Story(camera: false)
        story.record(0)
        story.endCamera(at: 800, .down(.cameraAbsent))
        story.run(until: 2000)
        story.expect(["recording.requested 1", "recording.stopped 1 error", "clip.failed 1 camera_absent"])
    }

    func testCameraLostBeforeHoldKeepsWhatIsThere() {
        let story = Story()
        story.press(0, 1000)
        story.endCamera(at: 300, .down(.cameraLost))
        story.startCamera(at: 350)
        story.run(until: 2000)
        story.expect([
            "recording.requested 1", "recording.started 1", "recording.stopped 1 camera_lost", "clip.saved 1",
        ])
        XCTAssertTrue(
            story.ledger.clips[ClipKey(1)]?.frames.allSatisfy { $0.exposureEnd < Story.instant(300) } ?? false)
    }

    func testAfterALostEncoderTheNextClipGoesOn() {
        let story = Story()
        story.press(0, 2000)
        story.fact(at: 1000, .encoderLost(ClipKey(1), at: Story.instant(1000)))
        story.run(until: 4000)
        story.expect([
            "recording.requested 1", "recording.started 1", "recording.stopped 1 encoder_lost", "recording.requested 2",
            "recording.started 2", "clip.saved 1", "recording.stopped 2 released", "clip.saved 2",
        ])
        // No frame is missing between them, and none is in both.
        let first = story.ledger.clips[ClipKey(1)]?.frames ?? []
        let second = story.ledger.clips[ClipKey(2)]?.frames ?? []
        XCTAssertTrue(first.allSatisfy { $0.exposureStart < Story.instant(1000) })
        XCTAssertTrue(second.allSatisfy { $0.exposureStart > first[first.count - 1].exposureStart })
        XCTAssertEqual(first.count + second.count, 60, "two seconds at 30 frames")
        XCTAssertFalse(story.session.encoderTrust.isFallenBack)
    }

    func testASecondLossWithinAMinuteFallsBackAndAThirdEndsTheClip() {
        let story = Story()
        story.record(0)
        story.fact(at: 1000, .encoderLost(ClipKey(1), at: Story.instant(1000)))
        story.fact(at: 3000, .encoderLost(ClipKey(2), at: Story.instant(3000)))
        story.fact(at: 5000, .encoderLost(ClipKey(3), at: Story.instant(5000)))
        story.run(until: 8000)
        XCTAssertTrue(story.session.encoderTrust.isFallenBack)
        XCTAssertEqual(story.words.filter { $0.hasSuffix("encoder_lost") }.count, 3)
        XCTAssertEqual(story.words.filter { $0.hasPrefix("recording.requested") }.count, 3)
        XCTAssertEqual(story.words.filter { $0.hasPrefix("clip.saved") }.count, 3)
    }

    func testLossesFarApartAreEachMendedByARestart() {
        let story = Story()
        story.record(0)
        story.fact(at: 1000, .encoderLost(ClipKey(1), at: Story.instant(1000)))
        story.fact(at: 62_000, .encoderLost(ClipKey(2), at: Story.instant(62_000)))
        story.stop(63_000)
        story.run(until: 64_000)
        XCTAssertFalse(story.session.encoderTrust.isFallenBack)
        XCTAssertEqual(story.words.filter { $0.hasPrefix("clip.saved") }.count, 3)
    }

    func testTheMaximumCountsOverTheRestart() {
        let story = Story()
        story.record(0, maximum: .seconds(3))
        story.fact(at: 1000, .encoderLost(ClipKey(1), at: Story.instant(1000)))
        story.run(until: 6000)
        XCTAssertTrue(story.words.contains("recording.stopped 2 maximum_duration"))
        let frames = [1, 2].map { story.ledger.clips[ClipKey($0)]?.frames.count ?? 0 }
        XCTAssertEqual(Double(frames[0] + frames[1]), 90, accuracy: 1)
    }

    func testEncoderLostBeforeHoldFailsTheClipAndLeavesATap() {
        let hold = Story()
        hold.press(0, 2000)
        hold.fact(at: 200, .encoderLost(ClipKey(1), at: Story.instant(200)))
        hold.run(until: 4000)
        hold.expect(["recording.requested 1", "recording.stopped 1 error", "clip.failed 1 encoder_lost"])

        let tap = Story()
        tap.press(0, 300)
        tap.fact(at: 200, .encoderLost(ClipKey(1), at: Story.instant(200)))
        tap.run(until: 4000)
        tap.expect(["photo.requested 1", "photo.saved 1"])
    }

    func testClipThatFailsWhileItRunsStopsFirst() {
        let story = Story()
        story.press(0, 2000)
        story.fact(at: 1000, .clipFailed(ClipKey(1), .storageUnwritable))
        story.run(until: 4000)
        story.expect([
            "recording.requested 1", "recording.started 1", "recording.stopped 1 error",
            "clip.failed 1 storage_unwritable",
        ])
        XCTAssertTrue(story.session.isIdle)
    }

    func testMaximumOfACommandAndItsStopAfterwards() {
        let story = Story()
        story.record(0, maximum: .seconds(1))
        story.stop(2000, token: 2)
        story.run(until: 3000)
        story.expect([
            "recording.requested 1", "recording.started 1", "recording.stopped 1 maximum_duration", "clip.saved 1",
            "rejected not_recording",
        ])
        XCTAssertEqual(story.ledger.frames(of: ClipKey(1)), 31)
    }

    func testMaximumEndsByTheWatchdogIfFramesStop() throws {
        let story = Story()
        story.record(0, maximum: .seconds(1))
        story.at(600) { $0.cameraRuns = false }
        story.run(until: 3000)
        story.expect([
            "recording.requested 1", "recording.started 1", "recording.stopped 1 maximum_duration", "clip.saved 1",
        ])
        let first = try XCTUnwrap(story.ledger.clips[ClipKey(1)]?.first)
        XCTAssertEqual(
            try XCTUnwrap(story.time(of: "recording.stopped 1 maximum_duration")),
            Story.milliseconds(first.exposureStart.nanoseconds) + 1500, accuracy: 0.001)
    }

    func testWatchdogThatFallsDueWhileTheContactBouncesEndsTheClipAfterwards() throws {
        var settings = SessionSettings()
        settings.maximumDuration = .milliseconds(700)
        func story() -> Story {
            let story = Story(settings)
            story.press(0, 3000)
            story.at(600) { $0.cameraRuns = false }
            return story
        }
        let probe = story()
        probe.run(until: 500)
        let first = try XCTUnwrap(probe.ledger.clips[ClipKey(1)]?.first)
        let due = Story.milliseconds(first.exposureStart.nanoseconds) + 1200
        let bouncing = story()
        bouncing.up(due - 10)
        bouncing.down(due - 5)
        bouncing.run(until: 4000)
        bouncing.expect([
            "recording.requested 1", "recording.started 1", "recording.stopped 1 maximum_duration", "clip.saved 1",
        ])
        XCTAssertEqual(
            try XCTUnwrap(bouncing.time(of: "recording.stopped 1 maximum_duration")), due + 5, accuracy: 0.001)
    }

    /// Media time begins with the first frame: what a slow camera takes to start isn't taken from the clip.
    func testAClipOfACameraThatStartsSlowlyHasItsWholeLength() {
        let story = Story(camera: false)
        story.startCamera(at: 2500)
        story.record(10, maximum: .seconds(1))
        story.run(until: 6000)
        story.expect([
            "recording.requested 1", "recording.started 1", "recording.stopped 1 maximum_duration", "clip.saved 1",
        ])
        XCTAssertGreaterThanOrEqual(story.ledger.frames(of: ClipKey(1)), 30)
    }

    func testShotDuringAClipByCommandIsTakenAndTheClipGoesOn() {
        let story = Story()
        story.record(0)
        story.shot(500, token: 2)
        story.stop(1000, token: 3)
        story.run(until: 2000)
        story.expect([
            "recording.requested 1", "recording.started 1", "photo.requested 2", "photo.saved 2",
            "recording.stopped 1 command", "clip.saved 1",
        ])
    }

    func testFirstFrameOffsetCountsFromThePress() {
        let story = Story()
        story.press(10, 1000)
        story.run(until: 2000)
        let offsets = story.told.compactMap { what -> Duration? in
            if case .recordingStarted(_, _, _, let offset) = what.what { offset } else { nil }
        }
        XCTAssertEqual(offsets.count, 1)
        XCTAssertGreaterThanOrEqual(offsets[0], .zero)
        XCTAssertLessThanOrEqual(offsets[0], .nanoseconds(33_333_333))
    }
}

extension Ledger.ClipAccount {
    var first: Frame? { frames.first }
}
