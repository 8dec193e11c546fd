import FieldcamCore
import XCTest

/// What a preset comes to with a camera and an encoder.
final class ClipQualityTests: XCTestCase {
    private let free = EncoderLimits(name: "libx264")
    private let hardware = EncoderLimits(
        name: "h264_v4l2m2m", width: 2032, height: 1088, pixelsPerSecond: 245_760 * 256, bitRate: 25_000_000)

    private func quality(
        _ name: String, _ width: Int, _ height: Int, rate: Double = 30, cap: Double = 60, megabits: Double = 10,
        mayShrink: Bool = false, refuses: Bool = false
    ) -> ClipQuality {
        ClipQuality(
            name: name, width: width, height: height, framerate: rate, framerateCap: cap,
            bitRate: Int(megabits * 1e6), mayShrink: mayShrink, refusesFallback: refuses)
    }

    func testACameraThatHasTheSizeGivesAllThatWasAskedFor() {
        let granted = quality("352x288", 352, 288, megabits: 0.8).granted(
            camera: .init(width: 352, height: 288, framerate: 30), limits: free)
        XCTAssertEqual([granted.width, granted.height, granted.bitRate], [352, 288, 800_000])
        XCTAssertEqual(granted.name, "352x288")
        XCTAssertEqual(granted.shortfalls, [])
    }

    func testALargerPictureIsEnoughForAnySmallerSize() {
        for (width, height) in [(640, 480), (1920, 1080), (1640, 1232), (800, 600)] {
            let granted = quality("352x288", 352, 288).granted(
                camera: .init(width: width, height: height, framerate: 30), limits: free)
            XCTAssertEqual([granted.width, granted.height], [352, 288])
            XCTAssertEqual(granted.shortfalls, [])
        }
    }

    func testATooSmallPictureGivesASmallerClipOfTheSameShape() throws {
        let granted = quality("3840x2160", 3840, 2160, megabits: 30).granted(
            camera: .init(width: 1920, height: 1200, framerate: 30), limits: free)
        XCTAssertEqual([granted.width, granted.height], [1920, 1080])
        // 30 Mbit/s for a quarter of the pixels: as `high` has for them.
        XCTAssertEqual(Double(granted.bitRate), 10_600_000, accuracy: 50_000)
        let shortfall = try XCTUnwrap(granted.shortfall(of: "video.quality"))
        XCTAssertEqual([shortfall.requested, shortfall.effective], ["3840x2160", "1920x1080"])
        XCTAssertEqual(shortfall.reason, "the camera's picture has 1920x1200 pixels")
        XCTAssertFalse(granted.isRefused)
    }

    func testWhatIsRejectedIsRefusedButHighMayShrink() {
        let small = ClipQuality.Picture(width: 640, height: 480, framerate: 30)
        XCTAssertTrue(
            quality("1920x1080", 1920, 1080, refuses: true).granted(camera: small, limits: free).isRefused)
        let high = quality("high", 1920, 1080, mayShrink: true, refuses: true).granted(camera: small, limits: free)
        XCTAssertFalse(high.isRefused)
        XCTAssertEqual(high.name, "640x360")
        XCTAssertEqual(high.shortfalls.count, 1)
    }

    func testAPresetsCapIsToldAndNeverRefused() throws {
        let granted = quality("low", 640, 360, cap: 24, refuses: true).granted(
            camera: .init(width: 640, height: 360, framerate: 24), limits: free)
        XCTAssertEqual(granted.framerate, 24)
        XCTAssertFalse(granted.isRefused)
        let shortfall = try XCTUnwrap(granted.shortfall(of: "video.framerate"))
        XCTAssertEqual([shortfall.requested, shortfall.effective], ["30", "24"])
        XCTAssertFalse(shortfall.isFallback)
    }

    func testASlowCameraIsAShortfallButNotItsRounding() throws {
        let asked = quality("640x480", 640, 480)
        XCTAssertEqual(
            asked.granted(camera: .init(width: 640, height: 480, framerate: 29.97), limits: free).shortfalls, [])
        let slow = asked.granted(camera: .init(width: 640, height: 480, framerate: 15), limits: free)
        XCTAssertEqual(slow.framerate, 15)
        XCTAssertEqual(slow.shortfall(of: "video.framerate")?.isFallback, true)
    }

    func testTheHardwareEncoderMakesFullHDAt30() {
        XCTAssertEqual(quality("high", 1920, 1080).granted(camera: nil, limits: hardware).shortfalls, [])
        let ultra = quality("3840x2160", 3840, 2160, megabits: 30).granted(camera: nil, limits: hardware)
        XCTAssertLessThanOrEqual(ultra.width, 1936)
        XCTAssertEqual(Double(ultra.width) / Double(ultra.height), 16.0 / 9, accuracy: 0.005)
        let fast = quality("1920x1080", 1920, 1080, rate: 60).granted(camera: nil, limits: hardware)
        XCTAssertEqual([fast.width, fast.height], [1920, 1080])
        XCTAssertEqual(fast.framerate, 30)
        let intra = quality("iframe_1280x720", 1280, 720, megabits: 40).granted(camera: nil, limits: hardware)
        XCTAssertEqual(intra.bitRate, 25_000_000)
        XCTAssertEqual(intra.name, "iframe_1280x720 at 25 Mbit/s")
    }

    func testASlowMachineGetsTheNextSizeThatPeopleKnow() {
        let slow = EncoderLimits(name: "libx264", pixelsPerSecond: 88e6)
        let ultra = quality("3840x2160", 3840, 2160).granted(camera: nil, limits: slow)
        XCTAssertEqual([ultra.width, ultra.height], [1920, 1080])
        XCTAssertTrue(ultra.shortfalls[0].reason.contains("too slow"))
    }

    /// Whatever the camera: even sides, never enlarged, the asked shape, and told if it isn't what was asked for.
    func testAnyCameraGivesAClipOfTheAskedShape() {
        var random = SplitMix(seed: 11)
        for _ in 0..<2000 {
            let (width, height) = (Int(random.next() % 4000) + 64, Int(random.next() % 3000) + 64)
            for (w, h) in [(352, 288), (640, 480), (1920, 1080), (3840, 2160)] {
                let granted = quality("x", w, h).granted(
                    camera: .init(width: width, height: height, framerate: 30), limits: free)
                XCTAssertTrue(granted.width % 2 == 0 && granted.height % 2 == 0)
                XCTAssertTrue(granted.width <= min(w, width) && granted.height <= min(h, height))
                // Two pixels of rounding at most.
                XCTAssertLessThan(abs(granted.width * h - granted.height * w), 2 * (w + h))
                XCTAssertEqual(granted.shortfalls.isEmpty, granted.width == w && granted.height == h)
            }
        }
    }
}
