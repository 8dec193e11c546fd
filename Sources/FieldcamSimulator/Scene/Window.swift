import FieldcamCore
import Glibc

/// A part of the scene that is brighter or darker than the rest: a window on a sunny day, a dark corner. Mid-grey by itself.
struct Window: Equatable {
    /// In the field.
    var place: UnitRect
    /// EV brighter than the rest of the scene.
    var value: Double

    /// How many times brighter than without it a picture of this part of the field is measured.
    ///
    /// Weights as cameras have them: *spot* sees the middle fifth of width and height; *centre* the middle half for seven
    /// tenths and the whole for three; *matrix* everything alike.
    func brightening(in shown: UnitRect, _ metering: CameraControls.Metering) -> Double {
        func part(of side: Double) -> Double {
            let seen = shown.outer(UnitRect(x: (1 - side) / 2, y: (1 - side) / 2, width: side, height: side))
            let width = min(seen.x + seen.width, place.x + place.width) - max(seen.x, place.x)
            let height = min(seen.y + seen.height, place.y + place.height) - max(seen.y, place.y)
            return max(0, width) * max(0, height) / (seen.width * seen.height)
        }
        let share =
            switch metering {
            case .spot: part(of: 0.2)
            case .centre: 0.7 * part(of: 0.5) + 0.3 * part(of: 1)
            case .matrix: part(of: 1)
            }
        return 1 + share * (brightness - 1)
    }

    /// Times as bright as the rest: 2 to the power of `value`.
    var brightness: Double { exp2(value) }
}
