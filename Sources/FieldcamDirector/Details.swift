import FieldcamCore
import FieldcamPorts

/// What the shell knows of a clip beside Core: for its events.
struct ClipDetails {
    let key: ClipKey
    let press: Instant
    var number: MediaNumber?
    var encoder: String
    /// Whether the clip's thread knows the picture's layout.
    var hasPlan: Bool
    var dropped = 0
    var outcome: ClipOutcome?
    var partialPath: String?
    /// When the end was ordered.
    var finishing: Instant?
}

/// What the shell knows of a shot beside Core: for its events.
struct ShotDetails {
    let number: MediaNumber
    var files: PhotoFiles?
    /// Frames that it was merged of.
    var frames = 1
}
