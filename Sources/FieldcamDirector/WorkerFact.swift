import FieldcamCore
import FieldcamPorts

/// What a worker reports to the director. Facts of Core with the details that only the shell needs.
enum WorkerFact: Sendable {
    case camera(CameraID, CameraAnswer)
    /// What the memory allows of the request that is configured next; `nil`: there is no limit.
    case memoryPlanned(CameraID, MemoryStep?)

    case shotSaved(MediaNumber, PhotoFiles)
    case shotFailed(MediaNumber, HardwareError, during: ShotStage)

    case clipWriterOpened(ClipKey, encoder: String)
    case clipSaved(ClipKey, ClipOutcome)
    case clipEmpty(ClipKey)
    case clipFailed(ClipKey, FailureReason, HardwareError, partialPath: String?)
    case encoderLost(ClipKey, HardwareError)

    case numbersReserved(next: MediaNumber, limit: MediaNumber)
    case headroom(Int64)
    case storageFailed(HardwareError)

    case sound(SoundState)
}

/// What became of an order to a camera's thread; one answer to each order.
enum CameraAnswer: Sendable {
    case started(CameraMode)
    case failed(HardwareError)
    /// In the mode that reads the whole sensor, for shots.
    case sensorStarted(CameraMode)
    case sensorFailed(HardwareError)
    case stopped
}

enum ShotStage: Sendable {
    case encoding
    case storing
}

/// The files of a shot, for `photo.saved`.
struct PhotoFiles: Sendable {
    /// The whole, or the crop where that alone is kept; size in pixels as stored.
    var main: SavedFile
    var width: Int
    var height: Int
    var crop: SavedFile?
    var review: SavedFile?
}

/// What became of a clip, for `clip.saved`.
struct ClipOutcome: Sendable {
    var file: SavedFile
    var facts: ClipFacts
    var dropped: Int
    var sound: SoundReport
}

/// How the sound of a clip fared (contract §6: `audio`, `audio_reason`).
struct SoundReport: Sendable, Hashable {
    enum State: String, Sendable {
        case ok
        case missing
        case interrupted
    }
    var state = State.ok
    var reason = ""
}

/// What the microphone is doing, for the status.
enum SoundState: Sendable, Hashable {
    case closed
    case open
    case missing(HardwareError)
}
