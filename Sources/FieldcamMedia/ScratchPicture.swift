import CFieldcamMedia
import FieldcamCore
import FieldcamPorts
import Glibc

/// The one writable copy of a frame: lines, rounded corners and the blur go into it, never into a frame that others read too.
/// Its memory grows to the largest picture it held and is reused.
public final class ScratchPicture: @unchecked Sendable {
    // Proof of Sendable: the handle never changes; the lock lets one thread at it at a time.
    private let handle: OpaquePointer
    private let turn: UnsafeMutablePointer<pthread_mutex_t>

    public init() {
        turn = .allocate(capacity: 1)
        pthread_mutex_init(turn, nil)
        guard let handle = fc_scratch_create() else { preconditionFailure("no memory left for a scratch picture") }
        self.handle = handle
    }

    deinit {
        fc_scratch_destroy(handle)
        pthread_mutex_destroy(turn)
        turn.deallocate()
    }

    /// Makes a photo's picture of a frame by its plan, and lets `body` read it. Only a picture that is changed is copied.
    func develop(
        _ frame: Image, by plan: StillPlan, _ body: (fc_picture) throws(HardwareError) -> UnsafeRawBufferPointer
    ) throws(HardwareError) -> UnsafeRawBufferPointer {
        let all = PixelRect(x: 0, y: 0, width: frame.layout.width, height: frame.layout.height)
        let cut = plan.cut ?? all
        let picture = frame.cut(cut).picture
        guard plan.cornerRadius > 0 || plan.sharp != nil || plan.overlay != nil else { return try body(picture) }
        // Two photos at once take turns, so that there is one copy.
        pthread_mutex_lock(turn)
        defer { pthread_mutex_unlock(turn) }
        var original = picture
        var copy = fc_picture()
        try check(fc_scratch_copy(handle, &original, &copy))
        if let sharp = plan.sharp {
            try check(fc_scratch_blur(handle, &copy, area(sharp.rect, in: cut, radius: sharp.cornerRadius)))
        }
        if let overlay = plan.overlay { draw(overlay, on: copy, showing: cut) }
        if plan.cornerRadius > 0 { fc_scratch_mask(&copy, area(cut, in: cut, radius: plan.cornerRadius)) }
        return try body(copy)
    }

    /// The frame with lines over it; valid until the next call.
    func overlaid(_ frame: Image, _ overlay: Overlay) throws(HardwareError) -> Image {
        pthread_mutex_lock(turn)
        defer { pthread_mutex_unlock(turn) }
        var original = frame.picture
        var copy = fc_picture()
        try check(fc_scratch_copy_first(handle, &original, &copy))
        draw(overlay, on: copy, showing: PixelRect(x: 0, y: 0, width: frame.layout.width, height: frame.layout.height))
        var frame = frame
        frame.firstPlane = copy.plane.0
        return frame
    }

    private func draw(_ overlay: Overlay, on copy: fc_picture, showing cut: PixelRect) {
        var copy = copy
        switch overlay {
        case .thirds(let rect, let stroke):
            fc_scratch_thirds(&copy, area(rect, in: cut, radius: 0), Int32(stroke))
        case .border(let rect, let radius, let stroke):
            fc_scratch_border(&copy, area(rect, in: cut, radius: radius), Int32(stroke))
        }
    }

    private func area(_ rect: PixelRect, in cut: PixelRect, radius: Int) -> fc_area {
        fc_area(
            x: Int32(rect.x - cut.x), y: Int32(rect.y - cut.y), width: Int32(rect.width), height: Int32(rect.height),
            radius: Int32(radius))
    }

    private func check(_ code: Int32) throws(HardwareError) {
        guard code == 0 else { throw .errno(code, "copy a picture to draw into it") }
    }
}
