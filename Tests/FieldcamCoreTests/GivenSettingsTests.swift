import XCTest

@testable import FieldcamCore

/// What the owner sets counts for more than what was set by hand before, also where the setting had that value already.
final class GivenSettingsTests: XCTestCase {
    private func story(_ edit: (inout SessionSettings) -> Void = { _ in }) -> Story {
        var settings = SessionSettings()
        edit(&settings)
        let story = Story(settings)
        story.cameras[0].abilities.hasLight = true
        story.cameras[0].abilities.focus = 0...10
        return story
    }

    func testAFlashThatWasSetByHandGivesWayToItsSetting() {
        let story = story()
        story.command(0, .flash(.on))
        story.at(100) { XCTAssertEqual($0.session.flashMode, .on) }
        story.fact(at: 200, .settingsGiven(.torchLevel))
        story.at(300) { XCTAssertEqual($0.session.flashMode, .on, "another key") }
        story.fact(at: 400, .settingsGiven(.flashMode))
        story.at(500) { XCTAssertEqual($0.session.flashMode, .off) }
        story.press(600, 680)
        story.run(until: 2000)
        XCTAssertEqual(story.ledger.lights.count, 0, "the next shot fires no flash")
    }

    func testALensThatWasSetByHandGivesWayToItsSetting() {
        let story = story()
        story.command(0, .focusManually(2))
        story.at(100) { XCTAssertEqual($0.session.focus, .manual(2)) }
        story.fact(at: 200, .settingsGiven(.focusMode))
        story.at(300) { XCTAssertEqual($0.session.focus, .continuous) }
        story.command(400, .focus(UnitPoint(x: 0.5, y: 0.5)))
        story.fact(at: 450, .settingsGiven(.focusMode))
        story.at(500) { XCTAssertEqual($0.session.focus, .continuous) }
        story.run(until: 600)
        XCTAssertEqual(story.told.filter { if case .focusEnded = $0.what { true } else { false } }.count, 1)
    }

    func testTheTorchOfARunningClipFollowsItsSettingsAtOnce() {
        var settings = SessionSettings()
        settings.light.torch = .on
        let story = story { $0 = settings }
        story.press(0, 4000)
        settings.light.torchLevel = 0.4
        story.fact(at: 1000, .settingsChanged(settings))
        story.at(1100) { XCTAssertEqual($0.session.light?.level, 1, "nobody gave it to this clip") }
        story.fact(at: 1200, .settingsGiven(.torchLevel))
        story.at(1300) { XCTAssertEqual($0.session.light?.level, 0.4) }
        settings.light.torch = .off
        story.fact(at: 1400, .settingsChanged(settings))
        story.fact(at: 1400, .settingsGiven(.torchMode))
        story.at(1500) { XCTAssertNil($0.session.light) }
        settings.light.torch = .on
        story.fact(at: 2000, .settingsChanged(settings))
        story.fact(at: 2000, .settingsGiven(.torchMode))
        story.at(2200) { XCTAssertEqual($0.session.light?.level, 0.4) }
        story.run(until: 6000)
        story.ledger.close(story.session)
        story.expect([
            "recording.requested 1", "recording.started 1", "light clip 1 1.0", "light clip 1 0.4", "light clip 1 0.0",
            "light clip 1 0.4", "light clip 1 0.0", "recording.stopped 1 released", "clip.saved 1",
        ])
    }

    func testATorchByHandGivesWayToItsSetting() {
        let story = story()
        story.command(0, .torch(0.7))
        story.at(100) { XCTAssertEqual($0.session.light?.level, 0.7) }
        story.fact(at: 200, .settingsGiven(.torchMode))
        story.at(300) { XCTAssertNil($0.session.light) }
        story.run(until: 500)
    }
}
