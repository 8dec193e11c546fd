import FieldcamCore

/// The kernel's `/proc/meminfo`.
public enum MemoryInformation {
    /// What frames may take; `nil`: this machine has no contiguous memory of its own kind (a PC, or none was reserved).
    public static var budget: MemoryBudget? { budget(of: Files.contents(of: "/proc/meminfo")) }

    static func budget(of text: [UInt8]) -> MemoryBudget? {
        var values: [String: Int64] = [:]
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ":") })
            guard parts.count >= 2, let number = Int64(String(decoding: parts[1], as: UTF8.self)) else { continue }
            values[String(decoding: parts[0], as: UTF8.self)] = number * 1024
        }
        // Kernels that could have such memory tell a total of 0 where none is set aside.
        guard let total = values["CmaTotal"], total > 0, let free = values["CmaFree"] else { return nil }
        return MemoryBudget(contiguous: free, available: values["MemAvailable"])
    }
}
