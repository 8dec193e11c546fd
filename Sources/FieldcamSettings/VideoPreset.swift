import FieldcamCore

/// What a value of `video.quality` stands for (contract §4).
public struct VideoPreset: Hashable, Sendable {
    public var size: PixelSize
    /// Frames a second, at most.
    public var framerateCap: Double
    /// Bits a second at the capped rate.
    public var bitRate: Int
    public var everyFrameIsKey: Bool
    /// The camera's or encoder's best smaller size is as good: `high`.
    public var mayShrink: Bool

    init(
        _ width: Int, _ height: Int, cap: Double, megabits: Double, everyFrameIsKey: Bool = false,
        mayShrink: Bool = false
    ) {
        size = PixelSize(width: width, height: height)
        framerateCap = cap
        bitRate = Int(megabits * 1_000_000)
        self.everyFrameIsKey = everyFrameIsKey
        self.mayShrink = mayShrink
    }
}

extension VideoQuality {
    public var preset: VideoPreset {
        switch self {
        case .low: VideoPreset(640, 360, cap: 24, megabits: 0.7)
        case .cif: VideoPreset(352, 288, cap: 60, megabits: 0.8)
        case .vga: VideoPreset(640, 480, cap: 60, megabits: 2)
        case .medium: VideoPreset(1280, 720, cap: 30, megabits: 4)
        case .hd: VideoPreset(1280, 720, cap: 60, megabits: 4)
        case .high: VideoPreset(1920, 1080, cap: 30, megabits: 10, mayShrink: true)
        case .fullHD: VideoPreset(1920, 1080, cap: 60, megabits: 10)
        case .ultraHD: VideoPreset(3840, 2160, cap: 30, megabits: 30)
        case .iframe540: VideoPreset(960, 540, cap: 30, megabits: 30, everyFrameIsKey: true)
        case .iframe720: VideoPreset(1280, 720, cap: 30, megabits: 40, everyFrameIsKey: true)
        }
    }
}

extension VideoSettings {
    /// Frames a second after the preset's cap.
    public var effectiveFramerate: Double { min(framerate, quality.preset.framerateCap) }

    /// What clips are asked to be.
    public var clipQuality: ClipQuality {
        let preset = quality.preset
        return ClipQuality(
            name: quality.rawValue, width: preset.size.width, height: preset.size.height, framerate: framerate,
            framerateCap: preset.framerateCap, bitRate: preset.bitRate, everyFrameIsKey: preset.everyFrameIsKey,
            mayShrink: preset.mayShrink, refusesFallback: unsupported == .reject)
    }

    /// The board's encoders (FFmpeg's names) that this codec allows, in the board's order.
    public func encoders(of board: BoardProfile) -> [String] {
        switch codec {
        case .auto: board.encoders
        case .h264: board.encoders.filter { $0 != "mjpeg" }
        case .mjpeg: ["mjpeg"]
        }
    }
}
