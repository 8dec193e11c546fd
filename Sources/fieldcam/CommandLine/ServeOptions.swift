/// What `fieldcam serve` was asked for.
struct ServeOptions: Hashable, Sendable {
    static let defaultSettings = "/etc/fieldcam/fieldcam.toml"
    static let defaultState = "/var/lib/fieldcam"
    static let defaultMedia = "/var/lib/fieldcam/media"
    static let defaultSocket = "/run/fieldcam/fieldcam.sock"

    /// A name to be sought, or a folder; nil: the device tree decides.
    var board: String?
    /// A file that was named and so must exist; nil: the default, which may be missing.
    var settings: String?
    var state = ServeOptions.defaultState
    var media = ServeOptions.defaultMedia
    var socket = ServeOptions.defaultSocket

    init() {}

    init(_ invocation: Invocation) throws(CommandFailure) {
        if invocation["--listen"] != nil {
            throw .usage("--listen isn't in this version: the service answers on its unix socket alone; leave it out.")
        }
        board = invocation["--board"]
        settings = invocation["--settings"]
        state = invocation["--state"] ?? state
        media = invocation["--media"] ?? media
        socket = invocation["--socket"] ?? socket
    }
}
