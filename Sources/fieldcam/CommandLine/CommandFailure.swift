/// The exit codes of contract §2.
enum ExitCode: Int32, Sendable {
    case done = 0
    /// The operation failed.
    case failed = 1
    /// Wrong usage.
    case usage = 64
    /// The service can't be reached.
    case unreachable = 69
    /// An output, state or media folder can't be made.
    case cannotCreate = 73
    /// Refused now; try again.
    case refused = 75
    /// Wrong settings, board or checked file.
    case wrongSettings = 78
}

/// Why a command ends otherwise than done: one sentence that names the thing and the fix.
struct CommandFailure: Error, Hashable, Sendable {
    var code: ExitCode
    var message: String
    /// The service's own code for it, such as `not_recording`; empty if it isn't the service that refuses.
    var problem: String

    init(_ code: ExitCode, _ message: String, problem: String = "") {
        self.code = code
        self.message = message
        self.problem = problem
    }

    static func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, message) }
}
