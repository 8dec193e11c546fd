import FieldcamCore

/// What was told of one line so far, and what the next edge adds to it: the arithmetic of loss, without hardware.
struct EdgeHistory {
    /// What an edge adds.
    enum News: Equatable {
        /// A reading told it already.
        case nothing
        /// An edge, after so many others that never came.
        case edge(lost: Int)
    }

    /// The level that was told last.
    private(set) var pressed: Bool
    /// When a level was read last: an edge from before that can tell nothing new.
    private var readAt: Instant
    /// The kernel's number of the last edge; it counts from 1 since the line is held.
    private var number: UInt32 = 0

    /// - Parameters:
    ///   - pressed: the level as it was read first.
    ///   - at: when, or later.
    init(pressed: Bool, at: Instant) {
        self.pressed = pressed
        readAt = at
    }

    /// The level was read.
    mutating func read(pressed: Bool, at: Instant) {
        self.pressed = pressed
        readAt = at
    }

    /// An edge came.
    /// - Parameter number: the kernel's; 0 where it numbers none, as libgpiod 1.
    mutating func note(pressed: Bool, at: Instant, number: UInt32) -> News {
        var lost = 0
        if number != 0 {
            lost = Int(number &- self.number &- 1)
            self.number = number
        }
        if lost == 0 && pressed == self.pressed {
            guard at > readAt else { return .nothing }
            // Two equal edges in a row: the other one between them wasn't noticed even by the kernel.
            lost = 1
        }
        self.pressed = pressed
        return .edge(lost: lost)
    }
}
