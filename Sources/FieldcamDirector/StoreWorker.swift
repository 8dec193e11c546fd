import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc

/// `fc-store`: everything that waits for the disk, in order.
final class StoreWorker: @unchecked Sendable {
    // Proof of Sendable: the mailbox is thread-safe; the store is used by `perform` alone, which runs on one thread.
    enum Job {
        case photo(PhotoJob)
        case beginClip(ClipKey, MediaNumber, WallTime, Source?)
        case publish(PartialClip, ClipKey, ClipFacts, dropped: Int, SoundReport)
        case discard(PartialClip, ClipKey)
        /// What is whole of a clip whose encoder hangs, with the file in its hands.
        case salvage(PartialClip, ClipKey, dropped: Int)
        case reserveNumbers
        case measure
        /// The role of the camera that counts now, for `camera.default = "last"`.
        case remember(role: String)
    }

    /// A photo's bytes and the place where the encoder's thread waits for its end, since the bytes are its own.
    final class PhotoJob {
        let number: MediaNumber
        let taken: WallTime
        let parts: [PhotoPart]
        fileprivate let done = Gate()
        fileprivate(set) var result: Result<[SavedFile], HardwareError>?

        init(number: MediaNumber, taken: WallTime, parts: [PhotoPart]) {
            self.number = number
            self.taken = taken
            self.parts = parts
        }
    }

    private let store: any MediaStore
    private let facts: FactBox
    private let box = Mailbox<Job>(capacity: 64)
    private var thread: Thread?
    private let remember: (@Sendable (String) -> Void)?
    /// Where a clip's file goes to once it is open; set once, before any clip.
    var clips: ClipWorker!

    init(store: any MediaStore, facts: FactBox, remember: (@Sendable (String) -> Void)? = nil) {
        self.store = store
        self.remember = remember
        self.facts = facts
    }

    func start() {
        thread = Thread(name: "fc-store") { [self] in
            while let job = box.take() { perform(job) }
        }
    }

    func stop() {
        box.close()
        thread?.join()
    }

    func post(_ job: Job) {
        let refused = box.post(job)
        precondition(refused == nil, "more work for the disk than shots and clips can make")
    }

    /// Without a thread: does one job if there is one.
    func workOnce() -> Bool {
        guard thread == nil, let job = box.takeIfAny() else { return false }
        perform(job)
        return true
    }

    /// Makes a photo's files durable; the caller waits, since the bytes are in its buffers.
    func save(_ number: MediaNumber, taken: WallTime, parts: [PhotoPart]) throws(HardwareError) -> [SavedFile] {
        guard thread != nil else { return try store.savePhoto(number, taken: taken, parts: parts) }
        let job = PhotoJob(number: number, taken: taken, parts: parts)
        post(.photo(job))
        job.done.wait()
        return try job.result!.get()
    }

    private func perform(_ job: Job) {
        switch job {
        case .photo(let photo):
            do throws(HardwareError) {
                photo.result = .success(try store.savePhoto(photo.number, taken: photo.taken, parts: photo.parts))
            } catch {
                photo.result = .failure(error)
            }
            photo.done.open()
        case .beginClip(let key, let number, let taken, let source):
            do throws(HardwareError) {
                clips.post(.attach(key, try store.beginClip(number, taken: taken, source: source)))
            } catch {
                clips.post(.attachFailed(key, error))
            }
        case .publish(let clip, let key, let clipFacts, let dropped, let sound):
            do throws(HardwareError) {
                let file = try store.publish(clip)
                facts.post(
                    .clipSaved(key, ClipOutcome(file: file, facts: clipFacts, dropped: dropped, sound: sound)))
            } catch {
                facts.post(.clipFailed(key, error.failureOfStorage, error, partialPath: clip.path))
            }
        case .discard(let clip, let key):
            store.discard(clip)
            facts.post(.clipEmpty(key))
        case .salvage(let clip, let key, let dropped):
            salvage(clip, key, dropped: dropped)
        case .reserveNumbers:
            do throws(HardwareError) {
                let numbers = try store.reserveNumbers(100)
                facts.post(.numbersReserved(next: numbers.next, limit: numbers.limit))
            } catch {
                facts.post(.storageFailed(error))
            }
        case .remember(let role): remember?(role)
        case .measure:
            do throws(HardwareError) {
                facts.post(.headroom(try store.headroom()))
            } catch {
                facts.post(.storageFailed(error))
            }
        }
    }
}

extension StoreWorker {
    private func salvage(_ clip: PartialClip, _ key: ClipKey, dropped: Int) {
        // Should the hanging thread come back, what it still writes goes nowhere.
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        if nowhere >= 0 {
            dup2(nowhere, clip.descriptor)
            close(nowhere)
        }
        do throws(HardwareError) {
            guard let file = try store.salvage(clip) else { return facts.post(.clipEmpty(key)) }
            let clipFacts = try clips.measure(path: file.path)
            let sound = SoundReport(state: .interrupted, reason: "the encoder hung")
            facts.post(.clipSaved(key, ClipOutcome(file: file, facts: clipFacts, dropped: dropped, sound: sound)))
        } catch {
            facts.post(.clipFailed(key, error.failureOfStorage, error, partialPath: clip.path))
        }
    }
}

extension HardwareError {
    /// The reason of contract §6 for a failure to store.
    var failureOfStorage: FailureReason {
        kind == .full ? .storageLow : .storageUnwritable
    }

    /// The reason of contract §6 for a camera that can't be used.
    var failureOfCamera: FailureReason {
        switch kind {
        case .absent: .cameraAbsent
        case .busy: .cameraBusy
        case .denied: .cameraDenied
        default: .cameraLost
        }
    }
}
