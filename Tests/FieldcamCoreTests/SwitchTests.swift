import FieldcamCore
import XCTest

/// Switching cameras is a transaction (contract §5.7, §6; traces T7–T9 with a bound switch).
final class SwitchTests: XCTestCase {
    private func story(_ edit: (inout SessionSettings) -> Void = { _ in }) -> Story {
        var settings = SessionSettings()
        settings.doublePressAction = .auto
        edit(&settings)
        return Story(settings, buttons: 2, roles: [.shutter, .switchCamera], cameras: 2)
    }
    private let switched = ["camera.switched 1"]

    private func shotCamera(_ story: Story, _ number: Int) -> Int? {
        story.ledger.shots[MediaNumber(number)]?.frame.ref.camera
    }

    // T7
    func testDoublePressSwitchesAndTakesNoShot() throws {
        let story = story()
        story.press(0, 100)
        story.press(250, 330)
        story.press(1000, 1100)
        story.run(until: 3000)
        story.ledger.close(story.session)
        story.expect(switched + ["photo.requested 1", "photo.saved 1"])
        XCTAssertEqual(shotCamera(story, 1), 1)
        XCTAssertEqual(try XCTUnwrap(story.time(of: "camera.switched 1")), 265 + 200 + 30, accuracy: 1)
    }

    // T8
    func testSecondPressHeldSwitchesAndRecordsNothing() {
        let story = story()
        story.press(0, 100)
        story.press(250, 1500)
        story.run(until: 3000)
        story.ledger.close(story.session)
        story.expect(switched)
    }

    // T9
    func testThirdPressIsAPhotoOfTheNewCamera() {
        let story = story()
        for start in [0.0, 200, 400] { story.press(start, start + 80) }
        story.run(until: 3000)
        story.ledger.close(story.session)
        // It is committed when the window closes.
        story.expect(switched + ["photo.requested 1", "photo.saved 1"])
        XCTAssertEqual(shotCamera(story, 1), 1)
    }

    func testWithOneCameraAutoBindsNothing() {
        var settings = SessionSettings()
        settings.doublePressAction = .auto
        let story = Story(settings)
        story.press(0, 100)
        story.press(250, 330)
        story.run(until: 2000)
        story.expect(["photo.requested 1", "photo.saved 1", "photo.requested 2", "photo.saved 2"])
    }

    func testButtonAndCommandSwitchBackAndForth() {
        let story = story()
        story.at(0, .line(1, true))
        story.at(100, .line(1, false))
        story.command(1000, .switchCamera(CameraID(0)), token: 1)
        story.command(2000, .switchCamera(CameraID(0)), token: 2)
        story.command(2001, .switchCamera(CameraID(5)), token: 3)
        story.command(2002, .switchCamera(nil), token: 4)
        story.command(2050, .switchCamera(nil), token: 5)
        story.run(until: 4000)
        story.ledger.close(story.session)
        story.expect([
            "camera.switched 1", "camera.switched 0", "rejected out_of_range", "rejected switching",
            "camera.switched 1",
        ])
        XCTAssertEqual(
            story.ledger.answers.map(\.answer),
            [
                .effective(.camera(CameraID(0))), .effective(.camera(CameraID(0))), .rejected(.outOfRange),
                .rejected(.switching), .effective(.camera(CameraID(1))),
            ])
    }

    func testAPressFromBeforeTheSwitchOfALostCameraGetsTheNewOne() {
        let story = story { $0.doublePressAction = .none }
        story.endCamera(at: -10, .starting)
        story.press(0, 50)
        story.at(20) { $0.give(.camera(.down(.cameraLost), at: Story.instant(20))) }
        story.command(30, .switchCamera(nil))
        story.run(until: 3000)
        story.expectNoFault()
        XCTAssertEqual(story.words, ["photo.requested 1", "camera.switched 1", "photo.saved 1"])
        XCTAssertEqual(shotCamera(story, 1), 1)
    }

    func testALostCameraIsNotBroughtBackBesideTheNewOne() {
        let story = story { $0.doublePressAction = .none }
        story.endCamera(at: 0, .down(.cameraLost))
        story.command(30, .switchCamera(nil))
        story.startCamera(at: 50)
        story.run(until: 3000)
        story.ledger.close(story.session)
        story.expect(["camera.switched 1"])
    }

    func testStartDuringASwitchStartsNoThirdCamera() {
        let story = story { $0.doublePressAction = .none }
        story.command(0, .standby, token: 1)
        story.command(30, .switchCamera(nil), token: 2)
        story.command(60, .start, token: 3)
        story.run(until: 3000)
        story.ledger.close(story.session)
        story.expect(["camera.switched 1"])
    }

    func testPressesDuringASwitchGoToTheNewCamera() {
        for start in stride(from: 5.0, to: 240, by: 6.3) {
            let story = story { $0.doublePressAction = .none }
            story.command(0, .switchCamera(nil))
            story.press(start, start + 50)
            story.shot(start + 20)
            story.press(start + 300, start + 1300)
            story.run(until: 4000)
            story.ledger.close(story.session)
            story.expectNoFault()
            XCTAssertEqual(shotCamera(story, 1), 1)
            XCTAssertEqual(shotCamera(story, 2), 1)
            XCTAssertEqual(story.ledger.clips.values.first { $0.number != nil }?.frames.first?.ref.camera, 1)
        }
    }

    /// The press has its picture of the old camera when the first frame of the new one comes, between the edge of its
    /// release and the confirmation: that frame alone is the clip's to let go.
    func testATapAcrossASwitchKeepsItsPicture() {
        for down in stride(from: -60.0, to: 20, by: 13) {
            for up in stride(from: max(down, 0) + 20, to: 330, by: 3) {
                let story = story { $0.doublePressAction = .none }
                // Short enough to be exposed and told while the release waits for its confirmation.
                (story.exposure, story.readout) = (1_000_000, 1_000_000)
                story.press(down, up)
                story.command(0, .switchCamera(nil))
                story.run(until: 3000)
                story.ledger.close(story.session)
                story.expectNoFault()
                let photos = story.told.filter { if case .photoSaved = $0.what { true } else { false } }
                XCTAssertEqual(photos.count, 1, "\(down) to \(up)")
            }
        }
    }

    func testAHoldDuringASwitchRecordsTheNewCamera() {
        for start in stride(from: -390.0, to: 200, by: 17) {
            let story = story { $0.doublePressAction = .none }
            story.cameras[1].startTime = { _ in 900_000_000 }
            story.press(start, 2500)
            story.command(0, .switchCamera(nil))
            story.run(until: 5000)
            story.ledger.close(story.session)
            story.expectNoFault()
            let clip = story.ledger.clips.values.first { $0.number != nil }
            XCTAssertEqual(clip?.frames.first?.ref.camera, 1, "press at \(start) ms")
            XCTAssertEqual(story.words.last, "clip.saved 1")
        }
    }

    func testRefusedWhileRecording() {
        let story = story()
        story.record(0)
        story.press(500, 600)
        story.press(700, 800)
        story.stop(2000)
        story.run(until: 4000)
        story.ledger.close(story.session)
        story.expect([
            "recording.requested 1", "recording.started 1", "rejected recording", "recording.stopped 1 command",
            "clip.saved 1",
        ])
        XCTAssertEqual(story.session.active, CameraID(0))
    }

    func testNewClipFromTheNewCamera() throws {
        for busy in [false, true] {
            for byHold in [false, true] {
                let story = story { $0.switchWhileRecording = .newClip }
                if busy { story.cameras[1].failure = { $0.cameras[0].runs ? .cameraBusy : nil } }
                if byHold { story.press(0, 3000) } else { story.record(0) }
                story.command(1000, .switchCamera(nil))
                if !byHold { story.stop(3000) }
                story.run(until: 5000)
                story.ledger.close(story.session)
                let reason = byHold ? "released" : "command"
                XCTAssertEqual(
                    story.words.filter { !$0.hasPrefix("clip.saved 1") },
                    [
                        "recording.requested 1", "recording.started 1", "recording.stopped 1 camera_switch",
                        "camera.switched 1", "recording.requested 2", "recording.started 2",
                        "recording.stopped 2 \(reason)", "clip.saved 2",
                    ].sortedLike(story.words))
                XCTAssertTrue(story.words.contains("clip.saved 1"))
                story.expectNoFault()
                XCTAssertEqual(story.ledger.frames(of: ClipKey(1)) > 25, true)
            }
        }
    }

    func testBusyMeansTheOldOneStopsFirst() {
        let story = story()
        story.cameras[1].failure = { $0.cameras[0].runs ? .cameraBusy : nil }
        story.command(0, .switchCamera(nil), token: 1)
        story.press(250, 300)
        story.run(until: 4000)
        story.ledger.close(story.session)
        story.expectNoFault()
        XCTAssertEqual(story.session.active, CameraID(1))
        XCTAssertEqual(shotCamera(story, 1), 1)
    }

    func testFailureRollsBack() {
        enum Failure: CaseIterable { case absent, busyForever, silent }
        for failure in Failure.allCases {
            let story = story { $0.doublePressAction = .none }
            switch failure {
            case .absent: story.cameras[1].failure = { _ in .cameraAbsent }
            case .busyForever: story.cameras[1].failure = { _ in .cameraBusy }
            case .silent: story.cameras[1].startTime = { _ in 60_000_000_000 }
            }
            story.command(0, .switchCamera(nil), token: 1)
            story.press(100, 150)
            story.press(8000, 8100)
            story.run(until: 12_000)
            story.ledger.close(story.session)
            story.expectNoFault()
            let reason = ["camera_absent", "camera_busy", "camera_lost"][Failure.allCases.firstIndex(of: failure) ?? 0]
            XCTAssertEqual(story.words.filter { $0.hasPrefix("camera") }, ["camera.switch_failed 1 \(reason)"])
            XCTAssertEqual(story.ledger.answers.map(\.answer), [.effective(.camera(CameraID(0)))])
            XCTAssertEqual(story.words.filter { $0.hasPrefix("photo.saved") }.count, 2, "\(failure)")
            XCTAssertEqual(shotCamera(story, 1), 0)
            XCTAssertEqual(shotCamera(story, 2), 0)
            XCTAssertEqual(story.session.camera, .up)
        }
    }

    func testHundredSwitchesLoseNoPress() {
        var random = SplitMix(seed: 100)
        let story = story { $0.doublePressAction = .none }
        for camera in 0...1 {
            var delays = SplitMix(seed: UInt64(camera))
            story.cameras[camera].startTime = { _ in Int64(delays.milliseconds(0, 2000) * 1_000_000) }
        }
        var time = 0.0
        for _ in 0..<100 {
            story.command(time, .switchCamera(nil))
            for _ in 0..<3 {
                let start = time + random.milliseconds(0, 100)
                story.press(start, start + 60)
                time = start + 200
            }
            time += 2500
        }
        story.run(until: time + 5000)
        story.ledger.close(story.session)
        story.expectNoFault()
        XCTAssertEqual(story.ledger.switches, 100)
        XCTAssertEqual(story.words.filter { $0.hasPrefix("photo.saved") }.count, 300)
    }

    // T20
    func testThousandTapsHoldsAndSwitchesWithRandomCameraDelays() {
        var random = SplitMix(seed: 20)
        let story = story {
            $0.doublePressAction = .none
            $0.light.torch = .on
            $0.light.flash = .on
            $0.switchWhileRecording = .newClip
        }
        story.scene.isMeasured = true
        for camera in 0...1 {
            var delays = SplitMix(seed: UInt64(camera))
            story.cameras[camera].abilities.hasLight = true
            story.cameras[camera].abilities.readout = .milliseconds(20)
            story.cameras[camera].startTime = { _ in Int64(delays.milliseconds(0, 2000) * 1_000_000) }
            story.cameras[camera].failure = { _ in delays.isTrue(1, of: 10) ? .cameraBusy : nil }
        }
        var time = 0.0
        var presses = 0
        for _ in 0..<1000 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: story.command(time, .switchCamera(nil))
            case 1:
                let length = random.milliseconds(450, 2000)
                story.press(time, time + length)
                time += length
                presses += 1
            default:
                story.press(time, time + random.milliseconds(20, 390))
                time += 400
                presses += 1
            }
            time += random.milliseconds(60, 900)
        }
        story.run(until: time + 20_000)
        story.ledger.close(story.session)
        story.expectNoFault()
        XCTAssertEqual(story.session.counters.presses, presses)
        XCTAssertGreaterThan(story.ledger.switches, 50)
        // A press ends in a shot, a clip, or is told why not.
        let shots = story.words.filter { $0.hasPrefix("photo.saved") || $0.hasPrefix("photo.failed") }.count
        let first = story.told.filter { if case .recordingRequested = $0.what { true } else { false } }.count
        let followed = story.words.filter { $0.hasPrefix("recording.stopped") && $0.hasSuffix("camera_switch") }.count
        let rejected = story.words.filter { $0 == "rejected queue_full" || $0 == "rejected already_recording" }.count
        XCTAssertLessThanOrEqual(presses, shots + first + rejected)
        XCTAssertGreaterThanOrEqual(presses, shots + first + rejected - followed)
    }

    func testFlashButtonCyclesAndDoublePressMay() {
        var settings = SessionSettings()
        settings.doublePressAction = .cycleFlash
        let story = Story(settings, buttons: 2, roles: [.shutter, .flash])
        story.cameras[0].abilities.hasLight = true
        for press in 0..<3 {
            let start = Double(press) * 1000
            story.at(start, .line(1, true))
            story.at(start + 80, .line(1, false))
        }
        story.press(4000, 4050)
        story.press(4200, 4250)
        story.run(until: 6000)
        story.expect(["flash on", "flash auto", "flash off", "flash on"])
        XCTAssertEqual(story.doublePresses.count, 1)
    }
}

extension [String] {
    /// The same words, in the order in which another list has them.
    fileprivate func sortedLike(_ other: [String]) -> [String] {
        let order = other.filter { contains($0) }
        return order.sorted() == sorted() ? order : self
    }
}
