import FieldcamCore
import FieldcamGPIO
import FieldcamPorts
import FieldcamTestKit

/// Buttons and a light on a chip of gpio-sim: contacts to ground against an outer pull-up, as on any board.
final class GPIOBench: RealBench, ButtonsBench, LinesBench, @unchecked Sendable {
    // Proof of Sendable: used by the one thread that runs the case.
    static let label = "fieldcam-bench"
    /// Contact i sits on this line, named "BUTTON<i>".
    static let contacts = [3, 4, 5]
    static let light = 7

    let chip: SimulatedChip
    let slowness = 10.0

    init() throws(ContractFailure) {
        var names = [Self.light: "LIGHT"]
        for (contact, offset) in Self.contacts.enumerated() { names[offset] = "BUTTON\(contact)" }
        chip = try SimulatedChip(label: Self.label, lineCount: 8, names: names)
        releaseAll()
    }

    private func releaseAll() {
        for contact in Self.contacts.indices { set(contact, pressed: false) }
    }

    /// The outer pull-up is the bench's: a bias that the request asks for would move gpio-sim's pull.
    static func line(
        _ place: ButtonLine.Place, chip: String = label, activeLow: Bool = true, bias: ButtonLine.Bias = .asIs
    ) -> ButtonLine {
        ButtonLine(chip: chip, line: place, activeLow: activeLow, bias: bias)
    }

    func makeButtons(_ count: Int) -> any Buttons {
        GPIOButtons((0..<count).map { Self.line(.name("BUTTON\($0)")) })
    }

    func set(_ contact: Int, pressed: Bool) { pull(Self.contacts[contact], high: !pressed) }

    func pull(_ offset: Int, high: Bool) {
        do { try chip.pull(offset, high: high) } catch { fatalError("\(error)") }
    }

    func unplug() {
        do { try chip.setLive(false) } catch { fatalError("\(error)") }
    }

    func plug() {
        do { try chip.setLive(true) } catch { fatalError("\(error)") }
        releaseAll()
    }

    func makeLine(activeLow: Bool) throws(HardwareError) -> any OutputLine {
        try GPIOOutputLine(chip: Self.label, line: .name("LIGHT"), activeLow: activeLow)
    }

    func wireIsHigh() -> Bool {
        do { return try chip.isHigh(Self.light) } catch { fatalError("\(error)") }
    }
}
