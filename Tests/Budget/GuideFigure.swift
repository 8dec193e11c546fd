import FieldcamCore
import FieldcamMedia
import FieldcamPorts
import FieldcamTestKit
import Glibc

/// The guide's crop: `guide`. Corner markers at the exact pixel for 8 orientations × 3 gravities × views of three shapes ×
/// three pixel formats, told from the file as a viewer turns it; then the whole camera with 8 orientations × zoom 1, 2 and 4,
/// where the crop lies on the whole's blocks: all of them bit-identical. What pictures that are drawn into cost is told.
enum GuideFigure {
    static func run(_ arguments: [String]) -> Int32 {
        do throws(ContractFailure) {
            let markers = try markers()
            print("  corner markers at the exact pixel   \(markers) crops, 4 corners each, 0 off")
            let blocks = try blocks()
            print("  crop on the whole's blocks   \(blocks.crops) crops, \(blocks.blocks) blocks, all bit-identical")
            print("{\"figure\":\"guide\",\"marked\":\(markers),\"crops\":\(blocks.crops),\"blocks\":\(blocks.blocks)}")
        } catch {
            print("\(error)")
            return 1
        }
        tellCosts()
        return 0
    }

    // MARK: Markers

    /// What marks the corners as they are seen: top left, top right, bottom left, bottom right.
    private static let marks = [250, 200, 150, 100]
    private static let ground = 30

    private static func markers() throws(ContractFailure) -> Int {
        let frame = MarkedFrame(width: 320, height: 240)
        let encoder = JPEGEncoder()
        // In the view, never at its edge.
        let guide = UnitRect(x: 0.31, y: 0.27, width: 0.43, height: 0.39)
        var count = 0
        for format in [PixelFormat.yuv420, .nv12, .bgr888] {
            for orientation in Orientation.all {
                for gravity in Gravity.allCases {
                    for viewAspect in [16.0 / 9, 1, 9.0 / 16] {
                        let name = "\(format) \(orientation) \(gravity) view \(viewAspect)"
                        let seen = Seen(frame.width, frame.height, orientation, gravity, viewAspect)
                        guard let expected = seen.pixels(in: guide) else {
                            throw ContractFailure("\(name): nothing seen")
                        }
                        frame.paint(format, ground: ground, at: seen.corners(of: expected), marks: marks)

                        let aspect = orientation.isSideways ? 240.0 / 320 : 320.0 / 240
                        var framing = Framing()
                        framing.guide = PictureMapping.picture(
                            of: guide, viewAspect: viewAspect, pictureAspect: aspect, gravity: gravity)
                        let crop = framing.crop(width: frame.width, height: frame.height, orientation: orientation)
                        guard crop == expected else {
                            throw ContractFailure("\(name): \(crop as Any), not \(expected)")
                        }
                        let file = try JPEGFile(
                            encode(frame.image, encoder, orientation) {
                                $0.cut = crop
                                $0.quality = 100
                            })
                        try check(file, name)
                        count += 1
                    }
                }
            }
        }
        return count
    }

    /// The four marks stand in the file's corners, turned as its EXIF says, two pixels wide and no more.
    private static func check(_ file: JPEGFile, _ name: String) throws(ContractFailure) {
        let luma = try file.plane(0)
        guard let orientation = file.orientation else { throw ContractFailure("\(name): no orientation") }
        let (right, bottom) = (luma.width - 1, luma.height - 1)
        // Top left, top right, bottom left, bottom right as the viewer sees them, by EXIF 2.32's table of orientations.
        let stored = [(0, 0), (right, 0), (0, bottom), (right, bottom)]
        let table = [
            [0, 1, 2, 3], [1, 0, 3, 2], [3, 2, 1, 0], [2, 3, 0, 1], [0, 2, 1, 3], [2, 0, 3, 1], [3, 1, 2, 0],
            [1, 3, 0, 2],
        ]
        for (corner, mark) in zip(table[orientation - 1], marks) {
            let (x, y) = stored[corner]
            let (inX, inY) = (x == 0 ? 1 : -1, y == 0 ? 1 : -1)
            for (across, down) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let value = luma[x + across * inX, y + down * inY]
                if abs(value - mark) > 12 { throw ContractFailure("\(name): \(value) in the corner of \(mark)") }
            }
            for (across, down) in [(2, 0), (0, 2), (2, 2)] {
                let value = luma[x + across * inX, y + down * inY]
                if abs(value - ground) > 12 { throw ContractFailure("\(name): \(value) beside the corner of \(mark)") }
            }
        }
    }

    // MARK: Blocks

    private static func blocks() throws(ContractFailure) -> (crops: Int, blocks: Int) {
        var result = (crops: 0, blocks: 0)
        let (width, height) = (640, 480)
        let part = PixelRect(x: 96, y: 64, width: 368, height: 272)
        for orientation in Orientation.all {
            var framing = Framing()
            framing.savesCrop = true
            framing.guide = orientation.upright(
                UnitRect(
                    x: Double(part.x) / Double(width), y: Double(part.y) / Double(height),
                    width: Double(part.width) / Double(width), height: Double(part.height) / Double(height)))
            let studio = Studio(
                size: Size(width: width, height: height), stillEncoder: JPEGEncoder(), orientation: orientation,
                framing: framing)
            studio.run(for: .seconds(1))
            for (index, zoom) in [1.0, 2, 4].enumerated() {
                let name = "\(orientation) zoom \(zoom)"
                _ = studio.desk.submit(.command(.zoom(zoom), RequestToken(UInt64(index)), .api), at: studio.now)
                studio.run(for: .seconds(1))
                _ = studio.desk.submit(.shot(RequestToken(UInt64(10 + index)), .api), at: studio.now)
                studio.run(for: .milliseconds(700))
                guard let whole = studio.store.photos.last, let crop = studio.store.extras.last,
                    crop.number == whole.number, studio.store.photos.count == index + 1
                else { throw ContractFailure("\(name): no whole and crop") }
                result.blocks += try compare(JPEGFile(whole.bytes), JPEGFile(crop.bytes), part, name)
                result.crops += 1
            }
            guard Set(studio.store.photos.map(\.bytes)).count == 3 else {
                throw ContractFailure("\(orientation): the zoom isn't seen")
            }
        }
        return result
    }

    /// How many blocks there are, all alike.
    private static func compare(
        _ whole: JPEGFile, _ crop: JPEGFile, _ part: PixelRect, _ name: String
    ) throws(ContractFailure) -> Int {
        guard whole.orientation == crop.orientation else { throw ContractFailure("\(name): turned otherwise") }
        var count = 0
        for component in 0..<3 {
            let side = component == 0 ? 8 : 16
            let (outer, inner) = (try whole.blocks(component), try crop.blocks(component))
            let alike = outer.part(part.x / side, part.y / side, part.width / side, part.height / side)
            guard inner.across == part.width / side, inner.down == part.height / side, outer.table == inner.table,
                inner.coefficients == alike
            else { throw ContractFailure("\(name): component \(component) differs") }
            count += inner.across * inner.down
        }
        return count
    }

    // MARK: Costs

    private static func encode(
        _ image: Image, _ encoder: JPEGEncoder, _ orientation: Orientation, _ change: (inout StillPlan) -> Void
    ) throws(ContractFailure) -> UnsafeRawBufferPointer {
        var plan = StillPlan(
            quality: 92, rotation: orientation.rotation, mirror: orientation.mirror, make: "fieldcam", model: "budget",
            software: "fieldcam",
            taken: WallTime(
                year: 2026, month: 11, day: 30, hour: 12, minute: 0, second: 0, nanosecond: 0, offset: 0,
                isTrusted: true))
        change(&plan)
        do throws(HardwareError) {
            return try encoder.encode(image, plan: plan)
        } catch {
            throw ContractFailure("\(error)")
        }
    }

    private static func tellCosts() {
        let scene = BudgetScene(width: 1920, height: 1080)
        let layout = ImageLayout.packed(width: 1920, height: 1080, format: .nv12, colour: .sycc, alignment: 2)
        let guide = PixelRect(x: 480, y: 272, width: 960, height: 544)
        let encoder = JPEGEncoder()
        let kinds: [(String, (inout StillPlan) -> Void)] = [
            ("whole", { _ in }),
            ("whole with lines", { $0.overlay = .border(guide, radius: 54, stroke: 2) }),
            ("crop", { $0.cut = guide }),
            (
                "crop with round corners",
                {
                    $0.cut = guide
                    $0.cornerRadius = 54
                }
            ),
            ("review", { $0.sharp = StillPlan.Sharp(rect: guide, cornerRadius: 54) }),
        ]
        scene.planes(0, interleaved: true).withUnsafeBytes { bytes in
            let image = Image(layout: layout, base: bytes.baseAddress!)
            for (name, change) in kinds {
                var times: [Double] = []
                for _ in 0..<9 {
                    let start = Measurement.seconds
                    _ = try? encode(image, encoder, .upright, change)
                    times.append((Measurement.seconds - start) * 1000)
                }
                print("  1920x1080, \(name)   \(Measurement.text(Measurement.median(times))) ms")
            }
        }
    }
}

/// A frame that is one grey but for four marks of two by two pixels.
private final class MarkedFrame {
    let width: Int
    let height: Int
    private let memory: UnsafeMutableRawPointer
    private var layout: ImageLayout

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        layout = .packed(width: width, height: height, format: .yuv420, colour: .sycc)
        memory = .allocate(byteCount: width * height * 4, alignment: 64)
    }

    deinit { memory.deallocate() }

    var image: Image { Image(layout: layout, base: memory) }

    func paint(_ format: PixelFormat, ground: Int, at corners: [(x: Int, y: Int)], marks: [Int]) {
        let isRGB = format == .bgr888
        layout = .packed(width: width, height: height, format: format, colour: isRGB ? .srgb : .sycc)
        memset(memory, isRGB ? Int32(ground) : 128, layout.byteCount)
        let channels = isRGB ? 3 : 1
        for y in 0..<height {
            memset(memory + y * layout.first.stride, Int32(ground), width * channels)
        }
        for (corner, mark) in zip(corners, marks) {
            for y in corner.y..<corner.y + 2 {
                memset(memory + y * layout.first.stride + corner.x * channels, Int32(mark), 2 * channels)
            }
        }
    }
}

/// Where stored pixels are seen, told pixel by pixel without the mapping that is judged.
private struct Seen {
    private let width: Int
    private let height: Int
    private let orientation: Orientation
    private let gravity: Gravity
    private let viewAspect: Double

    init(_ width: Int, _ height: Int, _ orientation: Orientation, _ gravity: Gravity, _ viewAspect: Double) {
        self.width = width
        self.height = height
        self.orientation = orientation
        self.gravity = gravity
        self.viewAspect = viewAspect
    }

    /// A point in stored pixels, in the upright picture's pixels.
    private func upright(_ x: Double, _ y: Double) -> (Double, Double) {
        let (w, h) = (Double(width), Double(height))
        var point: (Double, Double)
        switch orientation.rotation {
        case 90: point = (h - y, x)
        case 180: point = (w - x, h - y)
        case 270: point = (y, w - x)
        default: point = (x, y)
        }
        if orientation.mirror { point.0 = (orientation.isSideways ? h : w) - point.0 }
        return point
    }

    /// The same in fractions of a view that is a thousand high.
    private func view(_ x: Double, _ y: Double) -> (Double, Double) {
        let (up, down) = upright(x, y)
        let (w, h) = orientation.isSideways ? (Double(height), Double(width)) : (Double(width), Double(height))
        let (viewWidth, viewHeight) = (1000 * viewAspect, 1000.0)
        switch gravity {
        case .resize: return (up / w, down / h)
        case .resizeAspect, .resizeAspectFill:
            let scales = (viewWidth / w, viewHeight / h)
            let scale = gravity == .resizeAspect ? min(scales.0, scales.1) : max(scales.0, scales.1)
            return (
                (up * scale + (viewWidth - w * scale) / 2) / viewWidth,
                (down * scale + (viewHeight - h * scale) / 2) / viewHeight
            )
        }
    }

    /// The pixels wholly inside of a view's part, without the odd ones at its edges.
    func pixels(in rect: UnitRect) -> PixelRect? {
        func isInside(_ x: Int, _ y: Int) -> Bool {
            for (across, down) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let (u, v) = view(Double(x + across), Double(y + down))
                if u < rect.x || v < rect.y || u > rect.x + rect.width || v > rect.y + rect.height { return false }
            }
            return true
        }
        var columns: [Int] = []
        var rows: [Int] = []
        for y in 0..<height {
            for x in 0..<width where isInside(x, y) {
                columns.append(x)
                rows.append(y)
            }
        }
        guard let left = columns.min(), let top = rows.min(), let right = columns.max(), let bottom = rows.max() else {
            return nil
        }
        let (x, y) = ((left + 1) / 2 * 2, (top + 1) / 2 * 2)
        return PixelRect(x: x, y: y, width: (right + 1) / 2 * 2 - x, height: (bottom + 1) / 2 * 2 - y)
    }

    /// The two by two pixels in a part's corners, in the order in which they are seen: top left, top right, bottom left, …
    func corners(of rect: PixelRect) -> [(x: Int, y: Int)] {
        let places = [
            (x: rect.x, y: rect.y), (x: rect.x + rect.width - 2, y: rect.y), (x: rect.x, y: rect.y + rect.height - 2),
            (x: rect.x + rect.width - 2, y: rect.y + rect.height - 2),
        ]
        let middle = upright(Double(rect.x) + Double(rect.width) / 2, Double(rect.y) + Double(rect.height) / 2)
        return [(true, true), (false, true), (true, false), (false, false)].map { isLeft, isTop in
            places.first { place in
                let seen = upright(Double(place.x) + 1, Double(place.y) + 1)
                return (seen.0 < middle.0) == isLeft && (seen.1 < middle.1) == isTop
            }!
        }
    }
}
