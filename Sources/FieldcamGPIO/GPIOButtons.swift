import CFieldcamGPIO
import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import Glibc

/// The buttons on GPIO lines. Every edge has the kernel's own time; what the kernel lost is found out and told.
///
/// libgpiod 2 numbers the edges of a line, so a gap is seen. With libgpiod 1 the kernel drops edges that don't fit its 16
/// places without a word: the level is read after each drain there, a full queue counts as one edge lost (or more), and
/// two equal edges in a row mean loss with both.
public final class GPIOButtons: Buttons {
    /// Waits between tries for a line that can't be had; the last one again and again.
    public static let backOff: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2), .seconds(5), .seconds(10)]
    /// How long an edge may be on its way after the line itself already shows its level: the kernel stamps it in the
    /// interrupt, and hands it out from a thread.
    static let onItsWay = Duration.milliseconds(5)
    /// Edges that the kernel keeps for libgpiod 1; further ones it drops without a word.
    private static let unnumberedQueue: Int32 = 16
    /// Edges of one line taken in one drain; the rest waits, and the descriptor stays readable.
    private static let edgesADrain = 512

    private struct Contact {
        let line: ButtonLine
        let operation: String
        var handle: OpaquePointer?
        var history = EdgeHistory(pressed: false, at: Instant(nanoseconds: 0))
        /// When the next try is due, while there is no handle.
        var due = Instant(nanoseconds: 0)
        var tries = 0
        /// What was told when it was lost.
        var complaint: HardwareError?
        /// Seen when the level was read between two drains.
        var failure: Int32 = 0
        /// The line shows another level than the edges; at this time the edge counts as lost.
        var doubt: Instant?
        /// As many edges waited as the kernel keeps, where it doesn't number them: some may have been dropped.
        var queueWasFull = false
    }

    public let descriptor: Int32
    private let consumer: String
    private var contacts: [Contact]
    /// Facts of the drain under way, in order of time.
    private var facts: [ButtonFact] = []
    private let edges = UnsafeMutablePointer<fc_gpio_edge>.allocate(capacity: Int(FC_GPIO_EDGES))
    private let ready: UnsafeMutablePointer<fc_gpio_ready>

    /// Opens nothing yet: the first `drain` does.
    /// - Parameters:
    ///   - lines: in the order of their `ButtonID`s.
    ///   - consumer: what `gpioinfo` shows as the holder.
    public init(_ lines: [ButtonLine], consumer: String = "fieldcam") {
        self.consumer = consumer
        contacts = lines.map {
            Contact(line: $0, operation: "watch the button's line \($0.line.words) of '\($0.chip)'")
        }
        descriptor = fc_gpio_watch_new()
        precondition(descriptor >= 0, "no file descriptor left for an epoll")
        ready = .allocate(capacity: max(1, lines.count))
        facts.reserveCapacity(64 + 8 * lines.count)
    }

    deinit {
        close()
        Glibc.close(descriptor)
        edges.deallocate()
        ready.deallocate()
    }

    public func drain(now: Instant, _ body: (ButtonFact) -> Void) {
        facts.removeAll(keepingCapacity: true)
        for index in contacts.indices where contacts[index].handle == nil && contacts[index].due <= now {
            open(index, now: now)
        }
        let count = fc_gpio_watch_ready(descriptor, ready, Int32(max(1, contacts.count)))
        for line in UnsafeBufferPointer(start: ready, count: Int(max(0, count))) {
            take(Int(line.number), now: now, gone: line.gone != 0)
        }
        for index in contacts.indices {
            if let doubt = contacts[index].doubt, doubt <= now { take(index, now: now, gone: false) }
            if contacts[index].failure != 0 { lose(index, contacts[index].failure, now: now) }
        }
        for fact in facts { body(fact) }
    }

    public func level(of button: ButtonID) -> Bool? {
        guard let handle = contacts[button.index].handle else { return nil }
        let level = fc_gpio_line_level(handle)
        guard level >= 0 else {
            // Kernels that don't wake pollers of a chip that went away (before 6.5) show it here first.
            contacts[button.index].failure = level
            return nil
        }
        return level == 1
    }

    public var nextDeadline: Instant? {
        var earliest: Instant?
        for contact in contacts {
            let wanted: Instant? =
                if contact.handle == nil {
                    contact.due
                } else if contact.failure != 0 {
                    Instant(nanoseconds: 0)
                } else {
                    contact.doubt
                }
            if let wanted, earliest.map({ wanted < $0 }) ?? true { earliest = wanted }
        }
        return earliest
    }

    public func close() {
        for index in contacts.indices {
            if let handle = contacts[index].handle { fc_gpio_line_close(handle) }
            contacts[index].handle = nil
            contacts[index].due = Instant(nanoseconds: .max)
        }
    }

    // MARK: Having a line, and losing it

    private func open(_ index: Int, now: Instant) {
        do throws(HardwareError) {
            let handle = try hold(contacts[index])
            // An edge later than this is told, whatever level is read next.
            let at = SystemClock.now
            let level = fc_gpio_line_level(handle)
            let readAt = SystemClock.now
            guard level >= 0 else {
                fc_gpio_line_close(handle)
                throw .errno(level, contacts[index].operation)
            }
            let error = fc_gpio_watch_add(descriptor, handle, UInt32(index))
            guard error == 0 else {
                fc_gpio_line_close(handle)
                throw .errno(error, contacts[index].operation)
            }
            contacts[index].handle = handle
            contacts[index].history = EdgeHistory(pressed: level == 1, at: readAt)
            contacts[index].tries = 0
            contacts[index].complaint = nil
            contacts[index].failure = 0
            contacts[index].doubt = nil
            contacts[index].queueWasFull = false
            tell(.found(ButtonID(index), pressed: level == 1, at: at))
        } catch {
            retryLater(index, now: now)
            // The same complaint at every try would be noise.
            guard contacts[index].complaint != error else { return }
            contacts[index].complaint = error
            tell(.lost(ButtonID(index), error, at: now))
        }
    }

    private func hold(_ contact: Contact) throws(HardwareError) -> OpaquePointer {
        let place = try GPIOLinePlace(chip: contact.line.chip, line: contact.line.line, operation: contact.operation)
        var handle: OpaquePointer?
        let error = fc_gpio_line_open_input(
            Int32(place.chip.number), Int32(place.offset), contact.line.activeLow ? 1 : 0, contact.line.bias.code,
            consumer, &handle)
        guard let handle else { throw place.refusal(error, operation: contact.operation) }
        return handle
    }

    private func lose(_ index: Int, _ code: Int32, now: Instant) {
        // Closing takes it out of the epoll as well.
        if let handle = contacts[index].handle { fc_gpio_line_close(handle) }
        contacts[index].handle = nil
        contacts[index].failure = 0
        contacts[index].doubt = nil
        contacts[index].tries = 0
        retryLater(index, now: now)
        let error =
            abs(code) == ENODEV
            ? HardwareError(
                .absent, contacts[index].operation, code: ENODEV,
                detail: "the chip '\(contacts[index].line.chip)' is gone; it is sought again")
            : HardwareError.errno(code, contacts[index].operation)
        contacts[index].complaint = error
        tell(.lost(ButtonID(index), error, at: now))
    }

    private func retryLater(_ index: Int, now: Instant) {
        contacts[index].due = now + Self.backOff[min(contacts[index].tries, Self.backOff.count - 1)]
        contacts[index].tries += 1
    }

    // MARK: Edges

    /// Takes the edges of a line and settles whether the line agrees with them.
    private func take(_ index: Int, now: Instant, gone: Bool) {
        let button = ButtonID(index)
        var taken = 0
        var lossSeen = false
        while let handle = contacts[index].handle, taken < Self.edgesADrain {
            let count = fc_gpio_line_edges(handle, edges, FC_GPIO_EDGES)
            guard count >= 0 else { return lose(index, count, now: now) }
            if count == 0 { break }
            if taken == 0 && count == Self.unnumberedQueue && fc_gpio_numbers_edges() == 0 {
                contacts[index].queueWasFull = true
            }
            for edge in UnsafeBufferPointer(start: edges, count: Int(count)) {
                lossSeen = note(edge, index) || lossSeen
            }
            taken += Int(count)
        }
        guard let handle = contacts[index].handle else { return }
        if gone && taken == 0 { return lose(index, -ENODEV, now: now) }
        guard fc_gpio_numbers_edges() == 0 || lossSeen || contacts[index].doubt != nil else { return }

        let level = fc_gpio_line_level(handle)
        let readAt = SystemClock.now
        guard level >= 0 else { return lose(index, level, now: now) }
        let pressed = level == 1
        let differs = pressed != contacts[index].history.pressed
        if differs {
            guard taken == 0, let doubt = contacts[index].doubt else {
                // Its edge may be on its way still, with a truer time than this reading's.
                contacts[index].doubt = readAt + Self.onItsWay
                return
            }
            guard doubt <= readAt else { return }
        }
        if differs || contacts[index].queueWasFull { tell(.edgesLost(button, count: 1, at: readAt)) }
        contacts[index].queueWasFull = false
        contacts[index].doubt = nil
        contacts[index].history.read(pressed: pressed, at: readAt)
        tell(.level(button, pressed: pressed, at: readAt))
    }

    /// Tells of one edge; true if others were lost before it.
    private func note(_ edge: fc_gpio_edge, _ index: Int) -> Bool {
        let button = ButtonID(index)
        let at = Instant(nanoseconds: edge.at_ns)
        let pressed = edge.rising != 0
        guard case .edge(let lost) = contacts[index].history.note(pressed: pressed, at: at, number: edge.number) else {
            return false
        }
        if lost > 0 { tell(.edgesLost(button, count: lost, at: at)) }
        tell(.edge(button, pressed: pressed, at: at))
        return lost > 0
    }

    /// Keeps the facts in order of time; equal times in the order of telling.
    private func tell(_ fact: ButtonFact) {
        var place = facts.count
        while place > 0 && facts[place - 1].at > fact.at { place -= 1 }
        facts.insert(fact, at: place)
    }
}

extension ButtonFact {
    fileprivate var at: Instant {
        switch self {
        case .edge(_, _, let at), .level(_, _, let at), .edgesLost(_, _, let at), .found(_, _, let at),
            .lost(_, _, let at):
            at
        }
    }
}

extension ButtonLine.Bias {
    fileprivate var code: fc_gpio_bias {
        switch self {
        case .pullUp: FC_GPIO_BIAS_PULL_UP
        case .pullDown: FC_GPIO_BIAS_PULL_DOWN
        case .disabled: FC_GPIO_BIAS_DISABLED
        case .asIs: FC_GPIO_BIAS_AS_IS
        }
    }
}
