import CFieldcamLinux
import FieldcamLinux
import Glibc

/// Copies a durable file of the media folder to where the user wants it; `-` is stdout. An existing file is replaced as
/// a whole, or not at all; a device or pipe is written to.
func copyDurableFile(_ source: String, to target: String) throws(CommandFailure) {
    let input = fc_open(source, O_RDONLY, 0)
    guard input >= 0 else {
        throw CommandFailure(.failed, "\(source) is saved but can't be read: \(errorText(-input)).")
    }
    defer { close(input) }
    if target == "-" { return try copy(input, source, to: 1, "stdout") }
    var information = stat()
    let isSpecial = stat(target, &information) == 0 && information.st_mode & S_IFMT != S_IFREG
    if isSpecial && information.st_mode & S_IFMT == S_IFDIR {
        throw CommandFailure(
            .cannotCreate, "\(target) is a folder: give a file name (the original is \(source)).")
    }
    // Beside the target, so that the rename stays on one file system.
    let partial = isSpecial ? target : "\(target).\(getpid()).partial"
    let output = fc_open(partial, O_WRONLY | (isSpecial ? 0 : O_CREAT | O_EXCL), 0o666)
    guard output >= 0 else {
        throw CommandFailure(
            .cannotCreate, "\(target) can't be made: \(errorText(-output)) (the original is \(source)).")
    }
    do {
        defer { close(output) }
        try copy(input, source, to: output, target)
    } catch {
        if !isSpecial { unlink(partial) }
        throw error
    }
    guard isSpecial || rename(partial, target) == 0 else {
        let code = errno
        unlink(partial)
        throw CommandFailure(
            .cannotCreate, "\(target) can't be replaced: \(errorText(code)) (the original is \(source)).")
    }
}

private func copy(_ input: Int32, _ source: String, to output: Int32, _ target: String) throws(CommandFailure) {
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    while true {
        let count = read(input, &buffer, buffer.count)
        if count == 0 { return }
        if count < 0 {
            if errno == EINTR { continue }
            throw CommandFailure(.failed, "\(source) can't be read: \(errorText(errno)).")
        }
        let code = buffer.withUnsafeBytes { writeAll(UnsafeRawBufferPointer(rebasing: $0[..<count]), to: output) }
        guard code == 0 else {
            throw CommandFailure(
                .cannotCreate, "\(target) can't be written: \(errorText(code)) (the original is \(source)).")
        }
    }
}
