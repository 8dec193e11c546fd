import XCTest

@testable import FieldcamCore

/// What of a frame becomes which file.
final class FramingTests: XCTestCase {
    private let sideways = Orientation(rotation: 90, mirror: false)

    private func whole(
        _ aspect: PhotoAspect, _ width: Int, _ height: Int, _ orientation: Orientation = .upright,
        guide: UnitRect? = nil
    ) -> [Int] {
        var framing = Framing()
        framing.aspect = aspect
        framing.guide = guide
        let rect = framing.whole(width: width, height: height, orientation: orientation)
        return [rect.x, rect.y, rect.width, rect.height]
    }

    func testThePhotoIsTheCentredPartOfTheWantedShape() {
        XCTAssertEqual(whole(.sensor, 1921, 1081), [0, 0, 1921, 1081], "nothing is cut from the sensor's own")
        XCTAssertEqual(whole(.wide, 640, 480), [0, 60, 640, 360])
        XCTAssertEqual(whole(.classic, 1920, 1080), [240, 0, 1440, 1080])
        XCTAssertEqual(whole(.square, 1920, 1080), [420, 0, 1080, 1080])
        XCTAssertEqual(whole(.square, 1366, 768), [298, 0, 768, 768], "square whatever the margins")
        XCTAssertEqual(whole(.wide, 1920, 1080), [0, 0, 1920, 1080], "it has that shape already")
    }

    func testTheShapeIsTheViewersNotTheSensors() {
        XCTAssertEqual(whole(.wide, 1920, 1080, sideways), [656, 0, 606, 1080], "stored 9:16, seen 16:9")
        XCTAssertEqual(whole(.classic, 640, 480, sideways), [140, 0, 360, 480])
    }

    func testTheGuidesShapeIsThatOfItsPixels() {
        let guide = UnitRect(x: 0.1, y: 0.1, width: 0.5, height: 0.5)
        XCTAssertEqual(whole(.guide, 640, 480, guide: guide), [0, 0, 640, 480])
        let high = UnitRect(x: 0, y: 0, width: 0.25, height: 1)
        XCTAssertEqual(whole(.guide, 640, 480, guide: high), [240, 0, 160, 480])
        XCTAssertEqual(whole(.guide, 640, 480, sideways, guide: high), [0, 180, 640, 120])
        XCTAssertEqual(whole(.guide, 640, 480), [0, 0, 640, 480], "without a guide nothing is cut")
    }

    func testEveryPartIsEvenAndInTheFrame() {
        for orientation in Orientation.all {
            for aspect in PhotoAspect.allCases {
                for (width, height) in [(2, 2), (3, 5), (641, 479), (4608, 2592), (352, 288), (17, 1000)] {
                    var framing = Framing()
                    framing.aspect = aspect
                    framing.guide = UnitRect(x: 0.3, y: 0.2, width: 0.37, height: 0.51)
                    var parts = [framing.whole(width: width, height: height, orientation: orientation)]
                    if let crop = framing.crop(width: width, height: height, orientation: orientation) {
                        parts.append(crop)
                    }
                    for rect in parts where aspect != .sensor || rect != parts[0] {
                        XCTAssertTrue([rect.x, rect.y, rect.width, rect.height].allSatisfy { $0 % 2 == 0 })
                        XCTAssertTrue(rect.x >= 0 && rect.y >= 0 && rect.width >= 2 && rect.height >= 2)
                        XCTAssertTrue(rect.x + rect.width <= width && rect.y + rect.height <= height)
                    }
                }
            }
        }
    }

    func testTheGuideStaysWhereItIsWhateverTheShape() {
        var framing = Framing()
        framing.guide = UnitRect(x: 0.25, y: 0.25, width: 0.5, height: 0.5)
        framing.aspect = .square
        XCTAssertEqual(
            framing.crop(width: 1920, height: 1080, orientation: .upright),
            PixelRect(x: 480, y: 270, width: 960, height: 540))
    }

    func testTheCornersRadiusIsAFractionOfTheShorterSide() {
        var framing = Framing()
        framing.cornerRadius = 0.1
        XCTAssertEqual(framing.radius(of: PixelRect(x: 0, y: 0, width: 960, height: 540)), 54)
        framing.cornerRadius = 0.5
        XCTAssertEqual(framing.radius(of: PixelRect(x: 0, y: 0, width: 30, height: 540)), 15)
    }

    func testLinesOnlyWhereTheyAreAskedFor() {
        var framing = Framing()
        let picture = PixelRect(x: 0, y: 0, width: 1920, height: 1080)
        func overlay() -> Overlay? {
            framing.overlay(width: 1920, height: 1080, picture: picture, orientation: .upright)
        }
        XCTAssertNil(overlay())
        framing.grid = .thirds
        XCTAssertEqual(overlay(), .thirds(picture, stroke: 2))
        framing.grid = .guide
        XCTAssertNil(overlay(), "no guide, no border")
        framing.guide = UnitRect(x: 0.25, y: 0.25, width: 0.5, height: 0.5)
        // A 4:3 clip shows the middle three quarters of a 16:9 frame: the guide is as high, and relatively wider.
        let part = PictureMapping.centred(aspect: 4.0 / 3, within: 16.0 / 9)
        XCTAssertEqual(
            framing.clipOverlay(width: 640, height: 480, part: part, orientation: .upright),
            .border(PixelRect(x: 107, y: 120, width: 426, height: 240), radius: 0, stroke: 1))
        XCTAssertEqual(overlay(), .border(PixelRect(x: 480, y: 270, width: 960, height: 540), radius: 0, stroke: 2))
    }
}
