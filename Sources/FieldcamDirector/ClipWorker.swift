import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Synchronization

/// `fc-video`: encodes clips, on an engine that can be replaced if its encoder's driver hangs. Any thread.
final class ClipWorker: Sendable {
    private struct State {
        var engine: ClipEngine
        /// Clips that have their file and aren't finished: a hanging engine can't tell.
        var files: [ClipKey: PartialClip] = [:]
    }

    private let writers: any ClipWriterFactory
    private let store: StoreWorker
    private let facts: FactBox
    private let state: Mutex<State>

    init(writers: any ClipWriterFactory, store: StoreWorker, facts: FactBox) {
        self.writers = writers
        self.store = store
        self.facts = facts
        let engine = ClipEngine(writers: writers, store: store, facts: facts)
        state = Mutex(State(engine: engine))
    }

    private var engine: ClipEngine { state.withLock { $0.engine } }

    func start() { engine.start() }
    func stop() { engine.stop() }
    func workOnce() -> Bool { engine.workOnce() }

    func post(_ order: ClipEngine.Order) {
        let engine = state.withLock { state in
            if case .attach(let key, let file) = order { state.files[key] = file }
            return state.engine
        }
        engine.post(order)
    }

    /// False: the encoder is behind; the frame is dropped.
    func post(frame: consuming FrameLease, at: Instant, to key: ClipKey) -> Bool {
        let engine = engine
        return engine.post(frame: frame, at: at, to: key)
    }

    func post(sound: consuming SoundBlock, to key: ClipKey) {
        let engine = engine
        engine.post(sound: sound, to: key)
    }

    /// The clip has ended, whichever way.
    func forget(_ key: ClipKey) { state.withLock { $0.files[key] = nil } }

    /// Reads a clip for what it is.
    func measure(path: String) throws(HardwareError) -> ClipFacts { try writers.measure(path: path) }

    /// Since when a call into the encoder hasn't come back; `nil`: none is under way.
    var calledSince: Instant? { engine.calledSince }

    /// Leaves the hanging thread to itself and begins anew. `alive`: the clips that aren't finished; each is to be ended, and
    /// then what is whole in its file is saved.
    func replaceEngine(alive: [ClipKey]) {
        let old = state.withLock { state in
            let old = state.engine
            old.abandon()
            state.engine = ClipEngine(
                writers: writers, store: store, facts: facts,
                orphans: alive.map { ClipEngine.Orphan(key: $0, file: state.files[$0]) })
            return old
        }
        _ = old
        engine.start()
    }
}
