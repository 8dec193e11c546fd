import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// `photo.wait_for_focus`: contract §4, §5.2, §9.
final class FocusWaitTests: XCTestCase {
    private func studio(
        _ wait: FocusWait, distance: Double = 1, _ change: (inout SessionSettings) -> Void = { _ in }
    ) -> Studio {
        var settings = SessionSettings()
        settings.focusWait = wait
        change(&settings)
        let studio = Studio(settings: settings, size: Size(width: 320, height: 240))
        studio.world.set(distance: distance)
        studio.run(for: .seconds(2))
        _ = studio.events()
        return studio
    }

    private func field(_ event: Event?, _ name: String) -> JSON? { event?.fields.first { $0.key == name }?.value }

    func testAFocusedLensGivesTheFirstPictureAfterTheCommit() throws {
        for wait in [FocusWait.short, .strict] {
            let studio = studio(wait)
            try studio.press(for: .milliseconds(100))
            studio.run(for: .seconds(1))
            let photo = studio.events().first { $0.name == "photo.saved" }
            XCTAssertEqual(field(photo, "focus"), .string("focused"))
            guard case .integer(let offset)? = field(photo, "press_offset_ns") else { return XCTFail("no offset") }
            XCTAssertGreaterThan(offset, 95_000_000)
            XCTAssertLessThan(offset, 200_000_000)
        }
    }

    func testALensThatTravelsIsWaitedFor() throws {
        let studio = studio(.strict)
        // From 1 dioptre to 8: some 0.3 s.
        studio.world.set(distance: 0.125)
        try studio.press(for: .milliseconds(60))
        studio.run(for: .seconds(3))
        let photo = studio.events().first { $0.name == "photo.saved" }
        XCTAssertEqual(field(photo, "focus"), .string("focused"))
        guard case .integer(let offset)? = field(photo, "press_offset_ns") else { return XCTFail("no offset") }
        XCTAssertGreaterThan(offset, 250_000_000)
    }

    func testAStrictShotOfWhatCannotBeFocusedFailsAfterTwoSeconds() throws {
        let studio = studio(.strict)
        studio.world.set(distance: 0.05)
        try studio.press(for: .milliseconds(60))
        studio.run(for: .milliseconds(1900))
        XCTAssertEqual(studio.events().map(\.name), ["photo.requested"])
        studio.run(for: .milliseconds(400))
        let failed = studio.events()
        XCTAssertEqual(failed.map(\.name), ["photo.failed"])
        XCTAssertEqual(field(failed.first, "reason"), .string("focus_timeout"))
        XCTAssertTrue(studio.director.session.isIdle)
    }

    func testAShortWaitEndsWithThePictureThatThereIs() throws {
        let studio = studio(.short)
        studio.world.set(distance: 0.05)
        try studio.press(for: .milliseconds(60))
        studio.run(for: .seconds(2))
        let photo = studio.events().first { $0.name == "photo.saved" }
        XCTAssertNotEqual(field(photo, "focus"), .string("focused"))
        guard case .integer(let offset)? = field(photo, "press_offset_ns") else { return XCTFail("no offset") }
        XCTAssertGreaterThan(offset, 340_000_000)
        XCTAssertLessThan(offset, 480_000_000)
    }

    /// What the lens tells is as old as its last scan: the subject came nearer since.
    func testALensThatMovesOnlyWhenAskedIsNotBelievedWhatItToldBefore() throws {
        for wait in [FocusWait.short, .strict] {
            let studio = studio(wait, distance: 5) { $0.optics.focusMode = .auto }
            for distance in [5.0, 0.2, 0.5] {
                studio.world.set(distance: distance)
                studio.run(for: .seconds(3))
                try studio.press(for: .milliseconds(60))
                studio.run(for: .seconds(3))
                let photo = studio.events().last { $0.name == "photo.saved" }
                XCTAssertEqual(field(photo, "focus"), .string("focused"), "\(distance) m")
                XCTAssertEqual(studio.cameras[0].last?.lensPosition ?? 0, 1 / distance, accuracy: 0.2)
            }
        }
    }

    func testALensThatMovesOnlyWhenAskedIsAskedByTheShot() throws {
        let studio = studio(.strict) { $0.optics.focusMode = .auto }
        studio.world.set(distance: 0.3)
        // What it was focused on is told until a scan begins: so the scan at the centre failed first.
        studio.world.set(distance: 0.05)
        XCTAssertTrue(
            studio.desk.submit(
                .command(.focus(UnitPoint(x: 0.5, y: 0.5)), studio.desk.newToken(), .api), at: studio.now))
        studio.run(for: .seconds(1))
        studio.world.set(distance: 0.3)
        try studio.press(for: .milliseconds(60))
        studio.run(for: .seconds(3))
        let photo = studio.events().first { $0.name == "photo.saved" }
        XCTAssertEqual(field(photo, "focus"), .string("focused"))
    }

    func testALensSetByHandIsNotWaitedFor() throws {
        let studio = studio(.strict) { $0.optics.focusMode = .manual }
        try studio.press(for: .milliseconds(60))
        studio.run(for: .milliseconds(300))
        let photo = studio.events().first { $0.name == "photo.saved" }
        guard case .integer(let offset)? = field(photo, "press_offset_ns") else { return XCTFail("no offset") }
        XCTAssertLessThan(abs(offset), 34_000_000)
    }

    func testPressesMeanwhileAreKept() throws {
        let studio = studio(.strict)
        studio.world.set(distance: 0.05)
        for _ in 0..<5 {
            try studio.press(for: .milliseconds(50))
            studio.run(for: .milliseconds(150))
        }
        studio.world.set(distance: 1)
        studio.run(for: .seconds(3))
        XCTAssertEqual(studio.events().filter { $0.name == "photo.saved" }.count, 5)
    }

    func testNothingShinesWhileAShotWaits() throws {
        var settings = SessionSettings()
        settings.focusWait = .strict
        var session = Session(settings: settings, buttons: 1)
        var effects = Effects()
        func feed(_ fact: Fact) -> [Effect] {
            effects.removeAll()
            session.reduce(fact, into: &effects)
            return effects.list
        }
        var abilities = CameraAbilities()
        abilities.focus = 0...10
        _ = feed(.numbersReserved(next: MediaNumber(1), limit: MediaNumber(100)))
        _ = feed(.camera(.starting, at: Instant(nanoseconds: 0)))
        _ = feed(.abilities(CameraID(0), abilities))
        func frame(_ index: Int, _ focus: FocusState) -> Frame {
            let end = Instant(nanoseconds: Int64(index) * 33_333_333)
            return Frame(
                ref: FrameRef(slot: index % 12, sequence: UInt64(index)), exposureStart: end - .milliseconds(10),
                exposureEnd: end, exposure: .milliseconds(10), focus: focus)
        }
        for index in 1...10 { _ = feed(.frame(frame(index, .scanning))) }
        let at = Instant(nanoseconds: 10 * 33_333_333 + 5_000_000)
        let list = feed(.shotRequested(RequestToken(1), source: .api, at: at))
        XCTAssertTrue(list.contains(.indicate(.dark)), "from the commit on: \(list)")
        for index in 11...14 {
            XCTAssertFalse(
                feed(.frame(frame(index, .scanning))).contains {
                    if case .indicate = $0 { true } else { false }
                }, "frame \(index)")
        }
        let taken = feed(.frame(frame(15, .focused)))
        XCTAssertTrue(taken.contains(.indicate(.ready)), "dark until the exposure has ended: \(taken)")
        XCTAssertTrue(
            taken.contains {
                if case .encodeShot(_, let picture, _) = $0 { picture.ref.sequence == 15 } else { false }
            })
    }
}
