/// `[interval]`
public struct IntervalSettings: Hashable, Sendable {
    /// A shot every so often; zero: never.
    public var every: Duration = .zero
}

/// `[trigger]`: what a sensor's line does.
public struct TriggerSettings: Hashable, Sendable {
    public var action = TriggerAction.photo
    public var cooldown: Duration = .seconds(5)
}

public enum TriggerAction: String, Hashable, Sendable, CaseIterable, SettingChoice {
    case photo
    /// While the sensor is active.
    case clip
}
