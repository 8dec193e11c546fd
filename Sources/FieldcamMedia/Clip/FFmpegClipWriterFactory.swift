import CFieldcamMedia
import Clibavcodec
import Clibavformat
import Clibavutil
import FieldcamCore
import FieldcamPorts
import Glibc
import Synchronization

/// Makes clips with FFmpeg's libraries: `h264_v4l2m2m`, `libx264` and whatever else libavcodec has by name; `mjpeg` is
/// libjpeg-turbo's.
public final class FFmpegClipWriterFactory: ClipWriterFactory {
    private let threads: Int?
    private let working: Mutex<[String: Bool]> = Mutex([:])

    /// - Parameter threads: of x264; `nil`: by picture size and frame rate, as many as the machine has at most.
    public init(threads: Int? = nil) {
        self.threads = threads
        fc_av_quiet()
    }

    public func begin(_ plan: ClipPlan) throws(HardwareError) -> any ClipWriter {
        var failure: HardwareError?
        for name in plan.encoders where working.withLock({ $0[name] }) != false {
            do throws(HardwareError) {
                guard let size = plan.size, size.width != plan.layout.width || size.height != plan.layout.height
                else { return try FFmpegClipWriter(plan: plan, video: open(name, plan)) }
                // Motion JPEG has no place for a transfer.
                let scaler = try PictureScaler(from: plan.layout, to: size, keepsTransfer: name != "mjpeg")
                var scaled = plan
                scaled.layout = scaler.layout
                return try FFmpegClipWriter(plan: plan, video: open(name, scaled), scaler: scaler)
            } catch {
                failure = failure ?? error
            }
        }
        throw failure
            ?? HardwareError(
                .unsupported, "begin a clip",
                detail: "none of the encoders \(plan.encoders) works on this machine; name another in video.encoders")
    }

    public func probe(_ encoders: [String]) -> String? {
        encoders.first { name in
            if let known = working.withLock({ $0[name] }) { return known }
            // A small picture in a format that every encoder takes: only the encoder itself can fail.
            let plan = ClipPlan(
                encoders: [name],
                layout: .packed(width: 640, height: 480, format: .yuv420, colour: .rec709), framerate: 30, audio: nil)
            let works = (try? open(name, plan)) != nil
            working.withLock { $0[name] = works }
            return works
        }
    }

    public func limits(of encoder: String) -> EncoderLimits {
        switch encoder {
        case "h264_v4l2m2m":
            // Of the Raspberry Pi's: H.264 level 4.1 has 245,760 macroblocks a second; the driver's bit rate ends at 25 Mbit/s.
            return EncoderLimits(
                name: encoder, width: 2032, height: 1088, pixelsPerSecond: 245_760 * 256, bitRate: 25_000_000)
        case "libx264":
            #if arch(arm64)
                let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
                return EncoderLimits(name: encoder, pixelsPerSecond: Double(processors) * Self.pixelsPerThread)
            #else
                return EncoderLimits(name: encoder)
            #endif
        default: return EncoderLimits(name: encoder)
        }
    }

    private func open(_ name: String, _ plan: ClipPlan) throws(HardwareError) -> any VideoEncoder {
        if name == "mjpeg" { return try MotionJPEGEncoder(plan: plan) }
        return try FFmpegVideoEncoder(name: name, plan: plan, threads: threads ?? Self.threads(for: plan))
    }

    /// What a Cortex-A76 encodes in a second with x264's superfast, with room to spare.
    private static let pixelsPerThread = 22e6

    private static func threads(for plan: ClipPlan) -> Int {
        let rate = Double(plan.layout.width * plan.layout.height) * plan.framerate
        let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        return min(processors, max(1, Int((rate / pixelsPerThread).rounded(.up))))
    }

    public func measure(path: String) throws(HardwareError) -> ClipFacts {
        let operation = "read the clip '\(path)'"
        fc_av_forget()
        var context: UnsafeMutablePointer<AVFormatContext>?
        var code = avformat_open_input(&context, path, nil, nil)
        guard code >= 0, let input = context else { throw .ffmpeg(code, operation) }
        defer { avformat_close_input(&context) }
        guard let packet = av_packet_alloc() else { throw .errno(ENOMEM, operation) }
        var owned: UnsafeMutablePointer<AVPacket>? = packet
        defer { av_packet_free(&owned) }

        let picture = (0..<Int(input.pointee.nb_streams)).first { index in
            input.pointee.streams[index]!.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO
        }
        guard let picture else {
            throw HardwareError(.invalid, operation, detail: "it holds no picture track")
        }
        let base = input.pointee.streams[picture]!.pointee.time_base
        var frames = 0
        var start: Int64?
        var end: Int64 = 0
        while true {
            code = av_read_frame(input, packet)
            // A cut clip ends in the middle of something: what could be read counts.
            if code < 0 { break }
            defer { av_packet_unref(packet) }
            guard packet.pointee.stream_index == picture, packet.pointee.pts != fc_av_nopts() else { continue }
            frames += 1
            start = min(start ?? .max, packet.pointee.pts)
            end = max(end, packet.pointee.pts + packet.pointee.duration)
        }
        let ticks = end - (start ?? 0)
        let nanoseconds = av_rescale_q(max(0, ticks), base, AVRational(num: 1, den: 1_000_000_000))
        return ClipFacts(duration: .nanoseconds(nanoseconds), frames: frames, silence: .zero, driftPPM: 0)
    }
}
