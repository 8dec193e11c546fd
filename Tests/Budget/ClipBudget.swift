import CFieldcamLinux
import FieldcamCore
import FieldcamMedia
import FieldcamPorts
import Glibc

/// Clips against the ffmpeg program with x264 alone: `clip [FRAMES [ROUNDS]]`, 1920x1080 NV12, CRF 23, no sound. CPU time (user and
/// system) a frame, in turns; ours is 1.05 times the bare encoder's at most. What ffmpeg spends on starting and on reading
/// the pictures from their file (measured by letting it read them only) isn't counted for it; beginning and finishing is for us.
/// Memory of our own while encoding grows by 64 MiB at most.
enum ClipBudget {
    static let promise = 1.05
    static let memoryPromise = 64 << 10
    private static let size = Size(width: 1920, height: 1080)

    static func run(_ arguments: [String]) -> Int32 {
        let count = arguments.first.flatMap { Int($0) } ?? 90
        let rounds = arguments.dropFirst().first.flatMap { Int($0) } ?? 3
        let input = "/tmp/fieldcam-budget-\(getpid()).nv12"
        let output = "/tmp/fieldcam-budget-\(getpid()).mp4"
        defer {
            unlink(input)
            unlink(output)
        }
        let scene = BudgetScene(width: size.width, height: size.height)
        for moment in 0..<count {
            guard BudgetScene.write(scene.planes(moment, interleaved: true), to: input, appending: moment > 0) else {
                print("can't write \(input)")
                return 1
            }
        }
        let layout = ImageLayout.packed(
            width: size.width, height: size.height, format: .nv12, colour: .sycc, alignment: 2)
        let bytes = layout.byteCount * count
        let file = open(input, O_RDONLY)
        defer { close(file) }
        guard let frames = mmap(nil, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0), frames != MAP_FAILED else {
            print("can't map \(input)")
            return 1
        }
        defer { munmap(frames, bytes) }

        var theirs: [Double] = []
        var ours: [String: [Double]] = [:]
        var walls: [String: [Double]] = [:]
        var begins: [Double] = []
        var growth = 0
        for _ in 0..<rounds {
            let source = [
                "ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "nv12", "-s",
                "\(size.width)x\(size.height)", "-r", "30", "-color_range", "pc", "-i", input,
            ]
            let x264 = [
                "-c:v", "libx264", "-preset", "superfast", "-tune", "zerolatency", "-crf", "23", "-threads", "1",
            ]
            guard let encoded = Measurement.run(source + x264 + ["-f", "mp4", output]), encoded.status == 0,
                let read = Measurement.run(source + ["-c:v", "copy", "-f", "null", "-"]), read.status == 0
            else {
                print("ffmpeg with libx264 didn't run")
                return 1
            }
            theirs.append((encoded.cpuSeconds - read.cpuSeconds) * 1000 / Double(count))
            for (name, factory) in [
                ("threads by default", FFmpegClipWriterFactory()), ("one thread", FFmpegClipWriterFactory(threads: 1)),
            ] {
                guard let made = record(frames, count, layout, factory, output) else { return 1 }
                ours[name, default: []].append(made.cpu * 1000 / Double(count))
                walls[name, default: []].append(made.wall * 1000 / Double(count))
                begins.append(made.begin * 1000)
                growth = max(growth, made.growth)
            }
        }
        let reference = Measurement.median(theirs)
        print("clip \(size.width)x\(size.height), \(count) frames, CPU a frame, median of \(rounds) rounds")
        print("  ffmpeg, x264 superfast zerolatency crf 23, one thread   \(Measurement.text(reference)) ms")
        var isKept = true
        for (name, values) in ours.sorted(by: { $0.key < $1.key }) {
            let time = Measurement.median(values)
            let ratio = time / reference
            if ratio > promise { isKept = false }
            print(
                "  fieldcam, \(name)   \(Measurement.text(time)) ms   x \(Measurement.text(ratio))"
                    + "   wall \(Measurement.text(Measurement.median(walls[name]!))) ms"
                    + (ratio > promise ? "   TOO SLOW" : ""))
            print(
                "{\"figure\":\"clip\",\"threads\":\"\(name)\",\"cpu_ms\":\(Measurement.text(time, 4)),"
                    + "\"ffmpeg_cpu_ms\":\(Measurement.text(reference, 4)),\"ratio\":\(Measurement.text(ratio, 4))}")
        }
        print(
            "  beginning a clip   \(Measurement.text(Measurement.median(begins))) ms   memory while encoding   "
                + "\(growth / 1024) MiB")
        print(
            "{\"figure\":\"clip\",\"begin_ms\":\(Measurement.text(Measurement.median(begins))),"
                + "\"memory_kib\":\(growth)}")
        return isKept && growth <= memoryPromise ? 0 : 1
    }

    private static func record(
        _ frames: UnsafeMutableRawPointer, _ count: Int, _ layout: ImageLayout, _ factory: FFmpegClipWriterFactory,
        _ path: String
    ) -> (cpu: Double, wall: Double, begin: Double, growth: Int)? {
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        let memory = anonymousKiB
        let (start, wall) = (cpuSeconds, Measurement.seconds)
        var begin = 0.0
        var growth = 0
        do throws(HardwareError) {
            let writer = try factory.begin(
                ClipPlan(encoders: ["libx264"], layout: layout, framerate: 30, audio: nil))
            begin = Measurement.seconds - wall
            try writer.attach(file: file)
            for index in 0..<count {
                try writer.append(
                    Image(layout: layout, base: UnsafeRawPointer(frames + index * layout.byteCount)),
                    at: Instant(nanoseconds: Int64(index) * 1_000_000_000 / 30))
            }
            growth = anonymousKiB - memory
            _ = try writer.finish(end: Instant(nanoseconds: Int64(count) * 1_000_000_000 / 30))
        } catch {
            print("\(error)")
            return nil
        }
        return (cpuSeconds - start, Measurement.seconds - wall, begin, growth)
    }

    /// Resident memory that isn't a file's, KiB.
    private static var anonymousKiB: Int {
        let file = open("/proc/self/status", O_RDONLY)
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = max(0, read(file, &buffer, buffer.count))
        for line in String(decoding: buffer[0..<count], as: UTF8.self).split(separator: "\n")
        where line.hasPrefix("RssAnon:") {
            return line.split(whereSeparator: { " \t".contains($0) }).compactMap { Int($0) }.first ?? 0
        }
        return 0
    }

    /// User and system time of this process, all threads.
    private static var cpuSeconds: Double { Double(fc_process_cpu_ns()) / 1e9 }
}
