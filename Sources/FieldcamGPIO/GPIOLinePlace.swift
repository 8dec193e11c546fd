import CFieldcamGPIO
import FieldcamPorts
import Glibc

/// Where a line is now: found by its chip's label and its own name or offset.
struct GPIOLinePlace {
    let chip: GPIOChip
    let offset: Int

    /// Finds the line, or tells why it can't be found and what to write instead.
    init(chip label: String, line: ButtonLine.Place, operation: String) throws(HardwareError) {
        let (chips, refusals) = GPIOChip.all()
        let labelled = chips.filter { $0.label == label }
        guard !labelled.isEmpty else {
            // A chip that this user may not open could well be the one.
            if let refusal = refusals.first(where: { $0.kind == .denied }) {
                throw HardwareError(.denied, operation, code: refusal.code, detail: refusal.detail)
            }
            throw HardwareError(
                .absent, operation, code: ENODEV, detail: "no chip is labelled '\(label)'; \(Self.inventory(chips))")
        }
        for chip in labelled {
            switch line {
            case .offset(let offset):
                if offset >= 0 && offset < chip.lineCount {
                    self.chip = chip
                    self.offset = offset
                    return
                }
            case .name(let name):
                if let found = chip.lines().first(where: { $0.name == name }) {
                    self.chip = chip
                    offset = found.offset
                    return
                }
            }
        }
        throw HardwareError(
            .absent, operation, code: ENOENT, detail: Self.advice(on: line, of: labelled[0]))
    }

    private static func inventory(_ chips: [GPIOChip]) -> String {
        guard !chips.isEmpty else { return "this machine has no GPIO chip" }
        return "this machine has " + chips.map { "'\($0.label)'" }.joined(separator: ", ")
    }

    private static func advice(on line: ButtonLine.Place, of chip: GPIOChip) -> String {
        switch line {
        case .offset(let offset):
            return "chip '\(chip.label)' has no line \(offset); its lines are 0 … \(chip.lineCount - 1)"
        case .name(let name):
            let names = chip.lines().map(\.name).filter { !$0.isEmpty }
            let missing = "chip '\(chip.label)' has no line '\(name)'"
            guard !names.isEmpty else {
                return "\(missing); its lines have no names, give an offset (0 … \(chip.lineCount - 1))"
            }
            let near = names.map { (name: $0, distance: distance($0, name)) }.min { $0.distance < $1.distance }!
            if near.distance <= max(2, name.utf8.count / 3) { return "\(missing); did you mean '\(near.name)'?" }
            let shown = names.prefix(8).map { "'\($0)'" }.joined(separator: ", ")
            return "\(missing); it has \(shown)\(names.count > 8 ? " and \(names.count - 8) more" : "")"
        }
    }

    /// How many letters have to be changed, added or removed (case counts nothing).
    private static func distance(_ first: String, _ second: String) -> Int {
        let first = Array(first.lowercased().utf8)
        let second = Array(second.lowercased().utf8)
        var row = Array(0...second.count)
        for i in first.indices {
            var diagonal = row[0]
            row[0] = i + 1
            for j in second.indices {
                let above = row[j + 1]
                row[j + 1] = min(above + 1, row[j] + 1, diagonal + (first[i] == second[j] ? 0 : 1))
                diagonal = above
            }
        }
        return row[second.count]
    }

    /// What an attempt to hold the line failed with, and the mend.
    func refusal(_ error: Int32, operation: String) -> HardwareError {
        switch abs(error) {
        case EBUSY:
            let consumer = chip.lines().first { $0.offset == offset }?.consumer ?? ""
            let holder = consumer.isEmpty ? "another program or a kernel driver" : "'\(consumer)'"
            return .errno(
                error, operation,
                detail: "the line is held by \(holder); stop that, or give another line in the board's board.toml")
        case EACCES, EPERM:
            return .errno(error, operation, detail: GPIOChip.refusal(error, of: chip.path).detail)
        default:
            return .errno(error, operation)
        }
    }
}

extension ButtonLine.Place {
    /// As a person writes it: 'GPIO17', or 17.
    var words: String {
        switch self {
        case .name(let name): "'\(name)'"
        case .offset(let offset): "\(offset)"
        }
    }
}
