/// A scalar of a request to the simulator, whatever text it came from.
public enum SimulatorValue: Hashable, Sendable {
    case number(Double)
    case boolean(Bool)
    case text(String)

    /// As JSON shows it, for messages.
    var words: String {
        switch self {
        case .number(let number):
            return number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
        case .boolean(let boolean): return "\(boolean)"
        case .text(let text): return "\"\(text)\""
        }
    }
}

/// Why the simulator refused a request; nothing of it was done.
public struct SimulatorRequestError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the value that is wrong.
    public var name: String
    /// One sentence.
    public var detail: String

    public var description: String { "\(name): \(detail)" }
}
