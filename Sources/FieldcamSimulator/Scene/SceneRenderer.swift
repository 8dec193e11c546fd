import FieldcamCore
import FieldcamPorts
import Glibc

/// Paints frames of one size: background, moving subject, the lamp of the whole seconds, and the strip.
///
/// Rows are exposed one after another (rolling read-out): each shows the subject's place and the light of its own time.
/// The strip and the lamp are put into the picture whatever part of the field it shows.
/// Owned by one thread at a time. After the first frames of a brightness a frame allocates nothing.
final class SceneRenderer {
    struct Timing {
        /// Of the first row.
        var exposureEnd: Instant
        var exposure: Duration
        var gain: Double
        /// From the first row's end of exposure to the last row's.
        var readOut: Duration
        var sequence: UInt64
        /// The part of the field that the picture shows.
        var crop = UnitRect.whole
        /// How far the subject is out of focus, dioptres.
        var defocus = 0.0
    }

    /// What the plates were painted for.
    private struct View: Equatable {
        var crop: UnitRect
        var distance: Double
        var subject: UnitRect?
        var window: UnitRect?
        var backdrop = 0
        /// Radius of the subject's blur, pixels.
        var blur: Int
    }

    /// The lamp at the lower left shines in the first 100 ms of each whole second of the monotonic clock, as the
    /// microphone's beep sounds then.
    static let markLength: Int64 = 100_000_000

    private let layout: ImageLayout
    private let field: Size
    private let isPlanar: Bool
    private let background: Plate
    private var subject: Plate
    /// What shows of a brighter or darker part of the scene; made when there is one.
    private var windowPlate: Plate?
    private var view: View
    private let variant: Int

    /// - Parameters:
    ///   - layout: YUV 4:2:0, planar or NV12, even sizes.
    ///   - field: the sensor's size.
    ///   - variant: scenes of several cameras differ.
    init(layout: ImageLayout, field: Size, variant: Int) {
        precondition(layout.format == .yuv420 || layout.format == .nv12, "simulated frames are YUV 4:2:0")
        self.layout = layout
        self.field = field
        self.variant = variant
        isPlanar = layout.format == .yuv420
        background = Plate(width: layout.width, height: layout.height, isPlanar: isPlanar)
        view = View(crop: .whole, distance: 1, blur: 0)
        subject = Plate(width: 2, height: 2, isPlanar: isPlanar)
        view.crop = shown(of: .whole)
        paintBackground()
        paintSubject()
    }

    /// What is shown of a wanted part of the field: its middle, in the picture's own shape, a 4th of the field at least.
    func shown(of wanted: UnitRect) -> UnitRect {
        let picture = Double(layout.width) / Double(layout.height)
        let least = 0.25
        let width = min(1, max(least, wanted.width))
        let height = min(1, max(least, wanted.height))
        let aspect = width * Double(field.width) / (height * Double(field.height))
        let shownWidth = aspect > picture * 1.001 ? width * picture / aspect : width
        let shownHeight = aspect * 1.001 < picture ? height * aspect / picture : height
        return UnitRect(
            x: min(max(0, wanted.x + (wanted.width - shownWidth) / 2), 1 - shownWidth),
            y: min(max(0, wanted.y + (wanted.height - shownHeight) / 2), 1 - shownHeight), width: shownWidth,
            height: shownHeight)
    }

    /// Paints a frame into a slot's memory.
    func paint(into base: UnsafeMutableRawPointer, scene: SceneState, timing: Timing, noise: Noise) {
        look(
            View(
                crop: shown(of: timing.crop), distance: scene.distance, subject: scene.subject,
                window: scene.window?.place, backdrop: scene.backdrop,
                blur: Int((min(timing.defocus, 3) * 0.01 * Double(layout.height)).rounded())))
        let width = layout.width
        let height = layout.height
        let luma = (base + layout.first.offset).assumingMemoryBound(to: UInt8.self)
        let noiseStep = Noise.step(gain: timing.gain)
        noise.prepare(step: noiseStep)

        let frameStart = timing.exposureEnd - timing.exposure
        let isSteady = scene.isSteady(from: frameStart, to: timing.exposureEnd + timing.readOut)
        var exposure = rowExposure(0, scene: scene, timing: timing, noiseStep: noiseStep)
        let readOut = timing.readOut.inNanoseconds
        let firstMiddle = timing.exposureEnd.nanoseconds - timing.exposure.inNanoseconds / 2

        let panel = Panel(distance: scene.distance, subject: scene.subject, field: field)
        let subjectTop =
            Int(((panel.top - view.crop.y) / view.crop.height * Double(height / 2)).rounded()) * 2
        let lamp = Lamp(width: width, height: height)
        let pane = scene.window.map { pixels(of: $0.place) }
        let paneBrightness = scene.window?.brightness ?? 1
        func place(at instant: Instant) -> Int {
            let along = panel.left ?? scene.place(at: instant) * (1 - panel.width)
            return Int(((along - view.crop.x) / view.crop.width * Double(width)).rounded())
        }

        for y in 0..<height {
            if !isSteady { exposure = rowExposure(y, scene: scene, timing: timing, noiseStep: noiseStep) }
            let row = luma + y * layout.first.stride
            let version = Self.version(row: y, sequence: timing.sequence, noiseStep: noiseStep)
            memcpy(row, background.lumaRow(y, version: version, exposure: exposure, noise: noise), width)
            let paneExposure = exposure.brighter(paneBrightness, noiseStep: noiseStep)
            if let pane, let plate = windowPlate, y >= pane.y, y < pane.y + pane.height {
                let pixels = plate.lumaRow(y - pane.y, version: version, exposure: paneExposure, noise: noise)
                memcpy(row + pane.x, pixels, pane.width)
            }
            let subjectRow = y - subjectTop
            let middle = Instant(nanoseconds: firstMiddle + readOut * Int64(y) / Int64(height))
            if subjectRow >= 0, subjectRow < subject.height {
                let x = place(at: middle)
                let from = max(0, x)
                let to = min(width, x + subject.width)
                if from < to {
                    let pixels = subject.lumaRow(subjectRow, version: version, exposure: exposure, noise: noise)
                    memcpy(row + from, pixels + (from - x), to - from)
                }
            }
            if lamp.covers(row: y) {
                let isLit = Self.isMark(middle)
                memset(row + lamp.left, isLit ? 250 : 20, lamp.right - lamp.left)
            }
            if y % 2 == 0 {
                paintChroma(
                    base, y: y / 2, exposure: exposure, subjectRow: subjectRow, subjectX: place(at: middle), lamp: lamp,
                    pane: pane)
            }
        }
        Strip(
            sequence: UInt32(truncatingIfNeeded: timing.sequence), exposureStart: frameStart,
            exposureEnd: timing.exposureEnd
        ).paint(luma: luma, stride: layout.first.stride, width: width, height: height)
    }

    /// Light times gain of the middle row, 1 being right: what automatic exposure measures.
    static func ratio(scene: SceneState, timing: Timing) -> Double {
        let end = timing.exposureEnd + timing.readOut / 2
        return scene.lux(from: end - timing.exposure, to: end) * seconds(timing.exposure) * timing.gain
            / AutoExposure.rightAmount
    }

    static func isMark(_ instant: Instant) -> Bool {
        let second: Int64 = 1_000_000_000
        let rest = instant.nanoseconds % second
        return (rest < 0 ? rest + second : rest) < markLength
    }

    private static func seconds(_ span: Duration) -> Double { Double(span.inNanoseconds) / 1e9 }

    private func rowExposure(_ y: Int, scene: SceneState, timing: Timing, noiseStep: Int) -> RowExposure {
        let end = Instant(
            nanoseconds: timing.exposureEnd.nanoseconds + timing.readOut.inNanoseconds * Int64(y)
                / Int64(layout.height))
        let lux = scene.lux(from: end - timing.exposure, to: end)
        return RowExposure(
            ratio: lux * Self.seconds(timing.exposure) * timing.gain / AutoExposure.rightAmount, noiseStep: noiseStep)
    }

    private func paintChroma(
        _ base: UnsafeMutableRawPointer, y: Int, exposure: RowExposure, subjectRow: Int, subjectX: Int, lamp: Lamp,
        pane: PixelRect?
    ) {
        let half = layout.width / 2
        let back = background.chromaRow(y, exposure: exposure)
        let strip = Strip.chromaArea(width: layout.width, height: layout.height)
        let second = (base + layout.second.offset + y * layout.second.stride).assumingMemoryBound(to: UInt8.self)
        let third = (base + layout.third.offset + y * layout.third.stride).assumingMemoryBound(to: UInt8.self)
        // A row of `pixels` pixels whose left one lies at `x`, as far as it lies in the picture.
        func copy(_ row: UnsafePointer<UInt8>, pixels: Int, to x: Int) {
            let from = max(0, x)
            let count = min(half, x + pixels) - from
            guard count > 0 else { return }
            let skipped = from - x
            if isPlanar {
                memcpy(second + from, row + skipped, count)
                memcpy(third + from, row + pixels + skipped, count)
            } else {
                memcpy(second + 2 * from, row + 2 * skipped, 2 * count)
            }
        }
        func neutral(from: Int, to: Int) {
            if isPlanar {
                memset(second + from, 128, to - from)
                memset(third + from, 128, to - from)
            } else {
                memset(second + 2 * from, 128, 2 * (to - from))
            }
        }
        copy(back, pixels: half, to: 0)
        if let pane, 2 * y >= pane.y, 2 * y < pane.y + pane.height {
            neutral(from: pane.x / 2, to: (pane.x + pane.width) / 2)
        }
        if subjectRow >= 0, subjectRow < subject.height {
            copy(subject.chromaRow(subjectRow / 2, exposure: exposure), pixels: subject.width / 2, to: subjectX >> 1)
        }
        if lamp.covers(row: 2 * y) { neutral(from: lamp.left / 2, to: lamp.right / 2) }
        if y >= strip.top, y < strip.bottom { neutral(from: strip.left, to: strip.right) }
    }

    /// Which noisy version of a row a frame takes: it looks random, and is the same in each run.
    private static func version(row: Int, sequence: UInt64, noiseStep: Int) -> Int {
        // In the dark each in turn, a row of its own beginning.
        if noiseStep >= 2 { return (Int(truncatingIfNeeded: sequence) &+ row &* 5) & (Plate.versions - 1) }
        let mixed =
            (sequence &* 0x9E37_79B9_7F4A_7C15) ^ (UInt64(truncatingIfNeeded: row) &* 0xC2B2_AE3D_27D4_EB4F)
        return Int(truncatingIfNeeded: (mixed &* 0xD6E8_FEB8_6659_FD93) >> 62) & (Plate.quietVersions - 1)
    }

    /// The square that shines at whole seconds.
    struct Lamp {
        let left: Int
        let right: Int
        let top: Int
        let bottom: Int
        init(width: Int, height: Int) {
            left = width / 32 / 2 * 2
            right = width / 8 / 2 * 2
            top = height * 84 / 100 / 2 * 2
            bottom = height * 98 / 100 / 2 * 2
        }
        func covers(row: Int) -> Bool { row >= top && row < bottom }
    }

    // MARK: - Plates

    /// The subject's size as fractions of the field.
    private struct Panel {
        let width: Double
        let height: Double
        let top: Double
        /// `nil`: it walks.
        let left: Double?
        init(distance: Double, subject: UnitRect?, field: Size) {
            height = subject?.height ?? min(0.5, 0.4 / max(distance, 0.05))
            width = subject?.width ?? height / 2 * Double(field.height) / Double(field.width)
            top = subject?.y ?? 0.58 - height / 2
            left = subject?.x
        }
    }

    private func look(_ wanted: View) {
        guard wanted != view else { return }
        let before = view
        view = wanted
        if before.crop != wanted.crop || before.backdrop != wanted.backdrop { paintBackground() }
        if before.crop != wanted.crop || before.window != wanted.window { paintWindow() }
        var seen = before
        (seen.window, seen.backdrop) = (wanted.window, wanted.backdrop)
        if seen != wanted { paintSubject() }
    }

    /// A wall that darkens upwards, with a band of colours and a chequered lower half.
    private func paintBackground() {
        let bars: [Plate.Colour] = [
            .init(y: 200, u: 128, v: 128), .init(y: 170, u: 60, v: 150), .init(y: 150, u: 160, v: 60),
            .init(y: 130, u: 70, v: 80), .init(y: 110, u: 190, v: 170), .init(y: 90, u: 110, v: 200),
            .init(y: 70, u: 200, v: 110), .init(y: 40, u: 128, v: 128),
        ]
        let room = variant + view.backdrop * 3
        let tint = UInt8(truncatingIfNeeded: 118 + (room * 37) % 40)
        // Another room has other walls.
        let wall = 80 + view.backdrop % 4 * 25
        // Places in the field, in thousandths of its height, or of its width.
        let crop = view.crop
        let columns = 1000 * crop.width / Double(layout.width)
        let rows = 1000 * crop.height / Double(layout.height)
        let aspect = Double(field.width) / Double(field.height)
        background.paint { x, y in
            let across = 1000 * crop.x + (Double(x) + 0.5) * columns
            let down = 1000 * crop.y + (Double(y) + 0.5) * rows
            if down >= 220, down < 300 {
                return bars[(Int(across) * bars.count / 1000 + room) % bars.count]
            }
            let slope = wall + Int(down * 0.06)
            guard down >= 500 else { return Plate.Colour(y: UInt8(slope), u: tint, v: 124) }
            let isDark = (Int(across * aspect * 0.024) + Int(down * 0.024)) % 2 == 0
            return Plate.Colour(y: UInt8(slope + (isDark ? -24 : 24)), u: 120, v: 132)
        }
    }

    /// The pixels of a part of the field, as far as the picture shows it; even, so that chroma fits.
    private func pixels(of part: UnitRect) -> PixelRect {
        func even(_ value: Double, _ most: Int) -> Int { min(max(0, Int((value / 2).rounded()) * 2), most) }
        let (width, height) = (Double(layout.width), Double(layout.height))
        let left = even((part.x - view.crop.x) / view.crop.width * width, layout.width)
        let top = even((part.y - view.crop.y) / view.crop.height * height, layout.height)
        let right = even((part.x + part.width - view.crop.x) / view.crop.width * width, layout.width)
        let bottom = even((part.y + part.height - view.crop.y) / view.crop.height * height, layout.height)
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }

    /// 18 % grey: what comes out of right exposure in the middle of the scale.
    private func paintWindow() {
        let size = view.window.map { pixels(of: $0) } ?? PixelRect(x: 0, y: 0, width: 0, height: 0)
        guard size.width >= 2, size.height >= 2 else { return windowPlate = nil }
        let plate = Plate(width: size.width, height: size.height, isPlanar: isPlanar)
        plate.paint { _, _ in Plate.Colour(y: 118, u: 128, v: 128) }
        windowPlate = plate
    }

    /// A bright red-orange panel with a dark rim, half as wide as high, smaller with distance.
    private func paintSubject() {
        let panel = Panel(distance: view.distance, subject: view.subject, field: field)
        func even(_ pixels: Double) -> Int { max(8, Int((pixels / 2).rounded()) * 2) }
        let height = even(panel.height / view.crop.height * Double(layout.height))
        let width = even(panel.width / view.crop.width * Double(layout.width))
        if subject.width != width || subject.height != height {
            subject = Plate(width: width, height: height, isPlanar: isPlanar)
        }
        let rim = max(1, height / 24)
        let stripe = max(2, height / 12)
        let isRed = variant % 2 == 0
        subject.paint { x, y in
            let isRim = x < rim || y < rim || x >= width - rim || y >= height - rim
            if isRim { return Plate.Colour(y: 24, u: 128, v: 128) }
            let isStripe = (x + y) / stripe % 4 == 0
            return Plate.Colour(y: isStripe ? 160 : 205, u: isRed ? 90 : 180, v: isRed ? 190 : 90)
        }
        subject.blur(radius: view.blur)
    }
}
