/// A rectangle of whole pixels.
public struct PixelRect: Hashable, Sendable {
    public var x: Int
    public var y: Int
    public var width: Int
    public var height: Int
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

/// How a picture is fitted into a view of another shape.
public enum Gravity: String, Hashable, Sendable, CaseIterable {
    /// Stretched to the view.
    case resize
    /// Whole, with bars.
    case resizeAspect = "resize_aspect"
    /// Filling the view, cut on two sides.
    case resizeAspectFill = "resize_aspect_fill"
}

/// From what a person sees to what is stored: one pure function for guide, focus and crops.
public enum PictureMapping {
    /// The part of the upright picture that a view's part shows.
    ///
    /// - Parameters:
    ///   - rect: in the view, as fractions of it.
    ///   - viewAspect, pictureAspect: width over height; the picture's as it is upright.
    /// - Returns: `nil` if no part of the picture lies there.
    public static func picture(
        of rect: UnitRect, viewAspect: Double, pictureAspect: Double, gravity: Gravity
    ) -> UnitRect? {
        guard viewAspect > 0, pictureAspect > 0, rect.width > 0, rect.height > 0 else { return nil }
        // The whole picture's place in the view.
        let place: UnitRect
        let isWider = pictureAspect > viewAspect
        switch gravity {
        case .resize: place = .whole
        case .resizeAspect where isWider, .resizeAspectFill where !isWider:
            let height = viewAspect / pictureAspect
            place = UnitRect(x: 0, y: (1 - height) / 2, width: 1, height: height)
        case .resizeAspect, .resizeAspectFill:
            let width = pictureAspect / viewAspect
            place = UnitRect(x: (1 - width) / 2, y: 0, width: width, height: 1)
        }
        let left = max(0, (rect.x - place.x) / place.width)
        let top = max(0, (rect.y - place.y) / place.height)
        let right = min(1, (rect.x + rect.width - place.x) / place.width)
        let bottom = min(1, (rect.y + rect.height - place.y) / place.height)
        guard right > left, bottom > top else { return nil }
        return UnitRect(x: left, y: top, width: right - left, height: bottom - top)
    }

    /// The stored pixels of a part of the upright picture: rounded inward, to even numbers, so that chroma fits.
    ///
    /// - Parameters:
    ///   - width, height: of the stored picture in pixels.
    /// - Returns: `nil` if less than 2 × 2 pixels are left.
    public static func pixels(of rect: UnitRect, orientation: Orientation, width: Int, height: Int) -> PixelRect? {
        let stored = orientation.stored(rect)
        // A millionth of a pixel is rounding of the fractions, not of the owner's.
        func up(_ value: Double) -> Int { Int((value / 2 - 1e-6).rounded(.up)) * 2 }
        func down(_ value: Double) -> Int { Int((value / 2 + 1e-6).rounded(.down)) * 2 }
        let left = max(0, up(stored.x * Double(width)))
        let top = max(0, up(stored.y * Double(height)))
        let right = min(width / 2 * 2, down((stored.x + stored.width) * Double(width)))
        let bottom = min(height / 2 * 2, down((stored.y + stored.height) * Double(height)))
        guard right - left >= 2, bottom - top >= 2 else { return nil }
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }

    /// The largest centred part of a whole with this shape (width over height of both).
    public static func centred(aspect: Double, within whole: Double) -> UnitRect {
        guard aspect > 0, whole > 0 else { return .whole }
        if aspect > whole {
            let height = whole / aspect
            return UnitRect(x: 0, y: (1 - height) / 2, width: 1, height: height)
        }
        let width = aspect / whole
        return UnitRect(x: (1 - width) / 2, y: 0, width: width, height: 1)
    }
}
