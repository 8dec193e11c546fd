import FieldcamCore
import FieldcamPorts

/// Where any `Buttons` is put to the test: contacts that can be pressed, and a plug that can be pulled.
public protocol ButtonsBench: Bench {
    /// Buttons over the bench's contacts 0 ..< count; contact i is `ButtonID(i)`, with the level that was set last
    /// (released at first). At most three.
    func makeButtons(_ count: Int) -> any Buttons
    /// Moves a contact, now.
    func set(_ contact: Int, pressed: Bool)
    /// Takes the hardware away from all contacts, or brings it back with all contacts released.
    func unplug()
    func plug()
}

/// What any `Buttons` promises.
public enum ButtonsContract {
    public static let cases: [ContractCase<any ButtonsBench>] = [
        ContractCase("the first drain finds each line with its level") { bench throws(ContractFailure) in
            bench.set(1, pressed: true)
            let watch = ButtonsWatch(bench, 2)
            try watch.expectFound(0, pressed: false)
            try watch.expectFound(1, pressed: true)
        },
        ContractCase("the first drain is wanted at once, further ones only when something happens") {
            bench throws(ContractFailure) in
            let watch = ButtonsWatch(bench, 1)
            let opened = bench.now
            try watch.wait(until: "the line is found") { $0.isFound(0) }
            try expect(
                bench.now - opened <= .milliseconds(100) * bench.slowness,
                "found \((bench.now - opened).inNanoseconds) ns after the start")
            watch.settle()
            try expect(watch.buttons.nextDeadline == nil, "a quiet line wants a drain")
        },
        ContractCase("a button that is down at the start is told, and its release is an edge") {
            bench throws(ContractFailure) in
            bench.set(0, pressed: true)
            let watch = ButtonsWatch(bench, 1)
            try watch.expectFound(0, pressed: true)
            bench.set(0, pressed: false)
            try watch.wait("the release") { $0 == [false] }
            try watch.expectNothingLost()
        },
        ContractCase("an edge carries the time of the press, not of the drain") { bench throws(ContractFailure) in
            let watch = ButtonsWatch(bench, 1)
            try watch.expectFound(0, pressed: false)
            let before = bench.now
            bench.set(0, pressed: true)
            let after = bench.now
            // Long enough that the drain's own time couldn't pass for the press's.
            let lag = Duration.milliseconds(50) * bench.slowness
            bench.wait(lag, for: nil)
            try watch.wait("the press") { $0 == [true] }
            let at = watch.edges[0].at
            try expect(
                at >= before && at - after < lag,
                "pressed between 0 and \((after - before).inNanoseconds) ns, told at \((at - before).inNanoseconds) ns")
        },
        ContractCase("a press of 25 ms is two edges 25 ms apart, even if nobody looks meanwhile") {
            bench throws(ContractFailure) in
            let watch = ButtonsWatch(bench, 1)
            try watch.expectFound(0, pressed: false)
            let pressing = bench.now
            bench.set(0, pressed: true)
            let pressed = bench.now
            bench.wait(.milliseconds(25), for: nil)
            let releasing = bench.now
            bench.set(0, pressed: false)
            let released = bench.now
            try watch.wait("both edges") { $0 == [true, false] }
            try watch.expectNothingLost()
            let span = watch.edges[1].at - watch.edges[0].at
            let slack = Duration.milliseconds(10) * bench.slowness
            try expect(
                span >= releasing - pressed - slack && span <= released - pressing + slack,
                "held for \((releasing - pressed).inNanoseconds) ns, told as \(span.inNanoseconds) ns")
        },
        ContractCase("two buttons' edges come in order of time") { bench throws(ContractFailure) in
            let watch = ButtonsWatch(bench, 2)
            try watch.expectFound(0, pressed: false)
            try watch.expectFound(1, pressed: false)
            for (contact, pressed) in [(0, true), (1, true), (0, false), (1, false), (1, true), (0, true)] {
                bench.set(contact, pressed: pressed)
                // Later by the clock, however coarse it is, and an edge of its own for a slow kernel.
                bench.wait(.milliseconds(2) * bench.slowness, for: nil)
            }
            try watch.wait("six edges") { $0.count == 6 }
            let told = watch.edges.map { "\($0.button.index)\($0.pressed ? "down" : "up")" }.joined(separator: " ")
            try expect(
                told == "0down 1down 0up 1up 1down 0down", "pressed 0 1, released 0 1, pressed 1 0; told: \(told)")
            let times = watch.edges.map(\.at)
            try expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "times don't rise: \(times)")
        },
        ContractCase("41 edges that nobody looks at all come, or what is lost is told") {
            bench throws(ContractFailure) in
            let watch = ButtonsWatch(bench, 1)
            try watch.expectFound(0, pressed: false)
            for edge in 1...41 {
                bench.set(0, pressed: edge % 2 == 1)
                // Slow enough for each to be noticed by the kernel; faster ones it sees as one itself.
                bench.wait(.milliseconds(5), for: nil)
            }
            watch.settle()
            try expectAfterBurst(watch)
            try expect(
                watch.edges.count == 41 || watch.lost > 0, "\(watch.edges.count) of 41 edges came, and no loss was told"
            )
            // The next press counts as ever.
            bench.set(0, pressed: false)
            try watch.wait("the release after the burst") { $0.last == false }
        },
        ContractCase("41 edges faster than anything can follow end at the right level") {
            bench throws(ContractFailure) in
            let watch = ButtonsWatch(bench, 1)
            try watch.expectFound(0, pressed: false)
            for edge in 1...41 { bench.set(0, pressed: edge % 2 == 1) }
            watch.settle()
            try expectAfterBurst(watch)
        },
        ContractCase("the level can be read at any time") { bench throws(ContractFailure) in
            let watch = ButtonsWatch(bench, 1)
            try expect(watch.buttons.level(of: ButtonID(0)) == nil, "a level before the line is held")
            try watch.expectFound(0, pressed: false)
            for pressed in [true, false, true] {
                bench.set(0, pressed: pressed)
                let level = watch.buttons.level(of: ButtonID(0))
                try expect(level == pressed, "set to \(pressed), reads \(String(describing: level))")
            }
        },
        ContractCase("a line that goes away is lost, and found when it is back") { bench throws(ContractFailure) in
            let watch = ButtonsWatch(bench, 1)
            try watch.expectFound(0, pressed: false)
            bench.set(0, pressed: true)
            try watch.wait("the press") { $0 == [true] }
            bench.unplug()
            try watch.wait(until: "the line is lost") { $0.isLost(0) }
            try expect(watch.buttons.level(of: ButtonID(0)) == nil, "a lost line has a level")
            guard let error = watch.losses().last, error.kind == .absent || error.kind == .io else {
                throw ContractFailure("lost as \(String(describing: watch.losses().last)), expected absent or io")
            }
            bench.plug()
            try watch.wait(until: "the line is found again") { $0.isFound(0) }
            try expect(watch.last(0) == false, "it came back released and is told as pressed")
            bench.set(0, pressed: true)
            try watch.wait("a press after the return") { $0.last == true && $0.count == 2 }
        },
        ContractCase("a line that isn't there at the start is lost at once, told once, and found later") {
            bench throws(ContractFailure) in
            bench.unplug()
            let watch = ButtonsWatch(bench, 1)
            watch.drain()
            try expect(watch.isLost(0), "the first drain tells \(watch.story)")
            // Two more tries in vain say nothing new.
            for _ in 0..<2 {
                bench.wait(watch.buttons.nextDeadline.map { $0 - bench.now } ?? .seconds(1), for: nil)
                watch.drain()
            }
            try expect(watch.losses().count == 1, "the same complaint \(watch.losses().count) times")
            bench.plug()
            try watch.wait(until: "the line is found") { $0.isFound(0) }
        },
        ContractCase("closed buttons are silent") { bench throws(ContractFailure) in
            let watch = ButtonsWatch(bench, 1)
            try watch.expectFound(0, pressed: false)
            watch.buttons.close()
            bench.set(0, pressed: true)
            watch.drain()
            try expect(watch.edges.isEmpty, "an edge after close: \(watch.story)")
            try expect(watch.buttons.level(of: ButtonID(0)) == nil, "a closed line has a level")
            watch.buttons.close()
        },
    ]

    private static func expectAfterBurst(_ watch: ButtonsWatch) throws(ContractFailure) {
        try expect(watch.last(0) == true, "the contact is closed, told: \(watch.story)")
        try expect(watch.buttons.level(of: ButtonID(0)) == true, "the line doesn't read as pressed")
        try expect(watch.edges.count <= 41, "more edges than there were: \(watch.story)")
        // Pressed twice in a row, without a word of loss between, can't be.
        var known: Bool? = false
        for fact in watch.facts {
            switch fact {
            case .edge(_, let pressed, _):
                try expect(pressed != known, "the same edge twice in a row, no loss told between: \(watch.story)")
                known = pressed
            case .level(_, let pressed, _), .found(_, let pressed, _): known = pressed
            case .edgesLost: known = nil
            case .lost: break
            }
        }
    }
}

/// Drains buttons as the director does and remembers what they told.
public final class ButtonsWatch {
    public let buttons: any Buttons
    private let bench: any Bench
    public private(set) var facts: [ButtonFact] = []

    public init(_ bench: any ButtonsBench, _ count: Int) {
        self.bench = bench
        buttons = bench.makeButtons(count)
    }

    public init(_ buttons: any Buttons, on bench: any Bench) {
        self.bench = bench
        self.buttons = buttons
    }

    deinit { buttons.close() }

    /// True if it told something.
    @discardableResult
    public func drain() -> Bool {
        let before = facts.count
        buttons.drain(now: bench.now) { facts.append($0) }
        return facts.count > before
    }

    /// Drains until nothing more comes and nothing is due soon.
    public func settle() {
        var quiet = 0
        while quiet < 2 {
            let span = min(
                buttons.nextDeadline.map { $0 - bench.now } ?? .seconds(1), .milliseconds(20) * bench.slowness)
            bench.wait(span, for: buttons.descriptor)
            quiet = drain() ? 0 : quiet + 1
        }
    }

    /// Drains as the director does until the condition holds; back-off is at most 10 s, so this gives up after 15 s.
    public func wait(until what: String, _ condition: (ButtonsWatch) -> Bool) throws(ContractFailure) {
        let end = bench.now + .seconds(15) * max(1, bench.slowness)
        while !condition(self) {
            guard bench.now < end else { throw ContractFailure("\(what): not seen in time; told: \(story)") }
            let span = min(buttons.nextDeadline.map { $0 - bench.now } ?? .seconds(1), end - bench.now)
            bench.wait(span, for: buttons.descriptor)
            drain()
        }
    }

    /// Waits until the edges' levels are as wanted.
    public func wait(_ what: String, edges: ([Bool]) -> Bool) throws(ContractFailure) {
        try wait(until: what) { edges($0.edges.map(\.pressed)) }
    }

    public func expectFound(_ contact: Int, pressed: Bool) throws(ContractFailure) {
        try wait(until: "line \(contact) is found") { $0.isFound(contact) }
        try expect(
            last(contact) == pressed, "line \(contact) is found \(pressed ? "released" : "pressed"), told: \(story)")
    }

    public func expectNothingLost() throws(ContractFailure) {
        try expect(lost == 0, "edges were told lost: \(story)")
    }

    public var edges: [(button: ButtonID, pressed: Bool, at: Instant)] {
        facts.compactMap { if case .edge(let button, let pressed, let at) = $0 { (button, pressed, at) } else { nil } }
    }

    /// Edges that were told lost.
    public var lost: Int {
        facts.reduce(0) { if case .edgesLost(_, let count, _) = $1 { $0 + count } else { $0 } }
    }

    /// Why a contact was lost, each time.
    public func losses(_ contact: Int = 0) -> [HardwareError] {
        facts.compactMap { if case .lost(ButtonID(contact), let error, _) = $0 { error } else { nil } }
    }

    /// The level that the last fact of a contact tells; `nil` while it is lost.
    public func last(_ contact: Int) -> Bool? {
        var level: Bool?
        for fact in facts {
            switch fact {
            case .edge(ButtonID(contact), let pressed, _), .level(ButtonID(contact), let pressed, _),
                .found(ButtonID(contact), let pressed, _):
                level = pressed
            case .lost(ButtonID(contact), _, _): level = nil
            default: break
            }
        }
        return level
    }

    public func isFound(_ contact: Int) -> Bool { last(contact) != nil }

    public func isLost(_ contact: Int) -> Bool {
        last(contact) == nil && facts.contains { if case .lost(ButtonID(contact), _, _) = $0 { true } else { false } }
    }

    /// All facts in short, for a failure's message.
    public var story: String {
        let words = facts.suffix(50).map { fact in
            switch fact {
            case .edge(let button, let pressed, _): "\(button.index)\(pressed ? "down" : "up")"
            case .level(let button, let pressed, _): "\(button.index)level=\(pressed ? "down" : "up")"
            case .edgesLost(let button, let count, _): "\(button.index)lost×\(count)"
            case .found(let button, let pressed, _): "\(button.index)found=\(pressed ? "down" : "up")"
            case .lost(let button, let error, _): "\(button.index)gone(\(error))"
            }
        }
        return words.isEmpty ? "nothing" : words.joined(separator: " ")
    }
}
