/// Whether a camera that was just started gives pictures that are exposed as they should be.
struct Convergence: Sendable {
    private var frames = 0
    private var first: Instant?
    private(set) var isOver: Bool

    init(isOver: Bool = false) {
        self.isOver = isOver
    }

    /// Looks at the next frame. Where automatic exposure isn't reported: 10 frames or 1 s (contract §5.10); where it is
    /// and never settles, as with a flickering lamp: 2 s.
    mutating func take(_ frame: Frame) -> Bool {
        frames += 1
        let since = frame.exposureStart - (first ?? frame.exposureStart)
        first = first ?? frame.exposureStart
        switch frame.exposureSettled {
        case true?: isOver = true
        case false?: isOver = isOver || since >= .seconds(2)
        case nil: isOver = isOver || frames >= 10 || since >= .seconds(1)
        }
        return isOver
    }
}
