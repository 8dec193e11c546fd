import FieldcamLinux

/// Which camera was used last, in the state folder: for `camera.default = "last"`.
struct LastCamera: Sendable {
    private let path: String

    init(state: String) {
        path = state + "/camera"
    }

    /// Its role; `nil`: none was kept.
    var role: String? {
        let text = Files.contents(of: path)
        guard text.last == UInt8(ascii: "\n"), (2...65).contains(text.count) else { return nil }
        return String(decoding: text.dropLast(), as: UTF8.self)
    }

    func keep(_ role: String) {
        do throws(CommandFailure) {
            try keepDurably(role + "\n", at: path)
        } catch {
            Log.warning("the camera that was used last can't be kept", ["reason": error.message])
        }
    }
}
