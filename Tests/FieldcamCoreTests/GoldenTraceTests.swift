import FieldcamCore
import XCTest

/// The golden traces T1–T15 and T17–T20: hold 400 ms, double press 300 ms, frames every 33.3 ms.
final class GoldenTraceTests: XCTestCase {
    private func settings(bound: Bool = false, maximum: Duration = .zero) -> SessionSettings {
        var settings = SessionSettings()
        settings.doublePressIsBound = bound
        settings.maximumDuration = maximum
        return settings
    }

    private let photo = ["photo.requested 1", "photo.saved 1"]
    private let clip = [
        "recording.requested 1", "recording.started 1", "recording.stopped 1 released", "clip.saved 1",
    ]

    // T1
    func testTapIsThePhotoOfTheFrameNearestThePress() throws {
        for bound in [false, true] {
            for phase in stride(from: 0.0, to: 34, by: 1.7) {
                let story = Story(settings(bound: bound))
                story.press(phase, phase + 100)
                story.run(until: 2000)
                story.expect(photo)
                let (press, frame) = try XCTUnwrap(story.ledger.shots[MediaNumber(1)])
                XCTAssertEqual(press, Story.instant(phase))
                // Half a frame interval at most: no other frame can be nearer.
                XCTAssertLessThanOrEqual(abs((frame.middle - press).inNanoseconds), 16_666_667)
                let requested = try XCTUnwrap(story.time(of: "photo.requested 1"))
                XCTAssertEqual(requested, phase + (bound ? 400 : 115), accuracy: 0.001)
            }
        }
    }

    // T2
    func testTapOneMillisecondBeforeHoldIsAPhotoAndNoClip() {
        let story = Story()
        story.press(0, 399)
        story.run(until: 2000)
        story.expect(photo)
        XCTAssertTrue(story.ledger.clips.values.allSatisfy { $0.number == nil && $0.isDropped })
        XCTAssertEqual(story.ledger.clips.count, 1)
    }

    // T2, the release's edge is still under way when the hold is due
    func testTapThatIsDeliveredLateIsStillATap() {
        let story = Story()
        story.press(0, 399)
        story.sleep(390, 450)
        story.run(until: 2000)
        story.expect(photo)
    }

    // T3
    func testReleaseWhileTheCameraStartsIsLatched() throws {
        let story = Story(camera: false)
        story.startCamera(at: 500)
        story.press(0, 401)
        story.run(until: 3000)
        story.expect(["recording.requested 1", "recording.stopped 1 released", "clip.discarded 1"])

        let other = Story(camera: false)
        other.startCamera(at: 500)
        other.press(0, 601)
        other.run(until: 3000)
        other.expect(clip)
        XCTAssertEqual(try XCTUnwrap(other.time(of: "recording.started 1")), 530, accuracy: 1)
        XCTAssertEqual(other.ledger.frames(of: ClipKey(1)), 4)
    }

    // T4
    func testHoldIsAClipFromPressToRelease() throws {
        for phase in stride(from: 0.0, to: 34, by: 3.1) {
            let story = Story()
            story.press(phase, phase + 3000)
            story.run(until: 5000)
            story.expect(clip)
            let account = try XCTUnwrap(story.ledger.clips[ClipKey(1)])
            XCTAssertEqual(account.press, Story.instant(phase))
            let first = try XCTUnwrap(account.frames.first)
            let last = try XCTUnwrap(account.frames.last)
            XCTAssertLessThanOrEqual(first.exposureStart - account.press, .nanoseconds(33_333_333))
            let duration = last.exposureStart - first.exposureStart + .nanoseconds(33_333_333)
            XCTAssertLessThanOrEqual(abs((duration - .seconds(3)).inNanoseconds), 33_333_334)
            XCTAssertEqual(try XCTUnwrap(story.time(of: "recording.requested 1")), phase + 400, accuracy: 0.001)
            XCTAssertEqual(try XCTUnwrap(story.time(of: "recording.stopped 1 released")), phase + 3015, accuracy: 0.001)
        }
    }

    // T5
    func testHoldBeyondTheMaximumStopsOnceAndReArmsAfterTheRelease() throws {
        let story = Story(settings(maximum: .seconds(2)))
        story.press(0, 4000)
        story.press(5000, 5100)
        story.run(until: 7000)
        story.expect([
            "recording.requested 1", "recording.started 1", "recording.stopped 1 maximum_duration", "clip.saved 1",
            "photo.requested 2", "photo.saved 2",
        ])
        XCTAssertEqual(story.ledger.frames(of: ClipKey(1)), 61, "2 s in media time at 30 frames a second")
    }

    // T6
    func testReleaseAroundTheMaximumStopsOnce() throws {
        // Frames start every 33.3 ms from −500 ms on: the first one after a press at −10 ms starts at 0 ms.
        for late in [false, true] {
            for offset in stride(from: -5.0, through: 5, by: 0.5) {
                let story = Story(settings(maximum: .seconds(1)))
                story.ledger.isLateReleaseAllowed = late
                let first = -500 + 15 * 33.333333
                story.press(-10, first + 1000 + offset)
                if late { story.sleep(first + 990, first + 1080) }
                story.run(until: 3000)
                let reason = offset < 0 ? "released" : "maximum_duration"
                story.expect(
                    [
                        "recording.requested 1", "recording.started 1", "recording.stopped 1 \(reason)",
                        "clip.saved 1",
                    ], "release at \(offset) ms, late: \(late)")
            }
        }
    }

    // T7
    func testDoublePress() {
        let bound = Story(settings(bound: true))
        bound.press(0, 100)
        bound.press(250, 330)
        bound.run(until: 2000)
        bound.expect([])
        XCTAssertEqual(bound.doublePresses, [Story.nanoseconds(265)], "at the second press's confirmation")

        let unbound = Story()
        unbound.press(0, 100)
        unbound.press(250, 330)
        unbound.run(until: 2000)
        unbound.expect(["photo.requested 1", "photo.saved 1", "photo.requested 2", "photo.saved 2"])
        XCTAssertEqual(unbound.doublePresses, [])
    }

    func testSecondPressAfterTheWindowIsAPhotoOfItsOwn() {
        let story = Story(settings(bound: true))
        story.press(0, 100)
        story.press(401, 500)
        story.run(until: 2000)
        story.expect(["photo.requested 1", "photo.saved 1", "photo.requested 2", "photo.saved 2"])
        XCTAssertEqual(story.doublePresses, [])
    }

    func testSpikeInTheWindowIsNoSecondPress() throws {
        let story = Story(settings(bound: true))
        story.press(0, 100)
        story.press(395, 398)
        story.run(until: 2000)
        story.expect(photo)
        XCTAssertEqual(story.doublePresses, [])
        XCTAssertEqual(try XCTUnwrap(story.time(of: "photo.requested 1")), 410, accuracy: 0.001)
    }

    // T8
    func testSecondPressHeld() {
        let bound = Story(settings(bound: true))
        bound.press(0, 100)
        bound.press(250, 1500)
        bound.run(until: 3000)
        bound.expect([])
        XCTAssertEqual(bound.doublePresses.count, 1)

        let unbound = Story()
        unbound.press(0, 100)
        unbound.press(250, 1500)
        unbound.run(until: 3000)
        unbound.expect([
            "photo.requested 1", "photo.saved 1", "recording.requested 2", "recording.started 2",
            "recording.stopped 2 released", "clip.saved 2",
        ])
    }

    // T9
    func testThreeQuickPresses() {
        let bound = Story(settings(bound: true))
        for start in [0.0, 200, 400] { bound.press(start, start + 80) }
        bound.run(until: 3000)
        bound.expect(photo)
        XCTAssertEqual(bound.doublePresses.count, 1)

        let unbound = Story()
        for start in [0.0, 200, 400] { unbound.press(start, start + 80) }
        unbound.run(until: 3000)
        XCTAssertEqual(unbound.words.filter { $0.hasPrefix("photo.saved") }.count, 3)
        XCTAssertEqual(unbound.words.count, 6)
        unbound.expectNoFault()
    }

    // T10
    func testBounceIsTakenOut() throws {
        for bound in [false, true] {
            let story = Story(settings(bound: bound))
            story.bouncingPress(0, 100, edges: 10, span: 8)
            story.run(until: 2000)
            story.expect(photo)
            XCTAssertEqual(story.ledger.shots[MediaNumber(1)]?.press, Story.instant(0))
        }
        let spike = Story()
        spike.press(0, 5)
        spike.run(until: 2000)
        spike.expect([])
        XCTAssertEqual(spike.session.counters.glitches, 1)
        XCTAssertEqual(spike.session.counters.presses, 0)

        let gap = Story()
        gap.press(0, 3000)
        gap.up(1000)
        gap.down(1005)
        gap.run(until: 5000)
        gap.expect(clip)
        XCTAssertEqual(gap.ledger.frames(of: ClipKey(1)), 90, "no frame is missing where the contact opened")
    }

    // T11
    func testLineThatIsDownAtStartUpIsIgnoredUntilReleased() {
        let story = Story()
        story.lines[0] = true
        story.fact(at: 0, .lineFound(ButtonID(0), pressed: true, at: Story.instant(0)))
        story.up(10_000)
        story.run(until: 11_000)
        story.expect([])
        story.press(12_000, 12_100)
        story.run(until: 13_000)
        story.expect(photo)
    }

    // T12
    func testCameraDiesInAHold() {
        let story = Story()
        story.press(0, 5000)
        story.endCamera(at: 1000, .down(.cameraLost))
        story.startCamera(at: 3000)
        story.run(until: 7000)
        story.expect([
            "recording.requested 1", "recording.started 1", "recording.stopped 1 camera_lost", "clip.saved 1",
        ])
        XCTAssertEqual(story.session.gesture, .idle)
    }

    // T13
    func testReserveReachedInAHold() {
        let story = Story()
        story.press(0, 3000)
        story.fact(at: 1000, .storage(.low, at: Story.instant(1000)))
        story.run(until: 5000)
        story.expect([
            "recording.requested 1", "recording.started 1", "storage.low", "recording.stopped 1 storage_low",
            "clip.saved 1",
        ])
    }

    // T14: the microphone is the shell's; what Core must do is nothing.
    func testClipDoesNotDependOnTheMicrophone() {
        let story = Story()
        story.press(0, 3000)
        story.run(until: 5000)
        story.expect(clip)
    }

    // T15
    func testTapAndHoldDuringAClipByCommand() throws {
        for bound in [false, true] {
            let story = Story(settings(bound: bound))
            story.record(0)
            story.press(1000, 1100)
            story.press(2000, 3000)
            story.run(until: 5000)
            let tap = ["photo.requested 2", "photo.saved 2"]
            story.expect(
                ["recording.requested 1", "recording.started 1"] + tap + [
                    "recording.stopped 1 button", "clip.saved 1",
                ])
            XCTAssertEqual(try XCTUnwrap(story.time(of: "recording.stopped 1 button")), 2400, accuracy: 0.001)
            XCTAssertEqual(story.session.recording, .idle)
        }
        let double = Story(settings(bound: true))
        double.record(0)
        double.press(1000, 1100)
        double.press(1200, 1300)
        double.stop(2000)
        double.run(until: 4000)
        double.expect([
            "recording.requested 1", "recording.started 1", "recording.stopped 1 command", "clip.saved 1",
        ])
        XCTAssertEqual(double.doublePresses.count, 1)
    }

    // T17
    func testDisabledDuringAHold() {
        let story = Story()
        story.press(0, 2000)
        story.fact(at: 1000, .buttonEnabled(false))
        story.press(3000, 3100)
        story.press(4000, 5000)
        story.run(until: 7000)
        story.expect(clip + ["rejected button_disabled", "rejected button_disabled"])
    }

    // T18
    func testLineDisappearsOrServiceStopsInAHold() {
        let line = Story()
        line.down(0)
        line.fact(at: 2000, .lineLost(ButtonID(0), at: Story.instant(2000)))
        line.run(until: 4000)
        line.expect([
            "recording.requested 1", "recording.started 1", "recording.stopped 1 line_lost", "clip.saved 1",
        ])
        let service = Story()
        service.press(0, 3000)
        service.fact(at: 2000, .shutdown(at: Story.instant(2000)))
        service.run(until: 2010)
        XCTAssertFalse(service.session.isIdle)
        service.run(until: 4000)
        service.expect([
            "recording.requested 1", "recording.started 1", "recording.stopped 1 shutdown", "clip.saved 1",
        ])
        XCTAssertTrue(service.session.isIdle)
    }

    // T19
    func testOneOfTwoStartsIsRejected() {
        let web = Story()
        web.press(0, 1000)
        web.record(50)
        web.run(until: 2000)
        web.expect(["recording.requested 1", "recording.started 1", "rejected already_recording"])

        let late = Story()
        late.press(0, 1000)
        late.record(380)
        late.stop(3000)
        late.run(until: 5000)
        late.expect([
            "recording.requested 1", "rejected already_recording", "recording.started 1",
            "recording.stopped 1 command", "clip.saved 1",
        ])

        let both = Story()
        both.record(0, token: 1)
        both.record(50, token: 2)
        both.stop(1000)
        both.run(until: 3000)
        both.expect([
            "recording.requested 1", "rejected already_recording", "recording.started 1",
            "recording.stopped 1 command", "clip.saved 1",
        ])
        XCTAssertEqual(both.ledger.answers[0].answer, .accepted(MediaNumber(1)))
        XCTAssertEqual(both.ledger.answers[1].answer, .rejected(.alreadyRecording))
    }

    // T20
    func testThousandTapsAndHoldsWithRandomCameraDelays() {
        var random = SplitMix(seed: 20)
        let story = Story(camera: false)
        var time = 0.0
        story.startCamera(at: 100)
        for _ in 0..<1000 {
            let length = random.isTrue(1, of: 3) ? random.milliseconds(400, 2000) : random.milliseconds(20, 390)
            story.press(time, time + length)
            time += length + random.milliseconds(60, 900)
            if random.isTrue(1, of: 8) {
                story.endCamera(at: time, .starting)
                story.startCamera(at: time + random.milliseconds(0, 2000))
            }
        }
        story.run(until: time + 10_000)
        story.ledger.close(story.session)
        story.expectNoFault()
        XCTAssertEqual(story.session.counters.presses, 1000)
        let counters = story.session.counters
        XCTAssertEqual(counters.shots + counters.clips + counters.rejected, 1000)
    }
}
