import FieldcamDirector
import FieldcamLinux
import FieldcamPorts
import FieldcamSettings
import Glibc

extension LiveSettings {
    /// What the director works by, of these settings on this board.
    init(_ settings: Settings, board: BoardProfile, writers: any ClipWriterFactory) {
        let preset = settings.video.quality.preset
        let encoders = settings.video.encoders(of: board)
        let working = writers.probe(encoders)
        if working == nil {
            Log.error("no clip encoder works on this machine", ["tried": encoders.joined(separator: ",")])
        } else if working == "h264_v4l2m2m" {
            Log.notice("clips are made by h264_v4l2m2m, which was never verified on real hardware")
        }
        let video = Size(width: preset.size.width, height: preset.size.height)
        let takesSensor = settings.photo.source == .sensor
        // With shots by a mode switch the stream needs no larger picture than the clip's.
        let request = CameraRequest(
            still: takesSensor ? video : settings.photo.size.pixels, video: video,
            framerate: settings.video.effectiveFramerate, slots: Self.frameSlots)
        self.init(
            session: settings.session(for: board),
            requests: Array(repeating: request, count: max(1, board.cameras.count)),
            photoQuality: settings.photo.quality,
            encoders: working.map { [$0] + encoders.filter { $0 != working } } ?? encoders,
            videoBitRate: preset.bitRate, everyFrameIsKey: preset.everyFrameIsKey,
            framerate: settings.video.effectiveFramerate, recordsSound: settings.audio.enabled,
            framing: settings.framing)
        sensorStill = takesSensor ? settings.photo.size.pixels : nil
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
