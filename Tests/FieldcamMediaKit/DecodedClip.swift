import CFieldcamMedia
import Clibavcodec
import Clibavformat
import Clibavutil
import Glibc

/// A clip as FFmpeg's demuxer and decoders see it, from its first packet to its last.
package struct DecodedClip {
    package var width = 0
    package var height = 0
    /// Seconds of each decoded picture, and its mean luma.
    package var times: [Double] = []
    package var lumas: [Double] = []
    /// The first picture's luma, rows end to end.
    package var firstLuma: [UInt8] = []
    /// Whether each video packet is a key frame.
    package var keys: [Bool] = []
    /// The end of the last video packet, s.
    package var end = 0.0
    /// Mono sound (first channel) by media time: sample n was taken at `soundStart + n / rate`.
    package var sound: [Float] = []
    package var soundStart = 0.0
    package var rate = 0
    package var channels = 0
    package var hasSound = false
    package var codec = AV_CODEC_ID_NONE
    package var colour: [UInt32] = []
    package var matrix: [Int32] = []
    package var creationTime: String?
    package var decodeErrors = 0

    package init?(path: String) {
        var context: UnsafeMutablePointer<AVFormatContext>?
        guard avformat_open_input(&context, path, nil, nil) >= 0, let input = context else { return nil }
        defer { avformat_close_input(&context) }
        guard avformat_find_stream_info(input, nil) >= 0 else { return nil }
        if let entry = av_dict_get(input.pointee.metadata, "creation_time", nil, 0) {
            creationTime = String(cString: entry.pointee.value)
        }
        var decoders: [UnsafeMutablePointer<AVCodecContext>?] = []
        for index in 0..<Int(input.pointee.nb_streams) {
            let stream = input.pointee.streams[index]!
            let parameters = stream.pointee.codecpar!
            let decoder = avcodec_alloc_context3(avcodec_find_decoder(parameters.pointee.codec_id))
            avcodec_parameters_to_context(decoder, parameters)
            decoder!.pointee.thread_count = 1
            guard avcodec_open2(decoder, nil, nil) >= 0 else { return nil }
            decoders.append(decoder)
            if parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO {
                (width, height) = (Int(parameters.pointee.width), Int(parameters.pointee.height))
                codec = parameters.pointee.codec_id
                colour = [
                    parameters.pointee.color_range.rawValue, parameters.pointee.color_primaries.rawValue,
                    parameters.pointee.color_trc.rawValue, parameters.pointee.color_space.rawValue,
                ]
                var numbers = [Int32](repeating: 0, count: 9)
                if fc_av_matrix(stream, &numbers) == 0 { matrix = numbers }
            } else {
                hasSound = true
                rate = Int(parameters.pointee.sample_rate)
                channels = Int(parameters.pointee.ch_layout.nb_channels)
            }
        }
        defer { for index in decoders.indices { avcodec_free_context(&decoders[index]) } }
        var packet = av_packet_alloc()
        var frame = av_frame_alloc()
        defer {
            av_packet_free(&packet)
            av_frame_free(&frame)
        }
        while av_read_frame(input, packet) >= 0 {
            let index = Int(packet!.pointee.stream_index)
            let base = input.pointee.streams[index]!.pointee.time_base
            if decoders[index]!.pointee.codec_type == AVMEDIA_TYPE_VIDEO {
                keys.append(packet!.pointee.flags & AV_PKT_FLAG_KEY != 0)
                end = Double(packet!.pointee.pts + packet!.pointee.duration) * Double(base.num) / Double(base.den)
            }
            if avcodec_send_packet(decoders[index], packet) < 0 { decodeErrors += 1 }
            av_packet_unref(packet)
            take(decoders[index]!, base, frame!)
        }
        for (index, decoder) in decoders.enumerated() {
            avcodec_send_packet(decoder, nil)
            take(decoder!, input.pointee.streams[index]!.pointee.time_base, frame!)
        }
    }

    private mutating func take(
        _ decoder: UnsafeMutablePointer<AVCodecContext>, _ base: AVRational, _ frame: UnsafeMutablePointer<AVFrame>
    ) {
        while avcodec_receive_frame(decoder, frame) >= 0 {
            let time = Double(frame.pointee.pts) * Double(base.num) / Double(base.den)
            if frame.pointee.decode_error_flags != 0 { decodeErrors += 1 }
            if decoder.pointee.codec_type == AVMEDIA_TYPE_VIDEO {
                times.append(time)
                let isFirst = firstLuma.isEmpty
                var sum = 0
                for y in 0..<Int(frame.pointee.height) {
                    let row = frame.pointee.data.0! + y * Int(frame.pointee.linesize.0)
                    if isFirst { firstLuma += UnsafeBufferPointer(start: row, count: Int(frame.pointee.width)) }
                    for x in 0..<Int(frame.pointee.width) { sum += Int(row[x]) }
                }
                lumas.append(Double(sum) / Double(frame.pointee.width * frame.pointee.height))
            } else {
                if sound.isEmpty { soundStart = time }
                let plane = UnsafeRawPointer(frame.pointee.data.0!).assumingMemoryBound(to: Float.self)
                sound += UnsafeBufferPointer(start: plane, count: Int(frame.pointee.nb_samples))
            }
            av_frame_unref(frame)
        }
    }

    /// Root mean square of the sound between two media times, s.
    package func loudness(_ from: Double, _ to: Double) -> Double {
        let first = max(0, Int((from - soundStart) * Double(rate)))
        let last = min(sound.count, Int((to - soundStart) * Double(rate)))
        guard first < last else { return 0 }
        let sum = sound[first..<last].reduce(0.0) { $0 + Double($1) * Double($1) }
        return (sum / Double(last - first)).squareRoot()
    }

    /// The strength of a tone between two media times: the amplitude of its sine.
    package func strength(of frequency: Double, _ from: Double, _ to: Double) -> Double {
        let first = max(0, Int((from - soundStart) * Double(rate)))
        let last = min(sound.count, Int((to - soundStart) * Double(rate)))
        guard first < last else { return 0 }
        var (real, imaginary) = (0.0, 0.0)
        for index in first..<last {
            let phase = 2 * Double.pi * frequency * Double(index) / Double(rate)
            real += Double(sound[index]) * cos(phase)
            imaginary += Double(sound[index]) * sin(phase)
        }
        return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(last - first)
    }

    /// Media times at which the sound begins to be loud after having been quiet.
    package func onsets(threshold: Float = 0.1, quiet: Double = 0.2) -> [Double] {
        var found: [Double] = []
        var lastLoud = -1.0
        for (index, sample) in sound.enumerated() where abs(sample) > threshold {
            let time = soundStart + Double(index) / Double(rate)
            if time - lastLoud > quiet { found.append(time) }
            lastLoud = time
        }
        return found
    }
}
