/// The light while somebody has it: one owner, one level, and an end that is known from the beginning.
struct LightLease: Sendable {
    let owner: LightOwner
    let camera: CameraID
    /// What the owner asked for, (0, 1]; what is ordered may be less.
    let wanted: Double
    /// As ordered last.
    var level: Double
    /// When it was ordered on.
    let since: Instant
    /// Off by then whatever happens; the adapter's dead-man timer has the same.
    let deadline: Instant
    /// As it was read back; `nil`: no answer came yet.
    var shines: Double?
    /// The client that waits for the effective level.
    var token: RequestToken?

    var isTorch: Bool {
        if case .shot = owner { return false }
        return true
    }
}

/// What a person set by hand, over `torch.mode`.
enum HandTorch: Hashable, Sendable {
    case off
    case on(Double)
}
