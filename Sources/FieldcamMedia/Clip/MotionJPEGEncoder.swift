import CFieldcamMedia
import Clibavcodec
import Clibavutil
import FieldcamPorts
import Glibc

/// Motion JPEG by libjpeg-turbo: half the CPU of FFmpeg's own, and every format and colour space that photos know.
final class MotionJPEGEncoder: VideoEncoder {
    let name = "mjpeg"
    /// Two, used in turn, so that one packet's bytes stay while the next is made.
    private var encoders: (OpaquePointer?, OpaquePointer?)
    private let layout: ImageLayout
    private let framerate: Double
    /// Bytes a frame may take on average; `nil`: constant quality.
    private let budget: Double?
    private var quality: Double
    private var ready: UnsafeRawBufferPointer?
    private var readyTicks: Int64 = 0
    /// FFmpeg's quality 4 has quantisers half of the standard's, and so has libjpeg's 75.
    private static let constantQuality = 75.0

    init(plan: ClipPlan) throws(HardwareError) {
        layout = plan.layout
        framerate = plan.framerate
        budget = plan.bitRate.map { Double($0) / 8 / max(1, plan.framerate) }
        quality = Self.constantQuality
        encoders = (fc_jpeg_create(), fc_jpeg_create())
        guard encoders.0 != nil, encoders.1 != nil else {
            close()
            throw .errno(ENOMEM, "open the encoder 'mjpeg'")
        }
    }

    deinit { close() }

    func describe(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws(HardwareError) {
        parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        parameters.pointee.codec_id = AV_CODEC_ID_MJPEG
        parameters.pointee.format = AV_PIX_FMT_YUVJ420P.rawValue
        parameters.pointee.width = Int32(layout.width)
        parameters.pointee.height = Int32(layout.height)
        parameters.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        // Limited range and BT.709's matrix are converted on the way in; primaries and transfer aren't touched.
        let colour = TrackColour(layout.colour)
        parameters.pointee.color_range = AVCOL_RANGE_JPEG
        parameters.pointee.color_space = AVCOL_SPC_SMPTE170M
        parameters.pointee.color_primaries = colour.primaries
        parameters.pointee.color_trc = colour.transfer
    }

    func encode(_ image: Image, ticks: Int64, asKey: Bool) throws(HardwareError) {
        var picture = image.picture
        var bytes: UnsafePointer<UInt8>?
        var size = 0
        guard let encoder = encoders.0 else {
            throw HardwareError(.invalid, "encode a frame", detail: "the clip has ended")
        }
        let code = fc_jpeg_encode(encoder, &picture, Int32(quality.rounded()), nil, 0, &bytes, &size)
        guard code == 0 else { throw .errno(code, "encode a frame with 'mjpeg'") }
        encoders = (encoders.1, encoders.0)
        ready = UnsafeRawBufferPointer(start: bytes, count: size)
        readyTicks = ticks
        if let budget {
            // Eight steps of quality change a picture's size by about a third; at most three steps a frame, so that one
            // odd picture doesn't matter.
            let step = min(3, max(-3, log(budget / Double(size)) * 4))
            quality = min(97, max(10, quality + step))
        }
    }

    func flush() throws(HardwareError) {}

    func receive(_ packet: UnsafeMutablePointer<AVPacket>) throws(HardwareError) -> Bool {
        guard let bytes = ready else { return false }
        ready = nil
        packet.pointee.data = UnsafeMutablePointer(
            mutating: bytes.baseAddress!.assumingMemoryBound(to: UInt8.self))
        packet.pointee.size = Int32(bytes.count)
        packet.pointee.pts = readyTicks
        packet.pointee.dts = readyTicks
        packet.pointee.flags = AV_PKT_FLAG_KEY
        return true
    }

    func close() {
        fc_jpeg_destroy(encoders.0)
        fc_jpeg_destroy(encoders.1)
        encoders = (nil, nil)
        ready = nil
    }
}
