import Glibc

/// A scene with edges, gradients and noise that pans: what a camera might see, the same on every machine.
struct BudgetScene {
    let width: Int
    let height: Int
    private var noise: [UInt8]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        // A linear congruential generator (Numerical Recipes' constants); its high byte is noise enough.
        var state: UInt32 = 1
        noise = (0..<65536).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
    }

    /// Red, green and blue of a pixel at a moment.
    func pixel(_ x: Int, _ y: Int, _ moment: Int) -> (Int, Int, Int) {
        let (u, v) = (x + moment * 3, y + moment)
        let grain = Int(noise[(x &* 31 &+ y &* 1021 &+ moment &* 7919) & 0xFFFF] & 15) - 8
        let tile = ((u >> 6) ^ (v >> 6)) & 1 == 0 ? 40 : 0
        let base = (u &+ v &* 2) & 511
        let ramp = (base < 256 ? base : 511 - base) / 2 + 40
        let red = min(255, max(0, ramp + tile + grain))
        let green = min(255, max(0, ramp + grain + ((u >> 5) & 7) * 6))
        let blue = min(255, max(0, 200 - ramp / 2 + grain + tile / 2))
        return (red, green, blue)
    }

    func rgb(_ moment: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(width * height * 3)
        for y in 0..<height {
            for x in 0..<width {
                let (red, green, blue) = pixel(x, y, moment)
                bytes.append(UInt8(red))
                bytes.append(UInt8(green))
                bytes.append(UInt8(blue))
            }
        }
        return bytes
    }

    /// The same picture as sYCC planes: `interleaved` gives NV12, else I420; rows end to end.
    func planes(_ moment: Int, interleaved: Bool) -> [UInt8] {
        let (halfWidth, halfHeight) = (width / 2, height / 2)
        var bytes = [UInt8](repeating: 0, count: width * height + 2 * halfWidth * halfHeight)
        for y in 0..<halfHeight {
            for x in 0..<halfWidth {
                var (u, v) = (0.0, 0.0)
                for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    let (red, green, blue) = pixel(2 * x + dx, 2 * y + dy, moment)
                    let (r, g, b) = (Double(red), Double(green), Double(blue))
                    let luma = 0.299 * r + 0.587 * g + 0.114 * b
                    u += (b - luma) / 1.772 / 4
                    v += (r - luma) / 1.402 / 4
                    bytes[(2 * y + dy) * width + 2 * x + dx] = UInt8(min(255, max(0, luma.rounded())))
                }
                let (cb, cr) = (UInt8(min(255, max(0, u + 128.5))), UInt8(min(255, max(0, v + 128.5))))
                let place = y * halfWidth + x
                if interleaved {
                    bytes[width * height + 2 * place] = cb
                    bytes[width * height + 2 * place + 1] = cr
                } else {
                    bytes[width * height + place] = cb
                    bytes[width * height + halfWidth * halfHeight + place] = cr
                }
            }
        }
        return bytes
    }
}

extension BudgetScene {
    /// Writes bytes to a new file; false if the disk refuses.
    static func write(_ bytes: [UInt8], to path: String, appending: Bool = false) -> Bool {
        let file = open(path, O_WRONLY | O_CREAT | (appending ? O_APPEND : O_TRUNC), 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress! + done, bytes.count - done) }
            guard written > 0 else { return false }
            done += written
        }
        return true
    }
}
