import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc
import Synchronization

/// `fc-video`: encodes clips. A clip begins at the press in memory, gets its file at the hold, and ends once its last
/// frame, its last sound and its file are there.
final class ClipWorker: @unchecked Sendable {
    // Proof of Sendable: the mailbox and the count are thread-safe; `clips` belongs to the one thread that runs `perform`;
    // `store` is set once before the start.
    enum Order: Sendable {
        /// Without a plan (the camera isn't there yet) a `plan` follows before the first frame.
        case begin(ClipKey, ClipPlan?, wantsSound: Bool)
        case plan(ClipKey, ClipPlan)
        case soundOpened(ClipKey, AudioFormat)
        case soundMissing(ClipKey, String)
        case soundInterrupted(ClipKey, String)
        case soundEnded(ClipKey)
        case attach(ClipKey, PartialClip)
        case attachFailed(ClipKey, HardwareError)
        case finish(ClipKey, end: Instant, dropped: Int)
        case drop(ClipKey)
        case frame(ClipKey, Instant)
        case sound(ClipKey)
    }

    struct Job: ~Copyable, Sendable {
        var order: Order
        var frame: FrameLease?
        var sound: SoundBlock?
    }

    /// Frames that may wait for the encoder; more are dropped and counted, so that the camera keeps its slots.
    static let backlog = 8

    private let writers: any ClipWriterFactory
    private let facts: FactBox
    private let box = Mailbox<Job>(capacity: 256)
    private let waiting = Atomic<Int>(0)
    private var thread: Thread?
    private var clips: [Clip] = []
    private let store: StoreWorker

    init(writers: any ClipWriterFactory, store: StoreWorker, facts: FactBox) {
        self.writers = writers
        self.store = store
        self.facts = facts
    }

    func start() {
        thread = Thread(name: "fc-video", stackBytes: 4 << 20) { [self] in
            while let job = box.take() { perform(job) }
            for clip in clips { clip.writer?.cancel() }
        }
    }

    func stop() {
        box.close()
        thread?.join()
    }

    func workOnce() -> Bool {
        guard thread == nil, let job = box.takeIfAny() else { return false }
        perform(job)
        return true
    }

    func post(_ order: Order) {
        if let refused = box.post(Job(order: order)) {
            _ = consume refused
            // Frames and sound are bounded by their pools, so only a dead encoder can fill 256 places.
            Log.error("the clip encoder takes no more work", ["order": "\(order)"])
        }
    }

    /// False: the encoder is behind; the frame is dropped.
    func post(frame: consuming FrameLease, at: Instant, to key: ClipKey) -> Bool {
        guard waiting.load(ordering: .relaxed) < Self.backlog else { return false }
        waiting.add(1, ordering: .relaxed)
        guard let refused = box.post(Job(order: .frame(key, at), frame: consume frame)) else { return true }
        _ = consume refused
        waiting.subtract(1, ordering: .relaxed)
        return false
    }

    func post(sound: consuming SoundBlock, to key: ClipKey) {
        if let refused = box.post(Job(order: .sound(key), sound: consume sound)) { _ = consume refused }
    }

    // MARK: On fc-video

    /// One clip as the encoder's thread knows it.
    private final class Clip {
        enum Sound {
            /// The microphone is being opened: frames wait, since the tracks of a clip are fixed at its beginning.
            case awaited
            case running
            case over
        }
        let key: ClipKey
        var plan: ClipPlan?
        var format: AudioFormat?
        var writer: (any ClipWriter)?
        var sound: Sound
        var report = SoundReport()
        /// Frames and sound that wait for the writer.
        let early = Mailbox<Job>(capacity: ClipWorker.backlog + SoundPool.blocks)
        var earlyFrames = 0
        var file: PartialClip?
        var fileError: HardwareError?
        var end: Instant?
        var dropped = 0
        var lost: HardwareError?

        init(key: ClipKey, plan: ClipPlan?, wantsSound: Bool) {
            self.key = key
            self.plan = plan
            sound = wantsSound ? .awaited : .over
            if !wantsSound { report = SoundReport(state: .missing, reason: "disabled") }
        }
    }

    private func perform(_ job: consuming Job) {
        let order = job.order
        switch order {
        case .frame(let key, let at): takeFrame(key, job, at: at)
        case .sound(let key): takeSound(key, job)
        default: follow(order)
        }
    }

    private func follow(_ order: Order) {
        switch order {
        case .begin(let key, let plan, let wantsSound):
            let clip = Clip(key: key, plan: plan, wantsSound: wantsSound)
            clips.append(clip)
            openIfReady(clip)
        case .plan(let key, let plan):
            guard let clip = clip(key), clip.plan == nil else { return }
            clip.plan = plan
            openIfReady(clip)
        case .soundOpened(let key, let format):
            guard let clip = clip(key), case .awaited = clip.sound else { return }
            clip.sound = .running
            clip.format = format
            openIfReady(clip)
        case .soundMissing(let key, let reason):
            guard let clip = clip(key) else { return }
            clip.report = SoundReport(state: .missing, reason: reason)
            clip.sound = .over
            openIfReady(clip)
            completeIfReady(clip)
        case .soundInterrupted(let key, let reason):
            guard let clip = clip(key) else { return }
            clip.report = SoundReport(state: .interrupted, reason: reason)
            clip.sound = .over
            completeIfReady(clip)
        case .soundEnded(let key):
            guard let clip = clip(key) else { return }
            clip.sound = .over
            completeIfReady(clip)
        case .attach(let key, let file):
            guard let clip = clip(key) else { return store.post(.discard(file, key)) }
            clip.file = file
            attach(clip)
            completeIfReady(clip)
        case .attachFailed(let key, let error):
            guard let clip = clip(key) else { return }
            clip.fileError = error
            lose(clip, error)
            completeIfReady(clip)
        case .finish(let key, let end, let dropped):
            guard let clip = clip(key) else { return }
            clip.end = end
            clip.dropped = dropped
            if case .awaited = clip.sound { giveUpSound(clip, "the microphone wasn't open in time") }
            completeIfReady(clip)
        case .drop(let key):
            guard let clip = clip(key) else { return }
            forgetEarly(clip)
            clip.writer?.cancel()
            if let file = clip.file { store.post(.discard(file, key)) }
            clips.removeAll { $0.key == key }
        case .frame, .sound: break
        }
    }

    private func clip(_ key: ClipKey) -> Clip? { clips.first { $0.key == key } }

    private func waitingDone() { waiting.subtract(1, ordering: .relaxed) }

    private func takeFrame(_ key: ClipKey, _ job: consuming Job, at: Instant) {
        guard let clip = clip(key) else { return waitingDone() }
        if case .awaited = clip.sound, clip.writer == nil {
            if let refused = clip.early.post(job) {
                _ = consume refused
                return waitingDone()
            }
            clip.earlyFrames += 1
            if clip.earlyFrames >= Self.backlog - 1 {
                giveUpSound(clip, "the microphone wasn't open in time")
            }
            return
        }
        encode(clip, job, at: at)
    }

    private func encode(_ clip: Clip, _ job: consuming Job, at: Instant) {
        defer { waitingDone() }
        guard clip.lost == nil, let writer = clip.writer else { return }
        guard let image = job.frame?.video else { return }
        do throws(HardwareError) {
            try writer.append(image, at: at)
        } catch {
            lose(clip, error)
        }
        _ = consume job
    }

    private func takeSound(_ key: ClipKey, _ job: consuming Job) {
        guard let clip = clip(key), clip.lost == nil, let writer = clip.writer else { return }
        guard clip.format != nil, let filled = job.sound?.filled, let at = job.sound?.at else { return }
        do throws(HardwareError) {
            try writer.append(sound: filled, at: at)
        } catch {
            lose(clip, error)
        }
        _ = consume job
    }

    private func giveUpSound(_ clip: Clip, _ reason: String) {
        clip.sound = .over
        clip.report = SoundReport(state: .missing, reason: reason)
        openIfReady(clip)
    }

    /// Opens encoder and muxer once the picture's layout is known and the microphone has answered.
    private func openIfReady(_ clip: Clip) {
        guard clip.writer == nil, clip.lost == nil, var plan = clip.plan else { return }
        if case .awaited = clip.sound { return }
        plan.audio = clip.format
        do throws(HardwareError) {
            let writer = try writers.begin(plan)
            clip.writer = writer
            facts.post(.clipWriterOpened(clip.key, encoder: writer.encoder))
        } catch {
            lose(clip, error)
        }
        while let job = clip.early.takeIfAny() {
            if case .frame(_, let at) = job.order { encode(clip, job, at: at) }
        }
        attach(clip)
    }

    private func attach(_ clip: Clip) {
        guard let writer = clip.writer, let file = clip.file, clip.lost == nil else { return }
        do throws(HardwareError) {
            try writer.attach(file: file.descriptor)
        } catch {
            lose(clip, error)
        }
    }

    /// The encoder or the file failed: the clip ends with what is there.
    private func lose(_ clip: Clip, _ error: HardwareError) {
        guard clip.lost == nil else { return }
        clip.lost = error
        facts.post(error.kind == .full ? .storageFailed(error) : .encoderLost(clip.key, error))
    }

    private func forgetEarly(_ clip: Clip) {
        while let job = clip.early.takeIfAny() {
            if case .frame = job.order { waitingDone() }
            _ = consume job
        }
    }

    private func completeIfReady(_ clip: Clip) {
        guard let end = clip.end, case .over = clip.sound else { return }
        guard clip.file != nil || clip.fileError != nil else { return }
        clips.removeAll { $0 === clip }
        forgetEarly(clip)
        if let error = clip.fileError {
            clip.writer?.cancel()
            return facts.post(.clipFailed(clip.key, error.failureOfStorage, error, partialPath: nil))
        }
        let file = clip.file!
        guard let writer = clip.writer else {
            guard let lost = clip.lost else { return store.post(.discard(file, clip.key)) }
            return fail(clip, file, lost)
        }
        do throws(HardwareError) {
            guard let clipFacts = try writer.finish(end: end) else {
                writer.cancel()
                return store.post(.discard(file, clip.key))
            }
            store.post(.publish(file, clip.key, clipFacts, dropped: clip.dropped, clip.report))
        } catch {
            writer.cancel()
            fail(clip, file, clip.lost ?? error)
        }
    }

    /// What was written so far stays in `.partial`; the next start looks whether it can be played.
    private func fail(_ clip: Clip, _ file: PartialClip, _ error: HardwareError) {
        let reason: FailureReason = error.kind == .full ? .storageLow : .encoderLost
        // Neither published nor discarded, so nobody else closes it.
        close(file.descriptor)
        facts.post(.clipFailed(clip.key, reason, error, partialPath: file.path))
    }
}
