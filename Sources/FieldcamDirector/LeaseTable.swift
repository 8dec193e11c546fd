import FieldcamCore
import FieldcamPorts

/// The director's holds: one lease for every frame that Core has been told of and not yet dropped.
struct LeaseTable: ~Copyable {
    private let entries: UnsafeMutablePointer<FrameLease?>
    private let capacity: Int
    private(set) var count = 0

    init(capacity: Int = 2 * FramePool.maximumSlots) {
        self.capacity = capacity
        entries = .allocate(capacity: capacity)
        for index in 0..<capacity { (entries + index).initialize(to: nil) }
    }

    deinit {
        entries.deinitialize(count: capacity)
        entries.deallocate()
    }

    mutating func insert(_ lease: consuming FrameLease) {
        var index = lease.ref.slot
        var tried = 0
        // Slot numbers of two pools meet only while a camera was reconfigured with frames still held.
        while isTaken(index) {
            index = (index + 1) % capacity
            tried += 1
            precondition(tried < capacity, "more frames are held than there can be slots")
        }
        entries[index] = consume lease
        count += 1
    }

    /// Ends the hold of a frame; false: it wasn't held.
    mutating func remove(_ ref: FrameRef) -> Bool {
        guard let index = find(ref) else { return false }
        entries[index] = nil
        count -= 1
        return true
    }

    /// A further hold for a worker; `nil`: the frame isn't held any more.
    func share(_ ref: FrameRef) -> FrameLease? {
        guard let index = find(ref) else { return nil }
        return entries[index]?.share()
    }

    private func isTaken(_ index: Int) -> Bool {
        switch entries[index] {
        case .some: true
        case .none: false
        }
    }

    private func find(_ ref: FrameRef) -> Int? {
        var index = ref.slot
        for _ in 0..<capacity {
            if holds(index, ref) { return index }
            index = (index + 1) % capacity
        }
        return nil
    }

    private func holds(_ index: Int, _ ref: FrameRef) -> Bool {
        switch entries[index] {
        case .some(let lease): lease.ref == ref
        case .none: false
        }
    }
}
