/// The frame that is to become a shot's picture: the one whose middle of exposure lies nearest the press (contract §5.2).
struct Candidate: Sendable {
    var press: Instant
    /// The nearest so far, pinned on the shelf under this order.
    private(set) var frame: Frame?
    private(set) var order: UInt64 = 0
    /// A frame with its middle at or after the press was seen: no later one can be nearer.
    private(set) var isResolved = false

    init(press: Instant) {
        self.press = press
    }

    /// Looks at the next frame in order of time and keeps it if it is nearer than the one before.
    mutating func consider(_ held: FrameShelf.Held, on shelf: inout FrameShelf, into effects: inout Effects) {
        guard !isResolved else { return }
        let middle = held.frame.middle
        isResolved = middle >= press
        if let frame, distance(frame.middle) <= distance(middle) { return }
        shelf.pin(held.order)
        if frame != nil { shelf.unpin(order, into: &effects) }
        frame = held.frame
        order = held.order
    }

    /// No further frame is waited for.
    mutating func settle() {
        isResolved = true
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
