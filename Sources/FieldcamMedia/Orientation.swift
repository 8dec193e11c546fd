/// How a picture is turned to stand upright: first clockwise by `rotation`, then, if mirrored, left and right change sides.
struct Orientation: Hashable {
    /// 0, 90, 180 or 270 degrees.
    var rotation: Int
    var mirror: Bool

    init(rotation: Int, mirror: Bool) {
        self.rotation = ((rotation % 360) + 360) % 360 / 90 * 90
        self.mirror = mirror
    }

    /// EXIF's orientation, 1 … 8.
    var exif: UInt16 {
        switch (rotation, mirror) {
        case (90, false): 6
        case (180, false): 3
        case (270, false): 8
        case (90, true): 5
        case (180, true): 4
        case (270, true): 7
        case (_, true): 2
        default: 1
        }
    }

    /// The track matrix of ISO 14496-12 for pictures of this size: 16.16 fixed point, its last column 2.30.
    func matrix(width: Int, height: Int) -> [Int32] {
        let one: Int32 = 1 << 16
        let (w, h) = (Int32(width) << 16, Int32(height) << 16)
        // x' = a·x + c·y + tx, y' = b·x + d·y + ty, so that the turned picture lies right and below the origin again.
        var (a, b, c, d, tx, ty): (Int32, Int32, Int32, Int32, Int32, Int32)
        switch rotation {
        case 90: (a, b, c, d, tx, ty) = (0, one, -one, 0, h, 0)
        case 180: (a, b, c, d, tx, ty) = (-one, 0, 0, -one, w, h)
        case 270: (a, b, c, d, tx, ty) = (0, -one, one, 0, 0, w)
        default: (a, b, c, d, tx, ty) = (one, 0, 0, one, 0, 0)
        }
        if mirror {
            let turnedWidth = rotation % 180 == 0 ? w : h
            (a, c, tx) = (-a, -c, turnedWidth - tx)
        }
        return [a, b, 0, c, d, 0, tx, ty, 1 << 30]
    }
}
