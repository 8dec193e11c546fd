import FieldcamCore
import FieldcamPorts

/// A camera's request as the machine's memory allows it.
struct MemoryStep: Hashable, Sendable {
    let wish: MemoryPlan.Wish
    let plan: MemoryPlan
    let budget: MemoryBudget
    /// With the plan's sizes and counts.
    let request: CameraRequest

    /// `nil`: the camera's frames are under no limit, or its size isn't known.
    /// - Parameter held: bytes that the camera's present buffers take, which it gives back first.
    init?(_ asked: CameraRequest, _ limits: CameraLimits, held: Int64) {
        guard var budget = limits.memory, let largest = asked.still ?? limits.sensor else { return nil }
        budget.contiguous += held
        func picture(_ size: Size) -> MemoryPlan.Picture { .init(width: size.width, height: size.height) }
        let wish = MemoryPlan.Wish(
            still: picture(largest), video: picture(asked.video), sensor: limits.sensor.map(picture),
            slots: asked.slots, isStillOnly: asked.isStillOnly)
        let plan = MemoryPlan.fit(wish, into: budget)
        var request = asked
        // A size that was left to the camera stays so as long as it fits.
        if plan.still != wish.still { request.still = Size(width: plan.still.width, height: plan.still.height) }
        if !asked.isStillOnly { request.video = Size(width: plan.video.width, height: plan.video.height) }
        request.slots = plan.slots
        request.buffers = plan.buffers
        self.wish = wish
        self.plan = plan
        self.budget = budget
        self.request = request
    }

    var isSmaller: Bool { plan.isSmaller(than: wish) }

    private static func words(_ still: MemoryPlan.Picture, _ video: MemoryPlan.Picture, isStillOnly: Bool) -> String {
        isStillOnly || still == video
            ? "\(still.width)x\(still.height)"
            : "photos \(still.width)x\(still.height), clips \(video.width)x\(video.height)"
    }
    var requested: String { Self.words(wish.still, wish.video, isStillOnly: wish.isStillOnly) }
    var effective: String { Self.words(plan.still, plan.video, isStillOnly: wish.isStillOnly) }

    private static func megabytes(_ bytes: Int64) -> Int64 { (max(0, bytes) + 524_288) / 1_048_576 }

    /// One sentence for the status.
    var sentence: String {
        let copies = plan.buffers < plan.slots ? ", copied into \(plan.slots) slots" : ""
        return
            "\(effective) with \(plan.buffers) buffers\(copies): about \(Self.megabytes(plan.contiguous)) MB of"
            + " \(Self.megabytes(budget.contiguous)) MB of contiguous memory\(plan.fits ? "" : ", which isn't enough")"
    }

    /// Why it is smaller than asked, and the mend.
    var reason: String {
        "contiguous memory (CMA) has \(Self.megabytes(budget.contiguous)) MB free; more of it: dtoverlay=vc4-kms-v3d,cma-256 in"
            + " config.txt"
    }
}
