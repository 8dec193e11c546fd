import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// The whole way of a press on a virtual clock.
final class DirectorTests: XCTestCase {
    func testATapBecomesThePhotoOfItsPress() throws {
        let studio = Studio()
        studio.run(for: .seconds(1))
        XCTAssertEqual(studio.events().map(\.name), ["camera.up"])
        studio.run(for: .milliseconds(7))
        let press = studio.now
        try studio.press(for: .milliseconds(100))
        studio.run(for: .seconds(1))
        let events = studio.events()
        XCTAssertEqual(events.map(\.name), ["photo.requested", "photo.saved"])
        let photo = try XCTUnwrap(studio.store.photos.first)
        let strip = try XCTUnwrap(read(photo.bytes, Size(width: 640, height: 480)))
        let middle = (strip.exposureStart.nanoseconds + strip.exposureEnd.nanoseconds) / 2
        guard case .integer(let offset)? = events[1]["press_offset_ns"] else { return XCTFail("no press_offset_ns") }
        XCTAssertEqual(middle - press.nanoseconds, offset)
        XCTAssertLessThanOrEqual(abs(offset), 16_666_667)
    }

    func testTapsAtAnyPhaseShowTheFrameNearestThePress() throws {
        let studio = Studio()
        studio.run(for: .seconds(1))
        var random = SystemRandomNumberGenerator()
        for _ in 0..<60 {
            studio.run(for: .nanoseconds(Int64.random(in: 300_000_000...500_000_000, using: &random)))
            let press = studio.now
            try studio.press(for: .milliseconds(Int64.random(in: 25...390, using: &random)))
            studio.run(for: .milliseconds(700))
            let photo = try XCTUnwrap(studio.store.photos.last)
            let strip = try XCTUnwrap(read(photo.bytes, Size(width: 640, height: 480)))
            let middle = (strip.exposureStart.nanoseconds + strip.exposureEnd.nanoseconds) / 2
            XCTAssertLessThanOrEqual(abs(middle - press.nanoseconds), 16_666_667)
        }
        XCTAssertEqual(studio.store.photos.count, 60)
    }

    func testAHoldBecomesAClipFromPressToRelease() throws {
        let studio = Studio()
        studio.run(for: .seconds(1))
        _ = studio.events()
        let press = studio.now
        try studio.press(for: .seconds(3))
        studio.run(for: .seconds(5))
        let events = studio.events()
        XCTAssertEqual(
            events.map(\.name), ["recording.requested", "recording.started", "recording.stopped", "clip.saved"])
        XCTAssertEqual(events[2]["reason"], .string("released"))
        XCTAssertEqual(events[3]["audio"], .string("ok"))
        let clip = try XCTUnwrap(studio.writers.finished.first)
        let first = try XCTUnwrap(clip.frames.first)
        let last = try XCTUnwrap(clip.frames.last)
        XCTAssertGreaterThanOrEqual(first, press)
        XCTAssertLessThan(first - press, .milliseconds(34))
        XCTAssertLessThan(last, press + .seconds(3))
        XCTAssertGreaterThan(last, press + .seconds(3) - .milliseconds(34))
        XCTAssertTrue(clip.isAttached)
        XCTAssertGreaterThan(clip.soundSamples, 48_000 * 29 / 10)
        XCTAssertEqual(studio.store.openClips, 0)
    }

    func testATapLeavesNoClip() throws {
        let studio = Studio()
        studio.run(for: .seconds(1))
        try studio.press(for: .milliseconds(390))
        studio.run(for: .seconds(2))
        XCTAssertEqual(studio.writers.cancelled, 1)
        XCTAssertEqual(studio.writers.finished.count, 0)
        XCTAssertEqual(studio.store.openClips, 0)
        XCTAssertFalse(studio.events().contains { $0.name.hasPrefix("recording") })
    }

    func testALostCameraIsNoticedAndComesBack() throws {
        let studio = Studio()
        studio.run(for: .seconds(1))
        studio.world.inject(.stall(nil))
        studio.run(for: .seconds(6))
        let events = studio.events()
        XCTAssertEqual(events.map(\.name), ["camera.up", "camera.down", "camera.up"])
        XCTAssertLessThanOrEqual(events[1].monotonic - events[0].monotonic, .milliseconds(3000))
        XCTAssertLessThanOrEqual(events[2].monotonic - events[1].monotonic, .seconds(5))
        try studio.press(for: .milliseconds(80))
        studio.run(for: .seconds(1))
        XCTAssertEqual(studio.events().map(\.name), ["photo.requested", "photo.saved"])
    }

    func testWithoutACameraAPressSaysWhy() throws {
        let studio = Studio(startsCamera: false)
        studio.run(for: .seconds(1))
        try studio.press(for: .milliseconds(80))
        studio.run(for: .seconds(1))
        try studio.press(for: .seconds(1))
        studio.run(for: .seconds(2))
        let events = studio.events()
        XCTAssertEqual(
            events.map(\.name),
            [
                "photo.requested", "photo.failed", "recording.requested", "recording.stopped", "clip.failed",
            ])
        XCTAssertEqual(events[1]["reason"], .string("camera_released"))
        XCTAssertEqual(events[4]["reason"], .string("camera_released"))
    }

    func testAFullDiskFailsAPhotoAndStopsAClip() throws {
        let studio = Studio()
        studio.run(for: .seconds(1))
        _ = studio.events()
        try studio.press(for: .seconds(4))
        studio.run(for: .seconds(2))
        studio.store.setHeadroom(-1)
        studio.run(for: .seconds(4))
        try studio.press(for: .milliseconds(80))
        studio.run(for: .seconds(1))
        let events = studio.events()
        XCTAssertEqual(
            events.map(\.name),
            [
                "recording.requested", "recording.started", "storage.low", "recording.stopped", "clip.saved",
                "photo.requested", "photo.failed",
            ])
        XCTAssertEqual(events[3]["reason"], .string("storage_low"))
        XCTAssertEqual(events[6]["reason"], .string("storage_low"))
    }

    func testAMicrophoneThatGoesAwayInterruptsTheSoundAndNotTheClip() throws {
        let studio = Studio()
        studio.run(for: .seconds(1))
        _ = studio.events()
        try studio.press(for: .seconds(3))
        studio.run(for: .seconds(1))
        studio.world.inject(.microphoneGone(true))
        studio.run(for: .seconds(4))
        let saved = try XCTUnwrap(studio.events().last)
        XCTAssertEqual(saved.name, "clip.saved")
        XCTAssertEqual(saved["audio"], .string("interrupted"))
    }

    func testTenThousandPressesAtTenPerSecondAreNeitherLostNorDoubled() throws {
        let studio = Studio(size: Size(width: 64, height: 48))
        studio.run(for: .seconds(1))
        studio.world.inject(.bounce(.milliseconds(5)))
        _ = studio.events()
        let presses = 1_000
        var saved = 0
        var rejected = 0
        for _ in 0..<presses {
            try studio.press(for: .milliseconds(40))
            studio.run(for: .milliseconds(100))
            for event in studio.events() {
                if event.name == "photo.saved" { saved += 1 }
                if event.name == "rejected" { rejected += 1 }
            }
            studio.store.forget()
        }
        studio.run(for: .seconds(1))
        for event in studio.events() where event.name == "photo.saved" { saved += 1 }
        XCTAssertEqual(saved + rejected, presses)
        XCTAssertEqual(rejected, 0)
    }

    private func read(_ luma: [UInt8], _ size: Size) -> Strip? {
        luma.withUnsafeBufferPointer {
            StripReader.read(luma: $0.baseAddress!, width: size.width, height: size.height, stride: size.width)
        }
    }
}
