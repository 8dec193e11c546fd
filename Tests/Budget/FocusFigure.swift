import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamTestKit

/// `Budget focus`: a person taps on the subject at 9 points of the picture, turned by 4 rotations, mirrored or not, at zoom 1,
/// 2 and 4. The window that the camera is given must cover all of the subject's pixels, and its lens must end on the subject
/// and not on the wall behind it. Where the subject is, is read from the pixels of a photo, turned as a viewer turns it.
enum FocusFigure {
    private static let size = Size(width: 320, height: 240)
    /// An f/1.8 lens of 4.7 mm with a circle of confusion of 3 µm has a quarter of a dioptre on each side.
    private static let depthOfField = 0.25
    private static let distance = 1.0

    static func run(_ arguments: [String]) -> Int32 {
        var cases = 0
        var covered = 0
        var sharp = 0
        for orientation in Orientation.all {
            for zoom in [1.0, 2, 4] {
                let studio = prepare(orientation, zoom)
                guard let empty = photo(studio) else { return 1 }
                for point in 0..<9 {
                    cases += 1
                    let place = place(point, zoom)
                    studio.world.place(subject: place)
                    studio.run(for: .milliseconds(200))
                    guard let picture = photo(studio), let box = difference(empty, picture) else {
                        print("no subject in the photo: \(orientation), zoom \(zoom), point \(point)")
                        continue
                    }
                    let result = tap(studio, seen(box, orientation))
                    let camera = studio.cameras[0]
                    guard result == "focused", let window = camera.controls.focusWindow,
                        let frame = camera.last, let crop = frame.crop
                    else {
                        print("focus ended with \(result): \(orientation), zoom \(zoom), point \(point)")
                        continue
                    }
                    let subject = UnitRect(
                        x: crop.x + box.x * crop.width, y: crop.y + box.y * crop.height, width: box.width * crop.width,
                        height: box.height * crop.height)
                    if covers(window, subject) { covered += 1 } else { print("\(window) misses \(subject)") }
                    if abs((frame.lensPosition ?? 9) - 1 / distance) <= depthOfField { sharp += 1 }
                    _ = studio.submit(.command(.focusAutomatically, studio.desk.newToken(), .cli))
                    studio.store.forget()
                }
            }
        }
        print(
            "figure: focus: \(covered) of \(cases) windows cover the subject's pixels, \(sharp) of \(cases) lenses on it"
        )
        return covered == cases && sharp == cases && cases == 216 ? 0 : 1
    }

    private static func prepare(_ orientation: Orientation, _ zoom: Double) -> Studio {
        var settings = SessionSettings()
        settings.optics.zoomMaximum = 4
        let studio = Studio(settings: settings, size: size, orientation: orientation)
        studio.world.set(distance: distance, moving: false)
        // A speck in the picture's corner at zoom 1, and outside of it else.
        studio.world.place(subject: UnitRect(x: 0, y: 0, width: 0.001, height: 0.001))
        studio.run(for: .seconds(1))
        if zoom > 1 { _ = studio.submit(.command(.zoom(zoom), studio.desk.newToken(), .cli)) }
        studio.run(for: .seconds(2))
        return studio
    }

    /// In the field: a tenth of the streamed part, around one of nine points of it.
    private static func place(_ point: Int, _ zoom: Double) -> UnitRect {
        let (x, y) = (0.5 + (Double(point % 3) - 1) * 0.25 / zoom, 0.5 + (Double(point / 3) - 1) * 0.25 / zoom)
        return UnitRect(x: x - 0.04 / zoom, y: y - 0.05 / zoom, width: 0.08 / zoom, height: 0.1 / zoom)
    }

    /// The luma of a photo, as it is stored.
    private static func photo(_ studio: Studio) -> [UInt8]? {
        let count = studio.store.photos.count
        _ = studio.submit(.shot(studio.desk.newToken(), .cli))
        studio.run(for: .milliseconds(300))
        return studio.store.photos.count > count ? studio.store.photos.last?.bytes : nil
    }

    /// Where two photos differ by more than grain, as fractions; the speck's corner doesn't count.
    private static func difference(_ one: [UInt8], _ other: [UInt8]) -> UnitRect? {
        var (left, top, right, bottom) = (Int.max, Int.max, -1, -1)
        for y in 0..<size.height {
            for x in 0..<size.width where x > 16 || y > 16 {
                let isStrip = y < size.height * 8 / 45 + 1 && x >= size.width / 4 - 1 && x <= size.width * 3 / 4
                let isLamp = x < size.width / 8 && y >= size.height * 8 / 10
                guard !isStrip, !isLamp, abs(Int(one[y * size.width + x]) - Int(other[y * size.width + x])) > 20 else {
                    continue
                }
                (left, right, top, bottom) = (min(left, x), max(right, x), min(top, y), max(bottom, y))
            }
        }
        guard right >= left else { return nil }
        let (width, height) = (Double(size.width), Double(size.height))
        return UnitRect(
            x: Double(left) / width, y: Double(top) / height, width: Double(right + 1 - left) / width,
            height: Double(bottom + 1 - top) / height)
    }

    /// The middle of a stored part as the viewer sees it: turned clockwise a quarter at a time, then mirrored.
    private static func seen(_ box: UnitRect, _ orientation: Orientation) -> UnitPoint {
        var (x, y) = (box.x + box.width / 2, box.y + box.height / 2)
        for _ in 0..<orientation.rotation / 90 { (x, y) = (1 - y, x) }
        return UnitPoint(x: orientation.mirror ? 1 - x : x, y: y)
    }

    private static func tap(_ studio: Studio, _ point: UnitPoint) -> String {
        _ = studio.events()
        _ = studio.submit(.command(.focus(point), studio.desk.newToken(), .cli))
        studio.run(for: .milliseconds(1500))
        guard case .string(let result)? = studio.events().last(where: { $0.name == "focus.ended" })?["result"] else {
            return "nothing"
        }
        return result
    }

    private static func covers(_ window: UnitRect, _ subject: UnitRect) -> Bool {
        window.x <= subject.x && window.y <= subject.y && window.x + window.width >= subject.x + subject.width
            && window.y + window.height >= subject.y + subject.height
    }
}
