/// A button of the board, by its place in the board profile (0 …).
public struct ButtonID: Hashable, Sendable {
    public var index: Int
    public init(_ index: Int) { self.index = index }
}

/// Names a clip inside this run from its press on, before it has a number.
public struct ClipKey: Hashable, Sendable {
    public var value: UInt32
    public init(_ value: UInt32) { self.value = value }
}

/// The number of a shot or clip: taken at commit from the one counter, never reused (contract §8).
public struct MediaNumber: Hashable, Comparable, Sendable {
    public var value: Int
    public init(_ value: Int) { self.value = value }
    public static func < (left: MediaNumber, right: MediaNumber) -> Bool { left.value < right.value }
}

/// Names a request of a client, so that its answer finds it.
public struct RequestToken: Hashable, Sendable {
    public var value: UInt64
    public init(_ value: UInt64) { self.value = value }
}

/// Who asked for a shot or a clip (contract §6).
public enum Source: UInt8, Hashable, Sendable, CaseIterable {
    case button
    case api
    case cli
    case interval
    case trigger
}

/// Why a recording stopped (contract §6).
public enum StopReason: String, Hashable, Sendable, CaseIterable {
    case released
    case maximumDuration = "maximum_duration"
    case command
    case button
    case lineLost = "line_lost"
    case storageLow = "storage_low"
    case cameraLost = "camera_lost"
    case encoderLost = "encoder_lost"
    case cameraSwitch = "camera_switch"
    case shutdown
    case error
}

/// Why a shot or clip failed (contract §6).
public enum FailureReason: String, Hashable, Sendable, CaseIterable {
    case cameraAbsent = "camera_absent"
    case cameraBusy = "camera_busy"
    case cameraDenied = "camera_denied"
    case cameraLost = "camera_lost"
    case cameraReleased = "camera_released"
    case storageLow = "storage_low"
    case storageUnwritable = "storage_unwritable"
    case focusTimeout = "focus_timeout"
    case encoderLost = "encoder_lost"
    case `internal` = "internal"
}

/// Why the state forbids what was asked (contract §6).
public enum RejectionReason: String, Hashable, Sendable, CaseIterable {
    case alreadyRecording = "already_recording"
    case notRecording = "not_recording"
    case queueFull = "queue_full"
    case buttonDisabled = "button_disabled"
    case recording
    case switching
    case outOfRange = "out_of_range"
    /// The camera gives no pictures now: it starts, stands by, was released or is down.
    case cameraOff = "camera_off"
    case unsupported
}

/// The state of the active camera as Core knows it.
public enum CameraState: Hashable, Sendable {
    /// Being opened or configured; frames are expected.
    case starting
    /// Frames come.
    case up
    /// Not usable, and why; the shell keeps trying.
    case down(FailureReason)
    /// Stopped but kept: a press wakes it.
    case standby
    /// Given up on purpose, or never started (`autostart = false`).
    case released
}

/// Why nothing can be stored now.
public enum StorageState: Hashable, Sendable {
    case ready
    /// Free space is at or below `storage.reserve`.
    case low
    case unwritable
}
