import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamTestKit
import XCTest

/// The camera is wanted again while it is still being stopped: nothing that was asked is lost (contract §5.7, §5.10).
final class WakeTests: XCTestCase {
    private enum Wish: CaseIterable {
        case shot
        case tap
        case hold
        case clip
    }

    private func studio() -> Studio {
        let studio = Studio(size: Size(width: 64, height: 64))
        studio.run(for: .milliseconds(700))
        return studio
    }

    private func order(_ studio: Studio, _ command: ControlCommand) {
        XCTAssertTrue(studio.submit(.command(command, studio.desk.newToken(), .api)))
    }

    private func wish(_ wish: Wish, of studio: Studio) throws {
        switch wish {
        case .shot: XCTAssertTrue(studio.submit(.shot(studio.desk.newToken(), .api)))
        case .tap: try studio.press(for: .milliseconds(60))
        case .hold: try studio.press(for: .milliseconds(900))
        case .clip:
            XCTAssertTrue(studio.submit(.record(studio.desk.newToken(), .api, maximum: .milliseconds(300))))
        }
    }

    func testNothingIsLostThatIsAskedRightAfterStandbyOrRelease() throws {
        for wish in Wish.allCases {
            let studio = studio()
            // From before the camera's thread has looked at the order to long after.
            for offset in [0, 1, 20, 50] {
                for commands in [[ControlCommand.standby], [.release, .start], [.standby, .start]] {
                    _ = studio.events()
                    for command in commands { order(studio, command) }
                    studio.run(for: .milliseconds(offset))
                    try self.wish(wish, of: studio)
                    studio.run(for: .milliseconds(wish == .hold ? 1500 : 900))
                    let names = studio.events().map(\.name)
                    let saved = wish == .shot || wish == .tap ? "photo.saved" : "clip.saved"
                    XCTAssertEqual(names.filter { $0 == saved }.count, 1, "\(wish) \(commands) +\(offset): \(names)")
                    XCTAssertFalse(names.contains("camera.down"), "\(wish) \(commands) +\(offset): \(names)")
                    order(studio, .start)
                    studio.run(for: .milliseconds(300))
                }
            }
            XCTAssertTrue(studio.director.session.isIdle)
        }
    }

    func testACameraAskedToComeAndGoManyTimesAtOnceEndsAsItWasAskedLast() {
        let studio = studio()
        for last in [ControlCommand.standby, .start, .release, .start] {
            for _ in 0..<20 {
                order(studio, .release)
                order(studio, .start)
                order(studio, .standby)
                order(studio, .start)
            }
            order(studio, last)
            studio.run(for: .seconds(2))
            let state = last == .standby ? "standby" : last == .release ? "released" : "up"
            XCTAssertEqual(studio.desk.status.camera.state, state)
        }
        XCTAssertFalse(studio.events().map(\.name).contains("camera.down"))
    }
}
