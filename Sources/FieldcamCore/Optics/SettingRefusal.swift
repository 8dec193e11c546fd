/// A setting that a camera can't follow, and why (contract §4: nothing is silently clamped).
public struct SettingRefusal: Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        /// The camera has no such control.
        case unsupported
        /// What it can do, with units.
        case outOfRange(String)
        /// While a clip is recorded, whose frames don't get longer.
        case recording
    }
    /// The setting's name, such as "exposure.shutter".
    public var key: String
    /// As it was asked for.
    public var requested: String
    /// What the camera does instead.
    public var effective: String
    public var reason: Reason

    /// One sentence without a full stop.
    public var sentence: String {
        switch reason {
        case .unsupported: "\(key) is unsupported by this camera: it has no such control"
        case .outOfRange(let range): "\(key) is out of range: this camera takes \(range)"
        case .recording:
            "\(key) is shortened while a clip is recorded: its frames hold \(effective); lower video.framerate for more"
        }
    }
}

extension CameraAbilities {
    /// The settings of focus, exposure and zoom that this camera can't follow, by name.
    public func refusals(of settings: OpticsSettings) -> [SettingRefusal] {
        var refusals: [SettingRefusal] = []
        func refuse(_ key: String, _ requested: String, _ effective: String, _ reason: SettingRefusal.Reason) {
            refusals.append(SettingRefusal(key: key, requested: requested, effective: effective, reason: reason))
        }
        if focus == nil, settings.focusMode != .continuous {
            refuse("focus.mode", settings.focusMode.rawValue, "a fixed lens", .unsupported)
        }
        if !hasExposureValue, settings.compensation != 0 {
            refuse("exposure.compensation", "\(settings.compensation)", "0.0", .unsupported)
        }
        if !hasMetering, settings.metering != .centre {
            refuse("exposure.metering", settings.metering.rawValue, "centre", .unsupported)
        }
        if let shutter = settings.shutter {
            if let range = shutterRange {
                let effective = min(max(shutter, range.lowerBound), range.upperBound)
                if effective != shutter {
                    refuse(
                        "exposure.shutter", shutter.text, effective.text,
                        .outOfRange("\(range.lowerBound.text) to \(range.upperBound.text)"))
                }
            } else {
                refuse("exposure.shutter", shutter.text, "auto", .unsupported)
            }
        }
        if let wanted = settings.gain {
            if let gain {
                let effective = min(max(wanted, gain.lowerBound), gain.upperBound)
                if effective != wanted {
                    refuse(
                        "exposure.gain", "\(wanted)", "\(effective)",
                        .outOfRange("\(gain.lowerBound) to \(gain.upperBound)"))
                }
            } else {
                refuse("exposure.gain", "\(wanted)", "auto", .unsupported)
            }
        }
        if !canZoom, let maximum = settings.zoomMaximum, maximum > 1 {
            refuse("zoom.maximum", "\(maximum)", "1.0", .unsupported)
        }
        return refusals
    }

    /// What can be exposed by hand: no longer than the longest frame.
    public var shutterRange: ClosedRange<Duration>? {
        guard let exposure else { return nil }
        guard let frame, frame.upperBound > exposure.lowerBound else { return exposure }
        let longest = max(exposure.lowerBound, Self.longestExposure(inFrame: frame.upperBound))
        return exposure.lowerBound...min(exposure.upperBound, longest)
    }

    /// The part of a frame's time that can be exposed: sensors need some rows' time for themselves, less than a twentieth.
    static func longestExposure(inFrame frame: Duration) -> Duration {
        .microseconds(frame.inNanoseconds * 19 / 20 / 1000)
    }

    /// A frame that has room for an exposure, and not much more.
    static func shortestFrame(holding exposure: Duration) -> Duration {
        .nanoseconds((exposure.inNanoseconds / 1000 + 1) * 1000 / 19 * 20 + 20)
    }
}
