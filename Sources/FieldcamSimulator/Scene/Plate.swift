import FieldcamPorts
import Glibc

/// A picture of something in the scene as the sensor would see it, in several noisy versions, each row made when it is
/// first wanted at a brightness and then only copied: a frame of a steady scene costs little more than its `memcpy`s.
///
/// Owned by one renderer. Chroma rows hold U then V (planar formats) or U and V in turn (NV12).
final class Plate {
    /// Versions of each row that differ in noise only: eight where there is much of it, so that the noise of eight frames in a
    /// row is no less independent than a sensor's; rows that aren't wanted cost no memory.
    static let versions = 8
    static let quietVersions = 4

    let width: Int
    let height: Int
    let isPlanar: Bool
    private let sourceLuma: UnsafeMutablePointer<UInt8>
    private let sourceChroma: UnsafeMutablePointer<UInt8>
    private let luma: UnsafeMutablePointer<UInt8>
    private let chroma: UnsafeMutablePointer<UInt8>
    private let lumaKeys: UnsafeMutablePointer<Int32>
    private let chromaKeys: UnsafeMutablePointer<Int32>

    struct Colour {
        var y: UInt8
        var u: UInt8
        var v: UInt8
    }

    /// An empty plate; width and height are even.
    init(width: Int, height: Int, isPlanar: Bool) {
        precondition(width > 0 && height > 0 && width % 2 == 0 && height % 2 == 0)
        self.width = width
        self.height = height
        self.isPlanar = isPlanar
        sourceLuma = .allocate(capacity: width * height)
        sourceChroma = .allocate(capacity: width * height / 2)
        luma = .allocate(capacity: Self.versions * width * height)
        chroma = .allocate(capacity: width * height / 2)
        lumaKeys = .allocate(capacity: Self.versions * height)
        chromaKeys = .allocate(capacity: height / 2)
        lumaKeys.initialize(repeating: .min, count: Self.versions * height)
        chromaKeys.initialize(repeating: .min, count: height / 2)
        sourceLuma.initialize(repeating: 0, count: width * height)
        sourceChroma.initialize(repeating: 128, count: width * height / 2)
    }

    /// Paints it anew, without allocating.
    /// - Parameter colour: of the pixel at a place, at right exposure.
    func paint(_ colour: (_ x: Int, _ y: Int) -> Colour) {
        lumaKeys.update(repeating: .min, count: Self.versions * height)
        chromaKeys.update(repeating: .min, count: height / 2)
        for y in 0..<height {
            let row = sourceLuma + y * width
            let chromaRow = sourceChroma + y / 2 * width
            for x in 0..<width {
                let colour = colour(x, y)
                row[x] = colour.y
                guard y % 2 == 0, x % 2 == 0 else { continue }
                if isPlanar {
                    chromaRow[x / 2] = colour.u
                    chromaRow[width / 2 + x / 2] = colour.v
                } else {
                    chromaRow[x] = colour.u
                    chromaRow[x + 1] = colour.v
                }
            }
        }
    }

    /// Blurs luma: each pixel becomes the mean of those up to `radius` beside it, then of those above and below.
    func blur(radius: Int) {
        guard radius > 0 else { return }
        // The first noisy version's room serves as the place between the two passes; it is made anew afterwards.
        Self.blur(sourceLuma, into: luma, count: width, step: 1, lines: height, lineStep: width, radius: radius)
        Self.blur(luma, into: sourceLuma, count: height, step: width, lines: width, lineStep: 1, radius: radius)
        lumaKeys.update(repeating: .min, count: Self.versions * height)
    }

    private static func blur(
        _ from: UnsafeMutablePointer<UInt8>, into target: UnsafeMutablePointer<UInt8>, count: Int, step: Int,
        lines: Int, lineStep: Int, radius: Int
    ) {
        let reach = min(radius, count - 1)
        for line in 0..<lines {
            let source = from + line * lineStep
            let result = target + line * lineStep
            var sum = 0
            var held = 0
            for index in 0..<reach {
                sum += Int(source[index * step])
                held += 1
            }
            for index in 0..<count {
                if index + reach < count {
                    sum += Int(source[(index + reach) * step])
                    held += 1
                }
                if index - reach - 1 >= 0 {
                    sum -= Int(source[(index - reach - 1) * step])
                    held -= 1
                }
                result[index * step] = UInt8(truncatingIfNeeded: sum / held)
            }
        }
    }

    deinit {
        sourceLuma.deallocate()
        sourceChroma.deallocate()
        luma.deallocate()
        chroma.deallocate()
        lumaKeys.deallocate()
        chromaKeys.deallocate()
    }

    /// A row of luma at an exposure; valid until the next call.
    func lumaRow(_ y: Int, version: Int, exposure: RowExposure, noise: Noise) -> UnsafePointer<UInt8> {
        let index = version * height + y
        let row = luma + index * width
        if lumaKeys[index] != exposure.key {
            lumaKeys[index] = exposure.key
            let source = sourceLuma + y * width
            let grain = noise.row(index)
            let factor = exposure.factor
            for x in 0..<width {
                let value = (Int32(source[x]) &* factor) &>> 8 &+ Int32(grain[x])
                row[x] = UInt8(truncatingIfNeeded: max(0, min(255, value)))
            }
        }
        return UnsafePointer(row)
    }

    /// A row of chroma at an exposure: `width` bytes.
    func chromaRow(_ y: Int, exposure: RowExposure) -> UnsafePointer<UInt8> {
        let row = chroma + y * width
        if chromaKeys[y] != exposure.key {
            chromaKeys[y] = exposure.key
            let source = sourceChroma + y * width
            let factor = min(256, exposure.factor)
            for x in 0..<width {
                let value = 128 &+ ((Int32(source[x]) &- 128) &* factor) &>> 8
                row[x] = UInt8(truncatingIfNeeded: value)
            }
        }
        return UnsafePointer(row)
    }
}

/// How brightly a row comes out: the same key, the same pixels.
struct RowExposure {
    var key: Int32
    /// What a right exposure's value is multiplied by, in 256ths.
    var factor: Int32

    /// The same with so many times the light.
    func brighter(_ times: Double, noiseStep: Int) -> RowExposure {
        times == 1
            ? self : RowExposure(ratio: exp2(Double((key - Int32(noiseStep)) / 64) / 32) * times, noiseStep: noiseStep)
    }

    /// - Parameters:
    ///   - ratio: light gathered times gain, against right exposure's; 0 …
    ///   - noiseStep: which `Noise` goes with it.
    init(ratio: Double, noiseStep: Int) {
        // A 32nd of an exposure step can't be seen, and keeps rows of a settled exposure at one key.
        let step = ratio > 0 ? max(-640, min(320, (log2(ratio) * 32).rounded())) : -640
        key = Int32(step) * 64 + Int32(noiseStep)
        // The display's gamma: what is gathered twice comes out 1.37 times as bright.
        factor = ratio > 0 ? Int32(max(0, min(8192, pow(exp2(step / 32), 1 / 2.2) * 256))) : 0
    }
}
