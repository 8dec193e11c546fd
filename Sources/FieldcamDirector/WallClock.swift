import FieldcamLinux
import FieldcamPorts
import Glibc

/// RFC 3339 in UTC with milliseconds: `2026-11-30T14:49:27.120Z`.
func rfc3339(_ wallNanoseconds: Int64) -> String {
    var seconds = time_t(wallNanoseconds / 1_000_000_000)
    var fields = tm()
    gmtime_r(&seconds, &fields)
    func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let milliseconds = wallNanoseconds / 1_000_000 % 1000
    let padded = String(String(1000 + milliseconds).dropFirst())
    return
        "\(fields.tm_year + 1900)-\(two(fields.tm_mon + 1))-\(two(fields.tm_mday))T\(two(fields.tm_hour)):\(two(fields.tm_min)):\(two(fields.tm_sec)).\(padded)Z"
}

extension WallTime {
    /// Local calendar time of so many nanoseconds since 1970, by the machine's time zone.
    public init(wallNanoseconds: Int64, isTrusted: Bool) {
        var seconds = time_t(wallNanoseconds / 1_000_000_000)
        var fields = tm()
        localtime_r(&seconds, &fields)
        self.init(
            year: Int(fields.tm_year) + 1900, month: Int(fields.tm_mon) + 1, day: Int(fields.tm_mday),
            hour: Int(fields.tm_hour), minute: Int(fields.tm_min), second: Int(fields.tm_sec),
            nanosecond: Int(wallNanoseconds % 1_000_000_000), offset: fields.tm_gmtoff, isTrusted: isTrusted)
    }
}
