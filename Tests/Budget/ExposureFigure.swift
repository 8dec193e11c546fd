import FieldcamCore
import FieldcamDirector
import FieldcamPorts
import FieldcamTestKit
import Glibc

/// `Budget exposure`: a person taps on a window that is 1 to 3 EV brighter or darker than the room, at five points, with each
/// metering. Within 20 frames the region's luma must lie within ±0.3 EV of its target, and stay there with the exposure value
/// untouched from then on. What the region's luma is, is measured over all its pixels.
enum ExposureFigure {
    private static let size = Size(width: 320, height: 240)
    /// 18 % grey, as encoded.
    private static let target = 0.46
    private static let framesAllowed = 20
    private static let tolerance = 0.3

    static func run(_ arguments: [String]) -> Int32 {
        var cases = 0
        var right = 0
        var slowest = 0
        var worstAfter = 0.0
        for metering in CameraControls.Metering.allCases {
            for (x, y) in [(0.5, 0.5), (0.25, 0.4), (0.75, 0.4), (0.25, 0.7), (0.75, 0.7)] {
                for value in [-3.0, -2, -1, 0, 1, 2, 3] {
                    cases += 1
                    let point = UnitPoint(x: x, y: y)
                    let outcome = tap(point, value, metering)
                    slowest = max(slowest, outcome.frames)
                    worstAfter = max(worstAfter, outcome.worst)
                    if outcome.frames <= framesAllowed, outcome.worst <= tolerance, outcome.changesAfter == 0 {
                        right += 1
                    } else {
                        print("metering \(metering), \(point), \(value) EV: \(outcome)")
                    }
                }
            }
        }
        print(
            "figure: exposure at a point: \(right) of \(cases) within \(tolerance) EV in \(framesAllowed) frames without swinging;"
                + " slowest \(slowest) frames, worst afterwards \(Measurement.text(worstAfter, 2)) EV")
        return right == cases ? 0 : 1
    }

    struct Outcome {
        /// Until the region is right and stays so.
        var frames: Int
        /// EV off, after the frames that are allowed.
        var worst: Double
        /// Events `exposure.changed` after them.
        var changesAfter: Int
    }

    private static func tap(_ point: UnitPoint, _ value: Double, _ metering: CameraControls.Metering) -> Outcome {
        var settings = SessionSettings()
        settings.optics.metering = metering
        settings.optics.resumeAfter = .zero
        settings.optics.resumeOnChange = false
        let studio = Studio(settings: settings, size: size, change: { $0.hasFocus = false })
        studio.world.set(lux: 150, moving: false)
        studio.world.place(subject: UnitRect(x: 0, y: 0, width: 0.001, height: 0.001))
        studio.world.set(
            window: UnitRect(x: point.x - 0.1, y: point.y - 0.1, width: 0.2, height: 0.2), value: value)
        studio.run(for: .seconds(2))
        let camera = studio.cameras[0]
        camera.region = UnitRect(x: point.x - 0.06, y: point.y - 0.06, width: 0.12, height: 0.12)
        _ = studio.events()
        camera.forget()
        _ = studio.submit(.command(.focus(point), studio.desk.newToken(), .cli))
        while camera.seen.count < framesAllowed { studio.run(for: .milliseconds(20)) }
        _ = studio.events()
        studio.run(for: .seconds(4))
        let changes = studio.events().filter { $0.name == "exposure.changed" }.count
        let errors = camera.seen.map { 2.2 * log2(max($0.luma ?? 0, 0.002) / target) }
        let frames = (errors.lastIndex { abs($0) > tolerance } ?? -1) + 1
        return Outcome(
            frames: frames, worst: errors.dropFirst(framesAllowed).map(abs).max() ?? 9, changesAfter: changes)
    }
}
