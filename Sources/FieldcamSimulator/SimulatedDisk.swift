import FieldcamCore
import FieldcamPorts
import Glibc

/// A media store whose disk fills at the world's word: everything else is the store underneath.
public final class SimulatedDisk: MediaStore {
    private let world: SimulatedWorld
    private let store: any MediaStore

    public init(world: SimulatedWorld, store: any MediaStore) {
        self.world = world
        self.store = store
    }

    public func recover() throws(HardwareError) -> [Leftover] { try store.recover() }

    public func reserveNumbers(_ count: Int) throws(HardwareError) -> (next: MediaNumber, limit: MediaNumber) {
        try store.reserveNumbers(count)
    }

    public func savePhoto(_ number: MediaNumber, taken: WallTime, parts: [PhotoPart]) throws(HardwareError)
        -> [SavedFile]
    {
        try checkRoom("save photo \(number.value)")
        return try store.savePhoto(number, taken: taken, parts: parts)
    }

    public func beginClip(_ number: MediaNumber, taken: WallTime, source: Source?) throws(HardwareError) -> PartialClip
    {
        try checkRoom("begin clip \(number.value)")
        return try store.beginClip(number, taken: taken, source: source)
    }

    /// A clip that is written already needs no further room.
    public func publish(_ clip: PartialClip) throws(HardwareError) -> SavedFile { try store.publish(clip) }

    public func salvage(_ clip: PartialClip) throws(HardwareError) -> SavedFile? { try store.salvage(clip) }

    public func discard(_ clip: PartialClip) { store.discard(clip) }

    public func headroom() throws(HardwareError) -> Int64 {
        let room = try store.headroom()
        return world.diskIsFull ? min(room, -1) : room
    }

    private func checkRoom(_ operation: String) throws(HardwareError) {
        if world.diskIsFull {
            throw HardwareError(
                .full, operation, code: ENOSPC,
                detail: "the simulated disk is full: POST /v1/simulator {\"disk_full\": false} empties it")
        }
    }
}
