import FieldcamTestKit
import Glibc
import Synchronization

/// The contract suites on real drivers: `LabContracts [SUITE …]`, all without an argument. One line a case,
/// `pass SUITE CASE` or `FAIL SUITE CASE — MESSAGE`; exit 1 if one failed, 64 for an unknown suite.
///
/// A busy host holds the emulator up for longer than any limit allows for, and its kernel then makes one edge of two. So a
/// case that fails is tried again on a fresh bench, told as `again SUITE CASE — MESSAGE`: a fault fails three times, and more
/// than six tries in a run are none of the host's.
@main
struct LabContracts {
    static let suites: [Suite] = [
        .camera, .cameraHeap, .cameraUnplugging, .cameraWiring,
        .buttons, .buttonWiring, .lines, .lineWiring,
        .microphone, .microphoneWiring, .light, .lightWiring, .led, .plainLED, .ledWiring,
    ]

    static func main() {
        let wanted = CommandLine.arguments.dropFirst()
        // What a suite starts to kill it.
        if wanted.first == "shine" { LightWiring.shine(wanted.dropFirst()) }
        for name in wanted where !suites.contains(where: { $0.name == name }) {
            print("no suite '\(name)'; there are: \(suites.map(\.name).joined(separator: ", "))")
            exit(64)
        }
        var failed = false
        for suite in suites where wanted.isEmpty || wanted.contains(suite.name) {
            if !suite.run() { failed = true }
        }
        exit(failed ? 1 : 0)
    }
}

/// One port's contract on one kind of hardware; each case gets a bench of its own.
struct Suite: Sendable {
    let name: String
    /// True if every case passed.
    let run: @Sendable () -> Bool

    private static let tries = 3
    private static let repeats = Atomic(0)

    /// Counts a repetition; false if there were too many.
    private static func mayRepeat() -> Bool { repeats.add(1, ordering: .relaxed).newValue <= 6 }

    init<Subject: Sendable>(
        _ name: String, _ cases: [ContractCase<Subject>],
        bench: @escaping @Sendable () throws(ContractFailure) -> Subject
    ) {
        self.name = name
        run = {
            var passed = true
            for contract in cases {
                var tries = 0
                repeat {
                    tries += 1
                    do throws(ContractFailure) {
                        try contract.run(try bench())
                        print("pass \(name) \(contract.name)")
                        tries = Self.tries
                    } catch {
                        let isLast = tries == Self.tries || !Self.mayRepeat()
                        if isLast { passed = false }
                        print("\(isLast ? "FAIL" : "again") \(name) \(contract.name) — \(error)")
                        if isLast { tries = Self.tries }
                    }
                    // A guest may be ended at any time; what is known by then counts.
                    fflush(nil)
                } while tries < Self.tries
            }
            return passed
        }
    }
}
