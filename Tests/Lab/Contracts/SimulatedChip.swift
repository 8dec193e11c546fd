import FieldcamTestKit
import Glibc

/// A chip of the kernel's gpio-sim, made through configfs, gone with the object.
final class SimulatedChip: @unchecked Sendable {
    // Proof of Sendable: used by one thread; nothing but names in it, and the kernel keeps the state.
    let label: String
    private let folder: String
    private var lines = ""

    /// - Parameter names: line offsets and their names.
    init(label: String, lineCount: Int, names: [Int: String] = [:]) throws(ContractFailure) {
        self.label = label
        folder = "/sys/kernel/config/gpio-sim/\(label)"
        try make(folder)
        try make("\(folder)/bank0")
        try write("\(lineCount)", to: "\(folder)/bank0/num_lines")
        try write(label, to: "\(folder)/bank0/label")
        for (offset, name) in names {
            try make("\(folder)/bank0/line\(offset)")
            try write(name, to: "\(folder)/bank0/line\(offset)/name")
        }
        try setLive(true)
        self.names = Array(names.keys)
    }
    private var names: [Int] = []

    deinit {
        _ = try? setLive(false)
        for offset in names { rmdir("\(folder)/bank0/line\(offset)") }
        rmdir("\(folder)/bank0")
        rmdir(folder)
    }

    /// Takes the chip away from under its users, or brings it back with every line pulled down.
    func setLive(_ live: Bool) throws(ContractFailure) {
        try write(live ? "1" : "0", to: "\(folder)/live")
        guard live else { return }
        let device = try read("\(folder)/dev_name")
        let chip = try read("\(folder)/bank0/chip_name")
        lines = "/sys/devices/platform/\(device)/\(chip)"
        // The node belongs to root, as long as no rule says otherwise; it is there when devtmpfs has made it.
        try expect(access("/dev/\(chip)", F_OK) == 0, "/dev/\(chip) isn't there")
    }

    /// What an input reads: the level that something outside pulls the line to.
    func pull(_ offset: Int, high: Bool) throws(ContractFailure) {
        try write(high ? "pull-up" : "pull-down", to: "\(lines)/sim_gpio\(offset)/pull")
    }

    /// The line's level now.
    func isHigh(_ offset: Int) throws(ContractFailure) -> Bool {
        try read("\(lines)/sim_gpio\(offset)/value") == "1"
    }

    private func make(_ folder: String) throws(ContractFailure) {
        guard mkdir(folder, 0o755) == 0 else {
            throw ContractFailure("can't make \(folder): \(String(cString: strerror(errno)))")
        }
    }

    private func write(_ text: String, to path: String) throws(ContractFailure) {
        let file = open(path, O_WRONLY)
        defer { close(file) }
        guard file >= 0, Glibc.write(file, text, text.utf8.count) == text.utf8.count else {
            throw ContractFailure("can't write '\(text)' to \(path): \(String(cString: strerror(errno)))")
        }
    }

    private func read(_ path: String) throws(ContractFailure) -> String {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = file < 0 ? -1 : Glibc.read(file, &bytes, bytes.count)
        guard count >= 0 else { throw ContractFailure("can't read \(path): \(String(cString: strerror(errno)))") }
        return String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
