import Glibc

@testable import FieldcamSettings

/// A folder of a test's own, removed with all that is in it.
final class SettingsFolder {
    let path: String

    init() {
        var template = Array("/tmp/fieldcam-settings-XXXXXX".utf8CString)
        path = String(cString: mkdtemp(&template)!)
    }

    deinit { remove(path) }

    private func remove(_ path: String) {
        guard let names = try? TextFile.names(in: path) else {
            unlink(path)
            return
        }
        for name in names { remove("\(path)/\(name)") }
        rmdir(path)
    }

    /// Writes a file and makes the folders above it; gives back its path.
    @discardableResult
    func write(_ name: String, _ text: String) -> String {
        let parts = name.split(separator: "/")
        var folder = path
        for part in parts.dropLast() {
            folder += "/\(part)"
            mkdir(folder, 0o755)
        }
        let file = "\(path)/\(name)"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        precondition(descriptor >= 0)
        defer { close(descriptor) }
        var text = text
        text.withUTF8 { bytes in
            precondition(Glibc.write(descriptor, bytes.baseAddress, bytes.count) == bytes.count)
        }
        return file
    }
}

enum Fixtures {
    static let root: String = {
        var path = #filePath
        for _ in 0..<3 { path = TextFile.folder(of: path) }
        return path
    }()
    static let boards = root + "/boards"
    static let folder = root + "/Tests/Fixtures"
}

/// What is wrong with a text of settings, one line each; empty: nothing.
func complaints(_ text: String) -> [String] {
    do {
        _ = try LoadedSettings.parse(text, file: "s.toml")
        return []
    } catch {
        return error.list.map(\.description)
    }
}

/// The same for a board.
func boardComplaints(_ text: String) -> [String] {
    do {
        _ = try BoardProfile.parse(text, file: "b.toml")
        return []
    } catch {
        return error.list.map(\.description)
    }
}
