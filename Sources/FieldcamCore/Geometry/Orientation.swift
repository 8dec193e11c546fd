/// How a camera's stored picture becomes upright: turned clockwise by 0, 90, 180 or 270 degrees, then mirrored left to
/// right. The eight of them are EXIF's eight.
public struct Orientation: Hashable, Sendable {
    /// 0, 90, 180, 270.
    public var rotation: Int
    public var mirror: Bool

    public init(rotation: Int, mirror: Bool) {
        self.rotation = ((rotation % 360) + 360) % 360 / 90 * 90
        self.mirror = mirror
    }

    public static let upright = Orientation(rotation: 0, mirror: false)
    public static let all = [0, 90, 180, 270].flatMap { rotation in
        [false, true].map { Orientation(rotation: rotation, mirror: $0) }
    }

    /// Whether width and height change places.
    public var isSideways: Bool { rotation == 90 || rotation == 270 }

    /// Where a point of the upright picture lies in the stored one.
    public func stored(_ point: UnitPoint) -> UnitPoint {
        let x = mirror ? 1 - point.x : point.x
        switch rotation {
        case 90: return UnitPoint(x: point.y, y: 1 - x)
        case 180: return UnitPoint(x: 1 - x, y: 1 - point.y)
        case 270: return UnitPoint(x: 1 - point.y, y: x)
        default: return UnitPoint(x: x, y: point.y)
        }
    }

    /// Where a point of the stored picture lies in the upright one.
    public func upright(_ point: UnitPoint) -> UnitPoint {
        let turned: UnitPoint
        switch rotation {
        case 90: turned = UnitPoint(x: 1 - point.y, y: point.x)
        case 180: turned = UnitPoint(x: 1 - point.x, y: 1 - point.y)
        case 270: turned = UnitPoint(x: point.y, y: 1 - point.x)
        default: turned = point
        }
        return mirror ? UnitPoint(x: 1 - turned.x, y: turned.y) : turned
    }

    /// Where a part of the upright picture lies in the stored one.
    public func stored(_ rect: UnitRect) -> UnitRect {
        UnitRect(
            corner: stored(UnitPoint(x: rect.x, y: rect.y)),
            opposite: stored(UnitPoint(x: rect.x + rect.width, y: rect.y + rect.height)))
    }

    /// Where a part of the stored picture lies in the upright one.
    public func upright(_ rect: UnitRect) -> UnitRect {
        UnitRect(
            corner: upright(UnitPoint(x: rect.x, y: rect.y)),
            opposite: upright(UnitPoint(x: rect.x + rect.width, y: rect.y + rect.height)))
    }
}

extension UnitRect {
    /// The rectangle between two opposite corners, whichever they are.
    public init(corner: UnitPoint, opposite: UnitPoint) {
        self.init(
            x: min(corner.x, opposite.x), y: min(corner.y, opposite.y), width: abs(corner.x - opposite.x),
            height: abs(corner.y - opposite.y))
    }

    /// A point, or a part, given in this rectangle's own fractions, in those of what the rectangle lies in.
    public func outer(_ point: UnitPoint) -> UnitPoint {
        UnitPoint(x: x + point.x * width, y: y + point.y * height)
    }
    public func outer(_ rect: UnitRect) -> UnitRect {
        UnitRect(x: x + rect.x * width, y: y + rect.y * height, width: rect.width * width, height: rect.height * height)
    }

    /// Moved, not cut, so that it lies in the whole.
    public var movedInside: UnitRect {
        var rect = self
        rect.width = min(rect.width, 1)
        rect.height = min(rect.height, 1)
        rect.x = min(max(rect.x, 0), 1 - rect.width)
        rect.y = min(max(rect.y, 0), 1 - rect.height)
        return rect
    }
}
