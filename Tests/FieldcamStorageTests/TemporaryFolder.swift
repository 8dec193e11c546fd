import Glibc

@testable import FieldcamStorage

/// A folder of a test's own, removed with all that is in it.
final class TemporaryFolder {
    let path: String
    private let file = LinuxFileSystem()

    init() {
        var template = Array("/tmp/fieldcam-store-XXXXXX".utf8CString)
        path = String(cString: mkdtemp(&template)!)
    }

    deinit {
        remove(path)
    }

    func remove(_ path: String) {
        if file.isFolder(path) {
            for name in names(path) { remove("\(path)/\(name)") }
            rmdir(path)
        } else {
            try? file.remove(path)
        }
    }

    func names(_ folder: String) -> [String] {
        ((try? file.names(in: folder)) ?? []).sorted()
    }

    func write(_ path: String, _ bytes: [UInt8]) {
        do {
            let descriptor = try file.createOrEmpty(path)
            defer { file.close(descriptor) }
            try file.writeAll(descriptor, at: 0, bytes)
        } catch {
            preconditionFailure("\(path): \(error)")
        }
    }

    func read(_ path: String) -> [UInt8]? {
        guard let descriptor = try? file.open(path) else { return nil }
        defer { file.close(descriptor) }
        return try? file.readAll(descriptor, at: 0, 1 << 24)
    }
}
