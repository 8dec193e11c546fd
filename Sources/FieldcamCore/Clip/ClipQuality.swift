/// What a clip is asked to be: a value of `video.quality` with the settings around it (contract §4).
public struct ClipQuality: Hashable, Sendable {
    /// The setting's word, such as `high` or `352x288`.
    public var name: String
    /// Pixels of the finished picture; even, 2 and up.
    public var width: Int
    public var height: Int
    /// Frames a second, as `video.framerate` says.
    public var framerate: Double
    /// The preset's own limit, frames a second.
    public var framerateCap: Double
    /// Bits a second of the picture track on average, where the scene needs them.
    public var bitRate: Int
    public var everyFrameIsKey: Bool
    /// A smaller size is as good (`high`): never a reason to refuse.
    public var mayShrink: Bool
    /// `video.unsupported = "reject"`
    public var refusesFallback: Bool

    public init(
        name: String, width: Int, height: Int, framerate: Double, framerateCap: Double, bitRate: Int,
        everyFrameIsKey: Bool = false, mayShrink: Bool = false, refusesFallback: Bool = false
    ) {
        self.name = name
        self.width = width
        self.height = height
        self.framerate = framerate
        self.framerateCap = framerateCap
        self.bitRate = bitRate
        self.everyFrameIsKey = everyFrameIsKey
        self.mayShrink = mayShrink
        self.refusesFallback = refusesFallback
    }
}

/// What an encoder on this machine can do; `nil`: no limit is known.
public struct EncoderLimits: Hashable, Sendable {
    public var name: String
    public var width: Int?
    public var height: Int?
    public var pixelsPerSecond: Double?
    public var bitRate: Int?

    public init(
        name: String, width: Int? = nil, height: Int? = nil, pixelsPerSecond: Double? = nil, bitRate: Int? = nil
    ) {
        self.name = name
        self.width = width
        self.height = height
        self.pixelsPerSecond = pixelsPerSecond
        self.bitRate = bitRate
    }
}

/// What comes of a `ClipQuality` with a camera and an encoder, and what was given up.
public struct GrantedQuality: Hashable, Sendable {
    /// One thing that isn't as it was asked for: an event `quality.fallback`.
    public struct Shortfall: Hashable, Sendable {
        /// `video.quality` or `video.framerate`
        public var key: String
        public var requested: String
        public var effective: String
        public var reason: String
        /// Something can't be done, rather than being the preset's own rule.
        public var isFallback: Bool
    }

    /// `video.quality` as it is in effect: the setting's word, or the size.
    public var name: String
    public var width: Int
    public var height: Int
    public var framerate: Double
    public var bitRate: Int
    public var everyFrameIsKey: Bool
    public var shortfalls: [Shortfall]
    /// `video.unsupported = "reject"`, and there is something to reject.
    public var isRefused: Bool

    public func shortfall(of key: String) -> Shortfall? { shortfalls.first { $0.key == key } }
}

extension ClipQuality {
    /// What a camera's picture looks like as it is handed to the clip.
    public struct Picture: Hashable, Sendable {
        public var width: Int
        public var height: Int
        /// Frames a second at most.
        public var framerate: Double
        public init(width: Int, height: Int, framerate: Double) {
            self.width = width
            self.height = height
            self.framerate = framerate
        }
    }

    /// Heights that players and people know, for encoders that are too slow.
    private static let ladder = [2160, 1440, 1080, 720, 540, 480, 360, 288, 240]

    /// The nearest to what is asked that works. `camera` nil: as far as the encoder alone can tell.
    ///
    /// Pixels stay square and nothing is enlarged: a camera's picture is cropped about its middle to the clip's shape, then
    /// reduced. So a picture that is too small in one direction gives a smaller clip of the same shape.
    public func granted(camera: Picture?, limits: EncoderLimits) -> GrantedQuality {
        var rate = min(framerate, framerateCap)
        var why = framerate > framerateCap ? "\(name) has \(Self.plain(framerateCap)) frames a second at most" : ""
        var slows = false
        var granted = GrantedQuality(
            name: name, width: width, height: height, framerate: rate, bitRate: bitRate,
            everyFrameIsKey: everyFrameIsKey, shortfalls: [], isRefused: false)
        var reasons: [String] = []
        var fallsBack = false

        func shrink(to scale: Double, _ reason: String) {
            let (width, height) = (Self.even(Double(self.width) * scale), Self.even(Double(self.height) * scale))
            guard width < granted.width || height < granted.height else { return }
            (granted.width, granted.height) = (width, height)
            // The tightest limit is the one that counts.
            reasons = [reason]
        }
        if let most = limits.width, width > most {
            shrink(to: Double(most) / Double(width), "the encoder \(limits.name) takes \(most) pixels in a row at most")
        }
        if let most = limits.height, height > most {
            shrink(to: Double(most) / Double(height), "the encoder \(limits.name) takes \(most) rows at most")
        }
        // Rather 30 frames a second than a smaller picture, rather a smaller picture than fewer.
        if let most = limits.pixelsPerSecond, rate > 30, Double(granted.width * granted.height) * rate > most {
            rate = 30
            slows = true
            why = "the encoder \(limits.name) is too slow on this machine for more"
        }
        if let most = limits.pixelsPerSecond, Double(granted.width * granted.height) * rate > most {
            let step = Self.ladder.first { rows in
                let scale = Double(rows) / Double(height)
                return rows < granted.height && (Double(width) * scale).rounded() * Double(rows) * rate <= most
            }
            let scale = step.map { Double($0) / Double(height) } ?? (most / rate / Double(width * height)).squareRoot()
            shrink(to: scale, "the encoder \(limits.name) is too slow on this machine")
        }
        if let camera {
            let scale = min(Double(camera.width) / Double(width), Double(camera.height) / Double(height))
            if scale < 1 { shrink(to: scale, "the camera's picture has \(camera.width)x\(camera.height) pixels") }
        }
        if granted.width != width || granted.height != height {
            fallsBack = fallsBack || !mayShrink
            // Fewer pixels need fewer bits, though more each: the exponent that the presets follow among each other.
            let part = Double(granted.width * granted.height) / Double(width * height)
            granted.bitRate = Int(Double(bitRate) * Self.power(part))
            granted.name = "\(granted.width)x\(granted.height)"
        }
        if let most = limits.bitRate, granted.bitRate > most {
            granted.bitRate = most
            fallsBack = true
            reasons.append("the encoder \(limits.name) makes \(Self.megabits(most)) Mbit/s at most")
            if granted.name == name { granted.name = "\(name) at \(Self.megabits(most)) Mbit/s" }
        }
        if granted.name != name {
            granted.shortfalls.append(
                GrantedQuality.Shortfall(
                    key: "video.quality", requested: name, effective: granted.name,
                    reason: reasons.joined(separator: ", and "), isFallback: fallsBack))
        }

        // A camera's interval is whole lines of its sensor: 2 % are no shortfall.
        if let camera, camera.framerate < rate * 0.98 {
            rate = camera.framerate
            slows = true
            why = "the camera gives \(Self.plain(rate)) frames a second"
        }
        granted.framerate = rate
        if !why.isEmpty {
            granted.shortfalls.append(
                GrantedQuality.Shortfall(
                    key: "video.framerate", requested: Self.plain(framerate), effective: Self.plain(rate),
                    reason: why, isFallback: slows))
        }
        granted.isRefused = refusesFallback && (fallsBack || slows)
        return granted
    }

    private static func even(_ value: Double) -> Int { max(2, Int(value + 1e-6) / 2 * 2) }

    /// To the power of 3/4, by square roots alone.
    private static func power(_ part: Double) -> Double { part.squareRoot() * part.squareRoot().squareRoot() }

    private static func megabits(_ bits: Int) -> String { plain(Double(bits) / 1_000_000) }

    /// A number without needless decimals, three at most.
    private static func plain(_ value: Double) -> String {
        let rounded = (value * 1000).rounded() / 1000
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }
}
