import CFieldcamCount
import FieldcamCore
import FieldcamMedia
import FieldcamPorts
import Glibc

/// Heap allocations a frame while clips are made: `media-allocations`. None may be asked for by our own code (Swift, C or Swift's
/// runtime for us); what the libraries do inside is told.
enum MediaAllocations {
    static func run(_ arguments: [String]) -> Int32 {
        // A counter that counts nothing proves nothing.
        fc_count_start()
        let seen = [UInt8](repeating: 1, count: 1000 + arguments.count)
        fc_count_stop()
        guard seen.count >= 1000, fc_count_own() > 0 else {
            print("the counter doesn't see this program's own allocations")
            return 1
        }
        var isKept = true
        let guide = Overlay.border(PixelRect(x: 100, y: 80, width: 400, height: 300), radius: 40, stroke: 2)
        let thirds = Overlay.thirds(PixelRect(x: 0, y: 0, width: 640, height: 480), stroke: 1)
        let cif = Size(width: 352, height: 288)
        for (encoder, audio, overlay, size) in [
            ("libx264", nil, nil, nil), ("mjpeg", nil, nil, nil),
            ("libx264", AudioFormat(rate: 48000, channels: 2), nil, nil), ("libx264", nil, guide, nil),
            ("mjpeg", nil, thirds, nil), ("libx264", nil, nil, cif), ("mjpeg", nil, nil, cif),
        ] as [(String, AudioFormat?, Overlay?, Size?)] {
            do throws(HardwareError) {
                let counts = try record(encoder, audio, overlay, size)
                let name =
                    encoder + (audio == nil ? "" : " + AAC") + (overlay == nil ? "" : " + lines")
                    + (size == nil ? "" : " + scaled")
                print(
                    "  \(name)   \(Measurement.text(counts.all, 2)) allocations a frame, "
                        + "\(Measurement.text(counts.ours, 4)) of them ours")
                print(
                    "{\"figure\":\"media-allocations\",\"encoder\":\"\(name)\",\"all\":\(Measurement.text(counts.all, 2)),"
                        + "\"ours\":\(Measurement.text(counts.ours, 4))}")
                if counts.ours > 0 { isKept = false }
            } catch {
                print("\(error)")
                return 1
            }
        }
        return isKept ? 0 : 1
    }

    private static func record(
        _ encoder: String, _ audio: AudioFormat?, _ overlay: Overlay?, _ size: Size?
    ) throws(HardwareError) -> (all: Double, ours: Double) {
        let layout = ImageLayout.packed(width: 640, height: 480, format: .nv12, colour: .sycc)
        let scene = BudgetScene(width: 640, height: 480)
        let pictures = (0..<4).map { moment in
            let memory = UnsafeMutableRawPointer.allocate(byteCount: layout.byteCount, alignment: 64)
            memory.copyMemory(from: scene.planes(moment, interleaved: true), byteCount: layout.byteCount)
            return memory
        }
        defer { for memory in pictures { memory.deallocate() } }
        let file = open("/dev/null", O_WRONLY)
        defer { close(file) }
        var plan = ClipPlan(encoders: [encoder], layout: layout, framerate: 30, audio: audio)
        plan.overlay = overlay
        plan.size = size
        let writer = try FFmpegClipWriterFactory(threads: 1).begin(plan)
        try writer.attach(file: file)
        let sound = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 1600 * 2)
        sound.initialize(repeating: 100)
        defer { sound.deallocate() }
        func append(_ index: Int) throws(HardwareError) {
            let at = Instant(nanoseconds: Int64(index) * 1_000_000_000 / 30)
            if audio != nil { try writer.append(sound: UnsafeBufferPointer(sound), at: at) }
            try writer.append(Image(layout: layout, base: UnsafeRawPointer(pictures[index % 4])), at: at)
        }
        // Two seconds until every buffer has its size, then ten that are counted.
        for index in 0..<60 { try append(index) }
        fc_count_start()
        for index in 60..<360 { try append(index) }
        fc_count_stop()
        writer.cancel()
        return (Double(fc_count_all()) / 300, Double(fc_count_own()) / 300)
    }
}
