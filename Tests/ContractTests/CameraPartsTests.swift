import FieldcamCore
import Glibc
import XCTest

@testable import FieldcamCamera

/// The parts of the camera adapter that need no camera.
final class CameraPartsTests: XCTestCase {
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    // MARK: Clock

    func testAStampOfTheMonotonicClockStaysAsItIs() {
        var clock = SensorClock()
        XCTAssertEqual(clock.instant(of: 50_000_000, arrived: at(90)), at(50))
        clock = SensorClock(bootOffset: .seconds(3))
        XCTAssertEqual(clock.instant(of: 50_000_000, arrived: at(90)), at(50))
    }

    func testAStampFromTheFutureIsBootTimeAndSoAreAllThatFollow() {
        var clock = SensorClock(bootOffset: .milliseconds(40))
        XCTAssertEqual(clock.instant(of: 100_000_000, arrived: at(90)), at(60))
        // 60 ms late: as a stamp of the monotonic clock it would pass too.
        XCTAssertEqual(clock.instant(of: 133_000_000, arrived: at(153)), at(93))
    }

    func testAStampOfNoClockIsReplacedByTheArrival() {
        var clock = SensorClock(bootOffset: .seconds(3))
        XCTAssertEqual(clock.instant(of: 0, arrived: at(60_000)), at(60_000))
        XCTAssertEqual(clock.instant(of: .max, arrived: at(60_000)), at(60_000))
        clock = SensorClock()
        XCTAssertEqual(clock.instant(of: 70_000_000_000, arrived: at(60_000)), at(60_000))
        XCTAssertEqual(clock.instant(of: -1, arrived: at(60_000)), at(60_000))
    }

    // MARK: Grid

    func testTheGridIsDueEveryIntervalAndKeepsItsPhaseWhenLate() {
        var grid = FrameGrid(interval: .milliseconds(40), start: at(1000))
        XCTAssertFalse(grid.isDue(at(999)))
        XCTAssertTrue(grid.isDue(at(1000)))
        XCTAssertEqual(grid.advance(at(1003)), 0)
        XCTAssertEqual(grid.next, at(1040))
        XCTAssertEqual(grid.advance(at(1199)), 3, "points 1080, 1120 and 1160 had no frame")
        XCTAssertEqual(grid.next, at(1200))
        XCTAssertEqual(grid.advance(at(1100)), 0)
        XCTAssertEqual(grid.next, at(1200))
    }

    // MARK: Requests

    func testARequestRestsAMillisecondAndATurnBeforeItIsQueuedAgain() {
        var book = RequestBook(count: 1)
        XCTAssertEqual(book.ready(at(0)), 0)
        book.queue(0)
        XCTAssertNil(book.ready(at(0)))
        XCTAssertNil(book.nextReady)
        book.complete(0, at: at(10), isHeld: false)
        XCTAssertNil(book.ready(at(20)), "it came back within this turn")
        book.turn()
        XCTAssertNil(book.ready(at(10)))
        XCTAssertEqual(book.nextReady, at(11))
        XCTAssertEqual(book.ready(at(11)), 0)
    }

    func testAHeldRequestWaitsForItsReaders() {
        var book = RequestBook(count: 64)
        for request in 0..<64 { book.queue(request) }
        book.complete(63, at: at(0), isHeld: true)
        book.turn()
        XCTAssertNil(book.ready(at(100)))
        book.letGo(1 << 63)
        XCTAssertEqual(book.ready(at(100)), 63)
    }

    func testAStopBringsBackWhatIsQueuedAndLeavesWhatIsHeld() {
        var book = RequestBook(count: 3)
        for request in 0..<3 { book.queue(request) }
        book.complete(1, at: at(0), isHeld: true)
        book.stop()
        XCTAssertEqual(book.queued, 0)
        XCTAssertEqual(book.held, 0b10)
        XCTAssertEqual(book.ready(at(0)), 0)
    }

    // MARK: Library

    func testLibrariesAreTriedFromTheNewestGenerationDownTheOneWithoutANumberLast() throws {
        let folder = TemporaryFolder()
        for name in [
            "libfieldcam-camera.so", "libfieldcam-camera-0.4.so", "libfieldcam-camera-0.10.so",
            "libfieldcam-camera-0.7.so",
            "libfieldcam-camera-0.7.so.partial", "libfieldcam-camera-x.so", "libfieldcam-other.so",
        ] { folder.touch(name) }
        XCTAssertEqual(
            CameraLibrary.candidates(in: folder.path).map { String($0.dropFirst(folder.path.count + 1)) },
            [
                "libfieldcam-camera-0.10.so", "libfieldcam-camera-0.7.so", "libfieldcam-camera-0.4.so",
                "libfieldcam-camera.so",
            ])
        XCTAssertEqual(CameraLibrary.candidates(in: folder.path + "/none"), [])
    }

    func testNoLibraryThatFitsIsAbsentAndTellsEachReason() {
        let folder = TemporaryFolder()
        folder.touch("libfieldcam-camera-0.4.so")
        XCTAssertThrowsError(try CameraLibrary.load(from: [folder.path])) { error in
            let text = "\(error)"
            XCTAssertTrue(text.contains("libfieldcam-camera-0.4.so"), text)
            XCTAssertTrue(text.contains("deploy/build-camera-shim"), text)
        }
    }
}

/// A folder of this test, gone with the object.
private final class TemporaryFolder {
    let path: String
    private var names: [String] = []

    init() {
        var template = Array("/tmp/fieldcam-camera-XXXXXX".utf8CString)
        path = String(cString: mkdtemp(&template)!)
    }

    func touch(_ name: String) {
        names.append(name)
        close(open("\(path)/\(name)", O_CREAT | O_WRONLY, 0o644))
    }

    deinit {
        for name in names { unlink("\(path)/\(name)") }
        rmdir(path)
    }
}
