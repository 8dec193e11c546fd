import FieldcamDirector
import FieldcamMedia
import FieldcamMediaKit
import FieldcamPorts
import FieldcamSettings
import FieldcamSimulator
import FieldcamTestKit
import Glibc
import XCTest

/// Presets in the service's own pipeline on the virtual clock; `Budget presets` shows all of them for ten seconds.
final class PresetTests: XCTestCase {
    private func studio(_ quality: VideoQuality, sensor: Size, unsupported: UnsupportedQuality = .fallback) -> Studio {
        var video = Settings().video
        video.quality = quality
        video.unsupported = unsupported
        return Studio(
            size: sensor, slots: 12, clipWriters: FFmpegClipWriterFactory(), encoders: ["libx264"],
            quality: video.clipQuality)
    }

    /// Records for so long and decodes the file.
    private func record(_ studio: Studio, _ seconds: Double) throws -> (clip: DecodedClip, bytes: Int) {
        studio.run(for: .seconds(1))
        try studio.press(for: .nanoseconds(Int64(seconds * 1e9)))
        studio.run(for: .nanoseconds(Int64(seconds * 1e9)) + .seconds(2))
        let bytes = try XCTUnwrap(studio.store.clips.last).bytes
        var template = Array("/tmp/fieldcam-preset-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            close(descriptor)
            unlink(path)
        }
        XCTAssertEqual(bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }, bytes.count)
        return (try XCTUnwrap(DecodedClip(path: path)), bytes.count)
    }

    func testPresetsAreExactAndSpendTheirBits() throws {
        for (quality, rate) in [(VideoQuality.cif, 30.0), (.low, 24), (.iframe540, 30)] {
            let seconds = quality == .iframe540 ? 1.0 : 3
            let made = try record(studio(quality, sensor: Size(width: 960, height: 540)), seconds)
            let preset = quality.preset
            XCTAssertEqual([made.clip.width, made.clip.height], [preset.size.width, preset.size.height])
            XCTAssertEqual(Double(made.clip.times.count), rate * seconds, accuracy: 1)
            XCTAssertEqual(made.clip.keys.allSatisfy { $0 }, preset.everyFrameIsKey)
            // Three seconds with sound: less exact than ten without.
            let bits = Double(made.bytes) * 8 / seconds - 64_000
            XCTAssertEqual(bits / Double(preset.bitRate), 1, accuracy: 0.25, "\(quality)")
        }
    }

    func testWhatTheSensorHasntIsToldAndTheClipIsSmaller() throws {
        let studio = studio(.ultraHD, sensor: Size(width: 640, height: 480))
        studio.run(for: .seconds(1))
        let fallbacks = studio.events().filter { $0.name == "quality.fallback" }
        XCTAssertEqual(fallbacks.count, 1)
        XCTAssertEqual(fallbacks.first?["requested"], .string("3840x2160"))
        XCTAssertEqual(fallbacks.first?["effective"], .string("640x360"))
        XCTAssertEqual(fallbacks.first?["reason"], .string("the camera's picture has 640x480 pixels"))
        let made = try record(studio, 1)
        XCTAssertEqual([made.clip.width, made.clip.height], [640, 360])
        let started = studio.events().first { $0.name == "recording.started" }
        XCTAssertEqual(started?["width"], .integer(640))
        XCTAssertEqual(started?["height"], .integer(360))
    }

    func testWithRejectPressesAndCommandsAreRefusedAndPhotosAreNot() throws {
        let studio = studio(.ultraHD, sensor: Size(width: 640, height: 480), unsupported: .reject)
        studio.run(for: .seconds(1))
        _ = studio.events()
        try studio.press(for: .seconds(1))
        studio.run(for: .seconds(2))
        XCTAssertEqual(studio.events().map(\.name), ["rejected"])
        XCTAssertTrue(studio.desk.submit(.record(studio.desk.newToken(), .api, maximum: nil), at: studio.now))
        studio.run(for: .seconds(1))
        XCTAssertEqual(studio.desk.takeReply()?.answer, .rejected(.unsupported))
        XCTAssertEqual(studio.events().first?["reason"], .string("unsupported"))
        try studio.press(for: .milliseconds(100))
        studio.run(for: .seconds(1))
        XCTAssertEqual(studio.events().map(\.name), ["photo.requested", "photo.saved"])
    }

    func testAPhotoHasTheStillStreamsSizeWhateverTheClips() throws {
        let studio = studio(.cif, sensor: Size(width: 960, height: 540))
        studio.run(for: .seconds(1))
        _ = studio.events()
        for isRecording in [false, true] {
            if isRecording {
                XCTAssertTrue(studio.desk.submit(.record(studio.desk.newToken(), .api, maximum: nil), at: studio.now))
                studio.run(for: .seconds(1))
            }
            try studio.press(for: .milliseconds(100))
            studio.run(for: .seconds(1))
            let photo = try XCTUnwrap(studio.events().last { $0.name == "photo.saved" })
            XCTAssertEqual([photo["width"], photo["height"]], [.integer(960), .integer(540)])
        }
    }
}
