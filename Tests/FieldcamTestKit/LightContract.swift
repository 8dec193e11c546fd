import FieldcamCore
import FieldcamPorts

/// Where any `Light` is put to the test: a light whose LED can be measured.
public protocol LightBench: Bench {
    /// Takes the bench's light; the LED is dark while nobody drives it.
    func makeLight() throws(HardwareError) -> any Light
    /// The LED's level, 0 … 1, as a meter shows it.
    func brightness() -> Double
}

/// What any `Light` promises.
public enum LightContract {
    public static let cases: [ContractCase<any LightBench>] = [
        ContractCase("a light is off when it is taken") { bench throws(ContractFailure) in
            let light = try take(bench)
            defer { light.close() }
            try expectLevel(light, on: bench, 0, "fresh")
        },
        ContractCase("on and off reach the LED and read back") { bench throws(ContractFailure) in
            let light = try take(bench)
            defer { light.close() }
            for round in 1...3 {
                try turnOn(light, until: bench.now + .seconds(30))
                try expectLevel(light, on: bench, 1, "round \(round), on")
                try turnOff(light)
                try expectLevel(light, on: bench, 0, "round \(round), off")
            }
            try turnOff(light)
            try expectLevel(light, on: bench, 0, "off twice")
        },
        ContractCase("a level is the LED's, or full where there are none") { bench throws(ContractFailure) in
            let light = try take(bench)
            defer { light.close() }
            for level in [0.5, 1, 0.25, 0.001] as [Double] {
                try turnOn(light, level, until: bench.now + .seconds(30))
                try expectLevel(light, on: bench, light.hasLevels ? level : 1, "level \(level)")
                let shown = bench.brightness()
                try expect(shown > 0, "at level \(level) the LED is dark")
            }
        },
        ContractCase("a senseless level is refused and changes nothing") { bench throws(ContractFailure) in
            let light = try take(bench)
            defer { light.close() }
            for isOn in [false, true] {
                if isOn { try turnOn(light, until: bench.now + .seconds(30)) }
                for level in [0, -0.5, 1.01, .nan, .infinity] as [Double] {
                    try expectRefusal("level \(level)") { () throws(HardwareError) in
                        try light.turnOn(level: level, deadline: bench.now + .seconds(60))
                    }
                }
                try expectLevel(light, on: bench, isOn ? 1 : 0, "after refusals")
            }
        },
        ContractCase("at its deadline a light is off, even if its owner is stuck") { bench throws(ContractFailure) in
            let light = try take(bench)
            defer { light.close() }
            for span in [Duration.milliseconds(60), .milliseconds(300), .milliseconds(800)] {
                let deadline = bench.now + span * bench.slowness
                try turnOn(light, until: deadline)
                let shown = bench.brightness()
                try expect(shown > 0 || bench.now >= deadline - .milliseconds(2), "it went off before its deadline")
                bench.wait(deadline - bench.now - .milliseconds(20), for: nil)
                let late = bench.brightness()
                try expect(late > 0 || bench.now >= deadline - .milliseconds(2), "it was off too early (\(span))")
                bench.wait(deadline - bench.now, for: nil)
                try expectDark(bench, light, within: .milliseconds(20), "deadline of \(span)")
            }
        },
        ContractCase("a dimmed light ends at its deadline too") { bench throws(ContractFailure) in
            let light = try take(bench)
            defer { light.close() }
            try turnOn(light, 0.5, until: bench.now + .milliseconds(100) * bench.slowness)
            bench.wait(.milliseconds(100) * bench.slowness, for: nil)
            try expectDark(bench, light, within: .milliseconds(20), "dimmed")
        },
        ContractCase("on again sets a new deadline, later or sooner") { bench throws(ContractFailure) in
            let light = try take(bench)
            defer { light.close() }
            let first = bench.now + .milliseconds(100) * bench.slowness
            try turnOn(light, until: first)
            try turnOn(light, until: first + .seconds(30))
            bench.wait(first - bench.now + .milliseconds(50), for: nil)
            try expectLevel(light, on: bench, 1, "after the first deadline, prolonged")
            let sooner = bench.now + .milliseconds(100) * bench.slowness
            try turnOn(light, until: sooner)
            bench.wait(sooner - bench.now, for: nil)
            try expectDark(bench, light, within: .milliseconds(20), "shortened")
        },
        ContractCase("the deadline of a light that was off meanwhile ends nothing") { bench throws(ContractFailure) in
            let light = try take(bench)
            defer { light.close() }
            let first = bench.now + .milliseconds(100) * bench.slowness
            try turnOn(light, until: first)
            try turnOff(light)
            try turnOn(light, until: bench.now + .seconds(30))
            bench.wait(first - bench.now + .milliseconds(50), for: nil)
            try expectLevel(light, on: bench, 1, "the second time, after the first deadline")
        },
        ContractCase("a deadline that is past leaves it dark") { bench throws(ContractFailure) in
            let light = try take(bench)
            defer { light.close() }
            try turnOn(light, until: bench.now - .milliseconds(1))
            try expectDark(bench, light, within: .milliseconds(5), "past")
            try turnOn(light, until: bench.now + .seconds(30))
            try turnOn(light, until: bench.now)
            try expectDark(bench, light, within: .milliseconds(5), "past, while on")
        },
        ContractCase("a closed light is off, refuses, and can be taken again") { bench throws(ContractFailure) in
            let light = try take(bench)
            try turnOn(light, until: bench.now + .seconds(30))
            light.close()
            try expect(bench.brightness() == 0, "closed, and the LED shines")
            try expectRefusal("on after close") { () throws(HardwareError) in
                try light.turnOn(level: 1, deadline: bench.now + .seconds(1))
            }
            light.close()
            try expect(bench.brightness() == 0, "closed twice, and the LED shines")
            let next = try take(bench)
            defer { next.close() }
            try expectLevel(next, on: bench, 0, "taken again")
            try turnOn(next, until: bench.now + .seconds(30))
            try expectLevel(next, on: bench, 1, "taken again and on")
        },
        ContractCase("a light that its owner forgot is off") { bench throws(ContractFailure) in
            try forget(bench)
            try expect(bench.brightness() == 0, "forgotten, and the LED shines")
        },
    ]

    private static func forget(_ bench: any LightBench) throws(ContractFailure) {
        let light = try take(bench)
        try turnOn(light, until: bench.now + .seconds(30))
        try expect(bench.brightness() > 0, "on, and the LED is dark")
    }

    private static func take(_ bench: any LightBench) throws(ContractFailure) -> any Light {
        do { return try bench.makeLight() } catch { throw ContractFailure("\(error)") }
    }

    private static func turnOn(
        _ light: any Light, _ level: Double = 1, until deadline: Instant
    ) throws(ContractFailure) {
        do { try light.turnOn(level: level, deadline: deadline) } catch { throw ContractFailure("\(error)") }
    }

    private static func turnOff(_ light: any Light) throws(ContractFailure) {
        do { try light.turnOff() } catch { throw ContractFailure("\(error)") }
    }

    private static func expectLevel(
        _ light: any Light, on bench: any LightBench, _ level: Double, _ when: String
    ) throws(ContractFailure) {
        do throws(HardwareError) {
            let read = try light.level()
            // The kernel's LEDs have 255 levels, often fewer; the lowest is never dark.
            guard abs(read - level) <= 0.01 else { throw HardwareError(.io, "\(when)", detail: "it reads \(read)") }
        } catch {
            throw ContractFailure("\(error); expected \(level)")
        }
        let shown = bench.brightness()
        try expect(abs(shown - level) <= 0.01, "\(when): the LED shows \(shown), expected \(level)")
    }

    private static func expectDark(
        _ bench: any LightBench, _ light: any Light, within span: Duration, _ when: String
    ) throws(ContractFailure) {
        let limit = bench.now + span * bench.slowness
        while bench.brightness() > 0, bench.now < limit { bench.wait(.milliseconds(1), for: nil) }
        try expectLevel(light, on: bench, 0, "\(when), after the deadline")
    }

    private static func expectRefusal(
        _ what: String, _ body: () throws(HardwareError) -> Void
    ) throws(ContractFailure) {
        do throws(HardwareError) {
            try body()
        } catch {
            return try expect(error.kind == .invalid, "\(what) is told as \(error.kind.rawValue): \(error)")
        }
        throw ContractFailure("\(what) was taken")
    }
}
