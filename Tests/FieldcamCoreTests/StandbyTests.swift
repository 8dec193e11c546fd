import FieldcamCore
import XCTest

/// Start, standby, release, and what a press means then (contract §5.10); the indicator (§9).
final class StandbyTests: XCTestCase {
    private func story(_ edit: (inout SessionSettings) -> Void = { _ in }) -> Story {
        var settings = SessionSettings()
        edit(&settings)
        return Story(settings)
    }

    func testATapWakesAndTakesTheFirstConvergedFrame() throws {
        let story = story()
        story.scene.isMeasured = true
        story.scene.gain = 1
        story.command(0, .standby)
        story.at(500) { XCTAssertEqual($0.session.heldFrames, 0, "standby empties the ring") }
        story.press(1000, 1060)
        story.run(until: 4000)
        story.ledger.close(story.session)
        story.expect(["photo.requested 1", "photo.saved 1"])
        let frame = try XCTUnwrap(story.ledger.shots[MediaNumber(1)]).frame
        XCTAssertEqual(frame.exposureSettled, true)
        XCTAssertGreaterThan(try XCTUnwrap(frame.gain), 4)
        XCTAssertEqual(story.indicated.map(\.pattern), [.ready, .dark, .ready, .saved])
    }

    func testWhereExposureIsNotReportedTenFramesAreEnough() throws {
        let story = story()
        story.command(0, .standby)
        story.press(1000, 1060)
        story.run(until: 4000)
        story.expect(["photo.requested 1", "photo.saved 1"])
        let frame = try XCTUnwrap(story.ledger.shots[MediaNumber(1)]).frame
        XCTAssertEqual(Story.milliseconds(frame.exposureStart.nanoseconds), 1000 + 200 + 9 * 33.333, accuracy: 1)
    }

    func testExposureThatNeverSettlesDoesNotHoldTheShotForever() {
        let story = story()
        story.scene.isMeasured = true
        story.scene.ambient = 0.000001
        story.scene.tellsExposure = true
        story.scene.neverSettles = true
        story.command(0, .standby)
        story.press(1000, 1060)
        story.run(until: 6000)
        story.ledger.close(story.session)
        story.expect(["photo.requested 1", "photo.saved 1"])
    }

    func testAHoldRecordsFromTheFirstGoodFrame() {
        let story = story()
        story.command(0, .standby)
        story.press(1000, 3000)
        story.run(until: 5000)
        story.ledger.close(story.session)
        story.expect(["recording.requested 1", "recording.started 1", "recording.stopped 1 released", "clip.saved 1"])
        XCTAssertEqual(story.ledger.frames(of: ClipKey(1)), 55)
    }

    func testCommandsWakeToo() {
        let story = story()
        story.command(0, .standby)
        story.shot(1000)
        story.command(2500, .standby)
        story.record(3000)
        story.stop(4000)
        story.run(until: 6000)
        story.ledger.close(story.session)
        story.expect([
            "photo.requested 1", "photo.saved 1", "recording.requested 2", "recording.started 2",
            "recording.stopped 2 command", "clip.saved 2",
        ])
    }

    func testIdleTimeOut() {
        let story = story { $0.standbyAfter = .seconds(10) }
        story.press(5000, 5100)
        story.run(until: 14_000)
        XCTAssertEqual(story.session.camera, .up)
        story.run(until: 16_000)
        XCTAssertEqual(story.session.camera, .standby)
        XCTAssertTrue(story.ledger.running.isEmpty)
        story.press(20_000, 20_100)
        story.run(until: 22_000)
        XCTAssertEqual(story.session.camera, .up)
        story.expect(["photo.requested 1", "photo.saved 1", "photo.requested 2", "photo.saved 2"])
    }

    func testTheIdleTimeBeginsWithTheCamera() {
        let story = story { $0.standbyAfter = .seconds(2) }
        story.run(until: 1000)
        XCTAssertEqual(story.session.camera, .up)
        story.run(until: 2000)
        XCTAssertEqual(story.session.camera, .standby)
        story.expectNoFault()
    }

    func testStandbyWaitsForWhatIsUnderWay() {
        let story = story()
        story.press(0, 100)
        story.command(105, .standby, token: 1)
        story.record(1000)
        story.command(2000, .standby, token: 2)
        story.stop(3000)
        story.run(until: 5000)
        story.ledger.close(story.session)
        XCTAssertEqual(
            story.ledger.answers.map(\.answer),
            [
                .effective(.cameraState(.standby)), .accepted(MediaNumber(2)), .rejected(.recording),
                .accepted(MediaNumber(2)),
            ])
        story.expect([
            "photo.requested 1", "photo.saved 1", "recording.requested 2", "recording.started 2", "rejected recording",
            "recording.stopped 2 command", "clip.saved 2",
        ])
    }

    func testReleaseGivesTheCameraUpAndStartTakesItAgain() {
        let story = story()
        story.command(0, .release, token: 1)
        story.press(1000, 1100)
        story.command(2000, .start, token: 2)
        story.press(3000, 3100)
        story.run(until: 5000)
        story.ledger.close(story.session)
        story.expect([
            "photo.requested 1", "photo.failed 1 camera_released", "photo.requested 2", "photo.saved 2",
        ])
        XCTAssertEqual(
            story.ledger.answers.map(\.answer),
            [.effective(.cameraState(.released)), .effective(.cameraState(.starting))])
    }

    func testTheIndicatorTellsTheState() {
        let story = story { $0.maximumDuration = .seconds(5) }
        story.press(0, 100)
        story.press(1000, 9000)
        story.endCamera(at: 10_000, .down(.cameraLost))
        story.startCamera(at: 11_000)
        story.fact(at: 12_000, .storage(.low, at: Story.instant(12_000)))
        story.press(12_500, 12_600)
        story.fact(at: 13_000, .storage(.ready, at: Story.instant(13_000)))
        story.fact(at: 14_000, .buttonEnabled(false))
        story.press(14_100, 14_200)
        story.fact(at: 15_000, .shutdown(at: Story.instant(15_000)))
        story.run(until: 16_000)
        XCTAssertEqual(
            story.indicated.map(\.pattern),
            [
                .ready, .saved, .recording, .endingSoon, .ready, .cameraDown, .ready, .disk, .refused, .ready, .refused,
                .off,
            ])
        let warning = story.indicated.first { $0.pattern == .endingSoon }
        XCTAssertEqual(Story.milliseconds(warning?.at ?? 0), 1000 + 2000, accuracy: 40)
        story.expectNoFault()
    }
}
