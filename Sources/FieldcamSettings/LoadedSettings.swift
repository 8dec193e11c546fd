import FieldcamCore

/// Settings, and where each value that isn't a default comes from.
public struct LoadedSettings: Hashable, Sendable {
    public var settings = Settings()
    /// Key name (`button.hold`, `hooks.photo.saved`) → the last place that set it.
    public var origins: [String: Place] = [:]

    public init() {}

    /// Reads the settings file, then `conf.d/*.toml` beside it in name order, then `<state>/settings.toml`; the later
    /// one wins, key by key.
    ///
    /// - Parameters:
    ///   - file: the settings file; `nil`: none, and no `conf.d` either.
    ///   - required: whether the file must exist (it was named by the user).
    ///   - state: the state folder; `nil`: none.
    /// - Throws: everything that is wrong in all of the files.
    public static func load(file: String?, required: Bool = false, state: String? = nil) throws(Complaints)
        -> LoadedSettings
    {
        var loaded = LoadedSettings()
        var complaints: [Complaint] = []
        for path in try files(file: file, required: required, state: state) {
            do {
                let root = try TOMLDocument.read(path)
                complaints += Complaints.sorted(loaded.take(root))
            } catch {
                complaints += error.list
            }
        }
        if !complaints.isEmpty { throw Complaints(complaints) }
        return loaded
    }

    /// The same for a text instead of files.
    public static func parse(_ text: String, file: String = "settings") throws(Complaints) -> LoadedSettings {
        var loaded = LoadedSettings()
        try loaded.takeAll(try TOMLDocument.parse(Array(text.utf8), file: file))
        return loaded
    }

    /// These settings, with those of a text that is read after them.
    public func taking(_ text: String, file: String) throws(Complaints) -> LoadedSettings {
        var loaded = self
        try loaded.takeAll(try TOMLDocument.parse(Array(text.utf8), file: file))
        return loaded
    }

    mutating func takeAll(_ root: [TOMLEntry]) throws(Complaints) {
        let complaints = take(root)
        if !complaints.isEmpty { throw Complaints(Complaints.sorted(complaints)) }
    }

    /// The files there are, in the order in which they are read.
    private static func files(file: String?, required: Bool, state: String?) throws(Complaints) -> [String] {
        var paths: [String] = []
        if let file {
            if TextFile.exists(file) {
                paths.append(file)
            } else if required {
                throw Complaints([
                    Complaint(Place(file: file), "there is no such settings file; name another with --settings")
                ])
            }
            let folder = TextFile.folder(of: file) + "/conf.d"
            do {
                paths += try TextFile.names(in: folder).filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }
                    .map { "\(folder)/\($0)" }
            } catch {
                // No folder, no files; one that is there but can't be read must not be passed over.
                if TextFile.exists(folder) {
                    throw Complaints([Complaint(Place(file: folder), "the folder can't be read: \(error.text)")])
                }
            }
        }
        if let state {
            let path = state + "/settings.toml"
            if TextFile.exists(path) { paths.append(path) }
        }
        return paths
    }

    /// Takes all keys of one file over; gives back what is wrong with it.
    private mutating func take(_ root: [TOMLEntry]) -> [Complaint] {
        var complaints: [Complaint] = []
        for section in root {
            guard SettingKey.sections.contains(section.key) else {
                complaints.append(Complaint(section.place, Self.unknown(section)))
                continue
            }
            guard case .table(let entries) = section.value.kind else {
                complaints.append(
                    Complaint(
                        section.place,
                        "'\(section.key)' is \(section.value.shown), not a table; write [\(section.key)] and its keys below"
                    ))
                continue
            }
            for entry in section.key == "hooks" ? Self.flattened(entries) : entries {
                if let complaint = section.key == "hooks" ? takeHook(entry) : take(entry, of: section.key) {
                    complaints.append(complaint)
                }
            }
        }
        return complaints
    }

    private mutating func take(_ entry: TOMLEntry, of section: String) -> Complaint? {
        let name = "\(section).\(entry.key)"
        guard let key = SettingKey.byName[name] else {
            return Complaint(entry.place, Self.unknown(entry, of: section))
        }
        var changed = settings
        do {
            try key.read(entry.value, &changed)
        } catch {
            return Complaint(entry.value.place, "\(name) \(error.message)")
        }
        let (word, literal) = key.write(changed)
        guard literal == key.defaultLiteral || FeatureSet.allows(word, of: name) else {
            return Complaint(
                entry.value.place, "\(name) = \(literal) is not in this version; leave it at \(key.defaultLiteral)")
        }
        settings = changed
        origins[name] = entry.value.place
        return nil
    }

    private mutating func takeHook(_ entry: TOMLEntry) -> Complaint? {
        let event = entry.key
        guard SettingKey.hookEvents.contains(event) else {
            return Complaint(
                entry.place,
                "unknown event \(quoted(event)); \(Suggestion.words(for: event, among: SettingKey.hookEvents))")
        }
        let command: String
        do {
            command = try String(entry.value)
        } catch {
            return Complaint(entry.value.place, "hooks.\(event) \(error.message)")
        }
        guard FeatureSet.hooks else {
            return Complaint(entry.place, "hooks.\(event) is not in this version; remove it")
        }
        settings.hooks[event] = command
        origins["hooks.\(event)"] = entry.value.place
        return nil
    }

    /// `photo.saved = "…"` unquoted is a table in a table; both spellings mean the same event.
    private static func flattened(_ entries: [TOMLEntry]) -> [TOMLEntry] {
        entries.flatMap { entry -> [TOMLEntry] in
            guard case .table(let inner) = entry.value.kind else { return [entry] }
            return inner.map { TOMLEntry(key: "\(entry.key).\($0.key)", place: $0.place, value: $0.value) }
        }
    }

    private static func unknown(_ section: TOMLEntry) -> String {
        if case .table = section.value.kind {
            return "unknown section \(bracketed(section.key)); "
                + Suggestion.words(for: section.key, among: SettingKey.sections)
        }
        // A key outside of any section: the section is what is missing.
        let homes = SettingKey.all.filter { $0.leaf == section.key }
        if homes.count == 1 {
            return "unknown key '\(section.key)' outside of a section; did you mean '\(homes[0].name)'?"
        }
        if section.key.contains(".") == false,
            let near = Suggestion.nearest(to: section.key, among: SettingKey.all.map(\.leaf)),
            let key = SettingKey.all.first(where: { $0.leaf == near })
        {
            return "unknown key \(quoted(section.key)) outside of a section; did you mean '\(key.name)'?"
        }
        return "unknown key \(quoted(section.key)) outside of a section; every key lies in one, such as [button]"
    }

    private static func unknown(_ entry: TOMLEntry, of section: String) -> String {
        let leaves = SettingKey.all.filter { $0.section == section }.map(\.leaf)
        if let near = Suggestion.nearest(to: entry.key, among: leaves) {
            return "unknown key \(quoted(entry.key)) in [\(section)]; did you mean '\(near)'?"
        }
        if let home = SettingKey.all.first(where: { $0.leaf == entry.key }) {
            return "unknown key '\(entry.key)' in [\(section)]; did you mean '\(home.name)'?"
        }
        return "unknown key \(quoted(entry.key)) in [\(section)]; \(Suggestion.words(for: entry.key, among: leaves))"
    }

    private static func bracketed(_ name: String) -> String {
        isName(name) ? "[\(name)]" : quoted(name)
    }
}
