import CFieldcamMedia
import Clibavcodec
import Clibavutil
import Clibswscale
import FieldcamPorts
import Glibc

/// An encoder of libavcodec's. YCbCr planes are encoded where they lie; RGB is converted first.
final class FFmpegVideoEncoder: VideoEncoder {
    let name: String
    private let pulse: EncoderPulse?
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    /// What RGB is converted into; `nil` for YCbCr.
    private var converted: UnsafeMutablePointer<AVFrame>?
    private var scaler: OpaquePointer?
    private var tail: UnsafeMutablePointer<UInt8>?
    private var borrowed: UnsafeMutablePointer<AVBufferRef>?

    /// - Parameter threads: of x264; other encoders run as they will.
    init(name: String, plan: ClipPlan, threads: Int) throws(HardwareError) {
        self.name = name
        pulse = plan.pulse
        do throws(HardwareError) {
            try open(plan, threads: threads)
        } catch {
            close()
            throw error
        }
    }

    deinit { close() }

    private func open(_ plan: ClipPlan, threads: Int) throws(HardwareError) {
        let operation = "open the encoder '\(name)' for \(plan.layout.width)x\(plan.layout.height)"
        fc_av_forget()
        guard let codec = avcodec_find_encoder_by_name(name), let context = avcodec_alloc_context3(codec) else {
            throw HardwareError(
                .unsupported, operation, detail: "this FFmpeg has no encoder '\(name)'; leave it out of video.encoders")
        }
        self.context = context
        let layout = plan.layout
        let isRGB = layout.format == .bgr888 || layout.format == .rgb888
        // 4:2:0 halves both sides: an odd last column or row is left out.
        context.pointee.width = Int32(layout.width & ~1)
        context.pointee.height = Int32(layout.height & ~1)
        context.pointee.pix_fmt = layout.format == .nv12 ? AV_PIX_FMT_NV12 : AV_PIX_FMT_YUV420P
        context.pointee.time_base = AVRational(num: 1, den: Int32(Ticks.perSecond))
        context.pointee.framerate = av_d2q(plan.framerate, 1001)
        context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        let colour = TrackColour(layout.colour)
        context.pointee.color_range = colour.range
        context.pointee.color_primaries = colour.primaries
        context.pointee.color_trc = colour.transfer
        context.pointee.colorspace = colour.matrix
        context.pointee.gop_size = plan.everyFrameIsKey ? 1 : Int32(max(1, plan.framerate.rounded()))
        context.pointee.max_b_frames = 0
        // The parameter sets belong into the header. (AV_CODEC_FLAG_GLOBAL_HEADER)
        context.pointee.flags |= 1 << 22
        let bitRate = plan.bitRate ?? (name == "libx264" ? nil : Self.usualBitRate(plan))
        if let bitRate {
            context.pointee.bit_rate = Int64(bitRate)
            // Peaks of half as much again over two seconds: what a card and a player have to be ready for.
            context.pointee.rc_max_rate = Int64(bitRate) * 3 / 2
            context.pointee.rc_buffer_size = Int32(clamping: bitRate * 2)
        }
        if name == "libx264" {
            let options = context.pointee.priv_data
            av_opt_set(options, "preset", "superfast", 0)
            av_opt_set(options, "tune", "zerolatency", 0)
            if bitRate == nil { av_opt_set(options, "crf", "23", 0) }
            av_opt_set(options, "forced-idr", "1", 0)
            context.pointee.thread_count = Int32(threads)
            // Slices of one frame side by side: no frame waits for another, and no frame under way takes 15 MiB more at 1080p.
            context.pointee.thread_type = FF_THREAD_SLICE
        }
        let code = avcodec_open2(context, codec, nil)
        guard code >= 0 else { throw .ffmpeg(code, operation) }

        guard let frame = av_frame_alloc(), let borrowed = fc_av_borrowed_buffer() else {
            throw .errno(ENOMEM, operation)
        }
        self.frame = frame
        self.borrowed = borrowed
        frame.pointee.format = context.pointee.pix_fmt.rawValue
        frame.pointee.width = context.pointee.width
        frame.pointee.height = context.pointee.height
        frame.pointee.color_range = colour.range
        frame.pointee.color_primaries = colour.primaries
        frame.pointee.color_trc = colour.transfer
        frame.pointee.colorspace = colour.matrix
        if isRGB {
            try openScaler(layout, operation)
        } else {
            // With a reference of its own the frame is taken as it is, else libavcodec would copy the picture.
            frame.pointee.buf.0 = borrowed
        }
    }

    private func openScaler(_ layout: ImageLayout, _ operation: String) throws(HardwareError) {
        let context = context!
        let width = context.pointee.width
        let height = context.pointee.height
        let format = layout.format == .bgr888 ? AV_PIX_FMT_RGB24 : AV_PIX_FMT_BGR24
        guard
            let scaler = sws_getContext(
                width, height, format, width, height, AV_PIX_FMT_YUV420P, SWS_BILINEAR | SWS_ACCURATE_RND, nil, nil, nil
            )
        else { throw .errno(ENOMEM, operation) }
        self.scaler = scaler
        let matrix = sws_getCoefficients(SWS_CS_ITU709)
        sws_setColorspaceDetails(scaler, matrix, 1, matrix, 0, 0, 1 << 16, 1 << 16)
        let frame = frame!
        let code = av_frame_get_buffer(frame, 0)
        guard code >= 0 else { throw .ffmpeg(code, operation) }
        converted = frame
        tail = .allocate(capacity: layout.first.stride * 2 + 64)
        tail!.initialize(repeating: 0, count: layout.first.stride * 2 + 64)
    }

    /// Bits a second where an encoder knows no constant quality: 10 Mbit/s for 1080p at 30 frames a second, and in proportion.
    private static func usualBitRate(_ plan: ClipPlan) -> Int {
        let pixels = Double(plan.layout.width * plan.layout.height) * plan.framerate
        return Int(max(500_000, pixels * 0.16))
    }

    func describe(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws(HardwareError) {
        let code = avcodec_parameters_from_context(parameters, context)
        guard code >= 0 else { throw .ffmpeg(code, "describe a video track") }
    }

    func encode(_ image: Image, ticks: Int64, asKey: Bool) throws(HardwareError) {
        guard let frame else { throw closed }
        let layout = image.layout
        if let converted {
            // The encoder may still hold the last picture.
            let code = av_frame_make_writable(converted)
            guard code >= 0 else { throw .ffmpeg(code, "convert a frame") }
            // libswscale's vector code reads some bytes beyond the last row, which may be where the camera's memory ends: the
            // last two rows (chroma's step) are converted from a copy with room behind it.
            let rows = frame.pointee.height
            let stride = layout.first.stride
            let tailStart = stride * Int(rows - 2)
            let tailBytes = stride + layout.width * 3
            tail!.update(from: image.plane(0) + tailStart, count: tailBytes)
            fc_sws_convert(scaler!, image.plane(0), Int32(stride), 0, rows - 2, converted)
            fc_sws_convert(scaler!, tail!, Int32(stride), rows - 2, 2, converted)
        } else {
            // Encoders read only; the pointers are mutable because one type serves decoders too.
            frame.pointee.data.0 = UnsafeMutablePointer(mutating: image.plane(0))
            frame.pointee.data.1 = UnsafeMutablePointer(mutating: image.plane(1))
            frame.pointee.linesize.0 = Int32(layout.first.stride)
            frame.pointee.linesize.1 = Int32(layout.second.stride)
            if layout.format == .yuv420 {
                frame.pointee.data.2 = UnsafeMutablePointer(mutating: image.plane(2))
                frame.pointee.linesize.2 = Int32(layout.third.stride)
            }
        }
        frame.pointee.pts = ticks
        frame.pointee.pict_type = asKey ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        fc_av_forget()
        pulse?.begin()
        let code = avcodec_send_frame(context, frame)
        pulse?.end()
        guard code >= 0 else { throw .ffmpeg(code, "encode a frame with '\(name)'") }
    }

    func flush() throws(HardwareError) {
        guard context != nil else { throw closed }
        fc_av_forget()
        pulse?.begin()
        let code = avcodec_send_frame(context, nil)
        pulse?.end()
        guard code >= 0 || code == fc_av_end() else { throw .ffmpeg(code, "end the encoding with '\(name)'") }
    }

    func receive(_ packet: UnsafeMutablePointer<AVPacket>) throws(HardwareError) -> Bool {
        guard context != nil else { throw closed }
        pulse?.begin()
        let code = avcodec_receive_packet(context, packet)
        pulse?.end()
        if code == fc_av_again() || code == fc_av_end() { return false }
        guard code >= 0 else { throw .ffmpeg(code, "encode a frame with '\(name)'") }
        return true
    }

    func close() {
        avcodec_free_context(&context)
        if converted == nil { frame?.pointee.buf.0 = nil }
        av_frame_free(&frame)
        converted = nil
        av_buffer_unref(&borrowed)
        sws_freeContext(scaler)
        scaler = nil
        tail?.deallocate()
        tail = nil
    }

    private var closed: HardwareError { HardwareError(.invalid, "encode a frame", detail: "the clip has ended") }
}

/// What the track says about its colours.
struct TrackColour {
    var range: AVColorRange
    var primaries: AVColorPrimaries
    var transfer: AVColorTransferCharacteristic
    var matrix: AVColorSpace

    init(_ colour: ColourSpace) {
        switch colour {
        case .sycc:
            range = AVCOL_RANGE_JPEG
            primaries = AVCOL_PRI_BT709
            transfer = AVCOL_TRC_IEC61966_2_1
            matrix = AVCOL_SPC_SMPTE170M
        case .smpte170m:
            range = AVCOL_RANGE_MPEG
            primaries = AVCOL_PRI_SMPTE170M
            transfer = AVCOL_TRC_SMPTE170M
            matrix = AVCOL_SPC_SMPTE170M
        case .rec709:
            range = AVCOL_RANGE_MPEG
            primaries = AVCOL_PRI_BT709
            transfer = AVCOL_TRC_BT709
            matrix = AVCOL_SPC_BT709
        case .srgb:
            // What RGB is converted to; its transfer stays sRGB's.
            range = AVCOL_RANGE_MPEG
            primaries = AVCOL_PRI_BT709
            transfer = AVCOL_TRC_IEC61966_2_1
            matrix = AVCOL_SPC_BT709
        }
    }
}
