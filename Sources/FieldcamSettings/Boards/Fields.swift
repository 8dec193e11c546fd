/// The keys of one table, read one by one; what is unknown or wrong is gathered.
struct Fields {
    private(set) var complaints: [Complaint] = []
    private let entries: [TOMLEntry]

    /// - Parameter title: what the table describes, for messages: "a [[camera]]".
    init(_ entries: [TOMLEntry], title: String, known: [String]) {
        self.entries = entries
        for entry in entries where !known.contains(entry.key) {
            complaints.append(
                Complaint(
                    entry.place,
                    "unknown key \(quoted(entry.key)) in \(title); \(Suggestion.words(for: entry.key, among: known))"))
        }
    }

    /// Where a key's value stands; `nil`: it isn't there.
    func place(_ key: String) -> Place? { entry(key)?.value.place }

    mutating func value<Value>(_ key: String, _ read: (TOMLValue) throws(Misreading) -> Value) -> Value? {
        guard let entry = entry(key) else { return nil }
        do {
            return try read(entry.value)
        } catch {
            complaints.append(Complaint(entry.value.place, "\(key) \(error.message)"))
            return nil
        }
    }

    mutating func value<Value: SettingType>(_ key: String, _ type: Value.Type) -> Value? {
        value(key) { value throws(Misreading) in try Value(value) }
    }

    mutating func required<Value>(
        _ key: String, at table: Place, _ read: (TOMLValue) throws(Misreading) -> Value
    ) -> Value? {
        guard entry(key) != nil else {
            complaints.append(Complaint(table, "'\(key)' is missing here; add it"))
            return nil
        }
        return value(key, read)
    }

    /// - Parameter least: an example, where the list may not be empty.
    mutating func list<Value>(
        _ key: String, least: String? = nil, _ read: (TOMLValue) throws(Misreading) -> Value
    ) -> [Value]? {
        guard let entry = entry(key) else { return nil }
        guard case .array(let items) = entry.value.kind else {
            complaints.append(
                Complaint(entry.value.place, "\(key) is \(entry.value.shown); write a list such as [\"…\"]"))
            return nil
        }
        if items.isEmpty, let least {
            complaints.append(Complaint(entry.value.place, "\(key) is empty; name one at least, such as \(least)"))
        }
        var values: [Value] = []
        for item in items {
            do {
                values.append(try read(item))
            } catch {
                complaints.append(Complaint(item.place, "\(key) \(error.message)"))
            }
        }
        return values
    }

    mutating func table(_ key: String) -> (place: Place, entries: [TOMLEntry])? {
        guard let entry = entry(key) else { return nil }
        guard case .table(let entries) = entry.value.kind else {
            complain(Complaint(entry.place, "'\(key)' is \(entry.value.shown), not a table; write [\(key)]"))
            return nil
        }
        return (entry.value.place, entries)
    }

    /// The tables of `[[key]]`.
    mutating func tables(_ key: String) -> [(place: Place, entries: [TOMLEntry])] {
        guard let entry = entry(key) else { return [] }
        guard case .array(let items) = entry.value.kind else {
            complain(Complaint(entry.place, "'\(key)' is \(entry.value.shown), not a list of tables; write [[\(key)]]"))
            return []
        }
        var tables: [(Place, [TOMLEntry])] = []
        for item in items {
            if case .table(let entries) = item.kind {
                tables.append((item.place, entries))
            } else {
                complain(Complaint(item.place, "'\(key)' holds \(item.shown), not a table; write [[\(key)]]"))
            }
        }
        return tables
    }

    /// Complains about keys that make no sense here.
    mutating func refuse(_ keys: [String], because reason: String) {
        for key in keys {
            if let entry = entry(key) {
                complaints.append(Complaint(entry.place, "'\(key)' makes no sense here: \(reason); remove it"))
            }
        }
    }

    private mutating func complain(_ complaint: Complaint) {
        if !complaints.contains(complaint) { complaints.append(complaint) }
    }

    private func entry(_ key: String) -> TOMLEntry? { entries.first { $0.key == key } }
}
