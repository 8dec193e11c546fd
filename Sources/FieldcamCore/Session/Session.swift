/// The whole state of the camera's decisions. `reduce` is its only way to change; it reads no clock and touches nothing.
public struct Session: Sendable {
    public private(set) var settings: SessionSettings

    public init(settings: SessionSettings, buttons: Int) {
        self.settings = settings
    }

    /// When `reduce` wants a `Fact.time`, at the latest; `nil`: nothing is waited for.
    public var nextDeadline: Instant? { nil }

    /// Takes one fact and appends what is to be done, in order.
    public mutating func reduce(_ fact: Fact, into effects: inout Effects) {
    }
}
