import FieldcamCore
import FieldcamPorts
import Glibc
import Synchronization

/// A media store in memory: what was saved can be looked at; clips' files are anonymous.
public final class MemoryStore: MediaStore {
    private struct State {
        var next = 1
        var photos: [(number: MediaNumber, bytes: [UInt8])] = []
        var extras: [(number: MediaNumber, kind: MediaName.Kind, bytes: [UInt8])] = []
        var clips: [(number: MediaNumber, bytes: [UInt8])] = []
        var openClips = 0
        var failure: HardwareError?
        var headroom: Int64 = 1 << 40
    }
    private let state = Mutex(State())

    public init() {}

    /// Every call fails so from now on; nil: they work again.
    public func fail(_ error: HardwareError?) { state.withLock { $0.failure = error } }
    public func setHeadroom(_ bytes: Int64) { state.withLock { $0.headroom = bytes } }

    public var photos: [(number: MediaNumber, bytes: [UInt8])] { state.withLock { $0.photos } }
    /// Crops and reviews, in the order in which they came.
    public var extras: [(number: MediaNumber, kind: MediaName.Kind, bytes: [UInt8])] { state.withLock { $0.extras } }
    public var clips: [(number: MediaNumber, bytes: [UInt8])] { state.withLock { $0.clips } }
    /// Clips that were begun and neither published nor discarded: what would lie in `.partial`.
    public var openClips: Int { state.withLock { $0.openClips } }
    public func forget() {
        state.withLock {
            $0.photos.removeAll()
            $0.extras.removeAll()
            $0.clips.removeAll()
        }
    }

    public func recover() throws(HardwareError) -> [Leftover] { [] }

    public func reserveNumbers(_ count: Int) throws(HardwareError) -> (next: MediaNumber, limit: MediaNumber) {
        try check()
        return state.withLock { state in
            let next = state.next
            state.next += count
            return (MediaNumber(next), MediaNumber(state.next))
        }
    }

    public func savePhoto(_ number: MediaNumber, taken: WallTime, parts: [PhotoPart]) throws(HardwareError)
        -> [SavedFile]
    {
        try check()
        return parts.map { part in
            let bytes = Array(part.bytes)
            let kind = part.kind
            state.withLock {
                if kind == .photo { $0.photos.append((number, bytes)) } else { $0.extras.append((number, kind, bytes)) }
            }
            return SavedFile(path: "memory/\(MediaName.file(kind, number))", byteCount: bytes.count)
        }
    }

    public func beginClip(_ number: MediaNumber, taken: WallTime, source: Source?) throws(HardwareError) -> PartialClip
    {
        try check()
        var template = Array("/tmp/fieldcam-clip-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw .errno(errno, "make a file without a name") }
        unlink(template)
        state.withLock { $0.openClips += 1 }
        return PartialClip(
            number: number, descriptor: descriptor, path: "memory/.partial/VID_\(number.value).mp4", folder: "")
    }

    public func publish(_ clip: PartialClip) throws(HardwareError) -> SavedFile {
        try check()
        let size = Int(lseek(clip.descriptor, 0, SEEK_END))
        var bytes = [UInt8](repeating: 0, count: size)
        _ = bytes.withUnsafeMutableBytes { pread(clip.descriptor, $0.baseAddress, size, 0) }
        close(clip.descriptor)
        state.withLock {
            $0.clips.append((clip.number, bytes))
            $0.openClips -= 1
        }
        return SavedFile(path: "memory/VID_\(clip.number.value).mp4", byteCount: size)
    }

    public func discard(_ clip: PartialClip) {
        close(clip.descriptor)
        state.withLock { $0.openClips -= 1 }
    }

    public func headroom() throws(HardwareError) -> Int64 {
        state.withLock { $0.headroom }
    }

    private func check() throws(HardwareError) {
        let failure = state.withLock { $0.failure }
        if let failure { throw failure }
    }
}
