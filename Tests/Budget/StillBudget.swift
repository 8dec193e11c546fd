import FieldcamMedia
import FieldcamPorts
import Glibc

/// Photos against libjpeg-turbo's own benchmark: `still [ROUNDS]`, 1920x1080, quality 92, from planes, accurate transform, in
/// turns; the median of the rounds' ratios is 1.05 at most. Each of our turns lies between two of the benchmark's, so that other
/// work on the machine weighs on both alike.
enum StillBudget {
    static let promise = 1.05

    static func run(_ arguments: [String]) -> Int32 {
        let rounds = arguments.first.flatMap { Int($0) } ?? 9
        let hasPriority = Measurement.takePriority()
        let scene = BudgetScene(width: 1920, height: 1080)
        let path = "/tmp/fieldcam-budget-\(getpid()).ppm"
        defer { unlink(path) }
        guard BudgetScene.write(Array("P6\n1920 1080\n255\n".utf8) + scene.rgb(0), to: path) else {
            print("can't write \(path)")
            return 1
        }
        let planar = scene.planes(0, interleaved: false)
        let interleaved = scene.planes(0, interleaved: true)
        let encoder = JPEGEncoder()
        var ours: [String: [Double]] = [:]
        var ratios: [String: [Double]] = [:]
        var sizes: [String: Int] = [:]
        var theirs: [Double] = []
        for _ in 0..<rounds {
            for (name, bytes, format, colour, thumbnail) in [
                ("nv12", interleaved, PixelFormat.nv12, ColourSpace.sycc, 0),
                ("nv12+thumbnail", interleaved, .nv12, .sycc, 160),
                ("nv12 rec709", interleaved, .nv12, .rec709, 0),
                ("yuv420", planar, .yuv420, .sycc, 0),
            ] {
                let layout = ImageLayout.packed(
                    width: 1920, height: 1080, format: format, colour: colour, alignment: 2)
                let before = tjbench(path)
                let (time, size) = bytes.withUnsafeBytes { bytes in
                    encodeOften(Image(layout: layout, base: bytes.baseAddress!), encoder, thumbnail: thumbnail)
                }
                guard let before, let after = tjbench(path) else {
                    print("tjbench didn't run; it is in the package libjpeg-turbo-progs")
                    return 1
                }
                let reference = (1000 / before + 1000 / after) / 2
                theirs.append(reference)
                ours[name, default: []].append(time)
                ratios[name, default: []].append(time / reference)
                sizes[name] = size
            }
        }
        let reference = Measurement.median(theirs)
        print("still 1920x1080 q92, median of \(rounds) rounds\(hasPriority ? "" : " (without priority)")")
        print("  tjbench, planes to JPEG   \(Measurement.text(reference)) ms")
        var isKept = true
        for (name, times) in ours.sorted(by: { $0.key < $1.key }) {
            let time = Measurement.median(times)
            let ratio = Measurement.median(ratios[name]!)
            // Conversion and thumbnail are work that the benchmark doesn't do: told, not judged.
            let isJudged = name == "yuv420" || name == "nv12"
            if isJudged && ratio > promise { isKept = false }
            print(
                "  \(name)   \(Measurement.text(time)) ms   x \(Measurement.text(ratio))   \(sizes[name] ?? 0) bytes"
                    + (isJudged && ratio > promise ? "   TOO SLOW" : ""))
            print(
                "{\"figure\":\"still\",\"input\":\"\(name)\",\"ms\":\(Measurement.text(time, 4)),"
                    + "\"tjbench_ms\":\(Measurement.text(reference, 4)),\"ratio\":\(Measurement.text(ratio, 4)),"
                    + "\"judged\":\(isJudged)}")
        }
        return isKept ? 0 : 1
    }

    /// Milliseconds a photo over 0.3 s, and its size.
    private static func encodeOften(_ image: Image, _ encoder: JPEGEncoder, thumbnail: Int) -> (Double, Int) {
        let plan = StillPlan(
            quality: 92, make: "fieldcam", model: "budget", software: "fieldcam",
            taken: WallTime(
                year: 2026, month: 11, day: 30, hour: 12, minute: 0, second: 0, nanosecond: 0, offset: 0,
                isTrusted: true), thumbnail: thumbnail)
        var size = 0
        func encode() {
            do { size = try encoder.encode(image, plan: plan).count } catch { preconditionFailure("\(error)") }
        }
        for _ in 0..<5 { encode() }
        let start = Measurement.seconds
        var count = 0
        while Measurement.seconds - start < 0.3 {
            encode()
            count += 1
        }
        return ((Measurement.seconds - start) * 1000 / Double(count), size)
    }

    /// Pictures a second from planes, as tjbench says it.
    private static func tjbench(_ path: String) -> Double? {
        let outcome = Measurement.run([
            "tjbench", path, "92", "-yuv", "-subsamp", "420", "-accuratedct", "-componly", "-nowrite", "-benchtime",
            "0.5",
            "-warmup", "0.05",
        ])
        guard let outcome, outcome.status == 0 else { return nil }
        var isPart = false
        for line in outcome.output.split(separator: "\n") {
            if line.contains("Comp from YUV") { isPart = true }
            guard isPart, line.contains("Frame rate:") else { continue }
            return line.split(whereSeparator: { " \t".contains($0) }).compactMap { Double($0) }.first
        }
        return nil
    }
}
