// Focus, exposure, low light and zoom of the camera that counts.
extension Session {
    /// Focus and zoom.
    mutating func takeOptics(
        _ command: ControlCommand, _ token: RequestToken?, _ source: Source, at: Instant, into effects: inout Effects
    ) {
        guard abilities[active.index] != nil, isStreaming else {
            return refuse(token, source, switching == nil ? .cameraOff : .switching, into: &effects)
        }
        let answer: Answer
        switch command {
        case .focus(let point):
            answer = optics[active.index].focus(at: point, settings.optics, now: at, into: &effects)
        case .focusAutomatically:
            answer = optics[active.index].focusAutomatically(settings.optics, into: &effects)
        case .focusManually(let dioptres):
            answer = optics[active.index].focusManually(dioptres, settings.optics, into: &effects)
        case .zoom(let factor):
            answer = optics[active.index].zoom(to: factor, settings.optics, into: &effects)
        default: return
        }
        if case .rejected(let reason) = answer { return refuse(token, source, reason, into: &effects) }
        if let token { effects.append(.answer(token, answer)) }
    }

    /// The camera that counts was configured, or counts from now on.
    mutating func adoptOptics(of camera: CameraID, into effects: inout Effects) {
        guard camera == active, let known = abilities[camera.index] else { return }
        optics[camera.index].adopt(
            known, settings.optics, frameInterval: settings.frameInterval, into: &effects)
        optics[camera.index].setRecording(recordingClip != nil, settings.optics, into: &effects)
    }

    mutating func changeOptics(to changed: SessionSettings, into effects: inout Effects) {
        if changed.frameInterval != settings.frameInterval, let known = abilities[active.index] {
            optics[active.index].adopt(known, changed.optics, frameInterval: changed.frameInterval, into: &effects)
        } else if changed.optics != settings.optics {
            optics[active.index].apply(changed.optics, into: &effects)
        }
    }

    mutating func followRecording(into effects: inout Effects) {
        guard abilities[active.index] != nil else { return }
        optics[active.index].setRecording(recordingClip != nil, settings.optics, into: &effects)
    }

    /// What the camera that counts can do; `nil`: it wasn't configured yet.
    public var knownAbilities: CameraAbilities? { abilities[active.index] }
    /// The settings that it can't follow.
    public var refusals: [SettingRefusal] {
        guard let knownAbilities else { return [] }
        var refusals = knownAbilities.refusals(of: settings.optics)
        if let shutter = settings.optics.shutter, let limit = optics[active.index].shutterLimit(settings.optics) {
            refusals.removeAll { $0.key == "exposure.shutter" }
            refusals.append(
                SettingRefusal(
                    key: "exposure.shutter", requested: shutter.text, effective: limit.text, reason: .recording))
        }
        return refusals
    }

    /// What the picture is now, for status.
    public var zoom: Double { optics[active.index].zoom }
    public var isInLowLight: Bool { optics[active.index].lowLight.isActive }
    /// The largest zoom that would be granted.
    public var maximumZoom: Double { optics[active.index].maximumZoom(settings.optics) }
    public var focus: FocusAim {
        switch optics[active.index].focus {
        case .continuous: .continuous
        case .manual(let dioptres): .manual(dioptres)
        case .scanning(let point, _, _, _): .scanning(point)
        case .held(let point, _, _): .held(point)
        }
    }
    /// Dioptres that the lens reaches; `nil`: a fixed lens, or no camera was configured yet.
    public var focusRange: ClosedRange<Double>? { abilities[active.index]?.focus }
}

extension Session {
    /// What the camera makes of the picture now, of what it offers; `nil`: it doesn't offer that.
    public var imageModes: ImageModes {
        guard let known = abilities[active.index] else { return ImageModes() }
        let controls = optics[active.index].controls
        var modes = ImageModes()
        if known.hasLongExposure { modes.exposure = controls.prefersLongExposure ? "long" : "normal" }
        if known.hasDenoise { modes.noiseReduction = controls.denoisesMost ? "high_quality" : "standard" }
        if known.hasNightMode { modes.hdr = controls.nightMode ? "night" : "off" }
        if known.hasMetering { modes.metering = controls.metering.rawValue }
        return modes
    }
}

/// Modes of exposure and image processing that are in effect; `nil`: the camera doesn't offer it.
public struct ImageModes: Hashable, Sendable {
    /// normal, long
    public var exposure: String?
    /// standard, high_quality
    public var noiseReduction: String?
    /// off, night
    public var hdr: String?
    /// centre, spot, matrix
    public var metering: String?

    public init() {}
}

/// What the lens does, for status.
public enum FocusAim: Hashable, Sendable {
    /// Of its own accord, as `focus.mode` says.
    case continuous
    /// Dioptres.
    case manual(Double)
    /// A scan at a point is under way.
    case scanning(UnitPoint)
    /// It ended; focus and exposure stay.
    case held(UnitPoint)
}
