/// What is done when an encoder falls silent or fails (contract §10): it is restarted; again within a minute Motion JPEG, which
/// needs no hardware, takes its place; once that fails too, clips end.
struct EncoderTrust: Sendable {
    enum Remedy: Sendable {
        case restart
        case fallBack
        case none
    }

    static let memory = Duration.seconds(60)

    private var lastLoss: Instant?
    /// Motion JPEG has its place; it stays until the service starts anew.
    private(set) var isFallenBack = false

    mutating func lose(at: Instant) -> Remedy {
        let isRecent = lastLoss.map { at - $0 <= Self.memory } ?? false
        lastLoss = at
        guard isRecent else { return .restart }
        if isFallenBack { return .none }
        isFallenBack = true
        return .fallBack
    }
}
