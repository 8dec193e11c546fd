import FieldcamCore
import FieldcamPorts

/// Looks at a frame's brightness: the whole, a region, and how much it differs from a remembered picture. Reads a few
/// thousand pixels of the frame and allocates nothing.
final class SceneMeter {
    private static let columns = 32
    private static let rows = 18
    /// Samples across a block.
    private static let across = 2

    private let now: UnsafeMutablePointer<UInt8>
    private let remembered: UnsafeMutablePointer<UInt8>
    private var hasPicture = false
    private var hasMemory = false
    /// In the stream's image; `nil`: none is measured.
    var region: UnitRect?

    init() {
        now = .allocate(capacity: Self.columns * Self.rows)
        remembered = .allocate(capacity: Self.columns * Self.rows)
        now.initialize(repeating: 0, count: Self.columns * Self.rows)
        remembered.initialize(repeating: 0, count: Self.columns * Self.rows)
    }

    deinit {
        now.deallocate()
        remembered.deallocate()
    }

    /// The picture that was measured last is what later ones are compared with.
    func remember() {
        guard hasPicture else { return }
        remembered.update(from: now, count: Self.columns * Self.rows)
        hasMemory = true
    }

    func measure(_ image: Image, into frame: inout Frame) {
        let plane = image.plane(0)
        let (stride, step) = (image.layout.first.stride, image.layout.pixelStep)
        let (width, height) = (image.layout.width, image.layout.height)
        // Green stands for luma where the picture is RGB.
        let offset = step == 3 ? 1 : 0
        var total = 0
        var index = 0
        for row in 0..<Self.rows {
            for column in 0..<Self.columns {
                var sum = 0
                for part in 0..<Self.across * Self.across {
                    let y = ((row * Self.across + part / Self.across) * 2 + 1) * height / (2 * Self.rows * Self.across)
                    let x =
                        ((column * Self.across + part % Self.across) * 2 + 1) * width / (2 * Self.columns * Self.across)
                    sum += Int(plane[y * stride + x * step + offset])
                }
                now[index] = UInt8(sum / (Self.across * Self.across))
                total += Int(now[index])
                index += 1
            }
        }
        hasPicture = true
        frame.luma = Double(total) / Double(Self.columns * Self.rows * 255)
        frame.regionLuma = region.map { mean(of: $0, plane, stride, step, offset, width, height) }
        frame.sceneChange = hasMemory ? difference : nil
    }

    private var difference: Double {
        var sum = 0
        for index in 0..<Self.columns * Self.rows { sum += abs(Int(now[index]) - Int(remembered[index])) }
        return Double(sum) / Double(Self.columns * Self.rows * 255)
    }

    /// The mean of 24 × 24 pixels spread over the region.
    private func mean(
        of region: UnitRect, _ plane: UnsafePointer<UInt8>, _ stride: Int, _ step: Int, _ offset: Int, _ width: Int,
        _ height: Int
    ) -> Double {
        let samples = 24
        var sum = 0
        for row in 0..<samples {
            let y = min(
                height - 1, Int((region.y + region.height * (Double(row) + 0.5) / Double(samples)) * Double(height)))
            for column in 0..<samples {
                let x = min(
                    width - 1, Int((region.x + region.width * (Double(column) + 0.5) / Double(samples)) * Double(width))
                )
                sum += Int(plane[max(0, y) * stride + max(0, x) * step + offset])
            }
        }
        return Double(sum) / Double(samples * samples * 255)
    }
}

extension ImageLayout {
    /// Bytes from one pixel to the next in the first plane.
    fileprivate var pixelStep: Int {
        switch format {
        case .yuv420, .nv12: 1
        case .bgr888, .rgb888: 3
        }
    }
}
