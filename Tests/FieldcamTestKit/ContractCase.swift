/// One promise of a port, as a story that any adapter must pass: run on the simulated twin by XCTest everywhere, and on
/// the real driver by the program `LabContracts` in the lab.
public struct ContractCase<Subject>: Sendable where Subject: Sendable {
    public let name: String
    public let run: @Sendable (Subject) throws(ContractFailure) -> Void

    public init(_ name: String, run: @escaping @Sendable (Subject) throws(ContractFailure) -> Void) {
        self.name = name
        self.run = run
    }
}

/// What a contract case found: one sentence, with expected and found values.
public struct ContractFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}

/// Throws a `ContractFailure` unless the condition holds.
public func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws(ContractFailure) {
    if !condition { throw ContractFailure(message()) }
}
