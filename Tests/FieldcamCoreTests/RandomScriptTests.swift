import FieldcamCore
import XCTest

/// Seeded random scripts: whatever happens in whatever order, the house rules of `Ledger` hold and nothing is left over.
final class RandomScriptTests: XCTestCase {
    func testRandomScriptsKeepTheHouseRules() {
        var facts = 0
        var presses = 0
        var (fired, lights, switches, exposures, merged) = (0, 0, 0, 0, 0)
        for seed in 1...240 as ClosedRange<UInt64> {
            let story = tell(seed: seed)
            facts += story.facts
            presses += story.session.counters.presses
            story.ledger.close(story.session)
            XCTAssertEqual(story.ledger.faults, [], "seed \(seed)")
            account(story, seed: seed)
            for (_, what) in story.told {
                guard case .photoSaved(_, _, let frame, _, true) = what else { continue }
                XCTAssertTrue(story.scene.isEvenlyLit(frame, readout: story.readout), "seed \(seed)")
                fired += 1
            }
            lights += story.ledger.lights.count
            merged += story.ledger.merged
            switches += story.ledger.switches
            exposures += story.ledger.exposures
            if !story.ledger.faults.isEmpty { break }
        }
        XCTAssertGreaterThan(facts, 100_000)
        XCTAssertGreaterThan(presses, 4000)
        XCTAssertGreaterThan(fired, 150)
        XCTAssertGreaterThan(lights, 1000)
        XCTAssertGreaterThan(merged, 1000)
        XCTAssertGreaterThan(switches, 300)
        XCTAssertGreaterThan(exposures, 200)
    }

    /// Every confirmed press became a shot, a clip, part of an action, the end of a clip, or was rejected.
    private func account(_ story: Story, seed: UInt64) {
        var byPress = 2 * story.doublePresses.count
        var byMaximum = 0
        var byOtherButton = 0
        // Clips that ended for a switch, and when the switch was done: the next clip of that instant is no press's.
        var successors = 0
        var switched: Int64?
        // The same for a clip that goes on with another encoder.
        var lost: Int64?
        for (at, what) in story.told {
            switch what {
            case .recordingStopped(_, _, .cameraSwitch): successors += 1
            case .cameraSwitched: switched = at
            case .recordingStopped(_, _, .encoderLost): lost = at
            case .recordingRequested where lost == at: lost = nil
            case .recordingRequested where successors > 0 && switched == at: successors -= 1
            // What a second press or another button meant.
            case .rejected(_, .switching), .rejected(_, .recording), .rejected(_, .unsupported),
                .rejected(_, .cameraOff):
                break
            case .rejected(.button, .buttonDisabled):
                byOtherButton += 1
                byPress += 1
            case .photoRequested(_, .button), .photoRequested(_, .cli), .recordingRequested(_, .button),
                .recordingRequested(_, .cli), .rejected(.button, _), .rejected(.cli, _),
                .recordingStopped(_, _, .button):
                byPress += 1
            // A press that ends a clip after its maximum, before the frame that tells so, ends it by the maximum.
            case .recordingStopped(_, _, .maximumDuration): byMaximum += 1
            default: break
            }
        }
        XCTAssertGreaterThanOrEqual(story.session.counters.presses, byPress - byOtherButton, "seed \(seed)")
        XCTAssertLessThanOrEqual(story.session.counters.presses, byPress + byMaximum, "seed \(seed)")
    }

    func testTheSameFactsGiveTheSameEffects() {
        for seed in 1...10 as ClosedRange<UInt64> {
            let story = tell(seed: seed, keepsTrace: true)
            var session = Session(
                settings: story.settings, buttons: story.lines.count, roles: Self.roles, cameras: story.cameras.count)
            var effects = Effects()
            for (fact, expected) in story.trace {
                effects.removeAll()
                session.reduce(fact, into: &effects)
                guard effects.list == expected else { return XCTFail("seed \(seed): \(fact)") }
            }
            XCTAssertGreaterThan(story.trace.count, 500)
        }
    }

    private static let roles: [ButtonRole] = [.shutter, .flash, .switchCamera, .focus]

    private func tell(seed: UInt64, keepsTrace: Bool = false) -> Story {
        var random = SplitMix(seed: seed)
        var settings = SessionSettings()
        settings.shutterRole =
            random.isTrue(1, of: 2) ? .photoVideo : ShutterRole.allCases.randomElement(using: &random) ?? .photoVideo
        settings.doublePressIsBound = random.isTrue(1, of: 2)
        settings.maximumDuration =
            random.isTrue(1, of: 2) ? .zero : .milliseconds(Int.random(in: 100...3000, using: &random))
        settings.frameSlots = Int.random(in: 4...16, using: &random)
        settings.ringFrames = Int.random(in: 1...6, using: &random)
        settings.shotsInWork = Int.random(in: 1...2, using: &random)
        settings.light.flash = FlashMode.allCases.randomElement(using: &random) ?? .off
        settings.light.torch = FlashMode.allCases.randomElement(using: &random) ?? .off
        settings.light.maximumTorch = .milliseconds(Int.random(in: 900...20_000, using: &random))
        settings.light.maximumFlash = .milliseconds(Int.random(in: 200...900, using: &random))
        settings.doublePressAction = DoublePressAction.allCases.randomElement(using: &random) ?? .none
        settings.switchWhileRecording = random.isTrue(1, of: 2) ? .refuse : .newClip
        settings.standbyAfter = random.isTrue(1, of: 3) ? .seconds(2) : .zero
        // Of their own dice, so that the other scripts stay as they were.
        var late = SplitMix(seed: seed &+ 9000)
        settings.photoSource = late.isTrue(1, of: 3) ? .sensor : .stream
        settings.focusWait = late.isTrue(1, of: 2) ? .off : FocusWait.allCases.randomElement(using: &late) ?? .off
        var dark = SplitMix(seed: seed &+ 3000)
        if dark.isTrue(1, of: 2) { settings.optics.stack = Int.random(in: 2...16, using: &dark) }
        let isDark = dark.isTrue(2, of: 3)
        let story = Story(
            settings, buttons: 4, roles: Self.roles, cameras: Int.random(in: 1...3, using: &random),
            camera: random.isTrue(4, of: 5), numbers: random.isTrue(19, of: 20))
        story.keepsTrace = keepsTrace
        story.ledger.handMayShine = true
        story.ledger.longestLight = max(settings.light.maximumTorch, settings.light.maximumFlash)
        story.scene.isMeasured = random.isTrue(3, of: 4)
        story.scene.led = [.works, .works, .dead, .refuses, .readsBackOff].randomElement(using: &random) ?? .works
        story.scene.tellsExposure = random.isTrue(2, of: 3)
        story.scene.lux = random.isTrue(1, of: 3) ? random.milliseconds(0, 100) : nil
        if settings.optics.stack > 1, isDark {
            story.scene.isMeasured = true
            story.scene.lux = 3
            story.layerOutcome = { _ in !dark.isTrue(1, of: 6) }
        }
        for index in story.cameras.indices {
            var delays = SplitMix(seed: seed &+ 2000 &+ UInt64(index))
            story.cameras[index].abilities.hasLight = random.isTrue(3, of: 4)
            story.cameras[index].abilities.readout = .nanoseconds(story.readout)
            if late.isTrue(2, of: 3) { story.cameras[index].abilities.focus = 0...10 }
            var lens = SplitMix(seed: seed &+ 3000 &+ UInt64(index))
            story.cameras[index].focus = { _ in
                lens.isTrue(1, of: 3) ? .focused : lens.isTrue(1, of: 2) ? .scanning : .failed
            }
            story.cameras[index].hasSensorMode = { _ in !lens.isTrue(1, of: 8) }
            story.cameras[index].startTime = { _ in
                Int64(delays.milliseconds(0, delays.isTrue(1, of: 10) ? 7000 : 900) * 1_000_000)
            }
            let isShared = random.isTrue(1, of: 3)
            story.cameras[index].failure = { story in
                if isShared, story.cameras.contains(where: { $0.runs }) { return .cameraBusy }
                return delays.isTrue(1, of: 12) ? .cameraAbsent : nil
            }
        }
        story.ledger.isLateReleaseAllowed = true
        story.exposure = Int64.random(in: 0...33_000_000, using: &random)
        story.readout = Int64.random(in: 0...60_000_000, using: &random)
        var durations = SplitMix(seed: seed &+ 1000)
        let slowest: Double = [80, 400, 1500].randomElement(using: &random) ?? 80
        story.photoTime = { _ in Int64(durations.milliseconds(1, slowest) * 1_000_000) }
        story.clipTime = { _ in Int64(durations.milliseconds(1, slowest * 3) * 1_000_000) }
        story.photoOutcome = { _, number in
            durations.isTrue(1, of: 20) ? .shotFailed(number, .storageUnwritable) : .shotSaved(number)
        }
        story.clipOutcome = { _, key, frames in
            durations.isTrue(1, of: 20)
                ? .clipFailed(key, .encoderLost) : frames > 0 ? .clipSaved(key) : .clipEmpty(key)
        }
        let stops = random.isTrue(1, of: 10)

        var time = 0.0
        for _ in 0..<80 {
            time += random.milliseconds(1, 500)
            happen(story, at: &time, settings, &random)
        }
        if stops { story.fact(at: time, .shutdown(at: Story.instant(time))) }
        time += 3000
        story.up(time)
        for line in 1...3 { story.at(time, .line(line, false)) }
        story.command(time, .torch(0))
        story.fact(at: time, .softwareContact(ButtonID(0), pressed: false, source: .cli, at: Story.instant(time)))
        story.fact(at: time, .storage(.ready, at: Story.instant(time)))
        story.stop(time + 500)
        story.command(time + 100, .start)
        story.startCamera(at: time + 100)
        story.run(until: time + 15_000)
        story.ledger.handMayShine = false
        return story
    }

    private func happen(_ story: Story, at time: inout Double, _ settings: SessionSettings, _ random: inout SplitMix) {
        let start = time
        let now = Story.instant(start)
        switch Int.random(in: 0..<50, using: &random) {
        case 0..<12:
            let length = random.milliseconds(17, 380)
            story.bouncingPress(start, start + length, edges: Int.random(in: 2...8, using: &random), span: 5)
            time += length + random.milliseconds(20, 200)
        case 12..<18:
            let length = random.milliseconds(380, 2500)
            story.press(start, start + length)
            if random.isTrue(1, of: 3) {
                story.up(start + length / 2)
                story.down(start + length / 2 + 5)
            }
            if random.isTrue(2, of: 3) { time += length }
        case 18: story.press(start, start + random.milliseconds(1, 14))
        case 19..<22:
            let length = random.milliseconds(1, 900)
            story.software(start, start + length)
            if random.isTrue(1, of: 2) { time += length }
        case 22..<25: story.shot(start)
        case 25, 26:
            story.record(start, maximum: random.isTrue(1, of: 3) ? .milliseconds(700) : nil)
            if random.isTrue(1, of: 2) { story.stop(start + random.milliseconds(0, 2000)) }
        case 27: story.stop(start)
        case 28:
            let state: CameraState =
                [.starting, .down(.cameraLost), .down(.cameraBusy), .released].randomElement(using: &random)
                ?? .released
            story.endCamera(at: start, state)
            if random.isTrue(4, of: 5) { story.startCamera(at: start + random.milliseconds(0, 2000)) }
        case 29: story.startCamera(at: start)
        case 30:
            let state: StorageState = random.isTrue(1, of: 2) ? .low : .unwritable
            story.fact(at: start, .storage(state, at: now))
            let end = start + random.milliseconds(10, 1000)
            story.fact(at: end, .storage(.ready, at: Story.instant(end)))
        case 31: story.fact(at: start, .buttonEnabled(random.isTrue(2, of: 3)))
        case 32:
            var changed = settings
            changed.doublePressIsBound = random.isTrue(1, of: 2)
            changed.shutterRole = ShutterRole.allCases.randomElement(using: &random) ?? .photoVideo
            // The account of slots is the world's; the rest may change.
            story.fact(at: start, .settingsChanged(changed))
        case 33:
            story.at(start) { story in
                guard let key = story.ledger.clips.keys.max(by: { $0.value < $1.value }) else { return }
                story.give(.encoderLost(key, at: Instant(nanoseconds: story.now)))
            }
        case 34:
            story.at(start) { story in
                guard let key = story.ledger.clips.keys.max(by: { $0.value < $1.value }) else { return }
                if story.ledger.clips[key]?.isFinished == false { story.give(.clipFailed(key, .internal)) }
            }
        case 35:
            story.fact(at: start, .lineLost(ButtonID(0), at: now))
            let end = start + random.milliseconds(1, 500)
            story.at(end) { story in
                story.give(.lineFound(ButtonID(0), pressed: story.lines[0], at: Instant(nanoseconds: story.now)))
            }
        case 36, 37: story.sleep(start, start + random.milliseconds(1, 150))
        case 38:
            // An edge is lost: the line changes, nobody says so.
            story.at(start) { $0.lines[0].toggle() }
        case 39..<43:
            let line = Int.random(in: 1...3, using: &random)
            story.at(start, .line(line, true))
            story.at(start + random.milliseconds(1, 500), .line(line, false))
        case 43, 44:
            story.command(
                start, .switchCamera(random.isTrue(1, of: 2) ? nil : CameraID(Int.random(in: 0...3, using: &random))))
        case 45: story.command(start, .flash(FlashMode.allCases.randomElement(using: &random) ?? .on))
        case 46:
            story.command(start, random.isTrue(1, of: 2) ? .torch(random.milliseconds(0, 1.1)) : .torchAutomatically)
        case 47: story.command(start, .standby)
        case 48:
            story.command(start, .release)
            story.command(start + random.milliseconds(1, 1000), .start)
        default: story.command(start, .start)
        }
    }

    /// Contract §10: 10,000 presses at 10 per second with 5 ms of bounce, none lost, none doubled.
    func testTenThousandPressesAtTenPerSecond() {
        var settings = SessionSettings()
        settings.doublePressIsBound = false
        let story = Story(settings)
        // Each press is put on the schedule by the one before, so that the schedule stays short.
        func schedule(_ press: Int) {
            guard press < 10_000 else { return }
            let start = Double(press) * 100 + Double(press % 7)
            story.bouncingPress(start, start + 30 + Double(press % 31), edges: 6, span: 5)
            story.at(start) { _ in schedule(press + 1) }
        }
        schedule(0)
        story.run(until: 1_003_000)
        story.ledger.close(story.session)
        story.expectNoFault()
        XCTAssertEqual(story.session.counters.presses, 10_000)
        XCTAssertEqual(story.words.filter { $0.hasPrefix("photo.saved") }.count, 10_000)
        XCTAssertEqual(story.words.count, 20_000)
    }
}
