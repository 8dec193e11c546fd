import FieldcamCore
import XCTest

/// What of a wish fits into a machine's contiguous memory.
final class MemoryPlanTests: XCTestCase {
    private typealias Picture = MemoryPlan.Picture
    private let module3 = Picture(width: 4608, height: 2592)
    private let fullHD = Picture(width: 1920, height: 1080)
    private let megabyte: Int64 = 1_048_576

    private func plan(
        _ still: Picture?, _ video: Picture? = nil, slots: Int = 12, free: Int64, available: Int64? = nil,
        stillOnly: Bool = false
    ) -> MemoryPlan {
        MemoryPlan.fit(
            .init(
                still: still ?? module3, video: video ?? fullHD, sensor: module3, slots: slots, isStillOnly: stillOnly),
            into: MemoryBudget(contiguous: free * megabyte, available: available.map { $0 * megabyte }))
    }

    func testWithRoomEnoughNothingIsChanged() {
        let plan = plan(module3, free: 512)
        XCTAssertEqual(plan.still, module3)
        XCTAssertEqual(plan.video, fullHD)
        XCTAssertEqual(plan.buffers, 12)
        XCTAssertTrue(plan.fits)
        // (17.9 + 3.1) MB × 12 + 2 × 14.9 MB
        XCTAssertEqual(Double(plan.contiguous) / 1e6, 282, accuracy: 4)
    }

    func testFewerBuffersComeBeforeSmallerPictures() {
        let plan = plan(module3, slots: 24, free: 256)
        XCTAssertEqual(plan.still, module3)
        XCTAssertEqual(plan.buffers, 6)
        XCTAssertEqual(plan.slots, 24)
    }

    func testTheZerosSixtyFourMegabytesHoldBinnedPhotos() {
        let plan = plan(module3, free: 58, available: 220)
        XCTAssertEqual(plan.still, Picture(width: 2304, height: 1296))
        XCTAssertEqual(plan.video, fullHD)
        XCTAssertEqual(plan.buffers, 4)
        XCTAssertEqual(plan.slots, 12)
        XCTAssertTrue(plan.fits)
        XCTAssertLessThanOrEqual(plan.contiguous, 58 * megabyte)
    }

    func testStepsGoDownOneByOne() {
        var before = Int.max
        for free: Int64 in stride(from: 400, through: 10, by: -2) {
            let plan = plan(module3, slots: 24, free: free)
            let size = plan.still.width * plan.still.height + plan.video.width * plan.video.height
            XCTAssertLessThanOrEqual(size, before, "\(free) MB")
            before = size
            if plan.fits { XCTAssertLessThanOrEqual(plan.contiguous, free * megabyte) }
            XCTAssertGreaterThanOrEqual(plan.buffers, 4)
        }
    }

    func testWhatCannotFitIsTheLeast() {
        let plan = plan(module3, free: 8)
        XCTAssertFalse(plan.fits)
        XCTAssertEqual(plan.video, Picture(width: 640, height: 480))
        XCTAssertEqual(plan.buffers, 4)
    }

    func testCopiesNeedMemoryOfOurOwn() {
        // 12 slots of 7.6 MB are more than half of 100 MB, and 6 are too few.
        let scarce = plan(module3, free: 58, available: 100)
        XCTAssertEqual(scarce.still, fullHD)
        XCTAssertGreaterThanOrEqual(scarce.slots, 8)
        XCTAssertEqual(plan(module3, free: 58, available: 150).slots, 10)
    }

    func testAFullStillTakesWhatTheFactsSay() {
        // hardware facts: one full still 48 MB
        let plan = plan(module3, slots: 3, free: 60, stillOnly: true)
        XCTAssertEqual(plan.still, module3)
        XCTAssertEqual(plan.buffers, 1)
        XCTAssertEqual(Double(plan.contiguous) / 1e6, 48, accuracy: 0.5)
        let small = self.plan(module3, slots: 3, free: 40, stillOnly: true)
        XCTAssertEqual(small.still, Picture(width: 2304, height: 1296))
    }

    func testOneStreamCountsOnce() {
        let one = plan(fullHD, fullHD, free: 256)
        let two = plan(Picture(width: 2304, height: 1296), fullHD, free: 256)
        XCTAssertLessThan(one.contiguous, two.contiguous)
        XCTAssertEqual(one.buffers, 12)
    }
}
