import FieldcamCore
import FieldcamLinux
import FieldcamPorts

/// `fc-audio`: opens the microphone at a press, hands its sound to the clips that want it, and closes it 10 s after the
/// last use (contract §5.6).
final class SoundWorker: @unchecked Sendable {
    // Proof of Sendable: the mailbox is thread-safe; all else belongs to the one thread that runs `perform` and `listen`.
    enum Job: Sendable {
        /// A clip wants sound from now on.
        case begin(ClipKey)
        /// A clip wants sound up to this time and no further.
        case end(ClipKey, Instant)
        /// A clip was dropped.
        case cancel(ClipKey)
    }

    private struct Listener {
        var key: ClipKey
        var end: Instant?
    }

    /// How long the microphone stays open after the last use.
    static let linger = Duration.seconds(10)

    private let microphone: any Microphone
    private let clock: any Clock
    private let clips: ClipWorker
    private let facts: FactBox
    private let pool = SoundPool()
    private let box = Mailbox<Job>(capacity: 64)
    private var thread: Thread?

    private var format: AudioFormat?
    private var listeners: [Listener] = []
    private var lastUse = Instant(nanoseconds: 0)

    init(microphone: any Microphone, clock: any Clock, clips: ClipWorker, facts: FactBox) {
        self.microphone = microphone
        self.clock = clock
        self.clips = clips
        self.facts = facts
        listeners.reserveCapacity(8)
    }

    func start() {
        thread = Thread(name: "fc-audio", nice: -5) { [self] in
            while waitForWork() {}
            shut()
        }
    }

    func stop() {
        box.close()
        thread?.join()
    }

    func post(_ job: Job) {
        let refused = box.post(job)
        precondition(refused == nil, "more clips than can be alive")
    }

    /// Without a thread: does what is due.
    func workOnce() -> Bool {
        guard thread == nil else { return false }
        var worked = false
        while let job = box.takeIfAny() {
            perform(job)
            worked = true
        }
        while format != nil, listen() > 0 { worked = true }
        return worked
    }

    private func waitForWork() -> Bool {
        guard format != nil else {
            guard let job = box.take() else { return false }
            perform(job)
            return true
        }
        while let job = box.takeIfAny() { perform(job) }
        if format != nil { _ = listen() }
        return !(box.isFinished && listeners.isEmpty)
    }

    private func perform(_ job: Job) {
        switch job {
        case .begin(let key):
            open()
            guard format != nil else {
                return clips.post(.soundMissing(key, failure ?? "the microphone can't be used"))
            }
            listeners.append(Listener(key: key, end: nil))
            clips.post(.soundOpened(key, format!))
        case .end(let key, let end):
            guard let index = listeners.firstIndex(where: { $0.key == key }) else {
                return clips.post(.soundEnded(key))
            }
            listeners[index].end = end
        case .cancel(let key):
            listeners.removeAll { $0.key == key }
        }
        lastUse = clock.now
    }

    private var failure: String?

    private func open() {
        guard format == nil else { return }
        do throws(HardwareError) {
            format = try microphone.open()
            failure = nil
            facts.post(.sound(.open))
        } catch {
            failure = error.description
            facts.post(.sound(.missing(error)))
        }
    }

    /// Reads one piece and hands it on. The number of samples that came.
    private func listen() -> Int {
        guard let format else { return 0 }
        guard var block = pool.take() else {
            // The encoder is a second behind: the clip gets silence here, told by the jump in time.
            return discardPiece()
        }
        let piece: AudioPiece
        do throws(HardwareError) {
            piece = try microphone.read(into: block.room)
        } catch {
            interrupt(error)
            return 0
        }
        if piece.samples > 0, !listeners.isEmpty {
            block.count = piece.samples * format.channels
            block.at = piece.at
            hand(block, ending: piece.at + format.time(of: piece.samples))
        } else if listeners.isEmpty, clock.now - lastUse > Self.linger {
            shut()
        }
        return piece.samples
    }

    private func hand(_ block: consuming SoundBlock, ending: Instant) {
        for index in listeners.indices.dropLast() {
            if let copy = pool.copy(of: block) { clips.post(sound: copy, to: listeners[index].key) }
        }
        if let last = listeners.last { clips.post(sound: block, to: last.key) }
        for listener in listeners {
            if let end = listener.end, end <= ending { clips.post(.soundEnded(listener.key)) }
        }
        listeners.removeAll { $0.end.map { $0 <= ending } ?? false }
        if listeners.isEmpty { lastUse = clock.now }
    }

    private func discardPiece() -> Int {
        withUnsafeTemporaryAllocation(of: Int16.self, capacity: SoundPool.blockValues) { room in
            do throws(HardwareError) {
                return try microphone.read(into: room).samples
            } catch {
                interrupt(error)
                return 0
            }
        }
    }

    /// The device went away: the clips go on with silence and say so.
    private func interrupt(_ error: HardwareError) {
        for listener in listeners { clips.post(.soundInterrupted(listener.key, error.description)) }
        listeners.removeAll()
        microphone.close()
        format = nil
        failure = error.description
        facts.post(.sound(.missing(error)))
    }

    private func shut() {
        guard format != nil else { return }
        microphone.close()
        format = nil
        facts.post(.sound(.closed))
    }
}

extension AudioFormat {
    /// How long so many samples last.
    func time(of samples: Int) -> Duration {
        .nanoseconds(Int64(samples) * 1_000_000_000 / Int64(rate))
    }
}
