import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc

/// `fc-stack`: merges a low-light shot's frames as they come, so that the camera has its buffers back at once; the merged
/// picture goes to `fc-still`.
final class StackWorker: @unchecked Sendable {
    // Proof of Sendable: the mailbox is thread-safe; the stack and `current` are used by the thread only (or, without
    // threads, by the one that calls `workOnce`). `fc-still` reads the merged picture while no other is begun: Core begins
    // the next stack when the shot before is saved.
    struct Job: ~Copyable, Sendable {
        var number: MediaNumber
        /// The frame to merge; the reference itself at first and at the end.
        var lease: FrameLease
        var reference: FrameLease
        /// The end: encode what came of it.
        var plan: StillPlan?
        var framing = Framing()
    }

    /// Frames that wait, at most: each holds a buffer of the camera.
    static let backlog = 2

    private let stills: StillWorker
    private let facts: FactBox
    private let box = Mailbox<Job>(capacity: backlog + 4)
    private var thread: Thread?
    private let stack = FrameStack()
    /// The shot that is merged; `nil`: none, or there was no memory for it.
    private var current: MediaNumber?
    private var hasComplained = false

    init(stills: StillWorker, facts: FactBox) {
        self.stills = stills
        self.facts = facts
    }

    func start() {
        thread = Thread(name: "fc-stack", nice: -10) { [self] in
            while let job = box.take() { perform(job) }
        }
    }

    func stop() {
        box.close()
        thread?.join()
    }

    /// False: as many frames as may wait are waiting.
    func post(_ job: consuming Job) -> Bool {
        if job.plan == nil, box.count >= Self.backlog { return false }
        guard let refused = box.post(job) else { return true }
        _ = consume refused
        return false
    }

    func workOnce() -> Bool {
        guard thread == nil, let job = box.takeIfAny() else { return false }
        perform(job)
        return true
    }

    private func perform(_ job: consuming Job) {
        let number = job.number
        if let plan = job.plan { return finish(number, job.reference.share(), plan, job.framing) }
        if job.lease.ref == job.reference.ref {
            let layout = job.lease.still.layout
            guard Self.fits(layout), stack.begin(job.lease.still) else {
                current = nil
                complain(FrameStack.bytes(for: layout))
                return
            }
            current = number
        } else if current == number {
            stack.add(job.lease.still, to: job.reference.still)
        }
    }

    private func finish(_ number: MediaNumber, _ reference: consuming FrameLease, _ plan: StillPlan, _ framing: Framing)
    {
        var plan = plan
        var merged: Image?
        if current == number {
            plan.frames = stack.frames
            merged = stack.finish()
            current = nil
            Log.info(
                "frames merged",
                [
                    "id": "\(number.value)", "frames": "\(plan.frames)",
                    "still_part": "\((stack.mergedPart * 100).rounded() / 100)",
                ])
        }
        let job = StillWorker.Job(number: number, lease: reference, plan: plan, framing: framing, merged: merged)
        if !stills.post(job) {
            facts.post(
                .shotFailed(
                    number, HardwareError(.busy, "encode the photo", detail: "too many photos are under way"),
                    during: .encoding))
        }
    }

    /// An eighth of the machine's memory may be spent on merging.
    private static func fits(_ layout: ImageLayout) -> Bool {
        FrameStack.bytes(for: layout) <= sysconf(Int32(_SC_PHYS_PAGES)) / 8 * sysconf(Int32(_SC_PAGESIZE))
    }

    private func complain(_ bytes: Int) {
        guard !hasComplained else { return }
        hasComplained = true
        Log.warning(
            "low-light shots aren't merged: there is too little memory",
            ["needed_bytes": "\(bytes)", "mend": "a smaller photo.size, or low_light.stack = 1"])
    }
}
