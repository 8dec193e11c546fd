import CFieldcamCount
import FieldcamCore
import FieldcamDirector
import FieldcamMedia
import FieldcamPorts

/// `Budget loop`: heap allocations of the steady frame loop over 1,000 frames of the simulator: the whole process while
/// nothing encodes; the same while each frame brings a change of a control; the program's own (not the libraries') while
/// recording H.264 with sound. All must be 0.
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
        let changing = changeEachFrame(idle, frames)
        report("with a control change per frame", "all", changing)
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
        return atRest == 0 && changing == 0 && recording == 0 ? 0 : 1
    }

    /// The lens goes to another place with each frame.
    private static func changeEachFrame(_ studio: LiveStudio, _ frames: Int) -> Int64 {
        func change(_ index: Int) {
            _ = studio.desk.submit(.command(.focusManually(Double(index % 80) / 10), studio.desk.newToken(), .cli))
            while studio.desk.takeReply() != nil {}
        }
        let first = studio.desk.status.counters.frames
        for index in 0..<100 {
            change(index)
            studio.waitForFrames(first + index)
        }
        let from = studio.desk.status.counters.frames
        fc_count_start()
        for index in 0..<frames {
            change(index)
            studio.waitForFrames(from + index)
        }
        fc_count_stop()
        return fc_count_all()
    }

    private static func report(_ state: String, _ whose: String, _ count: Int64) {
        print("figure: loop \(state), \(whose) allocations in 1000 frames: \(count) (must be 0)")
        if fc_count_first_own() != 0 {
            print("first own one near program offset 0x\(String(fc_count_first_own(), radix: 16))")
        }
    }
}
