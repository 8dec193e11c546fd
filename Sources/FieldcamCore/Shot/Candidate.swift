/// The frame that is to become a shot's picture: the one whose middle of exposure lies nearest the press (contract §5.2).
struct Candidate: Sendable {
    var press: Instant
    /// The camera whose frames count.
    var camera: CameraID
    /// Out of standby: the first frame with settled exposure is wanted, not the nearest (contract §5.10).
    var needsConvergence: Bool
    private var convergence = Convergence()
    /// The nearest so far, pinned on the shelf under this order.
    private(set) var frame: Frame?
    private(set) var order: UInt64 = 0
    /// A frame with its middle at or after the press was seen: no later one can be nearer.
    private(set) var isResolved = false

    init(press: Instant, camera: CameraID, needsConvergence: Bool = false) {
        self.press = press
        self.camera = camera
        self.needsConvergence = needsConvergence
    }

    /// Looks at the next frame in order of time and keeps it if it is nearer than the one before.
    mutating func consider(_ held: FrameShelf.Held, on shelf: inout FrameShelf, into effects: inout Effects) {
        guard !isResolved, held.frame.ref.camera == camera.index else { return }
        let middle = held.frame.middle
        if needsConvergence {
            let isSettled = convergence.take(held.frame)
            guard middle >= press else { return }
            isResolved = isSettled
            exchange(for: held, on: &shelf, into: &effects)
            return
        }
        isResolved = middle >= press
        if let frame, distance(frame.middle) <= distance(middle) { return }
        shelf.pin(held.order)
        if frame != nil { shelf.unpin(order, into: &effects) }
        frame = held.frame
        order = held.order
    }

    /// No better frame is waited for, if there is one.
    mutating func settle() {
        isResolved = frame != nil
    }

    /// Takes another held frame instead, because memory forbids to keep this one.
    mutating func exchange(for held: FrameShelf.Held, on shelf: inout FrameShelf, into effects: inout Effects) {
        shelf.pin(held.order)
        if frame != nil { shelf.unpin(order, into: &effects) }
        frame = held.frame
        order = held.order
    }

    /// Gives the frame up.
    mutating func release(on shelf: inout FrameShelf, into effects: inout Effects) {
        if frame != nil { shelf.unpin(order, into: &effects) }
        frame = nil
    }

    func distance(_ middle: Instant) -> Int64 {
        abs(middle.nanoseconds - press.nanoseconds)
    }
}
