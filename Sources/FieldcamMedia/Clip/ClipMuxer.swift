import CFieldcamMedia
import Clibavcodec
import Clibavformat
import Clibavutil
import FieldcamPorts
import Glibc

/// An MP4 of whole fragments, each written at once; finished to a plain MP4 where libavformat can (7.1 and later).
final class ClipMuxer {
    private var context: UnsafeMutablePointer<AVFormatContext>?
    private var sink: OpaquePointer?
    private(set) var isBegun = false
    private(set) var isEnded = false
    let video: UnsafeMutablePointer<AVStream>
    /// `nil`: no audio track.
    let sound: UnsafeMutablePointer<AVStream>?
    /// What may be gathered before a file is attached: half a minute at 20 Mbit/s; a hold is one second at most.
    private static let memoryLimit = 96 << 20

    init(hasSound: Bool, creationTime: String?) throws(HardwareError) {
        fc_av_forget()
        var context: UnsafeMutablePointer<AVFormatContext>?
        let code = avformat_alloc_output_context2(&context, nil, "mp4", nil)
        guard code >= 0, let context else { throw .ffmpeg(code, "open the MP4 muxer") }
        guard let sink = fc_sink_create(Self.memoryLimit), let video = avformat_new_stream(context, nil) else {
            avformat_free_context(context)
            throw .errno(ENOMEM, "open the MP4 muxer")
        }
        let sound = hasSound ? avformat_new_stream(context, nil) : nil
        self.context = context
        self.sink = sink
        self.video = video
        self.sound = sound
        context.pointee.pb = fc_sink_io(sink)
        context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        video.pointee.time_base = AVRational(num: 1, den: Int32(Ticks.perSecond))
        if let creationTime { av_dict_set(&context.pointee.metadata, "creation_time", creationTime, 0) }
    }

    deinit { close() }

    /// Whether this libavformat can turn the fragments into a plain MP4 at the end.
    static let finishesPlain: Bool = {
        var muxer: UnsafePointer<AVClass>? = av_guess_format("mp4", nil, nil)?.pointee.priv_class
        return withUnsafeMutablePointer(to: &muxer) { muxer in
            av_opt_find(muxer, "hybrid_fragmented", "movflags", 0, AV_OPT_SEARCH_FAKE_OBJ) != nil
        }
    }()

    /// Writes the header; both tracks are described by now.
    func begin() throws(HardwareError) {
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        // Fragments end where we say. Times are absolute in each, so that a lost one doesn't shift the rest.
        let flags = "frag_custom+empty_moov+default_base_moof" + (Self.finishesPlain ? "+hybrid_fragmented" : "")
        av_dict_set(&options, "movflags", flags, 0)
        fc_av_forget()
        let code = avformat_write_header(context, &options)
        guard code >= 0 else { throw .ffmpeg(code, "begin the clip's file") }
        isBegun = true
    }

    /// Takes a packet of a track; its times are in the track's time base. The packet is empty afterwards.
    func write(_ packet: UnsafeMutablePointer<AVPacket>, to stream: UnsafeMutablePointer<AVStream>)
        throws(HardwareError)
    {
        packet.pointee.stream_index = stream.pointee.index
        fc_av_forget()
        let code = av_write_frame(context, packet)
        av_packet_unref(packet)
        guard code >= 0 else { throw failure(code) }
    }

    /// Ends a fragment, and writes it if there is a file. True if bytes went to the file.
    func endFragment() throws(HardwareError) -> Bool {
        fc_av_forget()
        let code = av_write_frame(context, nil)
        guard code >= 0 else { throw failure(code) }
        return try commit()
    }

    func attach(_ descriptor: Int32) throws(HardwareError) -> Bool {
        guard let sink else { throw HardwareError(.invalid, "give the clip a file", detail: "the clip was cancelled") }
        fc_sink_attach(sink, descriptor)
        return try commit()
    }

    /// Ends the last fragment and, where that can be, makes the file a plain MP4.
    func end() throws(HardwareError) {
        guard isBegun, !isEnded else { return }
        isEnded = true
        fc_av_forget()
        let code = av_write_trailer(context)
        _ = try commit()
        guard code >= 0 else { throw failure(code) }
    }

    func close() {
        if let context {
            context.pointee.pb = nil
            avformat_free_context(context)
        }
        context = nil
        fc_sink_destroy(sink)
        sink = nil
    }

    /// Whether the disk, or the memory for what waits, refused; nothing more is written then.
    var failed: Bool { sink.map { fc_sink_error($0) != 0 } ?? true }

    private func commit() throws(HardwareError) -> Bool {
        if isBegun { avio_flush(fc_sink_io(sink!)) }
        let code = fc_sink_commit(sink!)
        guard code >= 0 else { throw failure(code) }
        return code > 0
    }

    private func failure(_ code: Int32) -> HardwareError {
        let sinkCode = sink.map { fc_sink_error($0) } ?? 0
        // What the disk said comes first: FFmpeg only repeats it.
        return sinkCode < 0 ? .errno(sinkCode, "write the clip") : .ffmpeg(code, "write the clip")
    }
}
