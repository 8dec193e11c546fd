import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc
import Synchronization

/// Buttons without hardware: a script of edges at instants, in real time in a live world, stepped in a manual one.
///
/// The script (`press`, `schedule`, `lose`, `find`) may be written from any thread; `Buttons`' own calls are the director's.
public final class SimulatedButtons: Buttons, Sendable {
    private enum Happening: Hashable {
        case edge(pressed: Bool)
        /// The level changes, but the kernel tells no edge.
        case silentEdge(pressed: Bool)
        case lost
        case found
    }
    private struct Planned {
        var at: Instant
        var button: Int
        var happening: Happening
    }
    private struct Line {
        var pressed = false
        var isPresent = true
        /// The level that was told last; `nil` while the line is lost.
        var told: Bool?

        mutating func apply(_ happening: Happening) {
            switch happening {
            case .edge(let pressed), .silentEdge(let pressed): self.pressed = pressed
            case .lost: isPresent = false
            case .found: isPresent = true
            }
        }
    }
    /// Edges that can wait; more are refused.
    public static let capacity = 16_384

    // The timer lies in the state so that whoever plans an edge can arm it under the lock.
    private struct State: ~Copyable {
        var lines: [Line]
        /// By time; those before `first` are done.
        var planned: [Planned] = []
        var first = 0
        let timer = TimerFD()
        /// The first drain has opened the lines.
        var isOpen = false
        var isClosed = false
        /// When a lost line is tried again: never needed here, as its return is an event, but a promise of the port.
        var nextTry: Instant?
        var dice: UInt64 = 0x2545_F491_4F6C_DD1D
    }

    /// Buttons of the board.
    public let count: Int
    private let world: SimulatedWorld
    private let state: Mutex<State>
    public let descriptor: Int32

    /// - Parameter count: buttons of the board, 1 …; all are up.
    public init(world: SimulatedWorld, count: Int = 1) {
        precondition(count > 0)
        self.world = world
        self.count = count
        let state = State(lines: Array(repeating: Line(), count: count))
        descriptor = state.timer.descriptor
        state.timer.arm(at: Instant(nanoseconds: 1))
        self.state = Mutex(state)
        world.buttons = self
        if !world.isLive { world.attach(self) }
    }

    // MARK: - The script

    /// A press at `at` (now if left out) and its release after `length`, with the bounce and lost edges in force now.
    /// - Throws: `full` if too many edges wait.
    public func press(_ button: ButtonID = ButtonID(0), at: Instant? = nil, for length: Duration)
        throws(HardwareError)
    {
        let at = at ?? world.now
        try schedule(button, pressed: true, at: at)
        if world.takeLostEdge() {
            try plan([Planned(at: at + length, button: button.index, happening: .silentEdge(pressed: false))])
        } else {
            try schedule(button, pressed: false, at: at + length)
        }
    }

    /// One edge, with the bounce in force now.
    /// - Throws: `full` if too many edges wait.
    public func schedule(_ button: ButtonID = ButtonID(0), pressed: Bool, at: Instant) throws(HardwareError) {
        let bounce = world.bounce.inNanoseconds
        var edges = [Planned(at: at, button: button.index, happening: .edge(pressed: pressed))]
        guard bounce > 0 else { return try plan(edges) }
        // Pairs of further edges, 50 to 800 µs apart, that end at the level of the first.
        var offset: Int64 = 0
        while edges.count < 64 {
            let steps = state.withLock { (Self.roll(&$0.dice), Self.roll(&$0.dice)) }
            let away = offset + 50_000 + Int64(steps.0 % 750_000)
            let back = away + 50_000 + Int64(steps.1 % 750_000)
            guard back < bounce else { break }
            edges.append(
                Planned(at: at + .nanoseconds(away), button: button.index, happening: .edge(pressed: !pressed)))
            edges.append(
                Planned(at: at + .nanoseconds(back), button: button.index, happening: .edge(pressed: pressed)))
            offset = back
        }
        if edges.count == 1, bounce > 2 {
            edges.append(
                Planned(at: at + .nanoseconds(bounce / 3), button: button.index, happening: .edge(pressed: !pressed)))
            edges.append(
                Planned(
                    at: at + .nanoseconds(bounce * 2 / 3), button: button.index, happening: .edge(pressed: pressed)))
        }
        try plan(edges)
    }

    /// An edge that the kernel doesn't tell: only the level shows it.
    public func scheduleSilently(_ button: ButtonID = ButtonID(0), pressed: Bool, at: Instant) throws(HardwareError) {
        try plan([Planned(at: at, button: button.index, happening: .silentEdge(pressed: pressed))])
    }

    /// The line disappears at `at`.
    public func lose(_ button: ButtonID = ButtonID(0), at: Instant) throws(HardwareError) {
        try plan([Planned(at: at, button: button.index, happening: .lost)])
    }

    /// The line is back at `at`.
    public func find(_ button: ButtonID = ButtonID(0), at: Instant) throws(HardwareError) {
        try plan([Planned(at: at, button: button.index, happening: .found)])
    }

    private static func roll(_ dice: inout UInt64) -> UInt64 {
        dice ^= dice << 13
        dice ^= dice >> 7
        dice ^= dice << 17
        return dice >> 16
    }

    private func plan(_ happenings: [Planned]) throws(HardwareError) {
        let now = world.now
        let isLive = world.isLive
        try state.withLock { (state) throws(HardwareError) in
            precondition(
                happenings.allSatisfy { state.lines.indices.contains($0.button) }, "the board has no such button")
            guard state.planned.count - state.first + happenings.count <= Self.capacity else {
                throw HardwareError(
                    .full, "plan an edge of a simulated button", detail: "\(Self.capacity) edges wait already")
            }
            if state.first > 1024 {
                state.planned.removeFirst(state.first)
                state.first = 0
            }
            for happening in happenings {
                // Mostly at the end; equal times keep the order in which they were planned.
                var index = state.planned.count
                while index > state.first, state.planned[index - 1].at > happening.at { index -= 1 }
                state.planned.insert(happening, at: index)
            }
            Self.arm(&state, now: now, isLive: isLive)
        }
    }

    private static func arm(_ state: inout State, now: Instant, isLive: Bool) {
        // The first call opens the lines and is due at once, whatever is planned.
        guard state.isOpen || state.isClosed else { return state.timer.arm(at: Instant(nanoseconds: 1)) }
        guard !state.isClosed, state.first < state.planned.count else { return state.timer.arm(at: nil) }
        let due = state.planned[state.first].at
        if isLive {
            state.timer.arm(at: due)
        } else {
            // The kernel's timer knows nothing of the manual clock: it fires at once, or not at all.
            state.timer.arm(at: due <= now ? Instant(nanoseconds: 1) : nil)
        }
    }

    // MARK: - Director

    public func drain(now: Instant, _ body: (ButtonFact) -> Void) {
        let isLive = world.isLive
        var facts: [ButtonFact] = []
        state.withLock { state in
            state.timer.clear()
            guard !state.isClosed else { return }
            if !state.isOpen {
                state.isOpen = true
                Self.open(&state, now: now, facts: &facts)
            }
            var gaps: UInt64 = 0
            while state.first < state.planned.count, state.planned[state.first].at <= now {
                let next = state.planned[state.first]
                state.first += 1
                let id = ButtonID(next.button)
                switch next.happening {
                case .silentEdge(let pressed):
                    state.lines[next.button].pressed = pressed
                case .edge(let pressed):
                    state.lines[next.button].pressed = pressed
                    guard state.lines[next.button].isPresent else { continue }
                    if state.lines[next.button].told == pressed {
                        facts.append(.edgesLost(id, count: 1, at: next.at))
                        if next.button < 64 { gaps |= 1 << UInt64(next.button) }
                    }
                    state.lines[next.button].told = pressed
                    facts.append(.edge(id, pressed: pressed, at: next.at))
                case .lost:
                    guard state.lines[next.button].isPresent else { continue }
                    state.lines[next.button].isPresent = false
                    state.lines[next.button].told = nil
                    facts.append(.lost(id, Self.gone(next.button), at: next.at))
                case .found:
                    guard !state.lines[next.button].isPresent else { continue }
                    state.lines[next.button].isPresent = true
                    state.lines[next.button].told = state.lines[next.button].pressed
                    facts.append(.found(id, pressed: state.lines[next.button].pressed, at: next.at))
                }
            }
            while gaps != 0 {
                let index = gaps.trailingZeroBitCount
                gaps &= gaps - 1
                guard state.lines[index].isPresent else { continue }
                facts.append(.level(ButtonID(index), pressed: state.lines[index].pressed, at: now))
            }
            if state.first == state.planned.count {
                state.planned.removeAll(keepingCapacity: true)
                state.first = 0
            }
            let isAnyLost = state.lines.contains { !$0.isPresent }
            if !isAnyLost {
                state.nextTry = nil
            } else if state.nextTry.map({ $0 <= now }) ?? true {
                state.nextTry = now + Self.retry
            }
            Self.arm(&state, now: now, isLive: isLive)
        }
        for fact in facts { body(fact) }
    }

    /// Opens the lines: what happened before is not told, only what came of it.
    private static func open(_ state: inout State, now: Instant, facts: inout [ButtonFact]) {
        while state.first < state.planned.count, state.planned[state.first].at <= now {
            let past = state.planned[state.first]
            state.first += 1
            state.lines[past.button].apply(past.happening)
        }
        for (index, line) in state.lines.enumerated() {
            let id = ButtonID(index)
            state.lines[index].told = line.isPresent ? line.pressed : nil
            facts.append(
                line.isPresent ? .found(id, pressed: line.pressed, at: now) : .lost(id, gone(index), at: now))
        }
    }

    private static let retry = Duration.milliseconds(500)

    public func level(of button: ButtonID) -> Bool? {
        let now = world.now
        return state.withLock { state -> Bool? in
            guard state.lines.indices.contains(button.index), state.isOpen, !state.isClosed else { return nil }
            var line = state.lines[button.index]
            for planned in state.planned[state.first...] {
                guard planned.at <= now else { break }
                if planned.button == button.index { line.apply(planned.happening) }
            }
            return line.isPresent ? line.pressed : nil
        }
    }

    public var nextDeadline: Instant? {
        let now = world.now
        return state.withLock { $0.isClosed ? nil : $0.isOpen ? $0.nextTry : now }
    }

    public func close() {
        state.withLock {
            $0.isClosed = true
            $0.timer.arm(at: nil)
        }
    }

    private static func gone(_ index: Int) -> HardwareError {
        HardwareError(
            .absent, "read button \(index)", code: ENODEV, detail: "the simulated line was taken away")
    }
}

extension SimulatedButtons: SteppedDevice {
    // A happening stays planned until it is drained; once the clock has reached it, it is the director's turn.
    var nextDue: Instant? {
        let now = world.now
        return state.withLock { state in
            guard !state.isClosed else { return nil }
            return state.planned[state.first...].first { $0.at > now }?.at
        }
    }

    func advance(to instant: Instant) {
        state.withLock { Self.arm(&$0, now: instant, isLive: false) }
    }
}
