import CFieldcamMedia
import Clibavcodec
import Clibavutil
import Clibswresample
import FieldcamPorts
import Glibc

/// The clip's sound: AAC on the picture's time, whatever the card's clock does. Times are nanoseconds since the first frame.
///
/// Sound waits until the picture has come as far, so that the clip's end can cut it at the right sample.
final class SoundTrack {
    /// Silence that was put in, before the first sound and in gaps.
    private(set) var silence: Duration = .zero
    private var clock = SoundClock()
    var driftPPM: Double { clock.driftPPM }

    private let format: AudioFormat
    private let rate: Int
    private let channels: Int
    private var encoder: UnsafeMutablePointer<AVCodecContext>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var resampler: OpaquePointer?
    private let muxer: ClipMuxer

    /// What the resampler made: one plane a channel, `scratchSamples` each.
    private let scratch: UnsafeMutablePointer<Float>
    private static let scratchSamples = 32768
    /// Sound goes into the resampler in steps of this many samples a channel.
    private static let step = 1024
    private let zeros: UnsafeMutablePointer<Int16>

    /// Samples in the frame that is being filled, and in all frames before it.
    private var filled = 0
    private var encoded: Int64 = 0
    /// Nothing has been taken since the start: the next piece is placed where it belongs without a word.
    private var isPlaced = false
    private var corrected: Double?

    /// AAC's encoder puts this many samples before the first; players that know no edit list would play them. So the first sample
    /// of ours is the one that belongs behind them, and time stamps stay true without a list.
    private let priming: Int
    /// A piece this far from its place isn't drift: sound was lost, or came twice.
    private static let gap = 0.030

    private let waiting: WaitingSound

    init(format: AudioFormat, muxer: ClipMuxer) throws(HardwareError) {
        guard (4000...384_000).contains(format.rate), (1...8).contains(format.channels) else {
            throw HardwareError(
                .unsupported, "record sound of \(format.rate) Hz, \(format.channels) channels",
                detail: "4000 … 384000 Hz and 1 … 8 channels can be recorded")
        }
        self.format = format
        self.muxer = muxer
        // The rates of ISO 14496-3 that a microphone may have; anything else becomes the usual one.
        rate =
            [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000].contains(format.rate)
            ? format.rate : 48000
        channels = min(2, format.channels)
        scratch = .allocate(capacity: 2 * Self.scratchSamples)
        zeros = .allocate(capacity: Self.step * format.channels)
        zeros.initialize(repeating: 0, count: Self.step * format.channels)
        waiting = WaitingSound(channels: format.channels, rate: format.rate, capacity: format.rate * 3)
        priming = 1024
        do throws(HardwareError) {
            try open()
        } catch {
            close()
            throw error
        }
    }

    deinit {
        close()
        scratch.deallocate()
        zeros.deallocate()
    }

    private func open() throws(HardwareError) {
        let operation = "open the sound encoder"
        fc_av_forget()
        guard let codec = avcodec_find_encoder(AV_CODEC_ID_AAC), let encoder = avcodec_alloc_context3(codec) else {
            throw HardwareError(.unsupported, operation, detail: "this FFmpeg has no AAC encoder")
        }
        self.encoder = encoder
        encoder.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
        encoder.pointee.sample_rate = Int32(rate)
        av_channel_layout_default(&encoder.pointee.ch_layout, Int32(channels))
        encoder.pointee.bit_rate = Int64(64_000 * channels)
        encoder.pointee.time_base = AVRational(num: 1, den: Int32(rate))
        encoder.pointee.flags |= 1 << 22  // AV_CODEC_FLAG_GLOBAL_HEADER
        var code = avcodec_open2(encoder, codec, nil)
        guard code >= 0 else { throw .ffmpeg(code, operation) }

        var source = AVChannelLayout()
        av_channel_layout_default(&source, Int32(format.channels))
        var resampler: OpaquePointer?
        code = swr_alloc_set_opts2(
            &resampler, &encoder.pointee.ch_layout, AV_SAMPLE_FMT_FLTP, Int32(rate), &source, AV_SAMPLE_FMT_S16,
            Int32(format.rate), 0, nil)
        guard code >= 0, let resampler else { throw .ffmpeg(code, operation) }
        self.resampler = resampler
        // Equal rates must be resampled too, or there is nothing to correct a drift with.
        av_opt_set_int(UnsafeMutableRawPointer(resampler), "flags", Int64(SWR_FLAG_RESAMPLE), 0)
        code = swr_init(resampler)
        guard code >= 0 else { throw .ffmpeg(code, operation) }

        guard let frame = av_frame_alloc(), let packet = av_packet_alloc() else { throw .errno(ENOMEM, operation) }
        self.frame = frame
        self.packet = packet
        frame.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        frame.pointee.sample_rate = Int32(rate)
        frame.pointee.nb_samples = encoder.pointee.frame_size
        av_channel_layout_default(&frame.pointee.ch_layout, Int32(channels))
        code = av_frame_get_buffer(frame, 0)
        guard code >= 0 else { throw .ffmpeg(code, operation) }

        let stream = muxer.sound!
        stream.pointee.time_base = encoder.pointee.time_base
        code = avcodec_parameters_from_context(stream.pointee.codecpar, encoder)
        guard code >= 0 else { throw .ffmpeg(code, operation) }
    }

    // MARK: In

    /// Takes a piece of interleaved sound. If more than three seconds wait for the picture, the oldest are lost.
    func take(_ sound: UnsafeBufferPointer<Int16>, at nanoseconds: Int64) {
        waiting.append(sound, at: nanoseconds)
    }

    /// Encodes what waits, up to this time.
    func release(until nanoseconds: Int64) throws(HardwareError) {
        while let piece = waiting.next(until: nanoseconds) {
            try place(piece.samples, piece.count, at: piece.nanoseconds)
            waiting.removeFirst(piece.count)
        }
    }

    /// Puts in silence where sound has been missing for long: the picture is at this time.
    func fill(behind nanoseconds: Int64) throws(HardwareError) {
        let picture = Double(nanoseconds) / 1e9
        guard picture - position > 1.5 else { return }
        try putSilence(until: picture - 1)
        isPlaced = false
    }

    /// Ends the sound at this time and empties the encoder.
    func end(at nanoseconds: Int64) throws(HardwareError) {
        try release(until: nanoseconds)
        try putSilence(until: Double(nanoseconds) / 1e9)
        if filled > 0 { try encodeFrame() }
        fc_av_forget()
        let code = avcodec_send_frame(encoder, nil)
        guard code >= 0 else { throw .ffmpeg(code, "encode sound") }
        try drain()
    }

    func close() {
        avcodec_free_context(&encoder)
        av_frame_free(&frame)
        av_packet_free(&packet)
        swr_free(&resampler)
    }

    // MARK: Time

    /// Where the next sample that goes in comes to lie, s since the first frame.
    private var position: Double {
        Double(Int64(priming) + encoded + Int64(filled) + swr_get_delay(resampler, Int64(rate))) / Double(rate)
    }

    private func place(_ samples: UnsafePointer<Int16>, _ count: Int, at nanoseconds: Int64) throws(HardwareError) {
        let time = Double(nanoseconds) / 1e9
        var (samples, count) = (samples, count)
        var error = time - position
        if !isPlaced || abs(error) > Self.gap {
            if error > 0 {
                try putSilence(until: time)
            } else {
                // Before the first frame, or there already.
                let surplus = min(count, Int((-error * Double(format.rate)).rounded()))
                samples += surplus * format.channels
                count -= surplus
                guard count > 0 else { return }
            }
            isPlaced = true
            clock.restart(at: time)
            error = 0
        }
        clock.note(time: time, duration: Double(count) / Double(format.rate), error: error)
        correctIfDue(at: time)
        try resample(samples, count)
    }

    private func correctIfDue(at time: Double) {
        // A second between two changes is short against the loop and long against the resampler's own work.
        guard corrected.map({ time - $0 >= 1 || time < $0 }) ?? true else { return }
        corrected = time
        let distance = Int32(rate * 10)
        _ = swr_set_compensation(resampler, Int32((clock.correction * Double(distance)).rounded()), distance)
    }

    private func putSilence(until time: Double) throws(HardwareError) {
        let missing = time - position
        guard missing > 0 else { return }
        silence += .nanoseconds(Int64(missing * 1e9))
        var left = Int((missing * Double(format.rate)).rounded())
        while left > 0 {
            let count = min(left, Self.step)
            try resample(zeros, count)
            left -= count
        }
    }

    // MARK: Out

    private func resample(_ samples: UnsafePointer<Int16>, _ count: Int) throws(HardwareError) {
        var (samples, count) = (samples, count)
        while count > 0 {
            let step = min(count, Self.step)
            let made = fc_swr_resample(
                resampler!, scratch, scratch + Self.scratchSamples, Int32(Self.scratchSamples), samples, Int32(step))
            guard made >= 0 else { throw .ffmpeg(made, "resample sound") }
            try fillFrames(Int(made))
            samples += step * format.channels
            count -= step
        }
    }

    private func fillFrames(_ made: Int) throws(HardwareError) {
        let size = Int(encoder!.pointee.frame_size)
        var taken = 0
        while taken < made {
            if filled == 0 {
                // The encoder may still hold the last one.
                let code = av_frame_make_writable(frame)
                guard code >= 0 else { throw .ffmpeg(code, "encode sound") }
            }
            let count = min(size - filled, made - taken)
            for channel in 0..<channels {
                let plane = UnsafeMutableRawPointer(frame!.pointee.extended_data[channel]!)
                    .assumingMemoryBound(to: Float.self)
                (plane + filled).update(from: scratch + channel * Self.scratchSamples + taken, count: count)
            }
            filled += count
            taken += count
            if filled == size { try encodeFrame() }
        }
    }

    private func encodeFrame() throws(HardwareError) {
        frame!.pointee.nb_samples = Int32(filled)
        frame!.pointee.pts = encoded
        fc_av_forget()
        let code = avcodec_send_frame(encoder, frame)
        frame!.pointee.nb_samples = encoder!.pointee.frame_size
        guard code >= 0 else { throw .ffmpeg(code, "encode sound") }
        encoded += Int64(filled)
        filled = 0
        try drain()
    }

    private func drain() throws(HardwareError) {
        while true {
            let code = avcodec_receive_packet(encoder, packet)
            if code == fc_av_again() || code == fc_av_end() { return }
            guard code >= 0, let packet else { throw .ffmpeg(code, "encode sound") }
            packet.pointee.pts += Int64(priming)
            packet.pointee.dts = packet.pointee.pts
            try muxer.write(packet, to: muxer.sound!)
        }
    }
}
