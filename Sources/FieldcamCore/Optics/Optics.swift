/// Focus, exposure, low light and zoom of one camera: decides its controls from commands, settings and the frames'
/// own metadata. Part of `Session`; pure like it.
struct Optics: Sendable {
    /// The window around a point, as a fraction of the picture's width and height.
    static let windowSize = 0.125
    /// A scan that hasn't ended by then has timed out.
    static let scanLimit = Duration.seconds(3)
    /// Mean difference of blocks that counts as another scene, and for how many frames.
    static let sceneChange = 0.08
    static let sceneChangeFrames = 5
    /// Zoom per frame, at most: doubling takes a third of a second at 30 frames a second.
    static let zoomStep = 1.07

    enum Focus: Hashable, Sendable {
        case continuous
        case manual(Double)
        /// A scan at a point is under way since …; frames so far; whether scanning was seen.
        case scanning(UnitPoint, since: Instant, frames: Int, hasScanned: Bool)
        /// It ended; exposure (and focus) stay until the scene changes or the time is over.
        case held(UnitPoint, since: Instant, changed: Int)
    }

    private(set) var abilities = CameraAbilities()
    private(set) var controls = CameraControls()
    private(set) var focus = Focus.continuous
    private(set) var zoom = 1.0
    private(set) var targetZoom = 1.0
    private(set) var lowLight = LowLight()
    private var exposure = PointExposure()
    private var exposesAtPoint = false
    private var isRecording = false
    /// A shot is being lit: low light has no say.
    private var isFlashing = false
    private var hasCamera = false
    private var frameInterval = Duration.nanoseconds(33_333_333)

    // MARK: Camera and settings

    /// The camera was configured: what it can do, and its controls anew.
    mutating func adopt(
        _ abilities: CameraAbilities, _ settings: OpticsSettings, frameInterval: Duration, into effects: inout Effects
    ) {
        self.abilities = abilities
        self.frameInterval = frameInterval
        hasCamera = true
        wasTold = false
        pendingScan = nil
        // The scene hasn't become brighter by a restart: until its frames say so the light is what it was.
        lowLight.interrupt()
        // A zoom under way goes on where it was.
        targetZoom = min(max(targetZoom, 1), maximumZoom(settings))
        let reached = min(max(zoom, 1), maximumZoom(settings))
        if reached != zoom {
            zoom = reached
            if zoom == targetZoom { effects.append(.announce(.zoomChanged(zoom))) }
        }
        apply(settings, into: &effects)
    }

    mutating func apply(_ settings: OpticsSettings, into effects: inout Effects) {
        switch settings.focusMode {
        case .manual:
            if case .manual = focus { break }
            guard abilities.focus != nil else { break }
            focus = .manual(controls.manualFocus ?? 0)
        case .continuous, .auto:
            if case .manual = focus, !manualByCommand { focus = .continuous }
        }
        if targetZoom > maximumZoom(settings) { targetZoom = maximumZoom(settings) }
        update(settings, into: &effects)
    }

    private var manualByCommand = false

    /// `focus.mode` was given: it counts, whatever the lens was set to by hand.
    mutating func followFocusMode(_ settings: OpticsSettings, into effects: inout Effects) {
        manualByCommand = false
        if settings.focusMode == .manual, case .manual = focus { return }
        abandonScan(into: &effects)
        resume(settings, into: &effects)
        apply(settings, into: &effects)
    }

    /// As `followFocusMode`, of a camera that doesn't count now: it follows when it does.
    mutating func forgetManualFocus() { manualByCommand = false }

    func maximumZoom(_ settings: OpticsSettings) -> Double {
        guard settings.zoom, abilities.canZoom else { return 1 }
        return max(1, settings.zoomMaximum ?? abilities.nativeZoom)
    }

    mutating func setRecording(_ recording: Bool, _ settings: OpticsSettings, into effects: inout Effects) {
        guard recording != isRecording else { return }
        isRecording = recording
        update(settings, into: &effects)
    }

    /// A shot is lit, or was. The flash makes another scene: automatic exposure follows it within its window only with frames
    /// of the usual length, and its light tells nothing of how dark it is.
    mutating func setFlashing(_ flashing: Bool, _ settings: OpticsSettings, into effects: inout Effects) {
        guard flashing != isFlashing else { return }
        isFlashing = flashing
        update(settings, into: &effects)
    }

    /// Whether a frame is longer than the camera has been told that frames may be: it was ordered before that.
    func isOverlong(_ frame: Frame, gap: Duration) -> Bool {
        guard lowLight.isActive else { return false }
        let longest = max(controls.longestFrame, abilities.frame?.lowerBound ?? .zero)
        return (frame.exposure ?? gap) > longest + longest / 20
    }

    // MARK: Commands

    mutating func focus(
        at point: UnitPoint, _ settings: OpticsSettings, now: Instant, into effects: inout Effects
    ) -> Answer {
        guard point.isInside else { return .rejected(.outOfRange) }
        guard settings.focusTap else { return .rejected(.unsupported) }
        manualByCommand = false
        abandonScan(into: &effects)
        exposesAtPoint = abilities.hasExposureValue
        exposure = PointExposure()
        effects.append(.announce(.focusStarted(point)))
        effects.append(.measureRegion(exposesAtPoint ? window(around: point) : nil))
        if abilities.focus == nil {
            effects.append(.announce(.focusEnded(point, .unsupported)))
            hold(point, since: now, into: &effects)
        } else {
            focus = .scanning(point, since: now, frames: 0, hasScanned: false)
            scan()
        }
        update(settings, into: &effects)
        return .effective(.focus(point))
    }

    mutating func focusAutomatically(_ settings: OpticsSettings, into effects: inout Effects) -> Answer {
        manualByCommand = false
        abandonScan(into: &effects)
        resume(settings, into: &effects)
        return .effective(.focus(nil))
    }

    mutating func focusManually(
        _ dioptres: Double, _ settings: OpticsSettings, into effects: inout Effects
    ) -> Answer {
        guard let range = abilities.focus else { return .rejected(.unsupported) }
        guard range.contains(dioptres) else { return .rejected(.outOfRange) }
        abandonScan(into: &effects)
        resume(settings, into: &effects)
        manualByCommand = true
        focus = .manual(dioptres)
        update(settings, into: &effects)
        return .effective(.dioptres(dioptres))
    }

    mutating func zoom(to factor: Double, _ settings: OpticsSettings, into effects: inout Effects) -> Answer {
        guard factor.isFinite, factor >= 1 else { return .rejected(.outOfRange) }
        guard factor == 1 || (settings.zoom && abilities.canZoom) else { return .rejected(.unsupported) }
        guard factor <= maximumZoom(settings) + 1e-9 else { return .rejected(.outOfRange) }
        targetZoom = factor
        return .effective(.zoom(factor))
    }

    /// A shot waits for focus: where the lens only moves when asked, it is asked, since what it tells is as old as its last
    /// scan; only what was focused at a point is believed, unless `isStrict`. False: it can't become focused by itself, so
    /// that there is nothing to wait for.
    mutating func focusForShot(
        after last: Frame?, isStrict: Bool, _ settings: OpticsSettings, into effects: inout Effects
    ) -> Bool {
        guard abilities.focus != nil, !controls.focusIsPaused else { return false }
        switch focus {
        case .manual: return false
        case .scanning: return true
        case .continuous, .held:
            guard controls.focus == .oneShot, !awaitsScan else { return true }
            if case .held(_, _, changed: 0) = focus, last?.focus == .focused, !isStrict { return true }
            scan()
            update(settings, into: &effects)
            return true
        }
    }

    /// The controls of a picture of the full sensor: exposed and focused as the stream's last picture, so that nothing has to
    /// settle. Where its exposure can't be set by hand, the automatic one goes on.
    func controlsOfSensorShot(carrying last: Frame) -> CameraControls {
        var controls = controls
        if let range = abilities.exposure, let gains = abilities.gain, let exposure = last.exposure,
            range.contains(exposure), let gain = last.gain, !isTooShort(exposure, gain, gains)
        {
            controls.shutter = exposure
            controls.gain = min(max(gain, gains.lowerBound), gains.upperBound)
            controls.longestFrame = max(controls.longestFrame, CameraAbilities.shortestFrame(holding: exposure))
        }
        if let range = abilities.focus, let position = last.lensPosition, range.contains(position) {
            controls.focus = .manual(position)
            controls.focusWindow = nil
        }
        return controls
    }

    /// In the dark a stream that was just started hasn't the long frames yet that it may have: its pictures are no measure.
    private func isTooShort(_ exposure: Duration, _ gain: Double, _ gains: ClosedRange<Double>) -> Bool {
        lowLight.isActive && gain >= gains.upperBound * 0.99 && exposure * 10 < controls.longestFrame * 9
    }

    /// A new scan, told even if nothing else changes.
    private mutating func scan() {
        controls.focusScan &+= 1
        wasTold = false
        pendingScan = PendingScan()
    }

    /// A scan was ordered whose end no frame has told yet: what they tell of focus is of the time before it.
    var awaitsScan: Bool { pendingScan != nil }
    private var pendingScan: PendingScan?

    private struct PendingScan {
        /// Since the order.
        var frames = 0
        var hasScanned = false

        /// Whether the frame tells of the time after the scan.
        mutating func ends(with frame: Frame, controlDelay: Int) -> Bool {
            let counts = hasScanned || frames >= controlDelay + 2
            if counts, frame.focus == .focused || frame.focus == .failed { return true }
            if frame.focus == .scanning, frames > 0 { hasScanned = true }
            frames += 1
            return false
        }
    }

    // MARK: Frames and time

    /// `isLit`: by the flash, which isn't the scene's own light.
    mutating func take(_ frame: Frame, isLit: Bool, _ settings: OpticsSettings, into effects: inout Effects) {
        guard hasCamera else { return }
        if pendingScan?.ends(with: frame, controlDelay: abilities.controlDelay) == true { pendingScan = nil }
        var changed = rampZoom(into: &effects)
        if followFocus(frame, settings, into: &effects) { changed = true }
        if exposesAtPoint, let value = exposure.take(frame, controlDelay: abilities.controlDelay) {
            effects.append(.announce(.exposureChanged(value: settings.compensation + value)))
            changed = true
        }
        if settings.lowLight {
            if !isLit, lowLight.take(frame, enter: settings.enterLux, leave: settings.leaveLux) {
                effects.append(.announce(.lowLightChanged(lowLight.isActive)))
                changed = true
            }
        } else if lowLight.isActive {
            lowLight.reset()
            effects.append(.announce(.lowLightChanged(false)))
            changed = true
        }
        if changed { update(settings, into: &effects) }
    }

    /// When `passTime` wants to be called.
    func deadline(_ settings: OpticsSettings) -> Instant? {
        switch focus {
        case .scanning(_, let since, _, _): since + Self.scanLimit
        case .held(_, let since, _): settings.resumeAfter > .zero ? since + settings.resumeAfter : nil
        case .continuous, .manual: nil
        }
    }

    mutating func passTime(_ now: Instant, _ settings: OpticsSettings, into effects: inout Effects) {
        guard let deadline = deadline(settings), deadline <= now else { return }
        if case .scanning(let point, _, _, _) = focus {
            effects.append(.announce(.focusEnded(point, .timedOut)))
            hold(point, since: now, into: &effects)
        } else {
            resume(settings, into: &effects)
        }
    }

    /// A scan that another order takes the place of is told ended: nothing is focused by it.
    private mutating func abandonScan(into effects: inout Effects) {
        guard case .scanning(let point, _, _, _) = focus else { return }
        effects.append(.announce(.focusEnded(point, .failed)))
        focus = .continuous
    }

    private mutating func rampZoom(into effects: inout Effects) -> Bool {
        guard zoom != targetZoom else { return false }
        zoom = targetZoom > zoom ? min(zoom * Self.zoomStep, targetZoom) : max(zoom / Self.zoomStep, targetZoom)
        if zoom == targetZoom { effects.append(.announce(.zoomChanged(zoom))) }
        if exposesAtPoint, let point { effects.append(.measureRegion(window(around: point))) }
        return true
    }

    private var point: UnitPoint? {
        switch focus {
        case .scanning(let point, _, _, _), .held(let point, _, _): point
        case .continuous, .manual: nil
        }
    }

    /// True if the controls are to be told anew.
    private mutating func followFocus(
        _ frame: Frame, _ settings: OpticsSettings, into effects: inout Effects
    ) -> Bool {
        switch focus {
        case .continuous, .manual: return false
        case .scanning(let point, let since, let frames, let hasScanned):
            // Frames that were on their way before the scan tell of the time before it.
            let isScanning = frame.focus == .scanning
            let counts = hasScanned || frames >= abilities.controlDelay + 2
            switch frame.focus {
            case .focused where counts: end(point, .focused, at: frame.exposureEnd, into: &effects)
            case .failed where counts: end(point, .failed, at: frame.exposureEnd, into: &effects)
            default:
                focus = .scanning(
                    point, since: since, frames: frames + 1, hasScanned: hasScanned || (isScanning && frames > 0))
            }
            return false
        case .held(let point, let since, let changed):
            guard settings.resumeOnChange, let change = frame.sceneChange else { return false }
            guard change > Self.sceneChange else {
                if changed > 0 { focus = .held(point, since: since, changed: 0) }
                return false
            }
            guard changed + 1 >= Self.sceneChangeFrames else {
                focus = .held(point, since: since, changed: changed + 1)
                return false
            }
            resume(settings, into: &effects)
            return false
        }
    }

    private mutating func end(
        _ point: UnitPoint, _ result: FocusResult, at: Instant, into effects: inout Effects
    ) {
        effects.append(.announce(.focusEnded(point, result)))
        hold(point, since: at, into: &effects)
    }

    private mutating func hold(_ point: UnitPoint, since: Instant, into effects: inout Effects) {
        focus = .held(point, since: since, changed: 0)
        effects.append(.rememberScene)
    }

    /// Back to continuous focus and plain exposure.
    private mutating func resume(_ settings: OpticsSettings, into effects: inout Effects) {
        focus = .continuous
        pendingScan = nil
        if exposesAtPoint {
            exposesAtPoint = false
            effects.append(.measureRegion(nil))
            if exposure.value != 0 { effects.append(.announce(.exposureChanged(value: settings.compensation))) }
            exposure = PointExposure()
        }
        update(settings, into: &effects)
    }

    // MARK: Controls

    private mutating func update(_ settings: OpticsSettings, into effects: inout Effects) {
        let before = controls
        controls.crop = crop
        switch focus {
        case .continuous:
            // In `auto` it only moves when asked.
            controls.focus = settings.focusMode == .auto ? .oneShot : .continuous
            controls.focusWindow = nil
        case .manual(let dioptres):
            controls.focus = .manual(dioptres)
            controls.focusWindow = nil
        case .scanning(let point, _, _, _), .held(let point, _, _):
            controls.focus = .oneShot
            controls.focusWindow = crop.outer(window(around: point))
        }
        controls.focusIsPaused = isRecording && settings.focusWhileRecording == .lock
        controls.focusIsSlow = isRecording && settings.focusWhileRecording == .slow
        controls.exposureValue = min(max(settings.compensation + (exposesAtPoint ? exposure.value : 0), -8), 8)
        controls.metering = abilities.hasMetering ? settings.metering : .centre
        // What the camera lacks is left alone, what is beyond its range stays in it; `SettingRefusal` tells both.
        controls.shutter = settings.shutter.flatMap { wanted in
            abilities.shutterRange.map { min(max(wanted, $0.lowerBound), $0.upperBound) }
        }
        if let limit = shutterLimit(settings) { controls.shutter = limit }
        controls.gain = settings.gain.flatMap { wanted in
            abilities.gain.map { min(max(wanted, $0.lowerBound), $0.upperBound) }
        }
        controls.shortestFrame = frameInterval
        controls.longestFrame = longestFrame(settings)
        let takesLong = lowLight.isActive && !isFlashing
        controls.prefersLongExposure = takesLong && abilities.hasLongExposure
        controls.denoisesMost = lowLight.isActive && abilities.hasDenoise
        controls.nightMode = takesLong && abilities.hasNightMode && !isRecording
        if hasCamera, controls != before || !wasTold {
            wasTold = true
            effects.append(.control(controls))
        }
    }

    private var wasTold = false

    /// The longest exposure that a clip's frames hold, if `exposure.shutter` is longer; `nil`: it isn't, or nothing is recorded.
    func shutterLimit(_ settings: OpticsSettings) -> Duration? {
        guard isRecording, let shutter = settings.shutter, let range = abilities.shutterRange else { return nil }
        let longest = max(range.lowerBound, CameraAbilities.longestExposure(inFrame: longestFrame(settings)))
        return min(shutter, range.upperBound) > longest ? longest : nil
    }

    private func longestFrame(_ settings: OpticsSettings) -> Duration {
        var longest = frameInterval
        if lowLight.isActive, !isFlashing {
            let floor = Duration.nanoseconds(Int64(1e9 / max(settings.minimumFramerate, 0.1)))
            // Also while nothing is recorded: a clip begins with the frames of its press.
            longest = max(longest, floor)
        }
        // A manual shutter needs a frame that holds it.
        if let shutter = controls.shutter, !isRecording {
            longest = max(longest, CameraAbilities.shortestFrame(holding: shutter))
        }
        return abilities.frame.map { min(longest, $0.upperBound) } ?? longest
    }

    /// The part of the field that is streamed: the stream's shape, centred, divided by the zoom.
    private var crop: UnitRect { abilities.crop(zoom: zoom) }

    /// The window around a point that the viewer named, in the stream's image.
    private func window(around point: UnitPoint) -> UnitRect {
        let size = Self.windowSize
        let seen = UnitRect(x: point.x - size / 2, y: point.y - size / 2, width: size, height: size).movedInside
        return Orientation(rotation: abilities.rotation, mirror: abilities.mirror).stored(seen)
    }
}

extension CameraControls {
    fileprivate var manualFocus: Double? {
        if case .manual(let dioptres) = focus { return dioptres }
        return nil
    }
}
