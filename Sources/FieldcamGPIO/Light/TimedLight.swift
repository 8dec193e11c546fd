import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc
import Synchronization

/// A light with a dead-man timer on the thread `fc-light`: at the deadline it is off, whatever its owner does meanwhile.
/// Off when it is taken, on `close`, and when the object goes.
public class TimedLight: Light, @unchecked Sendable {
    // Proof of Sendable: `timer` is Sendable; `thread` is touched by the one `close` that finds the timer open, and after it
    // by nobody.
    private let timer: LightTimer
    private let thread: Thread

    init(_ output: any LightOutput) {
        let timer = LightTimer(output)
        self.timer = timer
        // The thread keeps the timer, not the light: an owner that forgets the light ends both.
        thread = Thread(name: "fc-light", nice: -10, stackBytes: 256 << 10) { timer.run() }
    }

    deinit { close() }

    public final var hasLevels: Bool { timer.output.hasLevels }

    public final func turnOn(level: Double, deadline: Instant) throws(HardwareError) {
        try timer.turnOn(level: level, deadline: deadline)
    }

    public final func turnOff() throws(HardwareError) { try timer.turnOff() }

    public final func level() throws(HardwareError) -> Double { try timer.level() }

    public final func close() {
        if timer.close() { thread.join() }
    }
}

/// The end of a light: whoever comes first, its owner or the deadline.
private final class LightTimer: Sendable {
    /// The timer's thread wakes up a little late; so much earlier it is set.
    static let lead = Duration.milliseconds(1)
    /// A light that can't be switched off is tried again so often.
    static let retry = Duration.milliseconds(100)

    private struct State {
        var end: Instant?
        var isClosed = false
        var isFailing = false
    }

    let output: any LightOutput
    private let state = Mutex(State())
    private let changed = EventFD()

    init(_ output: any LightOutput) { self.output = output }

    func turnOn(level: Double, deadline: Instant) throws(HardwareError) {
        let operation = "turn on \(output.name)"
        guard level > 0, level <= 1 else {
            throw HardwareError(.invalid, operation, code: EINVAL, detail: "a level lies in (0, 1], not at \(level)")
        }
        defer { changed.signal() }
        try state.withLock { (state) throws(HardwareError) in
            if state.isClosed { throw closed(operation) }
            let end = deadline - Self.lead
            guard end > SystemClock.now else {
                state.end = nil
                return try output.turnOff()
            }
            // Set before the light is on: a call that fails half way is ended by the timer too.
            state.end = end
            do throws(HardwareError) {
                try output.turnOn(level: level, end: end)
            } catch {
                do throws(HardwareError) {
                    try output.turnOff()
                    state.end = nil
                } catch {
                    if error.kind == .absent { state.end = nil }
                }
                throw error
            }
        }
    }

    func turnOff() throws(HardwareError) {
        defer { changed.signal() }
        try state.withLock { (state) throws(HardwareError) in
            if state.isClosed { throw closed("turn off \(output.name)") }
            do throws(HardwareError) {
                try output.turnOff()
                state.end = nil
            } catch {
                // What was on stays the timer's to end, now rather than then.
                if state.end != nil { state.end = error.kind == .absent ? nil : SystemClock.now + Self.retry }
                throw error
            }
        }
    }

    func level() throws(HardwareError) -> Double {
        try state.withLock { (state) throws(HardwareError) -> Double in
            if state.isClosed { throw closed("read \(output.name)") }
            return try output.level()
        }
    }

    /// True for the first call.
    func close() -> Bool {
        let isFirst = state.withLock { state in
            guard !state.isClosed else { return false }
            state.isClosed = true
            state.end = nil
            output.close()
            return true
        }
        changed.signal()
        return isFirst
    }

    /// The thread's life.
    func run() {
        let alarm = TimerFD()
        var watched = [
            pollfd(fd: changed.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: alarm.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            changed.clear()
            alarm.clear()
            let (end, isClosed) = endIfDue(SystemClock.now)
            if isClosed { return }
            alarm.arm(at: end)
            _ = poll(&watched, nfds_t(watched.count), -1)
        }
    }

    private func endIfDue(_ now: Instant) -> (end: Instant?, isClosed: Bool) {
        state.withLock { state in
            guard let end = state.end, end <= now, !state.isClosed else { return (state.end, state.isClosed) }
            do throws(HardwareError) {
                try output.turnOff()
                state.end = nil
                state.isFailing = false
            } catch {
                if !state.isFailing { Log.error("a light stays on after its deadline", ["reason": "\(error)"]) }
                state.isFailing = error.kind != .absent
                state.end = state.isFailing ? now + Self.retry : nil
            }
            return (state.end, false)
        }
    }

    private func closed(_ operation: String) -> HardwareError {
        HardwareError(.invalid, operation, code: EBADF, detail: "it was given back")
    }
}
