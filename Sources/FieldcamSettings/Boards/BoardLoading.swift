extension BoardProfile {
    /// Reads `board.toml` in a board's folder.
    public static func load(folder: String) throws(Complaints) -> BoardProfile {
        try load(file: folder + "/board.toml", folder: folder)
    }

    /// The same for a text instead of a file.
    public static func parse(_ text: String, file: String = "board.toml") throws(Complaints) -> BoardProfile {
        try read(TOMLDocument.parse(Array(text.utf8), file: file), file: file, folder: "")
    }

    static func load(file: String, folder: String) throws(Complaints) -> BoardProfile {
        try read(TOMLDocument.read(file), file: file, folder: folder)
    }

    private static func read(_ root: [TOMLEntry], file: String, folder: String) throws(Complaints) -> BoardProfile {
        var reader = BoardReader(file: file)
        var board = reader.board(root)
        board.folder = folder
        if !reader.complaints.isEmpty { throw Complaints(Complaints.sorted(reader.complaints)) }
        return board
    }

    /// Finds a board by what `--board` says: a folder if it holds a slash, else a name that is sought in `paths`.
    ///
    /// - Parameter paths: folders of boards, the first that has the name wins.
    public static func find(_ nameOrFolder: String, paths: [String]) throws(Complaints) -> BoardProfile {
        if nameOrFolder.contains("/") { return try load(folder: nameOrFolder) }
        for path in paths {
            let folder = "\(path)/\(nameOrFolder)"
            if TextFile.exists(folder + "/board.toml") { return try load(folder: folder) }
        }
        let names = names(paths: paths)
        var message = "there is no board \(quoted(nameOrFolder)) in \(paths.joined(separator: ", "))"
        if let near = Suggestion.nearest(to: nameOrFolder, among: names) {
            message += "; did you mean '\(near)'?"
        } else if !names.isEmpty {
            message += "; there are: \(names.joined(separator: ", "))"
        }
        throw Complaints([Complaint(Place(file: "--board"), message)])
    }

    /// The names of all boards there are, each once, in order.
    public static func names(paths: [String]) -> [String] {
        var names: Set<String> = []
        for path in paths {
            for name in (try? TextFile.names(in: path)) ?? [] where TextFile.exists("\(path)/\(name)/board.toml") {
                names.insert(name)
            }
        }
        return names.sorted()
    }
}
