import FieldcamCore
import FieldcamLinux
import Synchronization

/// Where the director and the rest of the process meet: orders in; answers, events and status out. Any thread.
public final class FrontDesk: Sendable {
    /// An order and when it arrived.
    package struct Arrival: Sendable {
        package var order: Order
        package var at: Instant
    }
    /// What a client is told at once.
    public struct Reply: Hashable, Sendable {
        public var token: RequestToken
        public var answer: Answer
    }

    public let events = EventLog()
    /// Signalled after events, replies or the status changed; for the one thread that serves clients.
    public let changed = EventFD()

    package let arrived = EventFD()
    private let orders = Mailbox<Arrival>(capacity: 128)
    private let replies = Mailbox<Reply>(capacity: 256)
    private let snapshot = Mutex(Status())
    private let lastToken = Atomic<UInt64>(0)
    /// Rung after the status changed or an order was taken, if somebody waits for that.
    private let bell = Bell()
    private let waiting = Atomic<Int>(0)

    public init() {}

    /// A token no one else has.
    public func newToken() -> RequestToken {
        RequestToken(lastToken.add(1, ordering: .relaxed).newValue)
    }

    /// Hands an order to the director. False: 128 orders are waiting; try again later.
    /// - Parameter at: when it arrived, or, for a release that a timer owes, when it was due.
    public func submit(_ order: Order, at: Instant = SystemClock.now) -> Bool {
        let refused = orders.post(Arrival(order: order, at: at))
        arrived.signal()
        return refused == nil
    }

    /// As `submit`, but waits for room. Not on the director's thread.
    public func insist(_ order: Order) {
        waiting.add(1, ordering: .sequentiallyConsistent)
        defer { waiting.subtract(1, ordering: .sequentiallyConsistent) }
        while true {
            let seen = bell.count
            if submit(order) { return }
            _ = bell.wait(after: seen, until: SystemClock.now + .seconds(1))
        }
    }

    /// Waits until the status is as wanted, or the time is over; whether it is. Not on the director's thread.
    public func wait(_ limit: Duration, until isRight: (Status) -> Bool) -> Bool {
        waiting.add(1, ordering: .sequentiallyConsistent)
        defer { waiting.subtract(1, ordering: .sequentiallyConsistent) }
        let deadline = SystemClock.now + limit
        while true {
            let seen = bell.count
            if isRight(status) { return true }
            guard bell.wait(after: seen, until: deadline) else { return isRight(status) }
        }
    }

    /// The next reply, if there is one.
    public func takeReply() -> Reply? { replies.takeIfAny() }

    /// The state as it last was.
    public var status: Status { snapshot.withLock { $0 } }

    // The director's side, also for a scripted one

    package func takeOrder() -> Arrival? {
        let order = orders.takeIfAny()
        if order != nil { tellWaiting() }
        return order
    }

    private func tellWaiting() {
        if waiting.load(ordering: .sequentiallyConsistent) > 0 { bell.ring() }
    }

    package func reply(_ token: RequestToken, _ answer: Answer) {
        _ = replies.post(Reply(token: token, answer: answer))
        changed.signal()
    }

    package func publish(_ status: Status) {
        snapshot.withLock { $0 = status }
        tellWaiting()
    }

    /// Changes a part of the status in place, without taking a copy.
    package func update(_ body: (inout Status) -> Void) {
        snapshot.withLock { body(&$0) }
        tellWaiting()
    }
}
