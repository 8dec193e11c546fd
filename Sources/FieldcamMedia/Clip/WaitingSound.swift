/// Pieces of interleaved sound in order of time, in memory that is allocated once; when it is full the oldest are lost.
final class WaitingSound {
    private struct Piece {
        var nanoseconds: Int64
        /// Samples of each channel.
        var count: Int
    }

    private let channels: Int
    private let rate: Int
    private let samples: UnsafeMutablePointer<Int16>
    private let capacity: Int
    private var first = 0
    private var held = 0
    private var pieces: [Piece] = []
    private static let pieceLimit = 4096

    /// - Parameters:
    ///   - rate: samples a second of each channel.
    ///   - capacity: samples of each channel.
    init(channels: Int, rate: Int, capacity: Int) {
        self.channels = channels
        self.rate = rate
        self.capacity = capacity * channels
        samples = .allocate(capacity: capacity * channels)
        pieces.reserveCapacity(Self.pieceLimit)
    }

    deinit { samples.deallocate() }

    func append(_ sound: UnsafeBufferPointer<Int16>, at nanoseconds: Int64) {
        var sound = sound
        var nanoseconds = nanoseconds
        if sound.count > capacity {
            let surplus = (sound.count - capacity + channels - 1) / channels
            nanoseconds += span(of: surplus)
            sound = UnsafeBufferPointer(rebasing: sound[(surplus * channels)...])
        }
        let count = sound.count / channels
        guard count > 0 else { return }
        while held + count * channels > capacity || pieces.count == Self.pieceLimit {
            removeFirst(pieces[0].count)
        }
        if first + held + count * channels > capacity {
            samples.update(from: samples + first, count: held)
            first = 0
        }
        (samples + first + held).update(from: sound.baseAddress!, count: count * channels)
        held += count * channels
        pieces.append(Piece(nanoseconds: nanoseconds, count: count))
    }

    /// The first piece, as far as it lies before this time (`nil`: whole); valid until the next change.
    func next(until nanoseconds: Int64?) -> (samples: UnsafePointer<Int16>, count: Int, nanoseconds: Int64)? {
        guard let piece = pieces.first else { return nil }
        var count = piece.count
        if let nanoseconds {
            guard piece.nanoseconds < nanoseconds else { return nil }
            let distance = nanoseconds - piece.nanoseconds
            // What waits is seconds long: beyond a minute there is no need to multiply, and nothing can overflow.
            if distance < 60_000_000_000 { count = min(count, Int(distance * Int64(rate) / 1_000_000_000)) }
        }
        guard count > 0 else { return nil }
        return (UnsafePointer(samples + first), count, piece.nanoseconds)
    }

    /// Removes samples of each channel from the first piece.
    func removeFirst(_ count: Int) {
        first += count * channels
        held -= count * channels
        pieces[0].count -= count
        pieces[0].nanoseconds += span(of: count)
        if pieces[0].count == 0 { pieces.removeFirst() }
        if held == 0 { first = 0 }
    }

    private func span(of count: Int) -> Int64 {
        Int64(count) * 1_000_000_000 / Int64(rate)
    }
}
