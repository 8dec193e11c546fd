/// Every frame that the shell holds for Core: the ring of the latest ones, and those that somebody pinned.
///
/// A frame leaves the shelf, with one `Effect.dropFrame`, when it is neither in the ring nor pinned.
struct FrameShelf: Sendable {
    struct Held: Sendable {
        /// Rises from frame to frame.
        let order: UInt64
        let frame: Frame
        fileprivate(set) var pins = 0
        fileprivate(set) var isInRing = true
    }

    /// In order of arrival, which is the order of time.
    private(set) var held: [Held] = []
    private(set) var ringCount = 0
    private var nextOrder: UInt64 = 1

    init(capacity: Int) {
        held.reserveCapacity(capacity)
    }

    mutating func add(_ frame: Frame) -> Held {
        let entry = Held(order: nextOrder, frame: frame)
        nextOrder += 1
        held.append(entry)
        ringCount += 1
        return entry
    }

    func contains(_ ref: FrameRef) -> Bool {
        held.contains { $0.frame.ref == ref }
    }

    /// The place of a frame; it must be on the shelf.
    private func index(_ order: UInt64) -> Int {
        guard let index = held.firstIndex(where: { $0.order == order }) else {
            preconditionFailure("a frame was pinned or unpinned after it was dropped")
        }
        return index
    }

    func pins(_ order: UInt64) -> (count: Int, isInRing: Bool) {
        let entry = held[index(order)]
        return (entry.pins, entry.isInRing)
    }

    /// The oldest frame of a camera after `order`, up to and with `last`.
    func first(of camera: CameraID, after order: UInt64, through last: UInt64) -> Held? {
        held.first { $0.order > order && $0.order <= last && $0.frame.ref.camera == camera.index }
    }

    mutating func pin(_ order: UInt64) {
        held[index(order)].pins += 1
    }

    mutating func unpin(_ order: UInt64, into effects: inout Effects) {
        let index = index(order)
        held[index].pins -= 1
        dropIfFree(index, into: &effects)
    }

    /// Takes the oldest frames out of the ring until at most `count` are left in it.
    mutating func trimRing(to count: Int, into effects: inout Effects) {
        var index = 0
        while ringCount > count, index < held.count {
            guard held[index].isInRing else {
                index += 1
                continue
            }
            held[index].isInRing = false
            ringCount -= 1
            if !dropIfFree(index, into: &effects) { index += 1 }
        }
    }

    @discardableResult
    private mutating func dropIfFree(_ index: Int, into effects: inout Effects) -> Bool {
        guard held[index].pins == 0, !held[index].isInRing else { return false }
        effects.append(.dropFrame(held[index].frame.ref))
        held.remove(at: index)
        return true
    }
}
