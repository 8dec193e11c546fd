import FieldcamCore

/// Whether the camera is there: silence noticed, recovery escalated, tries backed off (contract §10: noticed within
/// 1.5 s or 3 frame intervals, back within 5 s).
struct CameraLink {
    private static let backOff: [Duration] = [
        .milliseconds(500), .seconds(1), .seconds(2), .seconds(5), .seconds(10),
    ]
    /// A camera that was lost again this soon is reopened, not just restarted.
    private static let relapse = Duration.seconds(10)
    /// A first frame may take this long: sensors start slowly.
    private static let startPatience = Duration.seconds(3)

    private var interval: Duration
    private var lastFrame: Instant?
    private var startedAt: Instant?
    private var lastSequence: UInt64?
    private var lastLoss: Instant?
    private var tries = 0
    private var retryAt: Instant?
    private var lastDetail = ""
    /// True right after the frame that brought the camera up.
    private(set) var isNewlyUp = false
    private var isUp = false

    init(interval: Duration) {
        self.interval = interval
    }

    private var patience: Duration { max(.milliseconds(1500), interval * 3) }
    var patienceText: String { "\(patience.inNanoseconds / 1_000_000) ms" }

    var nextDeadline: Instant? {
        if let retryAt { return retryAt }
        guard let startedAt else { return nil }
        return lastFrame.map { $0 + patience } ?? startedAt + max(Self.startPatience, patience)
    }

    mutating func started(interval: Duration, now: Instant) {
        self.interval = interval
        startedAt = now
        lastFrame = nil
        lastSequence = nil
        retryAt = nil
        isUp = false
    }

    /// A good frame came. The number of frames that the camera counted in between but never gave.
    mutating func saw(_ frame: Frame, now: Instant) -> Int {
        let missed = lastSequence.map { max(0, Int(clamping: frame.ref.sequence) - Int(clamping: $0) - 1) } ?? 0
        lastSequence = frame.ref.sequence
        lastFrame = now
        isNewlyUp = !isUp
        if !isUp {
            isUp = true
            tries = 0
            lastDetail = ""
        }
        return missed
    }

    /// It was stopped on purpose: no silence counts, nothing is retried.
    mutating func forget() {
        startedAt = nil
        retryAt = nil
        isUp = false
        lastDetail = ""
    }

    func isSilent(now: Instant) -> Bool {
        guard retryAt == nil, startedAt != nil, let deadline = nextDeadline else { return false }
        return now >= deadline
    }

    /// The running camera was lost. True: a restart may do; false: it was lost a short while ago, reopen it.
    mutating func lost(now: Instant) -> Bool {
        defer { lastLoss = now }
        startedAt = nil
        isUp = false
        return lastLoss.map { now - $0 > Self.relapse } ?? true
    }

    /// It couldn't be brought up; a further try follows. True if the reason is new and should be told.
    mutating func failed(now: Instant, detail: String) -> Bool {
        startedAt = nil
        isUp = false
        retryAt = now + Self.backOff[min(tries, Self.backOff.count - 1)]
        tries += 1
        defer { lastDetail = detail }
        return detail != lastDetail
    }

    mutating func retryIsDue(now: Instant) -> Bool {
        guard let due = retryAt, now >= due else { return false }
        retryAt = nil
        return true
    }
}
