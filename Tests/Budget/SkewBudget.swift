import CFieldcamMedia
import Clibavcodec
import Clibavformat
import Clibavutil
import FieldcamCore
import FieldcamMedia
import FieldcamPorts
import Glibc

/// An hour with a sound card of the wrong speed, on a virtual clock: `skew [MINUTES [PPM]]` (60 and 200). A click sounds and a white
/// picture shows at each whole second; in the finished file every click lies within 40 ms of its picture.
enum SkewBudget {
    static let promise = 0.040

    static func run(_ arguments: [String]) -> Int32 {
        let minutes = arguments.first.flatMap { Int($0) } ?? 60
        let skew = arguments.dropFirst().first.flatMap { Double($0) } ?? 200
        let path = "/tmp/fieldcam-budget-\(getpid()).mp4"
        defer { unlink(path) }
        let facts: ClipFacts
        do throws(HardwareError) {
            guard let made = try record(seconds: minutes * 60, skew: skew, path: path) else { return 1 }
            facts = made
        } catch {
            print("\(error)")
            return 1
        }
        guard let (flashes, clicks) = readBack(path) else {
            print("the clip can't be read")
            return 1
        }
        // The first click lies where AAC's encoder starts and isn't heard whole.
        let expected = minutes * 60 - 1
        guard flashes.count == expected, clicks.count == expected else {
            print("\(expected) seconds, but \(flashes.count) flashes and \(clicks.count) clicks")
            return 1
        }
        var worst = 0.0
        var sum = 0.0
        for (flash, click) in zip(flashes, clicks) {
            worst = max(worst, abs(click - flash))
            sum += abs(click - flash)
        }
        let isKept = worst <= promise && abs(facts.driftPPM - skew) < 5
        print("skew \(skew) ppm over \(minutes) min, time stamps ±1 ms, virtual clock")
        print(
            "  sound − picture   worst \(Measurement.text(worst * 1000)) ms, mean \(Measurement.text(sum * 1000 / Double(expected))) ms"
        )
        print("  drift found   \(Measurement.text(facts.driftPPM, 2)) ppm   silence \(facts.silence)")
        print(
            "{\"figure\":\"skew\",\"minutes\":\(minutes),\"ppm\":\(skew),\"worst_ms\":\(Measurement.text(worst * 1000)),"
                + "\"drift_ppm\":\(Measurement.text(facts.driftPPM, 2))}")
        return isKept ? 0 : 1
    }

    private static func record(seconds: Int, skew: Double, path: String) throws(HardwareError) -> ClipFacts? {
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        let layout = ImageLayout.packed(width: 64, height: 48, format: .nv12, colour: .sycc)
        let dark = UnsafeMutableRawPointer.allocate(byteCount: layout.byteCount, alignment: 64)
        let bright = UnsafeMutableRawPointer.allocate(byteCount: layout.byteCount, alignment: 64)
        defer {
            dark.deallocate()
            bright.deallocate()
        }
        memset(dark, 20, layout.byteCount)
        memset(bright, 235, layout.byteCount)
        memset(dark + layout.second.offset, 128, layout.byteCount - layout.second.offset)
        memset(bright + layout.second.offset, 128, layout.byteCount - layout.second.offset)

        let format = AudioFormat(rate: 48000, channels: 1)
        let writer = try FFmpegClipWriterFactory().begin(
            ClipPlan(encoders: ["libx264"], layout: layout, framerate: 30, audio: format))
        try writer.attach(file: file)
        let rate = 48000 * (1 + skew * 1e-6)
        let piece = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 480)
        defer { piece.deallocate() }
        var sample = 0
        var random: UInt32 = 7
        for frame in 0..<(seconds * 30) {
            let time = Double(frame) / 30
            while Double(sample) / rate < time + 0.02 {
                for index in 0..<480 {
                    let at = Double(sample + index) / rate
                    let place = at - at.rounded(.down)
                    piece[index] = place < 0.05 ? Int16(sin(place * 2 * .pi * 2000) * 26000) : 0
                }
                random = random &* 1_664_525 &+ 1_013_904_223
                let jitter = Double(random >> 16) / 65535 * 0.002 - 0.001
                let at = Instant(nanoseconds: Int64((Double(sample) / rate + jitter) * 1e9))
                try writer.append(sound: UnsafeBufferPointer(piece), at: at)
                sample += 480
            }
            let image = Image(layout: layout, base: frame % 30 == 0 ? bright : dark)
            try writer.append(image, at: Instant(nanoseconds: Int64(frame) * 1_000_000_000 / 30))
        }
        return try writer.finish(end: Instant(nanoseconds: Int64(seconds) * 1_000_000_000))
    }

    /// Media times of the white pictures and of the clicks' beginnings, those of second 0 left out.
    private static func readBack(_ path: String) -> (flashes: [Double], clicks: [Double])? {
        var context: UnsafeMutablePointer<AVFormatContext>?
        guard avformat_open_input(&context, path, nil, nil) >= 0, let input = context else { return nil }
        defer { avformat_close_input(&context) }
        guard avformat_find_stream_info(input, nil) >= 0 else { return nil }
        var decoders: [UnsafeMutablePointer<AVCodecContext>?] = []
        defer { for index in decoders.indices { avcodec_free_context(&decoders[index]) } }
        for index in 0..<Int(input.pointee.nb_streams) {
            let parameters = input.pointee.streams[index]!.pointee.codecpar!
            let decoder = avcodec_alloc_context3(avcodec_find_decoder(parameters.pointee.codec_id))
            avcodec_parameters_to_context(decoder, parameters)
            guard avcodec_open2(decoder, nil, nil) >= 0 else { return nil }
            decoders.append(decoder)
        }
        var packet = av_packet_alloc()
        var frame = av_frame_alloc()
        defer {
            av_packet_free(&packet)
            av_frame_free(&frame)
        }
        var flashes: [Double] = []
        var clicks: [Double] = []
        var lastLoud = -1.0
        func drain(_ index: Int) {
            let decoder = decoders[index]!
            let base = input.pointee.streams[index]!.pointee.time_base
            while avcodec_receive_frame(decoder, frame) >= 0 {
                let time = Double(frame!.pointee.pts) * Double(base.num) / Double(base.den)
                if decoder.pointee.codec_type == AVMEDIA_TYPE_VIDEO {
                    if frame!.pointee.data.0![0] > 128, time > 0.5 { flashes.append(time) }
                } else {
                    let rate = Double(decoder.pointee.sample_rate)
                    let plane = UnsafeRawPointer(frame!.pointee.data.0!).assumingMemoryBound(to: Float.self)
                    for sample in 0..<Int(frame!.pointee.nb_samples) where abs(plane[sample]) > 0.2 {
                        let at = time + Double(sample) / rate
                        if at - lastLoud > 0.3, at > 0.5 { clicks.append(at) }
                        lastLoud = at
                    }
                }
                av_frame_unref(frame)
            }
        }
        while av_read_frame(input, packet) >= 0 {
            let index = Int(packet!.pointee.stream_index)
            avcodec_send_packet(decoders[index], packet)
            av_packet_unref(packet)
            drain(index)
        }
        for index in decoders.indices {
            avcodec_send_packet(decoders[index], nil)
            drain(index)
        }
        return (flashes, clicks)
    }
}
