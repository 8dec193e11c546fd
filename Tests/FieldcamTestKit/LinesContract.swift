import FieldcamPorts

/// Where any `OutputLine` is put to the test: a line whose wire can be measured.
public protocol LinesBench: Bench {
    /// Takes the bench's line; the wire is low while nobody drives it.
    func makeLine(activeLow: Bool) throws(HardwareError) -> any OutputLine
    /// The wire, as a meter shows it.
    func wireIsHigh() -> Bool
}

/// What any `OutputLine` promises.
public enum LinesContract {
    public static let cases: [ContractCase<any LinesBench>] = [
        ContractCase("a line is off when it is taken") { bench throws(ContractFailure) in
            let line = try take(bench)
            try expect(try read(line) == false, "a fresh line is on")
            try expect(!bench.wireIsHigh(), "a fresh line's wire is high")
            line.close()
        },
        ContractCase("on and off reach the wire and read back") { bench throws(ContractFailure) in
            let line = try take(bench)
            for on in [true, false, true, true, false] {
                try set(line, on)
                try expect(try read(line) == on, "set \(on), reads \(!on)")
                try expect(bench.wireIsHigh() == on, "set \(on), the wire is \(on ? "low" : "high")")
            }
            line.close()
        },
        ContractCase("active low turns the wire, not the words") { bench throws(ContractFailure) in
            let line = try take(bench, activeLow: true)
            try expect(bench.wireIsHigh(), "off is low")
            try set(line, true)
            try expect(try read(line), "set on, reads off")
            try expect(!bench.wireIsHigh(), "on is high")
            line.close()
        },
        ContractCase("a closed line is off and can be taken again") { bench throws(ContractFailure) in
            let line = try take(bench)
            try set(line, true)
            line.close()
            try expect(!bench.wireIsHigh(), "closed, and the wire is high")
            line.close()
            let next = try take(bench)
            try set(next, true)
            try expect(bench.wireIsHigh(), "taken again, set on, and the wire is low")
            next.close()
        },
    ]

    private static func take(_ bench: any LinesBench, activeLow: Bool = false) throws(ContractFailure) -> any OutputLine
    {
        do { return try bench.makeLine(activeLow: activeLow) } catch { throw ContractFailure("\(error)") }
    }

    private static func set(_ line: any OutputLine, _ on: Bool) throws(ContractFailure) {
        do { try line.set(on) } catch { throw ContractFailure("\(error)") }
    }

    private static func read(_ line: any OutputLine) throws(ContractFailure) -> Bool {
        do { return try line.isOn() } catch { throw ContractFailure("\(error)") }
    }
}
