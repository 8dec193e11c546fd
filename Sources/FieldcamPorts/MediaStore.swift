import FieldcamCore

/// A file that is durable under its final name.
public struct SavedFile: Hashable, Sendable {
    public var path: String
    public var byteCount: Int
    public init(path: String, byteCount: Int) {
        self.path = path
        self.byteCount = byteCount
    }
}

/// One file of a photo, encoded.
public struct PhotoPart {
    /// `photo`, `crop` or `review`.
    public var kind: MediaName.Kind
    public var bytes: UnsafeRawBufferPointer
    public init(_ kind: MediaName.Kind, _ bytes: UnsafeRawBufferPointer) {
        self.kind = kind
        self.bytes = bytes
    }
}

/// A clip's open file in `<media>/.partial/`.
public struct PartialClip: Hashable, Sendable {
    public var number: MediaNumber
    /// Open for reading and writing; closed by `publish` or `discard`.
    public var descriptor: Int32
    public var path: String
    /// `2026-11-30` or `undated`.
    public var folder: String
    public init(number: MediaNumber, descriptor: Int32, path: String, folder: String) {
        self.number = number
        self.descriptor = descriptor
        self.path = path
        self.folder = folder
    }
}

/// What was found in `.partial` at start-up.
public struct Leftover: Hashable, Sendable {
    public enum Outcome: Hashable, Sendable {
        /// A clip with whole fragments, cut after the last one and durable under its final name.
        case recovered(SavedFile)
        /// A clip without one whole fragment; removed.
        case empty
        /// An unfinished photo; removed.
        case photoRemoved
    }
    public var number: MediaNumber
    public var outcome: Outcome
    /// Who had asked for the clip; `nil`: it isn't known.
    public var source: Source?
    public init(number: MediaNumber, outcome: Outcome, source: Source? = nil) {
        self.number = number
        self.outcome = outcome
        self.source = source
    }
}

/// Durable files (contract §8). Calls block on the disk; `fc-store` only, but for `recover` and the first `reserve`, before it runs.
public protocol MediaStore: AnyObject, Sendable {
    /// Finishes or removes what a crash left.
    func recover() throws(HardwareError) -> [Leftover]
    /// Makes the next `count` numbers usable, durably; they are never given again, also after a crash.
    func reserveNumbers(_ count: Int) throws(HardwareError) -> (next: MediaNumber, limit: MediaNumber)
    /// All of a photo's files, each kind once, under one number and in this order. Durable when it returns; if it throws no
    /// further file of the photo comes. `taken` decides the folder.
    func savePhoto(_ number: MediaNumber, taken: WallTime, parts: [PhotoPart]) throws(HardwareError) -> [SavedFile]
    /// `source` is kept with the file, for the event of a clip that is recovered; `nil`: it isn't known.
    func beginClip(_ number: MediaNumber, taken: WallTime, source: Source?) throws(HardwareError) -> PartialClip
    /// Durable under its final name when it returns.
    func publish(_ clip: PartialClip) throws(HardwareError) -> SavedFile
    func discard(_ clip: PartialClip)
    /// Publishes what is whole of a clip that nobody writes any more, by its path: the descriptor is somebody else's. `nil`: there
    /// was nothing, and it is removed.
    func salvage(_ clip: PartialClip) throws(HardwareError) -> SavedFile?
    /// Free bytes where media lie, less the reserve; negative: below the reserve.
    func headroom() throws(HardwareError) -> Int64
}

extension MediaStore {
    public func beginClip(_ number: MediaNumber, taken: WallTime) throws(HardwareError) -> PartialClip {
        try beginClip(number, taken: taken, source: nil)
    }

    public func salvage(_ clip: PartialClip) throws(HardwareError) -> SavedFile? { try publish(clip) }

    /// A photo that is one file.
    public func savePhoto(_ number: MediaNumber, taken: WallTime, bytes: UnsafeRawBufferPointer) throws(HardwareError)
        -> SavedFile
    {
        try savePhoto(number, taken: taken, parts: [PhotoPart(.photo, bytes)])[0]
    }
}
