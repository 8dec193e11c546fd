import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc
import Synchronization

/// One `fc-video` thread and its clips. A clip begins at the press in memory, gets its file at the hold, and ends once its last
/// frame, its last sound and its file are there.
final class ClipEngine: @unchecked Sendable {
    // Proof of Sendable: the mailbox, the counts and the pulse are thread-safe; `clips` and `orphans` belong to the one thread
    // that runs `perform`.
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

    /// A clip of an engine that hangs: what it left in its file is finished.
    struct Orphan: Sendable {
        let key: ClipKey
        var file: PartialClip?
        var isEnded = false
        var dropped = 0
    }

    /// An encoder that gives nothing for so long is lost (contract §10).
    static let patience = Duration.seconds(2)
    /// Frames that an encoder may keep to itself, however slowly they come.
    private static let pipeline = 8

    private let writers: any ClipWriterFactory
    private let facts: FactBox
    private let box = Mailbox<Job>(capacity: 256)
    private let waiting = Atomic<Int>(0)
    private var thread: Thread?
    private var clips: [Clip] = []
    private let store: StoreWorker
    private var orphans: [Orphan]
    private let pulse = EncoderPulse()
    /// Another engine has taken over: nothing of this one counts any more.
    private let isAbandoned = Atomic<Bool>(false)

    init(writers: any ClipWriterFactory, store: StoreWorker, facts: FactBox, orphans: [Orphan] = []) {
        self.writers = writers
        self.store = store
        self.facts = facts
        self.orphans = orphans
    }

    func start() {
        thread = Thread(name: "fc-video", stackBytes: 4 << 20) { [self] in
            while let job = box.take() {
                perform(job)
                if isAbandoned.load(ordering: .acquiring) { break }
            }
            // Of an abandoned engine the clips' descriptors stay open: whoever salvages turns them away from their files, which
            // must not meet another file under the same number.
            for clip in clips { clip.writer?.cancel() }
        }
    }

    /// Since when a call into the encoder hasn't come back; `nil`: none is under way.
    var calledSince: Instant? { thread == nil ? nil : pulse.calledSince }

    /// Its thread may never come back. What waits is let go of, so that the camera has its frames.
    func abandon() {
        isAbandoned.store(true, ordering: .releasing)
        box.close()
        while let job = box.takeIfAny() { _ = consume job }
        thread = nil
    }

    private func tell(_ fact: WorkerFact) {
        if !isAbandoned.load(ordering: .acquiring) { facts.post(fact) }
    }

    private func give(_ job: StoreWorker.Job) {
        if !isAbandoned.load(ordering: .acquiring) { store.post(job) }
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
        let early = Mailbox<Job>(capacity: ClipEngine.backlog + SoundPool.blocks)
        var earlyFrames = 0
        var file: PartialClip?
        var fileError: HardwareError?
        var end: Instant?
        var dropped = 0
        var lost: HardwareError?
        /// Frames that had come out of the encoder when it was heard last, by the time of the frame that went in then.
        var encoded = 0
        var heard: Instant?
        var unheard = 0

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
            guard let clip = clip(key) else { return adopt(file, key) }
            clip.file = file
            attach(clip)
            completeIfReady(clip)
        case .attachFailed(let key, let error):
            guard let clip = clip(key) else { return failOrphan(key, error) }
            clip.fileError = error
            lose(clip, error)
            completeIfReady(clip)
        case .finish(let key, let end, let dropped):
            guard let clip = clip(key) else { return endOrphan(key, dropped: dropped) }
            clip.end = end
            clip.dropped = dropped
            if case .awaited = clip.sound { giveUpSound(clip, "the microphone wasn't open in time") }
            completeIfReady(clip)
        case .drop(let key):
            guard let clip = clip(key) else { return orphans.removeAll { $0.key == key } }
            forgetEarly(clip)
            clip.writer?.cancel()
            if let file = clip.file { give(.discard(file, key)) }
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
            try listen(clip, writer, at: at)
        } catch {
            lose(clip, error)
        }
        _ = consume job
    }

    /// An encoder may take frames and give nothing, without a word.
    private func listen(_ clip: Clip, _ writer: any ClipWriter, at: Instant) throws(HardwareError) {
        guard let encoded = writer.encodedFrames else { return }
        guard encoded == clip.encoded, let heard = clip.heard else {
            clip.encoded = encoded
            clip.heard = at
            clip.unheard = 0
            return
        }
        clip.unheard += 1
        guard at - heard >= Self.patience, clip.unheard >= Self.pipeline else { return }
        throw HardwareError(
            .timedOut, "encode a clip with '\(writer.encoder)'", code: ETIMEDOUT,
            detail: "it took frames and gave none for 2 s")
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
        plan.pulse = pulse
        do throws(HardwareError) {
            let writer = try writers.begin(plan)
            clip.writer = writer
            tell(.clipWriterOpened(clip.key, encoder: writer.encoder))
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
        tell(error.kind == .full ? .storageFailed(error) : .encoderLost(clip.key, error))
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
            return tell(.clipFailed(clip.key, error.failureOfStorage, error, partialPath: nil))
        }
        let file = clip.file!
        guard let writer = clip.writer else {
            guard let lost = clip.lost else { return give(.discard(file, clip.key)) }
            return fail(clip, file, lost)
        }
        do throws(HardwareError) {
            guard let clipFacts = try writer.finish(end: end) else {
                writer.cancel()
                return give(.discard(file, clip.key))
            }
            give(.publish(file, clip.key, clipFacts, dropped: clip.dropped, clip.report))
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
        tell(.clipFailed(clip.key, reason, error, partialPath: file.path))
    }

    // MARK: Clips of an engine that hangs

    /// The file of an orphan came after all; one of a clip that nobody knows is removed.
    private func adopt(_ file: PartialClip, _ key: ClipKey) {
        guard let index = orphans.firstIndex(where: { $0.key == key }) else { return give(.discard(file, key)) }
        orphans[index].file = file
        if orphans[index].isEnded { salvage(index) }
    }

    private func endOrphan(_ key: ClipKey, dropped: Int) {
        guard let index = orphans.firstIndex(where: { $0.key == key }) else { return }
        orphans[index].isEnded = true
        orphans[index].dropped = dropped
        if orphans[index].file != nil { salvage(index) }
    }

    private func failOrphan(_ key: ClipKey, _ error: HardwareError) {
        orphans.removeAll { $0.key == key }
        tell(.clipFailed(key, error.failureOfStorage, error, partialPath: nil))
    }

    private func salvage(_ index: Int) {
        let orphan = orphans.remove(at: index)
        if let file = orphan.file { give(.salvage(file, orphan.key, dropped: orphan.dropped)) }
    }
}
