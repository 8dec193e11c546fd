/// A point of a picture as fractions of its width and height, from its top left. Which picture, the holder says.
public struct UnitPoint: Hashable, Sendable {
    public var x: Double
    public var y: Double
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
    /// Whether it lies in the picture; false for NaN.
    public var isInside: Bool { x >= 0 && x <= 1 && y >= 0 && y <= 1 }
}
