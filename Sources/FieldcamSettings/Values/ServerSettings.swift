/// `[server]`
public struct ServerSettings: Hashable, Sendable {
    /// `ADDRESS:PORT`; empty: no TCP.
    public var listen = ""
    public var tokenFile = "/etc/fieldcam/token"
}
