import FieldcamCore
import FieldcamLinux
import FieldcamPorts

/// `fc-still-N`: makes JPEGs and sees them stored. Each thread has an encoder of its own.
final class StillWorker: @unchecked Sendable {
    // Proof of Sendable: the mailbox is thread-safe; each encoder is used by its own thread only (or, without threads, by
    // the one that calls `workOnce`).
    struct Job: ~Copyable, Sendable {
        var number: MediaNumber
        var lease: FrameLease
        var plan: StillPlan
        var framing: Framing
        /// What is encoded instead of the lease's own picture; of the same layout.
        var merged: Image? = nil
    }

    private let encoders: [any StillEncoder]
    private let store: StoreWorker
    private let facts: FactBox
    private let box = Mailbox<Job>(capacity: 16)
    private var threads: [Thread] = []

    init(encoders: [any StillEncoder], store: StoreWorker, facts: FactBox) {
        precondition(!encoders.isEmpty)
        self.encoders = encoders
        self.store = store
        self.facts = facts
    }

    func start() {
        for (index, encoder) in encoders.enumerated() {
            // A photo is wanted now, a clip's encoder can wait a little: so it goes first. With one core a step of five
            // leaves the encoder a quarter of it, and a tap's photo waits for a clip that is dropped.
            threads.append(
                Thread(name: "fc-still-\(index)", nice: -15) { [self] in
                    while let job = box.take() { perform(job, with: encoder) }
                })
        }
    }

    func stop() {
        box.close()
        for thread in threads { thread.join() }
    }

    /// False: full; Core never has more than `shotsInWork` here.
    func post(_ job: consuming Job) -> Bool {
        guard let refused = box.post(job) else { return true }
        _ = consume refused
        return false
    }

    func workOnce() -> Bool {
        guard threads.isEmpty, let job = box.takeIfAny() else { return false }
        perform(job, with: encoders[0])
        return true
    }

    private func perform(_ job: consuming Job, with encoder: any StillEncoder) {
        let number = job.number
        let taken = job.plan.taken
        let image = job.merged ?? job.lease.still
        do throws(HardwareError) {
            let photo = try Photo(of: image, plan: job.plan, framing: job.framing, by: encoder)
            // The pixels aren't needed any more: the slot goes back before the disk is waited for.
            _ = consume job
            do throws(HardwareError) {
                defer { withExtendedLifetime(photo) {} }
                let files = try store.save(number, taken: taken, parts: photo.parts)
                facts.post(.shotSaved(number, photo.files(files)))
            } catch {
                facts.post(.shotFailed(number, error, during: .storing))
            }
        } catch {
            facts.post(.shotFailed(number, error, during: .encoding))
        }
    }
}
