/// A part of a picture as fractions of its width and height, from its top left.
public struct UnitRect: Hashable, Sendable {
    public var x: Double
    public var y: Double
    public var width: Double
    public var height: Double
    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
    public static let whole = UnitRect(x: 0, y: 0, width: 1, height: 1)
    /// Whether it has an area and lies in the picture; false for NaN.
    public var isInside: Bool {
        x >= 0 && y >= 0 && width > 0 && height > 0 && x + width <= 1 + 1e-9 && y + height <= 1 + 1e-9
    }
}
