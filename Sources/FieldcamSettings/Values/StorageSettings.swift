/// `[storage]`
public struct StorageSettings: Hashable, Sendable {
    /// Bytes that stay free where media lie.
    public var reserve = ByteCount(200_000_000)
    public var whenFull = FullStorage.stop
    public var delete = DeletableMedia.uploaded
}

public enum FullStorage: String, Hashable, Sendable, CaseIterable, SettingChoice {
    case stop
    case deleteOldest = "delete_oldest"
}

/// What `delete_oldest` may take.
public enum DeletableMedia: String, Hashable, Sendable, CaseIterable, SettingChoice {
    case uploaded
    case any
}
