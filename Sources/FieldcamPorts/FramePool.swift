import FieldcamCore
import FieldcamLinux
import Glibc
import Synchronization

/// The frame slots of one camera configuration: where their images lie and how many holds each has.
///
/// A slot holds one or two images: `still` (photos) and `video` (clips, preview); with one stream both are the same image.
/// Holds are counted atomically, so that any thread may let go. A slot without holds is *free*: the camera may fill it.
public final class FramePool: @unchecked Sendable {
    // Proof of Sendable: layouts and addresses never change after init; counts and the free mask are atomics. The memory
    // of a slot is written by the camera only while the slot has no hold.
    public static let maximumSlots = 64

    public let slots: Int
    public let still: ImageLayout
    public let video: ImageLayout
    /// Signalled when a slot became free through a thread other than the director's.
    public let freed: EventFD

    private let stillBases: UnsafeMutablePointer<UnsafeMutableRawPointer>
    private let videoBases: UnsafeMutablePointer<UnsafeMutableRawPointer>
    private let holds: UnsafeMutablePointer<Atomic<Int>>
    private let freeMask = Atomic<UInt64>(0)
    private let owned: UnsafeMutableRawPointer?
    private let memory: (any AnyObject & Sendable)?
    private let ownedBytes: Int

    /// Slots in memory that somebody else owns (mapped camera buffers), at these addresses; it must outlive the pool, which
    /// keeps `memory` for that: leases may be read after the camera was configured anew or closed.
    public init(
        still: ImageLayout, video: ImageLayout, stillBases: [UnsafeMutableRawPointer],
        videoBases: [UnsafeMutableRawPointer], freed: EventFD, memory: (any AnyObject & Sendable)? = nil
    ) {
        precondition(stillBases.count == videoBases.count && stillBases.count <= Self.maximumSlots)
        self.slots = stillBases.count
        self.still = still
        self.video = video
        self.freed = freed
        self.stillBases = .allocate(capacity: slots)
        self.stillBases.initialize(from: stillBases, count: slots)
        self.videoBases = .allocate(capacity: slots)
        self.videoBases.initialize(from: videoBases, count: slots)
        holds = .allocate(capacity: slots)
        for slot in 0..<slots { (holds + slot).initialize(to: Atomic(0)) }
        owned = nil
        self.memory = memory
        ownedBytes = 0
    }

    /// Slots in memory of our own, zeroed. `video` nil: one image serves both.
    public init(slots: Int, still: ImageLayout, video: ImageLayout?, freed: EventFD) {
        precondition(slots > 0 && slots <= Self.maximumSlots)
        self.slots = slots
        self.still = still
        self.video = video ?? still
        self.freed = freed
        let page = 4096
        func rounded(_ bytes: Int) -> Int { (bytes + page - 1) / page * page }
        let stillBytes = rounded(still.byteCount)
        let slotBytes = stillBytes + (video.map { rounded($0.byteCount) } ?? 0)
        // Anonymous pages: zeroed, and resident only once a slot is used for the first time.
        let mapped = mmap(nil, slotBytes * slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory = mapped, memory != MAP_FAILED else { preconditionFailure("no memory for frame slots") }
        owned = memory
        self.memory = nil
        ownedBytes = slotBytes * slots
        stillBases = .allocate(capacity: slots)
        videoBases = .allocate(capacity: slots)
        holds = .allocate(capacity: slots)
        for slot in 0..<slots {
            let base = memory + slot * slotBytes
            (stillBases + slot).initialize(to: base)
            (videoBases + slot).initialize(to: video == nil ? base : base + stillBytes)
            (holds + slot).initialize(to: Atomic(0))
        }
    }

    deinit {
        for slot in 0..<slots { (holds + slot).deinitialize(count: 1) }
        holds.deallocate()
        stillBases.deallocate()
        videoBases.deallocate()
        if let owned { munmap(owned, ownedBytes) }
    }

    /// The first hold of a slot that the camera has just filled. Director's thread.
    public func lease(_ ref: FrameRef) -> FrameLease {
        let before = holds[ref.slot].add(1, ordering: .acquiring).oldValue
        precondition(before == 0, "a slot was filled while it was held")
        return FrameLease(pool: self, ref: ref)
    }

    /// Takes the slots that became free since the last call, as bits; each appears once. Director's thread.
    public func takeFreed() -> UInt64 {
        freeMask.load(ordering: .relaxed) == 0 ? 0 : freeMask.exchange(0, ordering: .acquiring)
    }

    /// How many holds a slot has now: for checks and status.
    public func holds(of slot: Int) -> Int {
        holds[slot].load(ordering: .relaxed)
    }

    /// Where the camera writes a free slot's still image.
    public func stillBase(_ slot: Int) -> UnsafeMutableRawPointer { stillBases[slot] }
    /// Where the camera writes a free slot's video image; the same address as the still image's with one stream.
    public func videoBase(_ slot: Int) -> UnsafeMutableRawPointer { videoBases[slot] }

    // Swift 6.0.3 stops in its own verifier when these two lines stand in the lease itself.
    fileprivate func stillImage(_ slot: Int) -> Image { Image(layout: still, base: stillBase(slot)) }
    fileprivate func videoImage(_ slot: Int) -> Image { Image(layout: video, base: videoBase(slot)) }

    fileprivate func retain(_ slot: Int) {
        let before = holds[slot].add(1, ordering: .relaxed).oldValue
        precondition(before > 0, "a lease was shared after its end")
    }

    fileprivate func release(_ slot: Int) {
        guard holds[slot].subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        let before = freeMask.bitwiseOr(UInt64(1) << UInt64(slot), ordering: .releasing).oldValue
        if before == 0 { freed.signal() }
    }
}

/// One hold of one frame. It gives the slot back by itself when it ends, on whatever thread that is.
public struct FrameLease: ~Copyable, Sendable {
    public let ref: FrameRef
    private let pool: FramePool

    fileprivate init(pool: FramePool, ref: FrameRef) {
        self.pool = pool
        self.ref = ref
    }

    deinit { pool.release(ref.slot) }

    /// A further hold of the same frame, for a worker.
    public func share() -> FrameLease {
        pool.retain(ref.slot)
        return FrameLease(pool: pool, ref: ref)
    }

    /// The image for photos; valid while this lease lives.
    public var still: Image { pool.stillImage(ref.slot) }
    /// The image for clips and the preview; valid while this lease lives.
    public var video: Image { pool.videoImage(ref.slot) }
}
