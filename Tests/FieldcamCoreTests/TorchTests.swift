import FieldcamCore
import XCTest

/// The torch can't stay on (contract §5, §6; trace T16).
final class TorchTests: XCTestCase {
    private func story(
        torch: FlashMode = .on, maximum: Duration = .zero, cameras: Int = 1,
        _ edit: (inout SessionSettings) -> Void = { _ in }
    ) -> Story {
        var settings = SessionSettings()
        settings.light.torch = torch
        settings.maximumDuration = maximum
        edit(&settings)
        let story = Story(settings, cameras: cameras)
        for index in story.cameras.indices { story.cameras[index].abilities.hasLight = true }
        story.ledger.longestLight = settings.light.maximumTorch
        return story
    }

    private let lit = ["light clip 1 1.0", "recording.started 1", "light clip 1 0.0"]

    func testTheClipIsLitAndDarkBeforeItsStopIsTold() {
        let story = story()
        story.press(0, 2000)
        story.run(until: 4000)
        story.ledger.close(story.session)
        story.expect([
            "recording.requested 1", "recording.started 1", "light clip 1 1.0", "light clip 1 0.0",
            "recording.stopped 1 released", "clip.saved 1",
        ])
    }

    /// T16, each way out 200 times at random phases.
    func testTheLightIsOffBeforeEveryStop() {
        enum Exit: CaseIterable {
            case release, maximum, storage, encoder, cameraLost, cameraReleased, cameraSwitch, busySwitch, shutdown
            case lineLost, clipFailed, command, standbyRefused, switchRefused
        }
        for exit in Exit.allCases {
            var random = SplitMix(seed: 16)
            for run in 0..<200 {
                let at = random.milliseconds(450, 1500)
                let start = random.milliseconds(0, 34)
                let story = story(maximum: exit == .maximum ? .milliseconds(600) : .zero, cameras: 2) {
                    if exit == .cameraSwitch || exit == .busySwitch { $0.switchWhileRecording = .newClip }
                }
                if exit == .busySwitch { story.cameras[1].failure = { $0.cameras[0].runs ? .cameraBusy : nil } }
                story.press(start, exit == .release ? start + at : 2500)
                let instant = Story.instant(at)
                switch exit {
                case .release, .maximum: break
                case .storage: story.fact(at: at, .storage(.low, at: instant))
                case .encoder: story.fact(at: at, .encoderLost(ClipKey(1), at: instant))
                case .cameraLost: story.endCamera(at: at, .down(.cameraLost))
                case .cameraReleased: story.command(at, .release)
                case .cameraSwitch, .busySwitch, .switchRefused: story.command(at, .switchCamera(nil))
                case .shutdown: story.fact(at: at, .shutdown(at: instant))
                case .lineLost: story.fact(at: at, .lineLost(ButtonID(0), at: instant))
                case .clipFailed: story.fact(at: at, .clipFailed(ClipKey(1), .internal))
                case .command: story.stop(at)
                case .standbyRefused: story.command(at, .standby)
                }
                story.run(until: 6000)
                story.ledger.close(story.session)
                story.expectNoFault()
                guard story.ledger.faults.isEmpty else { return XCTFail("\(exit), run \(run), at \(at) ms") }
                XCTAssertEqual(story.words.filter { $0.hasPrefix("recording.stopped 1") }.count, 1, "\(exit)")
                XCTAssertFalse(story.ledger.lights.isEmpty, "\(exit)")
                for light in story.ledger.lights { XCTAssertLessThanOrEqual(light.off, light.deadline) }
            }
        }
    }

    func testALightThatMustCoolIsToldDark() {
        let story = story(torch: .on) { $0.light.maximumTorch = .seconds(3) }
        story.command(100, .torch(1))
        story.command(3200, .torchAutomatically)
        story.record(3250)
        story.stop(4500)
        story.run(until: 4000)
        XCTAssertEqual(story.words.filter { $0 == "light refused" }.count, 1)
        XCTAssertTrue(story.session.lightMustCool)
        story.run(until: 9000)
        story.expectNoFault()
        XCTAssertFalse(story.session.lightMustCool)
        XCTAssertEqual(story.ledger.lights.count, 1)
    }

    func testATorchByHandNeedsNoCamera() {
        for command in [ControlCommand.standby, .release] {
            let story = story(torch: .off)
            story.command(100, command)
            story.command(1000, .torch(1))
            story.run(until: 1500)
            XCTAssertEqual(story.session.light?.level, 1, "\(command)")
            story.command(1600, .start)
            story.run(until: 4000)
            XCTAssertEqual(story.session.camera, .up)
            XCTAssertEqual(story.session.light?.level, 1, "the camera's start leaves it on")
            story.command(4100, .torch(0))
            story.run(until: 6000)
            story.expectNoFault()
            XCTAssertFalse(story.words.contains { $0.hasPrefix("rejected") })
        }
    }

    func testAClipMayAskForATorchOfItsOwn() {
        for (mode, wish, level) in [
            (FlashMode.off, ClipTorch(.on), 1.0), (.off, ClipTorch(.on, level: 0.25), 0.25), (.on, ClipTorch(.off), 0),
            (.off, nil, 0), (.on, nil, 1),
        ] as [(FlashMode, ClipTorch?, Double)] {
            let story = story(torch: mode)
            story.record(100, torch: wish)
            story.stop(1500)
            // The next clip is lit as the setting says.
            story.record(3000)
            story.stop(4500)
            story.run(until: 7000)
            story.ledger.close(story.session)
            story.expectNoFault()
            func lit(_ number: Int) -> Double {
                for case (_, .lightChanged(.clip(MediaNumber(number)), let level)) in story.told where level > 0 {
                    return level
                }
                return 0
            }
            XCTAssertEqual(lit(1), level, "\(mode) \(String(describing: wish))")
            XCTAssertEqual(lit(2), mode == .on ? 1 : 0)
        }
    }

    func testATorchThatIsOffByHandGivesWayToAClipThatAsksForIt() {
        let story = story(torch: .on)
        story.command(50, .torch(0))
        story.record(100)
        story.stop(600)
        story.record(1500, torch: ClipTorch(.on), token: 2)
        story.stop(2500, token: 3)
        story.run(until: 5000)
        story.expectNoFault()
        XCTAssertFalse(story.words.contains { $0.hasPrefix("light.changed clip 1") })
        XCTAssertEqual(story.ledger.lights.count, 1)
    }

    func testWithoutALightATorchIsRefusedAndNothingIsRecorded() {
        let story = Story()
        story.record(100, torch: ClipTorch(.on))
        story.record(200, torch: ClipTorch(.off), token: 2)
        story.stop(1000)
        story.run(until: 3000)
        XCTAssertEqual(story.words.filter { $0.hasPrefix("rejected") }.count, 1)
        XCTAssertEqual(story.words.filter { $0.hasPrefix("clip.saved") }.count, 1)
    }

    func testAutoLightsDimScenesOnly() {
        for (lux, shines) in [(3.0, true), (300, false)] {
            let story = story(torch: .auto)
            story.scene.isMeasured = true
            story.scene.lux = lux
            story.press(0, 2000)
            story.run(until: 4000)
            story.ledger.close(story.session)
            story.expectNoFault()
            XCTAssertEqual(!story.ledger.lights.isEmpty, shines)
        }
    }

    func testByHandItOutlivesAClip() {
        let story = story(torch: .off)
        story.ledger.handMayShine = true
        story.command(0, .torch(0.5), token: 1)
        story.press(1000, 2000)
        story.command(4000, .torch(0), token: 2)
        story.run(until: 5000)
        story.ledger.handMayShine = false
        story.ledger.close(story.session)
        story.expect([
            "light hand 0.5", "recording.requested 1", "recording.started 1", "recording.stopped 1 released",
            "clip.saved 1", "light hand 0.0",
        ])
        XCTAssertEqual(
            story.ledger.answers.map(\.answer), [.effective(.torch(0.5)), .effective(.torch(0))])
    }

    func testAutoHandsTheTorchBack() {
        let story = story()
        story.ledger.handMayShine = true
        story.command(0, .torch(0.5), token: 1)
        story.press(1000, 3000)
        story.command(2000, .torchAutomatically, token: 2)
        story.press(5000, 6000)
        story.command(5500, .torch(0), token: 3)
        story.press(7000, 8000)
        story.command(9000, .torchAutomatically, token: 4)
        story.run(until: 10_000)
        story.ledger.handMayShine = false
        story.ledger.close(story.session)
        XCTAssertEqual(
            story.words.filter { $0.hasPrefix("light") },
            [
                "light hand 0.5", "light clip 1 1.0", "light clip 1 0.0", "light clip 2 1.0", "light clip 2 0.0",
            ], "off by hand holds until it is handed back")
    }

    func testTheLevelFallsWithTheTimeAndTheLightGoesOffAtTheMaximum() throws {
        let story = story(torch: .off) { $0.light.maximumTorch = .seconds(60) }
        story.ledger.handMayShine = true
        story.command(0, .torch(1), token: 1)
        story.run(until: 70_000)
        let levels = story.told.compactMap { told -> (Double, Double)? in
            if case .lightChanged(.hand, let level) = told.what { (Story.milliseconds(told.at), level) } else { nil }
        }
        XCTAssertEqual(levels.first?.1, 1)
        XCTAssertEqual(levels[1].0, 20_000, accuracy: 60, "full for a third of the maximum")
        XCTAssertEqual(levels.dropLast().last?.1, 0.25)
        XCTAssertEqual(levels.last?.1, 0)
        XCTAssertEqual(try XCTUnwrap(levels.last).0, 60_000, accuracy: 60)
        XCTAssertEqual(levels.map(\.1), levels.map(\.1).sorted(by: >))
        XCTAssertLessThanOrEqual(story.ledger.lights[0].off - story.ledger.lights[0].on, 60_000_000_000)
        // Too hot: refused; half cooled: dimmed and shorter.
        story.command(70_500, .torch(1), token: 2)
        story.command(95_000, .torch(1), token: 3)
        story.run(until: 200_000)
        XCTAssertEqual(story.ledger.lights.count, 3)
        XCTAssertLessThan(story.ledger.lights[1].off - story.ledger.lights[1].on, 12_000_000_000)
        story.expectNoFault()
    }

    func testBadLevelsAndMissingLightsAreRefused() {
        let story = story(torch: .off)
        story.command(0, .torch(1.5), token: 1)
        story.command(1, .torch(-1), token: 2)
        story.command(2, .torch(.nan), token: 3)
        story.run(until: 100)
        XCTAssertEqual(story.ledger.answers.map(\.answer), Array(repeating: .rejected(.outOfRange), count: 3))
        let dark = self.story(torch: .on)
        dark.cameras[0].abilities.hasLight = false
        dark.command(0, .torch(1), token: 1)
        dark.command(1, .flash(.on), token: 2)
        dark.press(100, 1000)
        dark.run(until: 2000)
        dark.ledger.close(dark.session)
        XCTAssertEqual(dark.ledger.answers.map(\.answer), Array(repeating: .rejected(.unsupported), count: 2))
        XCTAssertTrue(dark.ledger.lights.isEmpty)
        dark.expectNoFault()
    }

    func testATorchThatMustCoolIsOutOfRangeAndTellsUntilWhen() throws {
        let story = story(torch: .off) { $0.light.maximumTorch = .seconds(10) }
        story.command(0, .torch(1), token: 1)
        story.command(10_200, .torch(1), token: 2)
        story.at(10_300) {
            XCTAssertEqual(
                $0.session.torchRestsUntil.map { Story.milliseconds($0.nanoseconds) } ?? 0, 11_000, accuracy: 5)
        }
        story.command(11_100, .torch(1), token: 3)
        story.run(until: 11_500)
        XCTAssertEqual(
            story.ledger.answers.map(\.answer),
            [.effective(.torch(1)), .rejected(.outOfRange), .effective(.torch(0.3125))])
    }

    func testALightThatFailsIsTold() {
        for led in [Scene.LED.refuses, .readsBackOff] {
            let story = story(torch: .on)
            story.scene.led = led
            story.command(0, .torch(1), token: 1)
            story.command(100, .torchAutomatically, token: 2)
            story.press(200, 1000)
            story.run(until: 3000)
            story.ledger.close(story.session)
            story.expectNoFault()
            XCTAssertEqual(
                story.ledger.answers.map(\.answer), [.rejected(.unsupported), .effective(.torch(0))])
            XCTAssertEqual(story.words.last, "clip.saved 1")
            XCTAssertNil(story.session.light?.level)
        }
    }
}
