import FieldcamLinux
import FieldcamSettings
import Glibc

/// stdout: the result and nothing else.
enum Output {
    /// - Throws: when stdout can't take it; a reader that went away (`… | head`) has had enough and isn't told so.
    static func line(_ text: String) throws(CommandFailure) {
        try write(text + "\n")
    }

    static func write(_ text: String) throws(CommandFailure) {
        let bytes = Array(text.utf8)
        let code = bytes.withUnsafeBytes { writeAll($0, to: 1) }
        if code == EPIPE { throw CommandFailure(.done, "") }
        if code != 0 { throw CommandFailure(.cannotCreate, "stdout can't be written: \(errorText(code)).") }
    }

    /// One sentence on stderr.
    static func complain(_ message: String) {
        tell("fieldcam: \(message)\n")
    }

    /// A fault of a file on stderr: `file:line:column: message`, as editors understand it.
    static func complain(_ complaint: Complaint) {
        tell("\(complaint)\n")
    }

    private static func tell(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { writeAll($0, to: 2) }
    }
}

/// Writes all of it; 0 or errno.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
    var done = 0
    while done < bytes.count {
        let written = write(descriptor, bytes.baseAddress! + done, bytes.count - done)
        if written > 0 { done += written } else if written < 0 && errno != EINTR { return errno }
    }
    return 0
}
