import FieldcamCore
import FieldcamGPIO
import FieldcamPorts
import FieldcamTestKit
import Glibc

extension Suite {
    static let buttons = Suite("buttons", ButtonsContract.cases) { () throws(ContractFailure) in try GPIOBench() }
    static let buttonWiring = Suite("button-wiring", GPIOWiring.buttons) { () throws(ContractFailure) in
        try GPIOBench()
    }
    static let lines = Suite("lines", LinesContract.cases) { () throws(ContractFailure) in try GPIOBench() }
    static let lineWiring = Suite("line-wiring", GPIOWiring.lines) { () throws(ContractFailure) in try GPIOBench() }
}

/// What only real chips can show: names, bias, who holds what.
enum GPIOWiring {
    static let buttons: [ContractCase<GPIOBench>] = [
        ContractCase("a line is found by its offset as by its name") { bench throws(ContractFailure) in
            let watch = ButtonsWatch(GPIOButtons([GPIOBench.line(.offset(GPIOBench.contacts[1]))]), on: bench)
            try watch.expectFound(0, pressed: false)
            bench.set(1, pressed: true)
            try watch.wait("the press") { $0 == [true] }
        },
        ContractCase("active high is pressed when high") { bench throws(ContractFailure) in
            let watch = ButtonsWatch(GPIOButtons([GPIOBench.line(.name("BUTTON0"), activeLow: false)]), on: bench)
            try watch.expectFound(0, pressed: true)
            bench.pull(GPIOBench.contacts[0], high: false)
            try watch.wait("the release") { $0 == [false] }
        },
        ContractCase("the bias asked for reaches the line") { bench throws(ContractFailure) in
            bench.pull(GPIOBench.contacts[0], high: false)
            bench.pull(GPIOBench.contacts[1], high: true)
            let buttons = GPIOButtons([
                GPIOBench.line(.name("BUTTON0"), bias: .pullUp),
                GPIOBench.line(.name("BUTTON1"), activeLow: false, bias: .pullDown),
            ])
            let watch = ButtonsWatch(buttons, on: bench)
            try watch.expectFound(0, pressed: false)
            try watch.expectFound(1, pressed: false)
            bench.pull(GPIOBench.contacts[0], high: false)
            try watch.wait("the press against the pull-up") { $0 == [true] }
        },
        ContractCase("a line held elsewhere is busy, names its holder, and is taken when it is free") {
            bench throws(ContractFailure) in
            let other = ButtonsWatch(
                GPIOButtons([GPIOBench.line(.name("BUTTON0"))], consumer: "another-program"), on: bench)
            try other.expectFound(0, pressed: false)
            let watch = ButtonsWatch(GPIOButtons([GPIOBench.line(.name("BUTTON0"))]), on: bench)
            watch.drain()
            try expectLoss(watch, .busy, "'another-program'")
            other.buttons.close()
            try watch.wait(until: "the line is taken") { $0.isFound(0) }
        },
        ContractCase("a wrong chip label lists the labels that are there") { bench throws(ContractFailure) in
            let watch = ButtonsWatch(GPIOButtons([GPIOBench.line(.name("BUTTON0"), chip: "pinctrl-rp1")]), on: bench)
            watch.drain()
            try expectLoss(watch, .absent, "no chip is labelled 'pinctrl-rp1'; this machine has")
            try expectLoss(watch, .absent, "'\(GPIOBench.label)'")
        },
        ContractCase("a wrong line name suggests the near one") { bench throws(ContractFailure) in
            let watch = ButtonsWatch(GPIOButtons([GPIOBench.line(.name("BUTON0"))]), on: bench)
            watch.drain()
            try expectLoss(
                watch, .absent, "chip '\(GPIOBench.label)' has no line 'BUTON0'; did you mean 'BUTTON0'?")
        },
        ContractCase("a wrong offset tells the range") { bench throws(ContractFailure) in
            let watch = ButtonsWatch(GPIOButtons([GPIOBench.line(.offset(40))]), on: bench)
            watch.drain()
            try expectLoss(watch, .absent, "its lines are 0 … 7")
        },
        ContractCase("a line that can't be had is tried again after 0.5, 1 and 2 s") { bench throws(ContractFailure) in
            bench.unplug()
            let watch = ButtonsWatch(bench, 1)
            for wait in [Duration.milliseconds(500), .seconds(1), .seconds(2)] {
                let tried = bench.now
                watch.buttons.drain(now: tried) { _ in }
                try expect(
                    watch.buttons.nextDeadline == tried + wait,
                    "the next try comes after \(watch.buttons.nextDeadline.map { ($0 - tried).inNanoseconds } ?? -1) ns,"
                        + " expected \(wait)")
                bench.wait(wait, for: nil)
            }
        },
        ContractCase("of more edges than the kernel keeps, what is lost is told") { bench throws(ContractFailure) in
            let watch = ButtonsWatch(bench, 1)
            try watch.expectFound(0, pressed: false)
            // The kernel keeps 16 (libgpiod 1) or as many as it was asked to, 256.
            for edge in 1...301 {
                bench.set(0, pressed: edge % 2 == 1)
                bench.wait(.milliseconds(1), for: nil)
            }
            watch.settle()
            try expect(watch.lost > 0, "\(watch.edges.count) of 301 edges came, and no loss was told")
            try expect(watch.last(0) == true, "the contact is closed, told: \(watch.story)")
            try expect(watch.edges.count <= 256, "\(watch.edges.count) edges are more than the kernel keeps")
            bench.set(0, pressed: false)
            try watch.wait("the release after it") { $0.last == false }
        },
        ContractCase("a user who may not open the chip is told the group") { bench throws(ContractFailure) in
            let watch = ButtonsWatch(bench, 1)
            withoutRights { _ = watch.drain() }
            try expectLoss(watch, .denied, "group 'gpio'")
            try watch.expectFound(0, pressed: false)
        },
        ContractCase("the holder of our lines is 'fieldcam'") { bench throws(ContractFailure) in
            let watch = ButtonsWatch(GPIOButtons([GPIOBench.line(.name("BUTTON0"))]), on: bench)
            try watch.expectFound(0, pressed: false)
            guard let chip = GPIOChip.all().chips.first(where: { $0.label == GPIOBench.label }) else {
                throw ContractFailure("the bench's chip isn't listed")
            }
            let line = chip.lines()[GPIOBench.contacts[0]]
            try expect(line.isHeld && line.consumer == "fieldcam", "the line is told as \(line)")
        },
    ]

    static let lines: [ContractCase<GPIOBench>] = [
        ContractCase("a line held elsewhere is busy and names its holder") { bench throws(ContractFailure) in
            do throws(HardwareError) {
                let other = try GPIOOutputLine(
                    chip: GPIOBench.label, line: .name("LIGHT"), consumer: "another-program")
                defer { other.close() }
                _ = try bench.makeLine(activeLow: false)
            } catch {
                try expect(
                    error.kind == .busy && error.detail.contains("'another-program'"), "told as \(error.kind): \(error)"
                )
                return
            }
            throw ContractFailure("the line was taken twice")
        },
        ContractCase("a line whose chip goes away is absent, and works again with the chip") {
            bench throws(ContractFailure) in
            do throws(HardwareError) {
                let line = try bench.makeLine(activeLow: false)
                defer { line.close() }
                bench.unplug()
                for _ in 0..<2 {
                    do throws(HardwareError) {
                        try line.set(true)
                        throw HardwareError(.invalid, "set a line that isn't there", detail: "it worked")
                    } catch {
                        guard error.kind == .absent else { throw error }
                    }
                }
                bench.plug()
                try line.set(true)
            } catch {
                throw ContractFailure("\(error)")
            }
        },
    ]

    /// Does something as a user without any rights.
    static func withoutRights(_ body: () -> Void) {
        guard setegid(65_534) == 0, seteuid(65_534) == 0 else { fatalError("this needs root") }
        body()
        guard seteuid(0) == 0, setegid(0) == 0 else { fatalError("root didn't come back") }
    }

    private static func expectLoss(
        _ watch: ButtonsWatch, _ kind: HardwareError.Kind, _ words: String
    ) throws(ContractFailure) {
        guard let error = watch.losses().last else { throw ContractFailure("nothing was lost: \(watch.story)") }
        try expect(
            error.kind == kind && error.detail.contains(words),
            "lost as \(error.kind.rawValue): \(error); expected \(kind.rawValue) with: \(words)")
    }
}
