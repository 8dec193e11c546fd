import FieldcamCore
import Synchronization

/// Memory for sound on its way from `fc-audio` to `fc-video`: a fixed number of blocks, given back by themselves.
final class SoundPool: @unchecked Sendable {
    // Proof of Sendable: a block's memory belongs to the one `SoundBlock` that was made for it; the mask is atomic.
    /// Numbers of a block, all channels together: 21 ms of stereo at 48 kHz.
    static let blockValues = 2048
    static let blocks = 64

    private let memory: UnsafeMutablePointer<Int16>
    private let taken = Atomic<UInt64>(0)

    init() {
        memory = .allocate(capacity: Self.blockValues * Self.blocks)
        memory.initialize(repeating: 0, count: Self.blockValues * Self.blocks)
    }

    deinit { memory.deallocate() }

    /// A free block; `nil`: all are under way, so the encoder is more than a second behind.
    func take() -> SoundBlock? {
        var mask = taken.load(ordering: .relaxed)
        while mask != .max {
            let index = (~mask).trailingZeroBitCount
            let (exchanged, original) = taken.compareExchange(
                expected: mask, desired: mask | 1 << UInt64(index), ordering: .acquiring)
            if exchanged { return SoundBlock(pool: self, index: index) }
            mask = original
        }
        return nil
    }

    /// The same sound again, for a second clip.
    func copy(of block: borrowing SoundBlock) -> SoundBlock? {
        guard var copy = take() else { return nil }
        copy.count = block.count
        copy.at = block.at
        copy.room.baseAddress!.update(from: block.filled.baseAddress!, count: block.count)
        return copy
    }

    fileprivate func give(_ index: Int) {
        taken.bitwiseAnd(~(1 << UInt64(index)), ordering: .releasing)
    }

    fileprivate func values(_ index: Int) -> UnsafeMutableBufferPointer<Int16> {
        UnsafeMutableBufferPointer(start: memory + index * Self.blockValues, count: Self.blockValues)
    }
}

/// One block of sound, interleaved; `count` values are filled, the first sample was taken at `at`.
struct SoundBlock: ~Copyable, Sendable {
    var count = 0
    var at = Instant(nanoseconds: 0)
    private let pool: SoundPool
    private let index: Int

    fileprivate init(pool: SoundPool, index: Int) {
        self.pool = pool
        self.index = index
    }

    deinit { pool.give(index) }

    /// All of the block's room; valid while the block lives.
    var room: UnsafeMutableBufferPointer<Int16> { pool.values(index) }
    /// What was filled; valid while the block lives.
    var filled: UnsafeBufferPointer<Int16> { UnsafeBufferPointer(rebasing: pool.values(index)[..<count]) }
}
