import FieldcamCore
import XCTest

/// Contacts, roles and what else the golden traces leave open.
final class GestureTests: XCTestCase {
    private func story(_ change: (inout SessionSettings) -> Void = { _ in }) -> Story {
        var settings = SessionSettings()
        change(&settings)
        return Story(settings)
    }

    // MARK: Contacts

    func testLostReleaseIsFoundByReading() throws {
        let story = story()
        story.down(0)
        story.at(1010) { $0.lines[0] = false }
        story.run(until: 3000)
        XCTAssertEqual(story.words.last, "clip.saved 1")
        let stopped = try XCTUnwrap(story.time(of: "recording.stopped 1 released"))
        XCTAssertLessThanOrEqual(stopped, 1010 + 100 + 15)
        story.expectNoFault()
    }

    func testLostPressIsFoundByALevelFact() {
        let story = story()
        story.at(0) { story in
            story.lines[0] = true
            story.give(.level(ButtonID(0), pressed: true, at: Story.instant(0)))
        }
        story.up(100)
        story.run(until: 1000)
        story.expect(["photo.requested 1", "photo.saved 1"])
    }

    func testEdgeOlderThanTheReadingThatFoundTheChangeMakesItBeginEarlier() {
        let story = story()
        story.down(0)
        // The hold is due; the line reads up already, and its edge of 399 ms comes a moment later.
        story.at(399) { $0.lines[0] = false }
        story.fact(at: 401, .edge(ButtonID(0), pressed: false, at: Story.instant(399)))
        story.run(until: 2000)
        story.expect(["photo.requested 1", "photo.saved 1"])
    }

    func testLineThatCanNotBeReadIsJudgedByItsEdges() {
        let story = story()
        story.answersReadings = false
        story.press(0, 1000)
        story.press(2000, 2100)
        story.run(until: 4000)
        story.expect([
            "recording.requested 1", "recording.started 1", "recording.stopped 1 released", "clip.saved 1",
            "photo.requested 2", "photo.saved 2",
        ])
    }

    func testShortPressesWhileTheShellSleepsAreAllSeen() {
        let story = story()
        story.sleep(0, 400)
        for press in 0..<3 { story.press(10 + Double(press) * 100, 50 + Double(press) * 100) }
        story.run(until: 2000)
        XCTAssertEqual(story.session.counters.presses, 3)
        XCTAssertEqual(story.words.filter { $0.hasPrefix("photo.saved") }.count, 3)
        story.expectNoFault()
    }

    func testHoldToldAllAtOnceIsAHold() {
        let story = story()
        story.ledger.isLateReleaseAllowed = true
        story.sleep(-5, 1500)
        story.press(0, 1000)
        story.run(until: 3000)
        XCTAssertEqual(story.words.filter { $0.hasPrefix("photo") }, [])
        XCTAssertEqual(story.words.filter { $0.hasPrefix("recording.stopped") }, ["recording.stopped 1 released"])
        story.ledger.close(story.session)
        story.expectNoFault()
    }

    func testEdgeThatComesAfterLaterFramesFindsThemInTheRing() throws {
        for hold in [false, true] {
            let story = story()
            story.at(0) { $0.lines[0] = true }
            story.fact(at: 95, .edge(ButtonID(0), pressed: true, at: Story.instant(0)))
            story.up(hold ? 1000 : 200)
            story.run(until: 2000)
            if hold {
                let first = try XCTUnwrap(story.ledger.clips[ClipKey(1)]?.first)
                XCTAssertLessThan(first.exposureStart - Story.instant(0), .nanoseconds(33_333_334))
            } else {
                let frame = try XCTUnwrap(story.ledger.shots[MediaNumber(1)]).frame
                XCTAssertLessThanOrEqual(abs((frame.middle - Story.instant(0)).inNanoseconds), 16_666_667)
            }
            story.expectNoFault()
        }
    }

    func testEitherContactKeepsTheButtonDown() {
        let story = story()
        story.press(0, 600)
        story.software(500, 1500)
        story.run(until: 3000)
        XCTAssertEqual(story.time(of: "recording.stopped 1 released"), 1500)
        XCTAssertEqual(story.session.counters.presses, 1)
        story.expectNoFault()
    }

    func testSoftwarePressIsAPressOfItsSource() {
        let story = story()
        story.software(0, 120, .cli)
        story.run(until: 1000)
        story.expect(["photo.requested 1", "photo.saved 1"])
        XCTAssertEqual(story.told.map(\.what).first, .photoRequested(MediaNumber(1), .cli))
    }

    // MARK: Roles

    func testPhotoOnlyHoldIsAShotAtHold() {
        let story = story { $0.shutterRole = .photoOnly }
        story.press(0, 2000)
        story.run(until: 3000)
        story.expect(["photo.requested 1", "photo.saved 1"])
        XCTAssertEqual(story.time(of: "photo.requested 1"), 400)
        XCTAssertEqual(story.ledger.clips.count, 0)
    }

    func testVideoHoldIsAClipUntilTheRelease() {
        let story = story { $0.shutterRole = .videoHold }
        story.press(0, 200)
        story.run(until: 2000)
        story.expect([
            "recording.requested 1", "recording.started 1", "recording.stopped 1 released", "clip.saved 1",
        ])
        XCTAssertEqual(story.time(of: "recording.requested 1"), 15)
        XCTAssertEqual(story.ledger.frames(of: ClipKey(1)), 6)
    }

    func testVideoLatchStartsAndEndsWithPresses() {
        let story = story {
            $0.shutterRole = .videoLatch
            $0.doublePressIsBound = true
        }
        story.press(0, 100)
        story.press(250, 1000)
        story.run(until: 2000)
        story.expect(["recording.requested 1", "recording.started 1", "recording.stopped 1 button", "clip.saved 1"])
        XCTAssertEqual(story.doublePresses, [])
    }

    func testLatchedStopWhileTheCameraStarts() {
        var settings = SessionSettings()
        settings.shutterRole = .videoLatch
        let story = Story(settings, camera: false)
        story.press(0, 50)
        story.press(100, 150)
        story.startCamera(at: 500)
        story.run(until: 2000)
        story.expect(["recording.requested 1", "recording.stopped 1 button", "clip.discarded 1"])
    }

    func testVideoHoldDuringAClipByCommandIsRejected() {
        let story = story { $0.shutterRole = .videoHold }
        story.record(0)
        story.press(500, 600)
        story.stop(1000)
        story.run(until: 2000)
        story.expect([
            "recording.requested 1", "recording.started 1", "rejected already_recording", "recording.stopped 1 command",
            "clip.saved 1",
        ])
    }

    // MARK: State at the press

    func testHoldWhoseClipEndedByItselfIsRejected() {
        let story = story()
        story.record(0)
        story.press(1000, 2000)
        story.stop(1200)
        story.run(until: 3000)
        XCTAssertEqual(story.words.last(where: { $0.hasPrefix("rejected") }), "rejected not_recording")
        story.expectNoFault()
    }

    func testDisabledSecondPressLeavesTheFirstTap() {
        let story = story { $0.doublePressIsBound = true }
        story.press(0, 100)
        story.fact(at: 150, .buttonEnabled(false))
        story.press(200, 300)
        story.run(until: 1000)
        story.expect(["photo.requested 1", "rejected button_disabled", "photo.saved 1"])
        XCTAssertEqual(story.doublePresses, [])
    }

    func testServiceThatStopsTakesTheTapUnderWayAndTheOneThatWaits() {
        let down = story()
        down.press(0, 300)
        down.fact(at: 100, .shutdown(at: Story.instant(100)))
        down.run(until: 2000)
        down.expect(["photo.requested 1", "photo.saved 1"])

        let waiting = story { $0.doublePressIsBound = true }
        waiting.press(0, 100)
        waiting.fact(at: 200, .shutdown(at: Story.instant(200)))
        waiting.run(until: 2000)
        waiting.expect(["photo.requested 1", "photo.saved 1"])
        waiting.ledger.close(waiting.session)
        waiting.expectNoFault()
    }

    func testStateIsToldForStatus() {
        let story = story { $0.doublePressIsBound = true }
        story.press(0, 100)
        story.run(until: 50)
        XCTAssertEqual(story.session.gesture, .down)
        XCTAssertEqual(story.session.recording, .idle)
        story.run(until: 200)
        XCTAssertEqual(story.session.gesture, .waitingForSecondPress)
        story.press(1000, 2000)
        story.run(until: 1500)
        XCTAssertEqual(story.session.gesture, .holding)
        XCTAssertEqual(story.session.recording, .running(MediaNumber(2)))
        story.run(until: 2030)
        XCTAssertEqual(story.session.recording, .finishing(MediaNumber(2)))
        story.run(until: 4000)
        XCTAssertEqual(story.session.recording, .idle)
        XCTAssertTrue(story.session.isIdle)
        XCTAssertNil(story.session.nextDeadline)
    }

    func testOtherButtonsHaveContactsButNoGestures() {
        let story = Story(buttons: 3)
        story.at(0, .line(2, true))
        story.at(1000, .line(2, false))
        story.run(until: 2000)
        story.expect([])
        XCTAssertEqual(story.session.counters.presses, 0)
    }
}
