import CFieldcamLinux
import FieldcamCore
import FieldcamDirector
import FieldcamMedia
import FieldcamPorts
import FieldcamSettings
import FieldcamSimulator
import FieldcamTestKit
import Glibc

/// `Budget presets [SECONDS [ENCODER [PRESET …]]]`: each value of `video.quality` records the simulator's noisy moving scene on
/// the virtual clock (10 s with libx264 unless said otherwise), in the pipeline that the service has: camera, director, scaler,
/// encoder, muxer. `ffprobe` must find the exact size, frame rate and key frames, and the bit rate of contract §4 within 15 %.
/// Motion JPEG keeps the rates of the presets that are all key frames; for the others, which are H.264's, its lowest quality may
/// need more, and it never has less.
enum PresetFigure {
    private static let tolerance = 0.15

    static func run(_ arguments: [String]) -> Int32 {
        let seconds = arguments.first.flatMap { Int64($0) } ?? 10
        let encoder = arguments.dropFirst().first ?? "libx264"
        let names = arguments.dropFirst(2)
        print("preset           size        rate     key frames  Mbit/s   stated  ratio   CPU s")
        var isKept = true
        for quality in VideoQuality.allCases where names.isEmpty || names.contains(quality.rawValue) {
            guard let line = record(quality, for: .seconds(seconds), encoder) else {
                print("\(quality.rawValue): no clip")
                return 1
            }
            print(line.text)
            isKept = isKept && line.isKept
        }
        return isKept ? 0 : 1
    }

    private static func record(
        _ quality: VideoQuality, for span: Duration, _ encoder: String
    ) -> (text: String, isKept: Bool)? {
        let preset = quality.preset
        var video = Settings().video
        video.quality = quality
        var session = SessionSettings()
        session.maximumDuration = span
        // A sensor that has the pixels: what a smaller one makes of a preset is another story.
        let sensor =
            preset.size.width > 1920 ? Size(width: 3840, height: 2160) : Size(width: 1920, height: 1080)
        let studio = Studio(
            settings: session, size: sensor, slots: 12, clipWriters: FFmpegClipWriterFactory(), encoders: [encoder],
            quality: video.clipQuality)
        studio.world.set(lux: 100, moving: true)
        // Brought to its exposure and gain first.
        studio.run(for: .seconds(2))
        _ = studio.events()
        let begin = cpuSeconds
        guard studio.desk.submit(.record(studio.desk.newToken(), .api, maximum: nil), at: studio.now) else {
            return nil
        }
        studio.run(for: span + .seconds(2))
        let cpu = cpuSeconds - begin
        let events = studio.events()
        guard let clip = studio.store.clips.last, let saved = events.last(where: { $0.name == "clip.saved" }) else {
            print(events.map(\.name))
            return nil
        }
        let path = "/tmp/fieldcam-presets-\(getpid()).mp4"
        guard BudgetScene.write(clip.bytes, to: path) else { return nil }
        defer { unlink(path) }
        guard let probe = Probe(path: path) else { return nil }
        let stated = Double(preset.bitRate)
        let ratio = probe.bitRate / stated
        let rate = video.effectiveFramerate
        let isExact =
            probe.width == preset.size.width && probe.height == preset.size.height && abs(probe.framerate - rate) < 0.01
            && saved["dropped"] == .integer(0)
            && probe.frames == Int((rate * Double(span.inNanoseconds) / 1e9).rounded())
            && (!preset.everyFrameIsKey || probe.keys == probe.frames)
        let needsMore = encoder == "mjpeg" && !preset.everyFrameIsKey && ratio > 1
        let isRight = abs(ratio - 1) <= tolerance || needsMore
        func column(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(1, width - text.utf8.count))
        }
        let text =
            column(quality.rawValue, 17) + column("\(probe.width)x\(probe.height)", 12)
            + column(Measurement.text(probe.framerate, 2), 9) + column("\(probe.keys)/\(probe.frames)", 12)
            + column(Measurement.text(probe.bitRate / 1e6), 9) + column(Measurement.text(stated / 1e6), 8)
            + column(Measurement.text(ratio), 8) + Measurement.text(cpu, 1) + (isExact ? "" : "   NOT EXACT")
            + (isRight ? "" : "   OUT OF 15 %") + (needsMore ? "   lowest quality" : "")
        return (text, isExact && isRight)
    }

    /// What ffprobe finds in the picture track.
    private struct Probe {
        var width = 0
        var height = 0
        var framerate = 0.0
        var frames = 0
        var keys = 0
        /// Bits a second of the picture track alone.
        var bitRate = 0.0

        init?(path: String) {
            let arguments = [
                "ffprobe", "-v", "error", "-select_streams", "v:0", "-of", "default=noprint_wrappers=1",
                "-show_entries", "stream=width,height,avg_frame_rate:packet=size,flags", path,
            ]
            guard let outcome = Measurement.run(arguments), outcome.status == 0 else {
                print("ffprobe didn't run")
                return nil
            }
            var bytes = 0.0
            for line in outcome.output.split(separator: "\n") {
                let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
                guard parts.count == 2 else { continue }
                switch parts[0] {
                case "width": width = Int(parts[1]) ?? 0
                case "height": height = Int(parts[1]) ?? 0
                case "avg_frame_rate":
                    let ratio = parts[1].split(separator: "/").compactMap { Double($0) }
                    framerate = ratio.count == 2 ? ratio[0] / ratio[1] : 0
                case "size": bytes += Double(parts[1]) ?? 0
                case "flags":
                    frames += 1
                    if parts[1].hasPrefix("K") { keys += 1 }
                default: break
                }
            }
            bitRate = frames > 0 ? bytes * 8 * framerate / Double(frames) : 0
        }
    }

    /// User and system time of this process, all threads.
    private static var cpuSeconds: Double { Double(fc_process_cpu_ns()) / 1e9 }
}
