import FieldcamCore
import XCTest

final class ShotTests: XCTestCase {
    func testNinthWaitingShotIsRejected() {
        var settings = SessionSettings()
        settings.frameSlots = 16
        let story = Story(settings)
        story.photoTime = { _ in 2_000_000_000 }
        for shot in 0..<11 { story.press(Double(shot) * 100, Double(shot) * 100 + 50) }
        story.run(until: 1500)
        XCTAssertEqual(story.session.shotsInWork, 2)
        XCTAssertEqual(story.session.queuedShots, 8)
        XCTAssertEqual(story.words.last, "rejected queue_full")
        XCTAssertEqual(story.session.counters.shots, 10)
        story.run(until: 20_000)
        XCTAssertEqual(story.words.filter { $0.hasPrefix("photo.saved") }.count, 10)
        story.ledger.close(story.session)
        story.expectNoFault()
        for number in 1...10 {
            guard let (press, frame) = story.ledger.shots[MediaNumber(number)] else { return XCTFail("\(number)") }
            XCTAssertLessThanOrEqual(abs((frame.middle - press).inNanoseconds), 16_666_667, "shot \(number)")
        }
    }

    func testWithFewSlotsQueuedShotsShareFramesAndNoneIsLost() {
        for slots in 3...8 {
            var settings = SessionSettings()
            settings.frameSlots = slots
            let story = Story(settings)
            story.photoTime = { _ in 1_000_000_000 }
            for shot in 0..<10 { story.press(Double(shot) * 100, Double(shot) * 100 + 50) }
            story.run(until: 12_000)
            XCTAssertEqual(story.words.filter { $0.hasPrefix("photo.saved") }.count, 10, "\(slots) slots")
            XCTAssertLessThanOrEqual(story.ledger.highestHeld, slots)
            XCTAssertLessThanOrEqual(story.ledger.highestQueue, 8)
            story.ledger.close(story.session)
            story.expectNoFault()
        }
    }

    func testShotByCommandWaitsForTheFrameAfterItsArrival() {
        let story = Story()
        story.shot(10)
        story.run(until: 12)
        story.expect(["photo.requested 1"])
        XCTAssertEqual(story.ledger.answers.first?.answer, .accepted(MediaNumber(1)))
        story.run(until: 1000)
        story.expect(["photo.requested 1", "photo.saved 1"])
    }

    func testFramesThatStopLeaveTheBestThereIs() throws {
        let story = Story()
        story.at(0) { $0.cameraRuns = false }
        story.shot(20)
        story.run(until: 1000)
        story.expect(["photo.requested 1", "photo.saved 1"])
        let saved = try XCTUnwrap(story.time(of: "photo.saved 1"))
        XCTAssertEqual(saved, 20 + 100 + 66.667 + 60, accuracy: 0.01)
    }

    /// Two frames a second, told long after their exposure, as a busy machine's test driver does it.
    func testACameraThatIsSlowerThanAskedStillShowsThePress() throws {
        for phase in stride(from: 2020.0, to: 2520, by: 50) {
            let story = Story()
            story.frameInterval = 500_000_000
            story.readout = 300_000_000
            story.press(phase, phase + 100)
            story.run(until: 6000)
            story.expect(["photo.requested 1", "photo.saved 1"])
            let (press, frame) = try XCTUnwrap(story.ledger.shots[MediaNumber(1)])
            XCTAssertLessThanOrEqual(abs((frame.middle - press).inNanoseconds), 250_000_000, "pressed at \(phase) ms")
        }
    }

    func testWithoutAnyFrameTheShotFails() throws {
        let story = Story(camera: false)
        story.fact(at: -100, .camera(.up, at: Story.instant(-100)))
        story.press(0, 100)
        story.run(until: 1000)
        story.expect(["photo.requested 1", "photo.failed 1 camera_lost"])
        XCTAssertEqual(try XCTUnwrap(story.time(of: "photo.failed 1 camera_lost")), 166.667, accuracy: 0.01)
    }

    func testTapWithoutCameraFailsAndSaysWhy() {
        for (state, reason) in [
            (CameraState.down(.cameraAbsent), "camera_absent"), (.down(.cameraBusy), "camera_busy"),
            (.down(.cameraDenied), "camera_denied"), (.down(.cameraLost), "camera_lost"),
            (.released, "camera_released"),
        ] {
            let story = Story()
            story.endCamera(at: -10, state)
            story.press(0, 100)
            story.run(until: 1000)
            story.expect(["photo.requested 1", "photo.failed 1 \(reason)"])
        }
    }

    func testTapWhileTheCameraStartsWaitsForTheFirstFrame() {
        let story = Story(camera: false)
        story.press(0, 100)
        story.startCamera(at: 1500)
        story.run(until: 3000)
        story.expect(["photo.requested 1", "photo.saved 1"])
        XCTAssertEqual(story.ledger.shots[MediaNumber(1)]?.frame.exposureStart, Story.instant(1500))

        let absent = Story(camera: false)
        absent.press(0, 100)
        absent.endCamera(at: 700, .down(.cameraAbsent))
        absent.run(until: 3000)
        absent.expect(["photo.requested 1", "photo.failed 1 camera_absent"])

        let silent = Story(camera: false)
        silent.press(0, 100)
        silent.run(until: 8000)
        silent.expect(["photo.requested 1", "photo.failed 1 camera_lost"])
        XCTAssertEqual(silent.time(of: "photo.failed 1 camera_lost"), 5000)
    }

    func testCameraThatDiesAfterThePressLeavesItsPicture() {
        let story = Story()
        story.press(0, 200)
        story.endCamera(at: 100, .down(.cameraLost))
        story.run(until: 1000)
        story.expect(["photo.requested 1", "photo.saved 1"])
    }

    func testStorageThatIsFullOrUnwritableFailsTheShot() {
        for (state, words) in [
            (StorageState.low, ["storage.low", "photo.requested 1", "photo.failed 1 storage_low"]),
            (.unwritable, ["photo.requested 1", "photo.failed 1 storage_unwritable"]),
        ] {
            let story = Story()
            story.fact(at: -10, .storage(state, at: Story.instant(-10)))
            story.press(0, 100)
            story.run(until: 1000)
            story.expect(words)
        }
    }

    func testShotThatFailsInWorkIsToldAndTheNextGoesOn() {
        let story = Story()
        story.photoOutcome = { _, number in
            number.value == 1 ? .shotFailed(number, .storageUnwritable) : .shotSaved(number)
        }
        story.press(0, 50)
        story.press(200, 250)
        story.run(until: 1000)
        story.expect([
            "photo.requested 1", "photo.failed 1 storage_unwritable", "photo.requested 2", "photo.saved 2",
        ])
    }

    func testPressOffsetIsMiddleOfExposureMinusPress() {
        let story = Story()
        story.press(0, 100)
        story.run(until: 1000)
        guard case .photoSaved(_, .button, let frame, let offset, _) = story.told[story.told.count - 1].what else {
            XCTFail("no photo was saved")
            return
        }
        XCTAssertEqual(offset, frame.middle - Story.instant(0))
    }

    // MARK: Numbers

    func testMoreNumbersAreOrderedOnceWhenFewAreLeft() {
        let story = Story(numbers: false)
        story.fact(at: -100, .numbersReserved(next: MediaNumber(5), limit: MediaNumber(37)))
        for shot in 0..<4 { story.shot(Double(shot) * 100) }
        story.run(until: 1000)
        story.expect((5...8).flatMap { ["photo.requested \($0)", "photo.saved \($0)"] })
        XCTAssertEqual(story.reservations, 1)
    }

    func testNumbersGoOnWithoutReservationButNothingIsStored() {
        let story = Story(numbers: false)
        story.fact(at: -100, .numbersReserved(next: MediaNumber(5), limit: MediaNumber(6)))
        story.shot(0)
        story.shot(200)
        story.press(400, 1000)
        story.fact(at: 1500, .numbersReserved(next: MediaNumber(6), limit: MediaNumber(106)))
        story.shot(2000)
        story.run(until: 3000)
        story.expect([
            "photo.requested 5", "photo.saved 5", "photo.requested 6", "photo.failed 6 storage_unwritable",
            "recording.requested 7", "recording.stopped 7 error", "clip.failed 7 storage_unwritable",
            "photo.requested 8", "photo.saved 8",
        ])
        story.ledger.close(story.session)
        story.expectNoFault()
    }

    func testNumbersOfAnotherBlockComeAfterTheOldOnesAreUsed() {
        let story = Story(numbers: false)
        story.fact(at: -100, .numbersReserved(next: MediaNumber(5), limit: MediaNumber(7)))
        story.fact(at: -90, .numbersReserved(next: MediaNumber(100), limit: MediaNumber(164)))
        for shot in 0..<3 { story.shot(Double(shot) * 200) }
        story.run(until: 1000)
        XCTAssertEqual(
            story.words.filter { $0.hasPrefix("photo.saved") },
            ["photo.saved 5", "photo.saved 6", "photo.saved 100"])
    }
}
