/// Keys that the owner gave a value, be it the one that they had: from then on it counts, not what was set by hand before.
public struct GivenSettings: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `flash.mode`
    public static let flashMode = GivenSettings(rawValue: 1)
    /// `focus.mode`
    public static let focusMode = GivenSettings(rawValue: 2)
    /// `torch.mode`
    public static let torchMode = GivenSettings(rawValue: 4)
    /// `torch.level`
    public static let torchLevel = GivenSettings(rawValue: 8)

    /// Of the keys' names; others aren't set by hand.
    public init(keys: some Sequence<String>) {
        self = []
        for key in keys {
            switch key {
            case "flash.mode": insert(.flashMode)
            case "focus.mode": insert(.focusMode)
            case "torch.mode": insert(.torchMode)
            case "torch.level": insert(.torchLevel)
            default: break
            }
        }
    }
}

extension Session {
    /// What was set by hand gives way to the settings; a clip that runs follows those of its light at once.
    mutating func follow(_ given: GivenSettings, into effects: inout Effects) {
        if given.contains(.flashMode) { flashByHand = nil }
        if given.contains(.focusMode) {
            for index in optics.indices where index != active.index { optics[index].forgetManualFocus() }
            optics[active.index].followFocusMode(settings.optics, into: &effects)
        }
        followTorch(given, into: &effects)
        advanceFlash(into: &effects)
        dispatchShots(into: &effects)
    }

    private mutating func followTorch(_ given: GivenSettings, into effects: inout Effects) {
        guard given.contains(.torchMode) || given.contains(.torchLevel) else { return }
        let clip = recordingClip.flatMap { clipIndex($0) }
        if given.contains(.torchLevel), let clip { clips[clip].torch?.level = nil }
        guard given.contains(.torchMode) else {
            if case .clip(let number)? = lease?.owner { lightClip(number, into: &effects) }
            return
        }
        if let clip { clips[clip].torch = nil }
        if settings.light.torch == .auto, case .clip(let number)? = lease?.owner {
            // Whether the scene is dim can't be seen while it is lit: what was decided stays.
            handTorch = nil
            return lightClip(number, into: &effects)
        }
        let isLit = lease?.isTorch == true
        handTorch = nil
        if let clip { clips[clip].torchIsDecided = false }
        if !considerTorch(into: &effects), isLit { endLight(into: &effects) }
    }
}
