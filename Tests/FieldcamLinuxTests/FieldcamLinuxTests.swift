import CFieldcamLinux
import FieldcamCore
import FieldcamLinux
import Glibc
import XCTest

final class FieldcamLinuxTests: XCTestCase {
    /// The encoders' threads are made by the director's: at its priority they would starve the machine.
    func testThreadsOfARealTimeThreadAreOrdinary() {
        let policies = Mailbox<Int32>(capacity: 2)
        let parent = Thread(name: "parent") {
            // Where real-time isn't allowed both are ordinary, which is the promise all the same.
            _ = fc_thread_set_realtime(1)
            let child = Thread(name: "child") { _ = policies.post(sched_getscheduler(0)) }
            child.join()
        }
        parent.join()
        XCTAssertEqual(policies.takeIfAny(), SCHED_OTHER)
    }

    func testAMailboxGivesBackWhatItCantTake() {
        let mailbox = Mailbox<Int>(capacity: 2)
        XCTAssertNil(mailbox.post(1))
        XCTAssertNil(mailbox.post(2))
        XCTAssertEqual(mailbox.post(3), 3)
        XCTAssertEqual(mailbox.take(), 1)
        mailbox.close()
        XCTAssertEqual(mailbox.post(4), 4)
        XCTAssertEqual(mailbox.take(), 2)
        XCTAssertNil(mailbox.take())
        XCTAssertTrue(mailbox.isFinished)
    }

    func testAMailboxWakesItsTaker() {
        let mailbox = Mailbox<Int>(capacity: 4)
        let sums = Mailbox<Int>(capacity: 1)
        let taker = Thread(name: "taker") {
            var sum = 0
            while let value = mailbox.take() { sum += value }
            _ = sums.post(sum)
        }
        for value in 1...1000 {
            while mailbox.post(value) != nil { sched_yield() }
        }
        mailbox.close()
        taker.join()
        XCTAssertEqual(sums.takeIfAny(), 500_500)
    }

    func testATimerRingsForAPastInstantToo() {
        let timer = TimerFD()
        timer.arm(at: SystemClock.now - .seconds(1))
        var polled = pollfd(fd: timer.descriptor, events: Int16(POLLIN), revents: 0)
        XCTAssertEqual(poll(&polled, 1, 1000), 1)
        timer.clear()
        XCTAssertEqual(poll(&polled, 1, 0), 0)
    }
}
