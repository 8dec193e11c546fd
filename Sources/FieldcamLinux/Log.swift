import Glibc
import Synchronization

/// logfmt on stderr with the journal's `<n>` priority. Notice: a state changed. Info: once per shot or clip. Never a line per frame.
public enum Log {
    public enum Level: Int, Sendable {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
        case debug = 7
    }

    private struct State {
        var writer: Thread?
        var lowest = Level.info
    }
    private static let state = Mutex(State())
    private static let lines = Mailbox<String>(capacity: 512)

    /// Starts `fc-log`; before that, and after `stop`, lines are written at once by the caller.
    public static func start(lowest: Level = .info) {
        state.withLock { state in
            state.lowest = lowest
            guard state.writer == nil else { return }
            state.writer = Thread(name: "fc-log") {
                while let line = Log.lines.take() { Log.write(line) }
            }
        }
    }

    /// Writes what is still queued, then joins `fc-log`.
    public static func stop() {
        let writer = state.withLock { $0.writer }
        lines.close()
        writer?.join()
    }

    public static func error(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
        log(.error, message, fields)
    }
    public static func warning(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
        log(.warning, message, fields)
    }
    public static func notice(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
        log(.notice, message, fields)
    }
    public static func info(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
        log(.info, message, fields)
    }

    private static func log(_ level: Level, _ message: String, _ fields: KeyValuePairs<String, String>) {
        let started = state.withLock { $0.lowest.rawValue >= level.rawValue ? $0.writer != nil : nil }
        guard let started else { return }
        var line = "<\(level.rawValue)>msg=\(quoted(message))"
        for (key, value) in fields { line += " \(key)=\(quoted(value))" }
        line += "\n"
        if started {
            _ = lines.post(line)
        } else {
            write(line)
        }
    }

    static func quoted(_ value: String) -> String {
        let plain =
            !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=") }
        guard !plain else { return value }
        var text = "\""
        for character in value.unicodeScalars {
            switch character {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default: text.unicodeScalars.append(character)
            }
        }
        return text + "\""
    }

    private static func write(_ line: String) {
        var line = line
        line.withUTF8 { bytes in
            var done = 0
            while done < bytes.count {
                let written = Glibc.write(2, bytes.baseAddress! + done, bytes.count - done)
                if written < 0 && errno != EINTR { return }
                if written > 0 { done += written }
            }
        }
    }
}
