import FieldcamTestKit
import Glibc

/// An LED of the kernel's uleds: its driver is this object, which sees what the kernel's LED class makes it do. Gone with
/// the object.
final class UserLED: @unchecked Sendable {
    // Proof of Sendable: used by one thread.
    let name: String
    private let maximum: Int
    private let device: Int32
    private var last = 0

    init(name: String, maximum: Int) throws(ContractFailure) {
        self.name = name
        self.maximum = maximum
        device = open("/dev/uleds", O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard device >= 0 else {
            throw ContractFailure("can't open /dev/uleds: \(String(cString: strerror(errno)))")
        }
        // struct uleds_user_dev: 64 bytes of name, then the largest brightness.
        var description = [UInt8](repeating: 0, count: 68)
        for (place, byte) in name.utf8.prefix(63).enumerated() { description[place] = byte }
        withUnsafeBytes(of: Int32(maximum)) { description.replaceSubrange(64..., with: $0) }
        guard write(device, description, description.count) == description.count else {
            let words = String(cString: strerror(errno))
            close(device)
            throw ContractFailure("can't make the LED '\(name)': \(words)")
        }
        guard access("/sys/class/leds/\(name)", F_OK) == 0 else {
            throw ContractFailure("/sys/class/leds/\(name) isn't there")
        }
    }

    deinit { close(device) }

    /// 0 … 1, as the kernel last told the driver.
    func level() -> Double {
        var value = Int32(0)
        while read(device, &value, 4) == 4 { last = Int(value) }
        return Double(last) / Double(maximum)
    }
}
