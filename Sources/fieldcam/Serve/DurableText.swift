import CFieldcamLinux
import FieldcamLinux
import Glibc

/// Replaces a small file as a whole, so that a power cut leaves the old text or the new one.
func keepDurably(_ text: String, at path: String) throws(CommandFailure) {
    let new = path + ".new"
    var code = store(text, at: new)
    if code == 0, rename(new, path) != 0 { code = errno }
    if code == 0 { code = syncFolder(of: path) }
    guard code == 0 else {
        unlink(new)
        throw CommandFailure(
            .failed, "\(path) can't be written: \(errorText(code)); make room or mend its permissions.")
    }
}

private func store(_ text: String, at path: String) -> Int32 {
    let file = fc_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard file >= 0 else { return -file }
    defer { close(file) }
    let bytes = Array(text.utf8)
    let code = bytes.withUnsafeBytes { writeAll($0, to: file) }
    guard code == 0 else { return code }
    return fsync(file) == 0 ? 0 : errno
}

private func syncFolder(of path: String) -> Int32 {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let descriptor = fc_open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY, 0)
    guard descriptor >= 0 else { return -descriptor }
    defer { close(descriptor) }
    return fsync(descriptor) == 0 ? 0 : errno
}
