/// A failure of the world outside. Only `kind` decides what is done; the rest is for the person who reads about it.
public struct HardwareError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        /// Not there: no such camera, chip, line, device, file.
        case absent
        /// Held by another program.
        case busy
        /// The process may not use it.
        case denied
        /// It didn't answer in time.
        case timedOut = "timed_out"
        /// It answered with an error, or went away.
        case io
        /// It can't do this.
        case unsupported
        /// It was asked for something senseless.
        case invalid
        /// No room left: disk, memory.
        case full
    }

    public var kind: Kind
    /// What was being done, in words, with the thing's name: "open the camera 'imx708'".
    public var operation: String
    /// errno or the library's own code; 0 where there is none.
    public var code: Int32
    /// The cause and the mend, one sentence.
    public var detail: String

    public init(_ kind: Kind, _ operation: String, code: Int32 = 0, detail: String = "") {
        self.kind = kind
        self.operation = operation
        self.code = code
        self.detail = detail
    }

    public var description: String {
        detail.isEmpty ? "can't \(operation) (\(kind.rawValue))" : "can't \(operation): \(detail)"
    }
}
