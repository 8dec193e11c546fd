/// The numbers that may be used: reserved in blocks by the shell, durably, before they are given.
struct NumberSupply: Sendable {
    /// Fewer left than this: more are asked for.
    static let lowWater = 32

    private var next = 1
    private var limit = 1
    /// A block that doesn't follow the current one directly.
    private var following: Range<Int>?
    private var isAsked = false

    var left: Int { max(0, limit - next) + (following?.count ?? 0) }

    mutating func add(next first: MediaNumber, limit last: MediaNumber) {
        isAsked = false
        guard first.value < last.value else { return }
        if next >= limit {
            // Counted on without a reservation: those numbers are spent too.
            next = max(next, first.value)
            limit = max(last.value, next)
        } else if first.value <= limit {
            limit = max(limit, last.value)
        } else {
            following =
                following.map { min($0.lowerBound, first.value)..<max($0.upperBound, last.value) }
                ?? first.value..<last.value
        }
    }

    /// The next number. Not reserved: the counter goes on, but nothing may be stored under it.
    mutating func take() -> (number: MediaNumber, isReserved: Bool) {
        if next >= limit, let block = following {
            next = max(next, block.lowerBound)
            limit = max(block.upperBound, next)
            following = nil
        }
        let isReserved = next < limit
        defer { next += 1 }
        return (MediaNumber(next), isReserved)
    }

    /// Whether more must be asked for now; `true` once for each answer.
    mutating func needsReservation() -> Bool {
        guard !isAsked, left < Self.lowWater else { return false }
        isAsked = true
        return true
    }

    /// The answer won't come: ask again at the next need.
    mutating func forgetRequest() {
        isAsked = false
    }
}
