import FieldcamCore
import FieldcamPorts

/// A shot's encoded files: the whole, the crop, the review, each from the frame's own pixels. The first comes first in
/// `photo.saved`.
///
/// The last one's bytes lie in the encoder's buffer, those before in copies that end with this object: two at most.
final class Photo {
    private(set) var parts: [PhotoPart] = []
    private var width = 0
    private var height = 0
    private var copies: [UnsafeMutableRawBufferPointer] = []

    init(
        of frame: Image, plan: StillPlan, framing: Framing, by encoder: any StillEncoder
    ) throws(HardwareError) {
        let plans = Self.plans(of: frame.layout, plan: plan, framing: framing)
        let size = plans[0].plan.cut
        (width, height) = (size?.width ?? frame.layout.width, size?.height ?? frame.layout.height)
        for (kind, plan) in plans {
            keepLast()
            parts.append(PhotoPart(kind, try encoder.encode(frame, plan: plan)))
        }
    }

    deinit { for copy in copies { copy.deallocate() } }

    /// What was saved, of these files in the order of `parts`.
    func files(_ saved: [SavedFile]) -> PhotoFiles {
        var files = PhotoFiles(main: saved[0], width: width, height: height)
        for (part, file) in zip(parts, saved) {
            if part.kind == .crop { files.crop = file }
            if part.kind == .review { files.review = file }
        }
        return files
    }

    /// The encoder's buffer is about to be written again.
    private func keepLast() {
        guard let last = parts.last else { return }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: last.bytes.count, alignment: 1)
        copy.copyMemory(from: last.bytes)
        copies.append(copy)
        parts[parts.count - 1].bytes = UnsafeRawBufferPointer(copy)
    }

    /// Each file's kind and how it is made; one at least.
    private static func plans(
        of layout: ImageLayout, plan: StillPlan, framing: Framing
    ) -> [(kind: MediaName.Kind, plan: StillPlan)] {
        let (width, height) = (layout.width, layout.height)
        let orientation = Orientation(rotation: plan.rotation, mirror: plan.mirror)
        let picture = framing.whole(width: width, height: height, orientation: orientation)
        var whole = plan
        whole.cut = picture
        whole.overlay = framing.overlay(width: width, height: height, picture: picture, orientation: orientation)
        guard let rect = framing.crop(width: width, height: height, orientation: orientation) else {
            return [(.photo, whole)]
        }
        let radius = framing.radius(of: rect)
        var plans: [(kind: MediaName.Kind, plan: StillPlan)] = []
        if framing.savesWhole || !framing.savesCrop { plans.append((.photo, whole)) }
        if framing.savesCrop {
            var crop = whole
            crop.cut = rect
            crop.cornerRadius = radius
            plans.append((.crop, crop))
        }
        if framing.savesReview {
            var review = whole
            review.sharp = StillPlan.Sharp(rect: rect, cornerRadius: radius)
            plans.append((.review, review))
        }
        return plans
    }
}
