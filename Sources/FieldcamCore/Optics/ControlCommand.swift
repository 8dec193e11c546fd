/// The camera of the board, by its place in the profile (0 …).
public struct CameraID: Hashable, Sendable {
    public var index: Int
    public init(_ index: Int) { self.index = index }
}

/// `flash.mode`
public enum FlashMode: String, Hashable, Sendable, CaseIterable {
    case off
    case on
    case auto
}

/// What a person or program asks of the controls, live (contract §2, §7). Answered by `Answer.effective` or `.rejected`.
public enum ControlCommand: Hashable, Sendable {
    /// Focus and expose at a point of the picture as the viewer sees it.
    case focus(UnitPoint)
    /// Back to continuous focus and plain exposure.
    case focusAutomatically
    /// Dioptres.
    case focusManually(Double)
    case zoom(Double)
    case flash(FlashMode)
    /// By hand, now, outliving a clip; level (0, 1], 0: off.
    case torch(Double)
    /// Hand the torch back to `torch.mode`.
    case torchAutomatically
    /// `nil`: the next camera.
    case switchCamera(CameraID?)
    case start
    case standby
    case release
}

/// What a control is now, for the answer to its command.
public enum Effective: Hashable, Sendable {
    case focus(UnitPoint?)
    case dioptres(Double)
    case zoom(Double)
    case flash(FlashMode)
    /// 0: off.
    case torch(Double)
    case camera(CameraID)
    case cameraState(CameraState)
}

/// How a focus attempt ended (contract §6).
public enum FocusResult: String, Hashable, Sendable {
    case focused
    case failed
    case timedOut = "timed_out"
    case unsupported
}

/// Who has the light (contract §6, `light.changed`).
public enum LightOwner: Hashable, Sendable {
    case shot(MediaNumber)
    case clip(MediaNumber)
    case hand
}

/// What the small status LED tells (contract §9).
public enum IndicatorPattern: Hashable, Sendable {
    case off
    /// Slow pulse.
    case ready
    case recording
    /// Fast blinking: the last 3 s before the maximum.
    case endingSoon
    /// One short blink, then what was before.
    case saved
    /// Two blinks, then what was before.
    case refused
    /// Three, repeating.
    case cameraDown
    /// Four, repeating.
    case disk
    /// Nothing may shine: a shot is exposed after its commit.
    case dark
}
