import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamTestKit
import XCTest

/// Guide, aspect and review from the press to the event.
final class FramedShotTests: XCTestCase {
    private func shoot(_ studio: Studio) throws -> Event {
        _ = studio.events()
        try studio.press(for: .milliseconds(100))
        studio.run(for: .seconds(1))
        return try XCTUnwrap(studio.events().last)
    }

    private func guide(_ change: (inout Framing) -> Void = { _ in }) -> Framing {
        var framing = Framing()
        framing.guide = UnitRect(x: 0.25, y: 0.25, width: 0.5, height: 0.5)
        framing.savesCrop = true
        change(&framing)
        return framing
    }

    func testWithoutAGuideThereIsOneFile() throws {
        let studio = Studio()
        studio.run(for: .seconds(1))
        let event = try shoot(studio)
        XCTAssertEqual(event.name, "photo.saved")
        XCTAssertEqual(event["path"], .string("memory/IMG_000001.jpg"))
        XCTAssertEqual(event["crop_path"], .null)
        XCTAssertEqual(event["review_path"], .null)
        XCTAssertEqual(studio.store.extras.count, 0)
    }

    func testTheEventNamesEachFileAndTheSizeOfTheFirst() throws {
        let studio = Studio(
            framing: guide {
                $0.aspect = .square
                $0.savesReview = true
            })
        studio.run(for: .seconds(1))
        let event = try shoot(studio)
        XCTAssertEqual(event["path"], .string("memory/IMG_000001.jpg"))
        XCTAssertEqual(event["crop_path"], .string("memory/IMG_000001_crop.jpg"))
        XCTAssertEqual(event["review_path"], .string("memory/IMG_000001_review.jpg"))
        XCTAssertEqual([event["width"], event["height"]], [.integer(480), .integer(480)])
        XCTAssertEqual(event["bytes"], .integer(230_400))
        // The encoder's "files" are the luma of what they show.
        XCTAssertEqual(studio.store.photos.map(\.bytes.count), [480 * 480])
        XCTAssertEqual(studio.store.extras.map(\.bytes.count), [320 * 240, 480 * 480])
    }

    func testTheCropAloneIsThePhotoThen() throws {
        let studio = Studio(framing: guide { $0.savesWhole = false })
        studio.run(for: .seconds(1))
        let event = try shoot(studio)
        XCTAssertEqual(event["path"], .string("memory/IMG_000001_crop.jpg"))
        XCTAssertEqual(event["crop_path"], event["path"])
        XCTAssertEqual([event["width"], event["height"]], [.integer(320), .integer(240)])
        XCTAssertEqual(studio.store.photos.count, 0)
    }

    func testTheCropHoldsTheSameFramesPixelsAsTheWhole() throws {
        for orientation in Orientation.all {
            let studio = Studio(orientation: orientation, framing: guide())
            studio.run(for: .seconds(1))
            _ = try shoot(studio)
            let whole = try XCTUnwrap(studio.store.photos.first?.bytes)
            let crop = try XCTUnwrap(studio.store.extras.first?.bytes)
            var part: [UInt8] = []
            for row in 120..<360 {
                let start = row * 640 + 160
                part += whole[start..<start + 320]
            }
            XCTAssertEqual(crop, part, "\(orientation)")
        }
    }

    func testAChangeCountsFromTheNextShotOn() throws {
        let studio = Studio()
        studio.run(for: .seconds(1))
        _ = try shoot(studio)
        var settings = LiveSettings(
            session: studio.director.session.settings,
            requests: [
                CameraRequest(
                    still: Size(width: 640, height: 480), video: Size(width: 640, height: 480), framerate: 30, slots: 24
                )
            ], photoQuality: 92, encoders: ["counting"], videoBitRate: nil, everyFrameIsKey: false, framerate: 30,
            recordsSound: true)
        settings.framing = guide()
        XCTAssertTrue(studio.desk.submit(.configure(settings), at: studio.now))
        let event = try shoot(studio)
        XCTAssertEqual(event["crop_path"], .string("memory/IMG_000002_crop.jpg"))
        XCTAssertTrue(studio.desk.status.camera.state == "up", "the camera goes on")
    }

    func testAFullDiskFailsAllFilesOfAShot() throws {
        let studio = Studio(framing: guide { $0.savesReview = true })
        studio.run(for: .seconds(1))
        studio.store.fail(HardwareError(.full, "save the photo"))
        let event = try shoot(studio)
        XCTAssertEqual(event.name, "photo.failed")
        XCTAssertEqual(event["reason"], .string("storage_low"))
        XCTAssertEqual(studio.store.extras.count, 0)
    }
}
