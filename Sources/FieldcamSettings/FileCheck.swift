/// Validates one file for `fieldcam check`.
public enum FileCheck {
    public enum Content: String, Hashable, Sendable {
        case settings
        case board
    }

    /// Tells what the file is (a board's file is called `board.toml`, or has keys that only boards have) and reads it.
    ///
    /// - Throws: everything that is wrong with it.
    @discardableResult
    public static func check(_ path: String) throws(Complaints) -> Content {
        let root = try TOMLDocument.read(path)
        let isBoard =
            path == "board.toml" || path.hasSuffix("/board.toml")
            || root.contains { entry in
                if ["name", "title", "models", "light", "indicator", "microphone"].contains(entry.key) { return true }
                if case .array = entry.value.kind { return ["camera", "button"].contains(entry.key) }
                return false
            }
        if isBoard {
            _ = try BoardProfile.load(file: path, folder: TextFile.folder(of: path))
            return .board
        }
        var loaded = LoadedSettings()
        try loaded.takeAll(root)
        let contradictions = loaded.contradictionsInside
        if !contradictions.isEmpty { throw Complaints(contradictions) }
        return .settings
    }
}
