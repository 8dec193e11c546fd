import CFieldcamMedia
import Clibavcodec
import FieldcamCore
import FieldcamPorts
import Glibc

/// A clip by FFmpeg's libraries: pictures encoded where they lie, sound on the pictures' clock, fragments of one second.
final class FFmpegClipWriter: ClipWriter {
    let encoder: String

    private let plan: ClipPlan
    private let video: any VideoEncoder
    private let scaler: PictureScaler?
    private let muxer: ClipMuxer
    private let sound: SoundTrack?
    private var sync: FragmentSync?
    private var packet: UnsafeMutablePointer<AVPacket>?
    /// The last picture's packet: it is written when its duration is known.
    private var pending: UnsafeMutablePointer<AVPacket>?

    private var first: Instant?
    private var newest: Int64 = 0
    private var frames = 0
    private var keyTicks: Int64 = 0
    private var fragmentTicks: Int64 = 0
    private let intervalTicks: Int64
    /// Where lines are drawn into a frame; `nil`: none are.
    private let scratch: ScratchPicture?
    /// Sound that came before the first picture: its media time isn't known yet.
    private let early: WaitingSound?
    private var isOver = false
    /// Pictures that came out of the encoder, and how many of them, up to which time, are in the file.
    private var made = 0
    private var durable: (frames: Int, ticks: Int64) = (0, 0)
    /// The same for fragments that are complete, in the file or not.
    private var waiting: (frames: Int, ticks: Int64) = (0, 0)
    /// What went wrong first. The clip can still be finished with what there is.
    private var failure: HardwareError?

    /// - Parameter scaler: what brings frames to the clip's size, which `video` was opened for; `nil`: they have it.
    init(plan: ClipPlan, video: any VideoEncoder, scaler: PictureScaler? = nil) throws(HardwareError) {
        self.plan = plan
        self.video = video
        self.scaler = scaler
        encoder = video.name
        scratch = plan.overlay == nil ? nil : ScratchPicture()
        intervalTicks = Int64(Double(Ticks.perSecond) / max(1, plan.framerate))
        muxer = try ClipMuxer(hasSound: plan.audio != nil, creationTime: plan.taken.flatMap(Self.creationTime))
        if let format = plan.audio {
            sound = try SoundTrack(format: format, muxer: muxer)
            early = WaitingSound(channels: format.channels, rate: format.rate, capacity: format.rate * 2)
        } else {
            sound = nil
            early = nil
        }
        packet = av_packet_alloc()
        pending = av_packet_alloc()
        guard packet != nil, pending != nil else { throw .errno(ENOMEM, "begin a clip") }
        let parameters = muxer.video.pointee.codecpar!
        try video.describe(parameters)
        let orientation = Orientation(rotation: plan.rotation, mirror: plan.mirror)
        if orientation.exif != 1 {
            let matrix = orientation.matrix(
                width: Int(parameters.pointee.width), height: Int(parameters.pointee.height))
            let code = fc_av_set_matrix(muxer.video, matrix)
            guard code == 0 else { throw .errno(code, "begin a clip") }
        }
    }

    deinit {
        close()
        sync?.stop()
    }

    var encodedFrames: Int? { made }

    // MARK: Pictures

    func append(_ image: Image, at instant: Instant) throws(HardwareError) {
        try checkOpen("add a frame to the clip")
        guard image.layout == plan.layout else {
            throw HardwareError(
                .invalid, "add a frame to the clip",
                detail: "the frame's layout isn't the clip's; end the clip when the camera is configured anew")
        }
        do throws(HardwareError) {
            let picture = scaler?.scale(image) ?? image
            if let scratch, let overlay = plan.overlay {
                try encode(scratch.overlaid(picture, overlay), at: instant)
            } else {
                try encode(picture, at: instant)
            }
        } catch {
            failure = failure ?? error
            throw error
        }
    }

    private func encode(_ image: Image, at instant: Instant) throws(HardwareError) {
        let start = first ?? instant
        if first == nil {
            first = instant
            releaseEarly(start)
        }
        let nanoseconds = instant.nanoseconds - start.nanoseconds
        // Two frames in one tick would be refused by every player.
        let ticks = frames == 0 ? 0 : max(Ticks.of(nanoseconds: nanoseconds), Ticks.of(nanoseconds: newest) + 1)
        newest = max(newest, nanoseconds)
        // A second, or the frame nearest to it: pictures don't come on the grid.
        let isKey =
            frames == 0 || plan.everyFrameIsKey || ticks - keyTicks >= Ticks.perSecond - intervalTicks / 2
        if isKey { keyTicks = ticks }
        frames += 1
        try video.encode(image, ticks: ticks, asKey: isKey)
        try drain()
        if muxer.isBegun { try sound?.release(until: newest) }
        try checkDisk()
    }

    private func drain() throws(HardwareError) {
        while try video.receive(packet!) { try take(packet!) }
    }

    private func take(_ packet: UnsafeMutablePointer<AVPacket>) throws(HardwareError) {
        if !muxer.isBegun {
            let parameters = muxer.video.pointee.codecpar!
            if parameters.pointee.codec_id == AV_CODEC_ID_H264 && parameters.pointee.extradata_size == 0 {
                let code = fc_av_take_extradata(parameters, packet)
                guard code == 0 else {
                    throw .errno(
                        code, "begin the clip's file", detail: "the encoder '\(encoder)' gave no parameter sets")
                }
            }
            try muxer.begin()
        }
        let isKey = packet.pointee.flags & AV_PKT_FLAG_KEY != 0
        if pending!.pointee.size > 0 {
            pending!.pointee.duration = max(1, packet.pointee.dts - pending!.pointee.dts)
            try muxer.write(pending!, to: muxer.video)
            let length = packet.pointee.dts - fragmentTicks
            // An encoder that doesn't give a key frame when asked must not keep a fragment open for ever.
            if isKey && length >= Ticks.perSecond - intervalTicks / 2 || length >= 2 * Ticks.perSecond {
                fragmentTicks = packet.pointee.dts
                try sound?.fill(behind: packet.pointee.dts * 100_000 / 9)
                waiting = (made, packet.pointee.dts)
                if try muxer.endFragment() { noteDurable(made, packet.pointee.dts) }
            }
        }
        av_packet_move_ref(pending, packet)
        made += 1
    }

    private func noteDurable(_ frames: Int, _ ticks: Int64) {
        durable = (frames, ticks)
        sync?.request()
    }

    // MARK: Sound

    func append(sound piece: UnsafeBufferPointer<Int16>, at instant: Instant) throws(HardwareError) {
        try checkOpen("add sound to the clip")
        guard let sound, let early else { return }
        guard let first else {
            early.append(piece, at: instant.nanoseconds)
            return
        }
        sound.take(piece, at: instant.nanoseconds - first.nanoseconds)
    }

    private func releaseEarly(_ start: Instant) {
        guard let sound, let early, let format = plan.audio else { return }
        while let piece = early.next(until: nil) {
            sound.take(
                UnsafeBufferPointer(start: piece.samples, count: piece.count * format.channels),
                at: piece.nanoseconds - start.nanoseconds)
            early.removeFirst(piece.count)
        }
    }

    // MARK: File

    func attach(file descriptor: Int32) throws(HardwareError) {
        if !isOver { sync = FragmentSync(descriptor: descriptor) }
        // Fragments that waited are complete up to the one that is being gathered now.
        if try muxer.attach(descriptor) { noteDurable(waiting.frames, waiting.ticks) }
    }

    func finish(end: Instant) throws(HardwareError) -> ClipFacts? {
        try checkOpen("finish the clip")
        isOver = true
        defer {
            closeEncoders()
            sync?.stop()
        }
        guard let first, frames > 0 else { return nil }
        if let failure, muxer.failed || sync?.error ?? 0 != 0 {
            // The disk refused before: the file is whole fragments, and ends with the last that it took.
            guard durable.frames > 0 else { throw failure }
            return facts(.nanoseconds(durable.ticks * 100_000 / 9), durable.frames)
        }
        do throws(HardwareError) {
            try video.flush()
            try drain()
        } catch {
            // A dead encoder takes its last pictures with it, not the clip.
            failure = failure ?? error
        }
        guard pending!.pointee.size > 0 else {
            throw failure
                ?? HardwareError(.io, "finish the clip", detail: "the encoder '\(encoder)' gave no picture")
        }
        let last = pending!.pointee.dts
        let wanted = Ticks.of(nanoseconds: end.nanoseconds - first.nanoseconds)
        let duration = wanted > last ? wanted : last + intervalTicks
        let nanoseconds = wanted > last ? end.nanoseconds - first.nanoseconds : duration * 100_000 / 9
        pending!.pointee.duration = duration - last
        try muxer.write(pending!, to: muxer.video)
        try sound?.end(at: nanoseconds)
        try muxer.end()
        sync?.stop()
        try checkDisk()
        return facts(.nanoseconds(nanoseconds), made)
    }

    private func facts(_ duration: Duration, _ frames: Int) -> ClipFacts {
        ClipFacts(
            duration: duration, frames: frames, silence: sound?.silence ?? .zero, driftPPM: sound?.driftPPM ?? 0)
    }

    func cancel() {
        isOver = true
        close()
        sync?.stop()
    }

    private func closeEncoders() {
        video.close()
        sound?.close()
        av_packet_free(&packet)
        av_packet_free(&pending)
    }

    private func close() {
        closeEncoders()
        muxer.close()
    }

    private func checkOpen(_ operation: String) throws(HardwareError) {
        guard !isOver else { throw HardwareError(.invalid, operation, detail: "the clip has ended") }
    }

    private func checkDisk() throws(HardwareError) {
        let code = sync?.error ?? 0
        guard code == 0 else { throw .errno(code, "write the clip") }
    }

    /// The container's creation time, in UTC; `nil` while the clock isn't trusted.
    private static func creationTime(_ wall: WallTime) -> String? {
        guard wall.isTrusted else { return nil }
        var local = tm()
        local.tm_year = Int32(wall.year - 1900)
        local.tm_mon = Int32(wall.month - 1)
        local.tm_mday = Int32(wall.day)
        local.tm_hour = Int32(wall.hour)
        local.tm_min = Int32(wall.minute)
        local.tm_sec = Int32(wall.second)
        var seconds = timegm(&local) - wall.offset
        var utc = tm()
        gmtime_r(&seconds, &utc)
        func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(utc.tm_year + 1900)-\(two(utc.tm_mon + 1))-\(two(utc.tm_mday))T"
            + "\(two(utc.tm_hour)):\(two(utc.tm_min)):\(two(utc.tm_sec))Z"
    }
}
