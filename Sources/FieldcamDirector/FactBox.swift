import FieldcamLinux

/// Where workers leave their facts for the director; it wakes it.
final class FactBox: Sendable {
    private let box = Mailbox<WorkerFact>(capacity: 512)
    private let wake: EventFD

    init(wake: EventFD) {
        self.wake = wake
    }

    /// A worker has few facts under way at a time, so a full box is a fault of ours.
    func post(_ fact: WorkerFact) {
        let refused = box.post(fact)
        precondition(refused == nil, "the director stopped taking facts")
        wake.signal()
    }

    func take() -> WorkerFact? { box.takeIfAny() }
}
