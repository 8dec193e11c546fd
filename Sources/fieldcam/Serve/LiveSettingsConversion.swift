import FieldcamCore
import FieldcamDirector
import FieldcamLinux
import FieldcamPorts
import FieldcamSettings
import Glibc

extension LiveSettings {
    /// What the director works by, of these settings on this board.
    init(_ settings: Settings, board: BoardProfile, writers: any ClipWriterFactory) {
        let quality = settings.video.clipQuality
        let encoders = settings.video.encoders(of: board)
        let working = Self.encoder(for: quality, of: encoders, writers)
        if working == nil {
            Log.error("no clip encoder works on this machine", ["tried": encoders.joined(separator: ",")])
        } else if working == "h264_v4l2m2m" {
            Log.notice("clips are made by h264_v4l2m2m, which was never verified on real hardware")
        }
        let limits = working.map { writers.limits(of: $0) } ?? EncoderLimits(name: "")
        // What the encoder can't take isn't asked of the camera.
        let possible = quality.granted(camera: nil, limits: limits)
        let video = Size(width: possible.width, height: possible.height)
        let takesSensor = settings.photo.source == .sensor
        // With shots by a mode switch the stream needs no larger picture than the clip's.
        let request = CameraRequest(
            still: takesSensor ? video : settings.photo.size.pixels, video: video, framerate: possible.framerate,
            slots: Self.frameSlots)
        self.init(
            session: settings.session(for: board),
            requests: Array(repeating: request, count: max(1, board.cameras.count)),
            photoQuality: settings.photo.quality,
            encoders: working.map { [$0] + encoders.filter { $0 != working } } ?? encoders,
            videoBitRate: possible.bitRate, everyFrameIsKey: possible.everyFrameIsKey,
            framerate: possible.framerate, recordsSound: settings.audio.enabled,
            framing: settings.framing)
        sensorStill = takesSensor ? settings.photo.size.pixels : nil
        self.quality = quality
        encoderLimits = limits
    }

    /// The first that works and does all that is asked; else the first that works.
    private static func encoder(
        for quality: ClipQuality, of encoders: [String], _ writers: any ClipWriterFactory
    ) -> String? {
        let working = encoders.filter { writers.probe([$0]) != nil }
        return working.first { name in
            !quality.granted(camera: nil, limits: writers.limits(of: name)).shortfalls.contains(where: \.isFallback)
        } ?? working.first
    }

    /// Ring, shots in work, queued shots, the encoder's backlog and what the camera fills; less on a small board.
    private static var frameSlots: Int {
        let megabytes = sysconf(Int32(_SC_PHYS_PAGES)) / 1024 * sysconf(Int32(_SC_PAGESIZE)) / 1024
        return megabytes < 700 ? 12 : 24
    }
}

extension PhotoSize {
    fileprivate var pixels: Size? {
        switch self {
        case .maximum: nil
        case .pixels(let size): Size(width: size.width, height: size.height)
        }
    }
}
