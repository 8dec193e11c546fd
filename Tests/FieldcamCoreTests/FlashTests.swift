import FieldcamCore
import XCTest

/// The flash: lit evenly and proven, or not claimed (contract §5.2, §6, §9).
final class FlashTests: XCTestCase {
    private func story(_ mode: FlashMode = .on, bound: Bool = false, light: Bool = true) -> Story {
        var settings = SessionSettings()
        settings.light.flash = mode
        settings.doublePressIsBound = bound
        let story = Story(settings)
        story.cameras[0].abilities.hasLight = light
        story.cameras[0].abilities.readout = .milliseconds(20)
        story.scene.isMeasured = true
        story.ledger.longestLight = .milliseconds(800)
        return story
    }

    private func saved(_ story: Story) -> [(frame: Frame, fired: Bool)] {
        story.told.compactMap {
            if case .photoSaved(_, _, let frame, _, let fired) = $0.what { (frame, fired) } else { nil }
        }
    }

    func testFiveHundredShotsAtRandomPhasesAreEvenlyLitAndProven() throws {
        var random = SplitMix(seed: 500)
        let story = story()
        var time = 0.0
        for _ in 0..<500 {
            story.press(time, time + 60)
            time += 2500 + random.milliseconds(0, 40)
        }
        story.run(until: time + 3000)
        story.ledger.close(story.session)
        story.expectNoFault()
        let saved = saved(story)
        XCTAssertEqual(saved.count, 500)
        XCTAssertEqual(saved.filter { story.scene.isEvenlyLit($0.frame, readout: story.readout) }.count, 500)
        XCTAssertEqual(saved.filter(\.fired).count, 500)
        XCTAssertEqual(story.ledger.lights.count, 500, "one flash each")
        XCTAssertLessThanOrEqual(story.ledger.lights.map { $0.off - $0.on }.max() ?? 0, 800_000_000)
    }

    func testALightThatFailsIsNeverClaimed() {
        for led in [Scene.LED.dead, .refuses, .readsBackOff] {
            var random = SplitMix(seed: 7)
            let story = story()
            story.scene.led = led
            var time = 0.0
            let shots = led == .dead ? 500 : 50
            for _ in 0..<shots {
                story.press(time, time + 60)
                time += 4000 + random.milliseconds(0, 40)
            }
            story.run(until: time + 5000)
            story.ledger.close(story.session)
            story.expectNoFault()
            XCTAssertEqual(saved(story).count, shots, "\(led)")
            XCTAssertEqual(saved(story).filter(\.fired).count, 0, "\(led)")
        }
    }

    func testADeadLightIsTriedOnceMoreAfterARestAsLongAsItWasOn() {
        let story = story()
        story.scene.led = .dead
        story.press(0, 60)
        story.run(until: 5000)
        story.expectNoFault()
        let lights = story.ledger.lights
        XCTAssertEqual(lights.count, 2)
        guard lights.count == 2 else { return }
        XCTAssertGreaterThanOrEqual(lights[1].on - lights[0].off, lights[0].off - lights[0].on)
        XCTAssertEqual(story.words.last, "photo.saved 1")
    }

    func testWithoutToldExposureTheLightHasFourHundredMilliseconds() throws {
        let story = story()
        story.scene.tellsExposure = false
        story.press(0, 60)
        story.run(until: 3000)
        story.expect([
            "photo.requested 1", "light shot 1 1.0", "light shot 1 0.0", "photo.saved 1",
        ])
        XCTAssertTrue(saved(story)[0].fired)
        let light = story.ledger.lights[0]
        XCTAssertEqual(Double(light.off - light.on) / 1e6, 440, accuracy: 40)
    }

    func testSettlingEndsThreeFramesBeforeTheFlashMustEnd() {
        let story = story()
        story.scene.tellsExposure = false
        story.frameInterval = 100_000_000
        var slow = story.settings
        slow.frameInterval = .milliseconds(100)
        slow.light.maximumFlash = .milliseconds(500)
        story.ledger.longestLight = .milliseconds(500)
        story.fact(at: -400, .settingsChanged(slow))
        story.press(0, 60)
        story.run(until: 3000)
        story.expectNoFault()
        XCTAssertTrue(saved(story)[0].fired)
        XCTAssertTrue(story.scene.isEvenlyLit(saved(story)[0].frame, readout: story.readout))
        XCTAssertEqual(story.ledger.lights.count, 1)
    }

    func testAFrameThatIsTooLongForTheLightIsNotTaken() {
        let story = story()
        story.exposure = 900_000_000
        story.frameInterval = 1_000_000_000
        story.startCamera(at: -450)
        story.press(1200, 1260)
        story.run(until: 12_000)
        story.ledger.close(story.session)
        story.expectNoFault()
        XCTAssertFalse(saved(story)[0].fired)
        XCTAssertEqual(story.ledger.lights.count, 2, "and one retry")
    }

    func testAutoLightsDimScenesOnly() {
        for (lux, fires) in [(5.0, true), (200.0, false)] {
            let story = story(.auto)
            story.scene.lux = lux
            story.press(0, 60)
            story.run(until: 3000)
            story.expectNoFault()
            XCTAssertEqual(saved(story)[0].fired, fires)
            XCTAssertEqual(story.ledger.lights.isEmpty, !fires)
        }
        // Without lux by exposure and gain: 10 ms at gain 16 is dim, at gain 1 it isn't.
        for (gain, fires) in [(16.0, true), (1.0, false)] {
            let story = story(.auto)
            story.scene.gain = gain
            story.scene.ambient = gain > 1 ? 0.4 : 18
            story.press(0, 60)
            story.run(until: 3000)
            XCTAssertEqual(saved(story)[0].fired, fires)
        }
    }

    func testWithoutALightTheShotIsTheFrameOfThePress() throws {
        let story = story(light: false)
        story.press(0, 60)
        story.run(until: 1000)
        story.expect(["photo.requested 1", "photo.saved 1"])
        XCTAssertFalse(saved(story)[0].fired)
        XCTAssertLessThanOrEqual(abs((saved(story)[0].frame.middle - Story.instant(0)).inNanoseconds), 16_666_667)
    }

    func testNoFlashDuringAClipAndAHoldLeavesTheFlashOfTheShotBefore() {
        let story = story()
        story.record(0)
        story.press(1000, 1060)
        story.stop(3000)
        story.run(until: 5000)
        story.expectNoFault()
        XCTAssertTrue(story.ledger.lights.isEmpty)

        let hold = self.story()
        hold.press(0, 1500)
        hold.shot(30)
        hold.scene.tellsExposure = false
        hold.run(until: 4000)
        hold.expect(
            [
                "photo.requested 1", "light shot 1 1.0", "light shot 1 0.0", "photo.saved 1", "recording.requested 2",
                "recording.started 2", "recording.stopped 2 released", "clip.saved 2",
            ].reorderedAfter(hold.words))
        XCTAssertTrue(saved(hold)[0].fired)
    }

    func testAShotKeepsItsFlashWhateverIsAskedForAfterwards() {
        enum After: CaseIterable { case record, switchCamera, standby }
        for after in After.allCases {
            for delay in [1.0, 100, 300] {
                var settings = SessionSettings()
                settings.light.flash = .on
                let story = Story(settings, cameras: 2)
                for index in 0...1 { story.cameras[index].abilities.hasLight = true }
                story.scene.isMeasured = true
                story.shot(0)
                switch after {
                case .record:
                    story.record(delay, token: 2)
                    story.stop(3000, token: 3)
                case .switchCamera: story.command(delay, .switchCamera(nil))
                case .standby: story.command(delay, .standby)
                }
                story.run(until: 5000)
                story.ledger.close(story.session)
                story.expectNoFault()
                XCTAssertEqual(saved(story).map(\.fired), [true], "\(after) after \(delay) ms")
                XCTAssertEqual(saved(story).first?.frame.ref.camera, 0)
                switch after {
                case .record: XCTAssertTrue(story.words.contains("clip.saved 2"))
                case .switchCamera: XCTAssertEqual(story.session.active, CameraID(1))
                case .standby: XCTAssertEqual(story.session.camera, .standby)
                }
            }
        }
    }

    func testTheIndicatorIsDarkFromTheCommitToTheEndOfTheExposure() throws {
        let story = story()
        story.press(0, 60)
        story.run(until: 3000)
        let patterns = story.indicated.map(\.pattern)
        XCTAssertEqual(patterns, [.ready, .dark, .ready, .saved])
        XCTAssertEqual(Story.milliseconds(story.indicated[1].at), 75, accuracy: 0.01)
        XCTAssertGreaterThan(story.indicated[2].at, saved(story)[0].frame.exposureEnd.nanoseconds)
    }

    func testASwitchAndALossNeverHoldAShotBack() {
        // A tap that has its picture of the old camera when the new one takes over isn't lit by the new one.
        for press in stride(from: -200.0, to: 300, by: 13) {
            var settings = SessionSettings()
            settings.light.flash = .on
            let story = Story(settings, cameras: 2)
            for index in 0...1 { story.cameras[index].abilities.hasLight = true }
            story.scene.isMeasured = true
            story.command(0, .switchCamera(nil))
            story.press(press, press + 250)
            story.run(until: 4000)
            story.ledger.close(story.session)
            story.expectNoFault()
            XCTAssertEqual(story.words.filter { $0.hasPrefix("photo.saved") }.count, 1)
        }
    }

    func testCameraLossAndShutdownPutTheFlashOut() {
        for at in stride(from: 76.0, to: 700, by: 23) {
            let lost = story()
            lost.press(0, 60)
            lost.endCamera(at: at, .down(.cameraLost))
            lost.run(until: 4000)
            lost.ledger.close(lost.session)
            lost.expectNoFault()
            XCTAssertEqual(lost.words.last, "photo.saved 1")

            let stopped = story()
            stopped.press(0, 60)
            stopped.fact(at: at, .shutdown(at: Story.instant(at)))
            stopped.run(until: 4000)
            stopped.ledger.close(stopped.session)
            stopped.expectNoFault()
            XCTAssertEqual(stopped.words.filter { $0.hasPrefix("photo.saved") }.count, 1)
            XCTAssertEqual(stopped.indicated.last?.pattern, .off)
        }
    }

    func testSlowShellNeverLeavesTheLightOn() {
        for late in stride(from: 100.0, to: 2000, by: 190) {
            let story = story()
            story.press(0, 60)
            story.sleep(200, 200 + late)
            story.run(until: 6000)
            story.ledger.close(story.session)
            story.expectNoFault()
            for photo in saved(story) where photo.fired {
                XCTAssertTrue(story.scene.isEvenlyLit(photo.frame, readout: story.readout), "late by \(late) ms")
            }
        }
    }
}

extension [String] {
    /// The same words in another order are the same words.
    fileprivate func reorderedAfter(_ other: [String]) -> [String] { sorted() == other.sorted() ? other : self }
}
