import XCTest

@testable import FieldcamCore

final class GeometryTests: XCTestCase {
    func testEachOrientationGoesThereAndBack() {
        for orientation in Orientation.all {
            for point in [UnitPoint(x: 0.1, y: 0.3), UnitPoint(x: 0.9, y: 0.8), UnitPoint(x: 0, y: 1)] {
                let back = orientation.stored(orientation.upright(point))
                XCTAssertEqual(back.x, point.x, accuracy: 1e-12)
                XCTAssertEqual(back.y, point.y, accuracy: 1e-12)
            }
        }
    }

    /// The stored top left, marked, must appear where a person turning the picture would find it.
    func testTheStoredTopLeftTurnsClockwise() {
        let corner = UnitPoint(x: 0, y: 0)
        XCTAssertEqual(Orientation(rotation: 90, mirror: false).upright(corner), UnitPoint(x: 1, y: 0))
        XCTAssertEqual(Orientation(rotation: 180, mirror: false).upright(corner), UnitPoint(x: 1, y: 1))
        XCTAssertEqual(Orientation(rotation: 270, mirror: false).upright(corner), UnitPoint(x: 0, y: 1))
        XCTAssertEqual(Orientation(rotation: 0, mirror: true).upright(corner), UnitPoint(x: 1, y: 0))
        XCTAssertEqual(Orientation(rotation: 90, mirror: true).upright(corner), UnitPoint(x: 0, y: 0))
    }

    /// A marker of 40 × 20 pixels in the upright picture, seen through a view of another shape, is found at its exact pixels.
    func testCornerMarkersAreFoundForAllOrientationsAndGravities() {
        let (width, height) = (640, 480)
        for orientation in Orientation.all {
            let uprightSize = orientation.isSideways ? (height, width) : (width, height)
            for gravity in Gravity.allCases {
                for viewAspect in [1.0, 16.0 / 9, 9.0 / 16, 4.0 / 3] {
                    let aspect = Double(uprightSize.0) / Double(uprightSize.1)
                    // The picture's pixel rectangle (200, 160, 40, 20), in the view by the inverse of the mapping.
                    let wanted = UnitRect(
                        x: 200 / Double(uprightSize.0), y: 160 / Double(uprightSize.1),
                        width: 40 / Double(uprightSize.0),
                        height: 20 / Double(uprightSize.1))
                    let whole = PictureMapping.picture(
                        of: .whole, viewAspect: viewAspect, pictureAspect: aspect, gravity: gravity)!
                    let place: UnitRect
                    switch gravity {
                    case .resize: place = .whole
                    case .resizeAspect:
                        place = PictureMapping.centred(aspect: aspect, within: viewAspect)
                    case .resizeAspectFill:
                        place = UnitRect(
                            x: -whole.x / whole.width, y: -whole.y / whole.height, width: 1 / whole.width,
                            height: 1 / whole.height)
                    }
                    let inView = place.outer(wanted)
                    guard
                        let picture = PictureMapping.picture(
                            of: inView, viewAspect: viewAspect, pictureAspect: aspect, gravity: gravity),
                        picture.width > wanted.width - 1e-9, picture.height > wanted.height - 1e-9
                    else { continue }
                    let pixels = PictureMapping.pixels(
                        of: picture, orientation: orientation, width: width, height: height)
                    let stored = orientation.stored(wanted)
                    XCTAssertEqual(
                        pixels,
                        PixelRect(
                            x: Int((stored.x * Double(width)).rounded()), y: Int((stored.y * Double(height)).rounded()),
                            width: Int((stored.width * Double(width)).rounded()),
                            height: Int((stored.height * Double(height)).rounded())),
                        "\(orientation) \(gravity) \(viewAspect)")
                }
            }
        }
    }

    func testPixelsAreRoundedInwardAndEven() {
        XCTAssertEqual(
            PictureMapping.pixels(
                of: UnitRect(x: 0.101, y: 0.101, width: 0.5, height: 0.5), orientation: .upright, width: 100,
                height: 100),
            PixelRect(x: 12, y: 12, width: 48, height: 48))
        XCTAssertNil(
            PictureMapping.pixels(
                of: UnitRect(x: 0.101, y: 0.101, width: 0.01, height: 0.5), orientation: .upright, width: 100,
                height: 100))
        XCTAssertEqual(
            PictureMapping.pixels(of: .whole, orientation: .upright, width: 641, height: 481),
            PixelRect(x: 0, y: 0, width: 640, height: 480))
    }
}
