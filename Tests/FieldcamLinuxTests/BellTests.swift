import FieldcamCore
import XCTest

@testable import FieldcamLinux

final class BellTests: XCTestCase {
    func testARingBeforeTheWaitIsNotMissed() {
        let bell = Bell()
        let seen = bell.count
        bell.ring()
        XCTAssertTrue(bell.wait(after: seen, until: SystemClock.now + .seconds(10)))
        XCTAssertFalse(bell.wait(after: bell.count, until: SystemClock.now))
    }

    func testAnotherThreadRings() {
        let bell = Bell()
        let seen = bell.count
        let thread = Thread(name: "ringer") { bell.ring() }
        XCTAssertTrue(bell.wait(after: seen, until: SystemClock.now + .seconds(10)))
        thread.join()
    }
}
