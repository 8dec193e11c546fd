import FieldcamCore

/// A kind of device: its wiring and what its hardware can do (contract §3).
public struct BoardProfile: Hashable, Sendable {
    public var name: String
    public var title: String
    /// Prefixes of the device tree's model.
    public var models: [String] = []
    /// The first is the default.
    public var cameras: [CameraProfile] = []
    public var buttons: [ButtonProfile] = []
    /// For the cameras without a light of their own; `nil`: none.
    public var light: LightProfile?
    public var indicator: IndicatorProfile?
    public var microphone = MicrophoneProfile()
    /// FFmpeg's names; the first that works on the machine is taken.
    public var encoders = ["h264_v4l2m2m", "libx264", "mjpeg"]
    /// Where `board.toml` lies.
    public var folder = ""

    /// The light of a camera: its own, or the board's.
    public func light(of camera: Int) -> LightProfile? {
        cameras.indices.contains(camera) && cameras[camera].hasOwnLight ? cameras[camera].light : light
    }
}

/// A camera of a board.
public struct CameraProfile: Hashable, Sendable {
    public enum Driver: String, Hashable, Sendable, CaseIterable, SettingChoice {
        case libcamera
        case simulator
    }
    public var driver = Driver.libcamera
    /// `rear`, `front` or any name; unique on the board.
    public var role: String
    public var match = CameraMatch.index(0)
    /// Degrees clockwise that make the picture upright: 0, 90, 180, 270.
    public var rotation = 0
    public var mirror = false
    /// Simulated cameras only: the sensor, from `match`, and the Raspberry Pi's pipeline that it pretends to be behind.
    public var simulated: (model: CameraModel, pipeline: CameraPipeline)? {
        guard driver == .simulator, case .model(let name) = match else { return nil }
        return CameraModel(rawValue: name).map { ($0, pipeline) }
    }
    public var pipeline = CameraPipeline.pisp
    /// It has a `[camera.light]`, if only to say that no light is its.
    public var hasOwnLight = false
    /// Its own; `nil`: none, or the board's.
    public var light: LightProfile?
}

extension CameraPipeline: SettingChoice {}

/// How a camera is found among those that libcamera lists.
public enum CameraMatch: Hashable, Sendable {
    /// `back`, `front` or `external`.
    case location(String)
    case id(String)
    case model(String)
    /// Its place in libcamera's list, from 0.
    case index(Int)
}

extension CameraMatch: SettingType {
    static let locations = ["back", "front", "external"]
    static var form: String { "\"location:back\", \"model:imx708\", \"id:…\" or \"index:0\"" }
    init(_ value: TOMLValue) throws(Misreading) {
        guard case .string(let text) = value.kind, let colon = text.firstIndex(of: ":") else {
            throw Self.misread(value)
        }
        let what = String(text[text.index(after: colon)...])
        guard !what.isEmpty else { throw Self.misread(value) }
        switch text[..<colon] {
        case "location":
            guard Self.locations.contains(what) else {
                throw Misreading(
                    "has the location \(quoted(what)); \(Suggestion.words(for: what, among: Self.locations))")
            }
            self = .location(what)
        case "id": self = .id(what)
        case "model": self = .model(what)
        case "index":
            guard what.utf8.allSatisfy(isDigit), let index = Int(what), index < 64 else { throw Self.misread(value) }
            self = .index(index)
        default: throw Self.misread(value)
        }
    }
    var word: String {
        switch self {
        case .location(let place): "location:\(place)"
        case .id(let id): "id:\(id)"
        case .model(let model): "model:\(model)"
        case .index(let index): "index:\(index)"
        }
    }
}

extension CameraMatch: CustomStringConvertible {
    /// As it stands in the board's file.
    public var description: String { word }
}

/// A line of a GPIO chip.
public struct GPIOLine: Hashable, Sendable {
    public enum Place: Hashable, Sendable {
        /// The line's name, such as "GPIO17".
        case name(String)
        /// Its number on the chip, from 0.
        case offset(Int)
    }
    /// The chip's label, never its number.
    public var chip: String
    public var place: Place
    public var activeLow: Bool

    public init(chip: String, place: Place, activeLow: Bool) {
        self.chip = chip
        self.place = place
        self.activeLow = activeLow
    }
}

/// A channel of a PWM chip.
public struct PWMChannel: Hashable, Sendable {
    /// The chip's device, such as "fe20c000.pwm"; never its number.
    public var chip: String
    public var channel: Int

    public init(chip: String, channel: Int) {
        self.chip = chip
        self.channel = channel
    }
}

/// A button, or a sensor's line that acts like one.
public struct ButtonProfile: Hashable, Sendable {
    public enum Bias: String, Hashable, Sendable, CaseIterable, SettingChoice {
        case pullUp = "pull-up"
        case pullDown = "pull-down"
        case disabled
        case asIs = "as-is"
    }
    public enum Wiring: Hashable, Sendable {
        case gpio(GPIOLine, Bias)
        case simulator
    }
    public var role: ButtonRole
    public var wiring: Wiring
}

extension ButtonRole: SettingChoice {}

/// A light and how long it may be on.
public struct LightProfile: Hashable, Sendable {
    public enum Driver: String, Hashable, Sendable, CaseIterable, SettingChoice {
        case gpio
        /// The kernel's LED class.
        case led
        case pwm
        case simulator
        case none
    }
    public enum Wiring: Hashable, Sendable {
        case gpio(GPIOLine)
        /// The LED's name under /sys/class/leds.
        case led(String)
        case pwm(PWMChannel)
        case simulator
    }
    public var wiring: Wiring
    /// Never longer for a shot, whatever happens.
    public var maximumFlash: Duration = .milliseconds(800)
    /// Then off, with an event.
    public var maximumTorch: Duration = .seconds(600)
}

/// The small status LED.
public struct IndicatorProfile: Hashable, Sendable {
    public var wiring: LightProfile.Wiring
}

/// Where sound comes from.
public struct MicrophoneProfile: Hashable, Sendable {
    public enum Driver: String, Hashable, Sendable, CaseIterable, SettingChoice {
        case alsa
        case simulator
    }
    public var driver = Driver.alsa
    /// An ALSA PCM name; `nil`: the board has no microphone.
    public var device: String? = "default"
}
