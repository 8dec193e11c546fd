/// The shape of a photo as the viewer sees it (contract §4, `photo.aspect`).
public enum PhotoAspect: String, Hashable, Sendable, CaseIterable {
    /// The frame as it is.
    case sensor
    case wide = "16:9"
    case classic = "4:3"
    case square = "1:1"
    /// The guide's.
    case guide
}

/// What is drawn over a picture (contract §4, `overlay.grid`).
public enum OverlayGrid: String, Hashable, Sendable, CaseIterable {
    case none
    case thirds
    case guide
}

/// What of a frame becomes which file, and what is drawn into it: the settings of `[guide]`, `[overlay]` and `photo.aspect`
/// as one pure function of the frame's size and orientation.
///
/// The guide is a part of the whole frame, upright, whatever `aspect` cuts off: it stays where the viewfinder shows it. So the
/// crop may hold what the whole lacks.
public struct Framing: Hashable, Sendable {
    public var aspect = PhotoAspect.sensor
    /// Fractions of the upright frame; `nil`: none.
    public var guide: UnitRect?
    /// Fraction of the guide's shorter side, 0 … 0.5.
    public var cornerRadius = 0.0
    /// Without a guide the whole is saved whatever this says.
    public var savesWhole = true
    public var savesCrop = false
    /// The crop over the blurred whole.
    public var savesReview = false
    /// What is burnt into photos and clips.
    public var grid = OverlayGrid.none

    public init() {}

    /// The part of the frame that is the photo: centred, as large as fits, at even pixels.
    ///
    /// - Parameters:
    ///   - width, height: of the frame as it is stored, in pixels.
    /// - Returns: stored pixels; the frame itself if nothing is to be cut.
    public func whole(width: Int, height: Int, orientation: Orientation) -> PixelRect {
        let all = PixelRect(x: 0, y: 0, width: width, height: height)
        guard width >= 2, height >= 2, let (across, down) = shape(width, height, orientation) else { return all }
        // Width over height in stored pixels; a whole pixel's thousandth is rounding of the guide's fractions.
        let ratio = orientation.isSideways ? down / across : across / down
        func even(_ value: Double) -> Int { max(2, Int((value / 2 + 0.0005).rounded(.down)) * 2) }
        var rect = all
        if Double(width) > ratio * Double(height) {
            rect.height = height / 2 * 2
            rect.width = min(even(ratio * Double(rect.height)), width / 2 * 2)
        } else {
            rect.width = width / 2 * 2
            rect.height = min(even(Double(rect.width) / ratio), height / 2 * 2)
        }
        rect.x = (width - rect.width) / 4 * 2
        rect.y = (height - rect.height) / 4 * 2
        return rect
    }

    /// Width and height of the wanted shape as the viewer sees it; `nil`: the frame's own.
    private func shape(_ width: Int, _ height: Int, _ orientation: Orientation) -> (Double, Double)? {
        switch aspect {
        case .sensor: return nil
        case .wide: return (16, 9)
        case .classic: return (4, 3)
        case .square: return (1, 1)
        case .guide:
            guard let guide else { return nil }
            let (across, down) = orientation.isSideways ? (height, width) : (width, height)
            return (guide.width * Double(across), guide.height * Double(down))
        }
    }

    /// The guide in stored pixels of the frame, rounded inward to even numbers; `nil`: none, or less than 2 × 2 pixels.
    public func crop(width: Int, height: Int, orientation: Orientation) -> PixelRect? {
        guard let guide else { return nil }
        return PictureMapping.pixels(of: guide, orientation: orientation, width: width, height: height)
    }

    /// The radius of a crop's corners in pixels.
    public func radius(of crop: PixelRect) -> Int {
        Int((cornerRadius * Double(min(crop.width, crop.height))).rounded())
    }

    /// What is drawn into a frame of this size, of which `picture` is kept.
    ///
    /// - Parameters:
    ///   - picture: the part whose thirds count, in stored pixels of the frame.
    public func overlay(width: Int, height: Int, picture: PixelRect, orientation: Orientation) -> Overlay? {
        // The frame's, so that a photo's files all have the same.
        let stroke = Overlay.stroke(of: PixelRect(x: 0, y: 0, width: width, height: height))
        switch grid {
        case .none: return nil
        case .thirds: return .thirds(picture, stroke: stroke)
        case .guide:
            guard let crop = crop(width: width, height: height, orientation: orientation) else { return nil }
            return .border(crop, radius: radius(of: crop), stroke: stroke)
        }
    }

    /// What is drawn into a clip's picture of this size, which shows a part of the frame that photos are made of.
    ///
    /// - Parameter part: fractions of the stored frame. A guide beyond it is drawn as far as it is seen.
    public func clipOverlay(width: Int, height: Int, part: UnitRect, orientation: Orientation) -> Overlay? {
        let picture = PixelRect(x: 0, y: 0, width: width, height: height)
        guard grid == .guide else {
            return overlay(width: width, height: height, picture: picture, orientation: orientation)
        }
        guard let guide, part.width > 0, part.height > 0 else { return nil }
        let stored = orientation.stored(guide)
        func across(_ value: Double) -> Int { Int(((value - part.x) / part.width * Double(width)).rounded()) }
        func down(_ value: Double) -> Int { Int(((value - part.y) / part.height * Double(height)).rounded()) }
        let (left, top) = (across(stored.x), down(stored.y))
        let rect = PixelRect(
            x: left, y: top, width: across(stored.x + stored.width) - left, height: down(stored.y + stored.height) - top
        )
        guard rect.width > 0, rect.height > 0 else { return nil }
        return .border(rect, radius: radius(of: rect), stroke: Overlay.stroke(of: picture))
    }
}

/// Lines over a picture, in pixels of the frame as it is stored. Each line is three strokes wide: dark, light, dark, so that it
/// shows on any scene.
public enum Overlay: Hashable, Sendable {
    /// Two lines each way that part this rectangle into nine.
    case thirds(PixelRect, stroke: Int)
    /// Around a rectangle, wholly outside of it: what is cut out along it stays clean.
    case border(PixelRect, radius: Int, stroke: Int)

    /// Width of a stroke: two pixels at 1080p, in proportion otherwise, one at least.
    public static func stroke(of picture: PixelRect) -> Int {
        max(1, (min(picture.width, picture.height) + 270) / 540)
    }
}
