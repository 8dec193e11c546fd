import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// Shots of dark scenes that are merged of several frames, from the button to the file.
final class StackTests: XCTestCase {
    private func studio(stack: Int = 4, _ change: (inout SessionSettings) -> Void = { _ in }) -> Studio {
        var settings = SessionSettings()
        settings.optics.stack = stack
        change(&settings)
        let studio = Studio(settings: settings, size: Size(width: 160, height: 120))
        studio.world.set(lux: 2)
        studio.run(for: .seconds(4))
        _ = studio.events()
        return studio
    }

    private func saved(_ studio: Studio) -> [Event] { studio.events().filter { $0.name == "photo.saved" } }

    func testADarkShotIsMergedOfFramesAfterItsCommit() throws {
        let studio = studio()
        let press = studio.now
        try studio.press(for: .milliseconds(80))
        studio.run(for: .seconds(3))
        let photo = try XCTUnwrap(saved(studio).last)
        XCTAssertEqual(photo["frames"], .integer(4))
        guard case .integer(let offset)? = photo["press_offset_ns"] else { return XCTFail("no offset") }
        XCTAssertGreaterThan(offset, 80_000_000, "the first frame is exposed after the commit")
        let strip = try XCTUnwrap(
            StripReader.read(
                luma: studio.store.photos[0].bytes.withUnsafeBufferPointer { UnsafePointer($0.baseAddress!) },
                width: 160,
                height: 120, stride: 160))
        XCTAssertGreaterThan(strip.exposureStart, press + .milliseconds(80))
        let middle =
            (strip.exposureStart - press).inNanoseconds + (strip.exposureEnd - strip.exposureStart).inNanoseconds / 2
        XCTAssertEqual(middle, offset, accuracy: 1000)
    }

    func testShotsBehindEachOtherAreMergedOneAfterTheOther() throws {
        let studio = studio()
        for _ in 0..<3 { XCTAssertTrue(studio.submit(.shot(studio.desk.newToken(), .api))) }
        studio.run(for: .seconds(6))
        XCTAssertEqual(saved(studio).map { $0["frames"] }, [.integer(4), .integer(4), .integer(4)])
    }

    func testABrightShotAndOneDuringAClipAreSingle() throws {
        let studio = studio()
        XCTAssertTrue(studio.submit(.record(studio.desk.newToken(), .api, maximum: nil)))
        studio.run(for: .seconds(1))
        XCTAssertTrue(studio.submit(.shot(studio.desk.newToken(), .api)))
        studio.run(for: .seconds(1))
        XCTAssertEqual(saved(studio).map { $0["frames"] }, [nil])
        XCTAssertTrue(studio.submit(.stop(studio.desk.newToken(), .api)))
        studio.run(for: .seconds(1))
        studio.world.set(lux: 300)
        studio.run(for: .seconds(3))
        _ = studio.events()
        XCTAssertTrue(studio.submit(.shot(studio.desk.newToken(), .api)))
        studio.run(for: .seconds(1))
        XCTAssertEqual(saved(studio).map { $0["frames"] }, [nil])
    }

    func testAClipEndsAMergeWithWhatItHas() throws {
        let studio = studio(stack: 16)
        XCTAssertTrue(studio.submit(.shot(studio.desk.newToken(), .api)))
        studio.run(for: .seconds(1))
        XCTAssertTrue(saved(studio).isEmpty)
        XCTAssertTrue(studio.submit(.record(studio.desk.newToken(), .api, maximum: nil)))
        studio.run(for: .seconds(1))
        let photo = try XCTUnwrap(saved(studio).last)
        guard case .integer(let frames)? = photo["frames"] else { return XCTFail("one frame") }
        XCTAssertTrue((2..<16).contains(frames))
    }

    func testALostCameraEndsAMergeWithWhatItHas() throws {
        let studio = studio(stack: 16)
        XCTAssertTrue(studio.submit(.shot(studio.desk.newToken(), .api)))
        studio.run(for: .seconds(1))
        studio.world.inject(.disconnect(.seconds(2)))
        studio.run(for: .seconds(2))
        XCTAssertEqual(studio.events().filter { $0.name == "photo.saved" }.count, 1)
    }

    func testAFewBuffersAreEnough() throws {
        var settings = SessionSettings()
        settings.optics.stack = 8
        let studio = Studio(settings: settings, size: Size(width: 160, height: 120), slots: 4)
        studio.world.set(lux: 2)
        studio.run(for: .seconds(4))
        _ = studio.events()
        let missed = studio.desk.status.counters.framesMissed
        XCTAssertTrue(studio.submit(.shot(studio.desk.newToken(), .api)))
        studio.run(for: .seconds(4))
        XCTAssertEqual(saved(studio).map { $0["frames"] }, [.integer(8)])
        XCTAssertEqual(studio.desk.status.counters.framesMissed, missed)
    }
}
