import CFieldcamCount
import FieldcamCore
import FieldcamDirector
import FieldcamMedia
import FieldcamPorts

/// `Budget loop`: heap allocations of the steady frame loop over 1,000 frames of the simulator: the whole process while
/// nothing encodes; the program's own (not the libraries') while recording H.264 with sound. Both must be 0.
enum LoopFigure {
    static func run(_ arguments: [String]) -> Int32 {
        let framerate = 120.0
        let frames = 1000
        let idle = LiveStudio(size: Size(width: 640, height: 480), framerate: framerate)
        idle.waitForFrames(200)
        fc_count_start()
        idle.waitForFrames(200 + frames)
        fc_count_stop()
        let atRest = fc_count_all()
        report("at rest", "all", atRest)
        idle.stop()

        let busy = LiveStudio(
            size: Size(width: 640, height: 480), framerate: framerate, clipWriters: FFmpegClipWriterFactory(),
            encoders: ["libx264", "mjpeg"])
        busy.waitForFrames(100)
        _ = busy.desk.submit(.record(busy.desk.newToken(), .cli, maximum: nil))
        busy.wait { $0.recording.state == "running" }
        let from = busy.desk.status.counters.frames + 200
        busy.waitForFrames(from)
        fc_count_start()
        busy.waitForFrames(from + frames)
        fc_count_stop()
        let recording = fc_count_own()
        report("while recording", "own", recording)
        print(
            "figure: loop while recording, allocations in libraries: \(fc_count_all() - recording) in \(frames) frames")
        busy.stop()
        return atRest == 0 && recording == 0 ? 0 : 1
    }

    private static func report(_ state: String, _ whose: String, _ count: Int64) {
        print("figure: loop \(state), \(whose) allocations in 1000 frames: \(count) (must be 0)")
        if fc_count_first_own() != 0 {
            print("first own one near program offset 0x\(String(fc_count_first_own(), radix: 16))")
        }
    }
}
