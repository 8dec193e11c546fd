import FieldcamLinux
import FieldcamMedia
import FieldcamPorts
import Glibc

/// The still encoder with nothing around it, on the planes of one NV12 frame in a file:
/// `still-alone FILE WIDTH HEIGHT QUALITY COUNT` prints `{"median_ns":…,"minimum_ns":…,"bytes":…}`, the first picture
/// (which warms buffers and tables) left out.
enum StillAlone {
    static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count == 5, let width = Int(arguments[1]), let height = Int(arguments[2]),
            let quality = Int(arguments[3]), let count = Int(arguments[4]), count > 0
        else {
            print("say FILE WIDTH HEIGHT QUALITY COUNT")
            return 64
        }
        let layout = ImageLayout.packed(
            width: width, height: height, format: .nv12, colour: .rec709, alignment: 1)
        let frame = UnsafeMutableRawPointer.allocate(byteCount: layout.byteCount, alignment: 64)
        defer { frame.deallocate() }
        let file = open(arguments[0], O_RDONLY)
        guard file >= 0, read(file, frame, layout.byteCount) == layout.byteCount else {
            print("\(arguments[0]) has no frame of \(layout.byteCount) bytes")
            return 1
        }
        close(file)

        let plan = StillPlan(
            quality: quality, make: "fieldcam", model: "bench", software: "fieldcam",
            taken: WallTime(
                year: 2026, month: 11, day: 30, hour: 12, minute: 0, second: 0, nanosecond: 0, offset: 0,
                isTrusted: true))
        let encoder = JPEGEncoder()
        var times: [Int64] = []
        var bytes = 0
        do throws(HardwareError) {
            for round in 0...count {
                let start = SystemClock.now.nanoseconds
                bytes = try encoder.encode(Image(layout: layout, base: frame), plan: plan).count
                if round > 0 { times.append(SystemClock.now.nanoseconds - start) }
            }
        } catch {
            print("\(error)")
            return 1
        }
        times.sort()
        print("{\"median_ns\":\(times[times.count / 2]),\"minimum_ns\":\(times[0]),\"bytes\":\(bytes)}")
        return 0
    }
}
