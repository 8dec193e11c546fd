import FieldcamCore
import FieldcamGPIO
import FieldcamPorts
import FieldcamTestKit
import Glibc

extension Suite {
    static let light = Suite("light", LightContract.cases) { () throws(ContractFailure) in try GPIOLightBench() }
    static let led = Suite("led", LightContract.cases) { () throws(ContractFailure) in try LEDBench(maximum: 255) }
    static let plainLED = Suite("led-plain", LightContract.cases) { () throws(ContractFailure) in
        try LEDBench(maximum: 1)
    }
    static let lightWiring = Suite("light-wiring", LightWiring.gpio) { () throws(ContractFailure) in
        try GPIOLightBench()
    }
    static let ledWiring = Suite("led-wiring", LightWiring.led) { () throws(ContractFailure) in
        try LEDBench(maximum: 255)
    }
}

/// A light on a line of gpio-sim.
final class GPIOLightBench: RealBench, LightBench, @unchecked Sendable {
    // Proof of Sendable: used by the one thread that runs the case.
    let bench: GPIOBench
    let slowness = 10.0

    init() throws(ContractFailure) { bench = try GPIOBench() }

    func makeLight() throws(HardwareError) -> any Light {
        try GPIOLight(chip: GPIOBench.label, line: .name("LIGHT"))
    }

    func brightness() -> Double { bench.wireIsHigh() ? 1 : 0 }
}

/// An LED of the kernel.
final class LEDBench: RealBench, LightBench, @unchecked Sendable {
    // Proof of Sendable: used by the one thread that runs the case.
    static let name = "fieldcam-bench"
    let led: UserLED
    let slowness = 10.0

    init(maximum: Int) throws(ContractFailure) { led = try UserLED(name: Self.name, maximum: maximum) }

    func makeLight() throws(HardwareError) -> any Light { try LEDClassLight(name: Self.name) }

    func brightness() -> Double { led.level() }

    func trigger() -> String { Self.read("trigger") }

    static func read(_ attribute: String) -> String {
        let file = open("/sys/class/leds/\(name)/\(attribute)", O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = max(0, Glibc.read(file, &bytes, bytes.count))
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    static func write(_ text: String, to attribute: String) {
        let file = open("/sys/class/leds/\(name)/\(attribute)", O_WRONLY)
        defer { close(file) }
        guard Glibc.write(file, text, text.utf8.count) == text.utf8.count else {
            fatalError("can't write '\(text)' to \(attribute)")
        }
    }
}

/// What only real lights can show.
enum LightWiring {
    static let gpio: [ContractCase<GPIOLightBench>] = [
        ContractCase("a light on a line held elsewhere is busy and names its holder") {
            bench throws(ContractFailure) in
            try expect(.busy, "'another-program'") { () throws(HardwareError) in
                let other = try GPIOOutputLine(
                    chip: GPIOBench.label, line: .name("LIGHT"), consumer: "another-program")
                defer { other.close() }
                _ = try bench.makeLight()
            }
        },
        ContractCase("a light on a line that isn't there is absent") { _ throws(ContractFailure) in
            try expect(.absent, "did you mean 'LIGHT'?") { () throws(HardwareError) in
                _ = try GPIOLight(chip: GPIOBench.label, line: .name("LIHGT"))
            }
        },
        ContractCase("a light whose chip goes away is absent, and works again with the chip") {
            bench throws(ContractFailure) in
            do throws(HardwareError) {
                let light = try bench.makeLight()
                defer { light.close() }
                try light.turnOn(level: 1, deadline: bench.now + .seconds(30))
                bench.bench.unplug()
                do throws(HardwareError) {
                    try light.turnOn(level: 1, deadline: bench.now + .seconds(30))
                    throw HardwareError(.invalid, "turn on a light that isn't there", detail: "it worked")
                } catch {
                    guard error.kind == .absent else { throw error }
                }
                bench.bench.plug()
                try light.turnOn(level: 1, deadline: bench.now + .seconds(30))
            } catch {
                throw ContractFailure("\(error)")
            }
        },
    ]

    static let led: [ContractCase<LEDBench>] = [
        ContractCase("the kernel ends a full light whose program was killed") { bench throws(ContractFailure) in
            for span in [Duration.milliseconds(800), .seconds(2)] {
                let end = try shineAndDie(bench, level: 1, span)
                let shown = bench.brightness()
                try FieldcamTestKit.expect(
                    shown == 1 || bench.now > end, "killed, and the LED shows \(shown) before the end")
                // Long timers of the kernel may fire an eighth of their time late.
                let limit = end + span * bench.slowness * 0.125 + .milliseconds(100)
                while bench.brightness() > 0, bench.now < limit { bench.wait(.milliseconds(1), for: nil) }
                let late = bench.now - end
                try FieldcamTestKit.expect(bench.brightness() == 0, "the kernel didn't end it in time")
                print(
                    "figure: the kernel ended a light of \(span * bench.slowness) after its program's death, \(late) after the deadline"
                )
            }
        },
        ContractCase("an LED that a killed program left on is off when it is taken") { bench throws(ContractFailure) in
            _ = try shineAndDie(bench, level: 0.5, .seconds(60))
            try FieldcamTestKit.expect(bench.brightness() > 0.4, "a dimmed light ended by itself")
            do throws(HardwareError) {
                let light = try bench.makeLight()
                defer { light.close() }
                guard try light.level() == 0, bench.brightness() == 0 else {
                    throw HardwareError(.io, "take the LED", detail: "it stayed on")
                }
            } catch {
                throw ContractFailure("\(error)")
            }
        },
        ContractCase("a closed LED has no trigger") { bench throws(ContractFailure) in
            do throws(HardwareError) {
                let light = try bench.makeLight()
                try light.turnOn(level: 1, deadline: bench.now + .seconds(30))
                let during = bench.trigger()
                try light.turnOff()
                light.close()
                guard during.contains("[oneshot]"), bench.trigger().contains("[none]") else {
                    throw HardwareError(.io, "use the trigger", detail: "during: \(during), after: \(bench.trigger())")
                }
            } catch {
                throw ContractFailure("\(error)")
            }
        },
        ContractCase("an LED that isn't there is absent and lists those that are") { _ throws(ContractFailure) in
            for name in ["flash", "", "../leds"] {
                try expect(.absent, "'\(LEDBench.name)'") { () throws(HardwareError) in
                    _ = try LEDClassLight(name: name)
                }
            }
        },
        ContractCase("an LED that another program holds is busy") { bench throws(ContractFailure) in
            try expect(.busy, "another program holds it") { () throws(HardwareError) in
                let other = try bench.makeLight()
                defer { other.close() }
                _ = try bench.makeLight()
            }
        },
        ContractCase("an LED that a trigger of the kernel drives is busy") { bench throws(ContractFailure) in
            LEDBench.write("timer", to: "trigger")
            try expect(.busy, "the kernel's trigger 'timer' drives it") { () throws(HardwareError) in
                _ = try bench.makeLight()
            }
            LEDBench.write("none", to: "trigger")
        },
        ContractCase("a user who may not write the LED is told so") { bench throws(ContractFailure) in
            var told: HardwareError?
            GPIOWiring.withoutRights {
                do throws(HardwareError) { _ = try bench.makeLight() } catch { told = error }
            }
            try FieldcamTestKit.expect(told?.kind == .denied, "told as \(told.map { "\($0)" } ?? "nothing")")
        },
    ]

    private static func expect(
        _ kind: HardwareError.Kind, _ words: String, _ body: () throws(HardwareError) -> Void
    ) throws(ContractFailure) {
        do throws(HardwareError) {
            try body()
        } catch {
            return try FieldcamTestKit.expect(
                error.kind == kind && error.detail.contains(words), "told as \(error.kind.rawValue): \(error)")
        }
        throw ContractFailure("it was taken")
    }

    /// Another program turns the LED on and is killed; when its light must end.
    private static func shineAndDie(
        _ bench: LEDBench, level: Double, _ span: Duration
    ) throws(ContractFailure) -> Instant {
        let end = bench.now + span * bench.slowness
        var child = pid_t()
        let arguments = ["LabContracts", "shine", LEDBench.name, "\(level)", "\(end.nanoseconds)"]
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        guard posix_spawn(&child, "/proc/self/exe", nil, nil, &words, environ) == 0 else {
            throw ContractFailure("no program can be started")
        }
        while bench.brightness() == 0, bench.now < end { bench.wait(.milliseconds(1), for: nil) }
        kill(child, SIGKILL)
        var status = Int32(0)
        waitpid(child, &status, 0)
        return end
    }

    /// The other program's part.
    static func shine(_ arguments: ArraySlice<String>) -> Never {
        let words = Array(arguments)
        guard words.count == 3, let level = Double(words[1]), let end = Int64(words[2]) else { exit(64) }
        do throws(HardwareError) {
            let light = try LEDClassLight(name: words[0])
            try light.turnOn(level: level, deadline: Instant(nanoseconds: end))
            while true { pause() }
        } catch {
            print("\(error)")
            exit(1)
        }
    }
}
