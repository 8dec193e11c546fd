import CFieldcamTOML

/// A value of a TOML document and where it stands.
struct TOMLValue {
    enum Kind {
        case string(String)
        case integer(Int64)
        case float(Double)
        case boolean(Bool)
        case dateTime
        case array([TOMLValue])
        case table([TOMLEntry])
    }
    var kind: Kind
    var place: Place

    /// The value as a message shows it: one line, not too long.
    var shown: String {
        switch kind {
        case .string(let text): quoted(text)
        case .integer(let number): "\(number)"
        case .float(let number): "\(number)"
        case .boolean(let value): "\(value)"
        case .dateTime: "a date or time"
        case .array: "a list"
        case .table: "a table"
        }
    }
}

/// A key of a table with its value.
struct TOMLEntry {
    var key: String
    /// Where the key stands.
    var place: Place
    var value: TOMLValue
}

/// User's text in quotes, as one line: what isn't printable is escaped, and what is long is cut.
func quoted(_ text: String) -> String {
    var result = "\""
    var count = 0
    for scalar in text.unicodeScalars {
        if count == 60 {
            result += "…"
            break
        }
        count += 1
        switch scalar {
        case "\"": result += "\\\""
        case "\\": result += "\\\\"
        case "\n": result += "\\n"
        case "\t": result += "\\t"
        default:
            if scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .lineSeparator
                || scalar.properties.generalCategory == .paragraphSeparator
            {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }
    return result + "\""
}

/// Reads TOML files.
enum TOMLDocument {
    /// The root table of a file.
    static func read(_ path: String) throws(Complaints) -> [TOMLEntry] {
        let bytes: [UInt8]
        do {
            bytes = try TextFile.read(path)
        } catch {
            throw Complaints([Complaint(Place(file: path), "the file can't be read: \(error.text)")])
        }
        return try parse(bytes, file: path)
    }

    static func parse(_ bytes: [UInt8], file: String) throws(Complaints) -> [TOMLEntry] {
        var document: OpaquePointer?
        let result = bytes.withUnsafeBytes { raw in
            fc_toml_read(raw.baseAddress?.assumingMemoryBound(to: CChar.self), raw.count, &document)
        }
        guard let document else {
            throw Complaints([Complaint(Place(file: file), "there is no memory left to read the file")])
        }
        defer { fc_toml_free(document) }
        guard result == 0 else {
            var line: UInt32 = 0
            var column: UInt32 = 0
            let problem = String(cString: fc_toml_problem(document, &line, &column))
            throw Complaints([
                Complaint(Place(file: file, line: max(1, Int(line)), column: max(1, Int(column))), plain(problem))
            ])
        }
        return tree(document, file: file)
    }

    /// The list's nodes stand in front of their children, so a walk from the end finds every node's children complete.
    private static func tree(_ document: OpaquePointer, file: String) -> [TOMLEntry] {
        let count = fc_toml_count(document)
        var children = [[TOMLEntry]](repeating: [], count: count + 1)
        for index in stride(from: count - 1, through: 0, by: -1) {
            let node = fc_toml_at(document, index).pointee
            let place = Place(file: file, line: Int(node.line), column: Int(node.column))
            // Children were gathered from the last to the first.
            let own = Array(children[index].reversed())
            children[index] = []
            let kind: TOMLValue.Kind
            switch node.type {
            case FC_TOML_TABLE: kind = .table(own)
            case FC_TOML_ARRAY: kind = .array(own.map(\.value))
            case FC_TOML_STRING: kind = .string(text(node.text, node.text_length))
            case FC_TOML_INTEGER: kind = .integer(node.integer)
            case FC_TOML_FLOAT: kind = .float(node.real)
            case FC_TOML_BOOLEAN: kind = .boolean(node.integer != 0)
            default: kind = .dateTime
            }
            let entry = TOMLEntry(
                key: text(node.key, node.key_length),
                place: Place(file: file, line: Int(node.key_line), column: Int(node.key_column)),
                value: TOMLValue(kind: kind, place: place))
            children[node.parent < 0 ? count : Int(node.parent)].append(entry)
        }
        return children[count].reversed()
    }

    private static func text(_ bytes: UnsafePointer<CChar>, _ length: Int) -> String {
        bytes.withMemoryRebound(to: UInt8.self, capacity: length) { bytes in
            String(decoding: UnsafeBufferPointer(start: bytes, count: length), as: UTF8.self)
        }
    }

    /// The library's words without its preamble, as one line; a key that stands twice is told in ours.
    private static func plain(_ problem: String) -> String {
        if let start = range(of: "cannot redefine existing ", in: problem) {
            let rest = problem[start...]
            if let quote = rest.firstIndex(of: "'"), let end = rest.lastIndex(of: "'"), quote < end {
                return "'\(rest[rest.index(after: quote)..<end])' stands here a second time; keep one of the two"
            }
        }
        var words = problem
        if problem.hasPrefix("Error while parsing "), let colon = range(of: ": ", in: problem) {
            words =
                "\(problem[problem.index(colon, offsetBy: 2)...]) "
                + "(in a \(problem.dropFirst("Error while parsing ".count).prefix { $0 != ":" }))"
        }
        let line = words.unicodeScalars.map { scalar in
            scalar.value < 0x20 || scalar.value == 0x7F ? "?" : String(Character(scalar))
        }.joined()
        return "this isn't TOML: \(line)"
    }

    private static func range(of part: String, in text: String) -> String.Index? {
        var index = text.startIndex
        while index < text.endIndex {
            if text[index...].hasPrefix(part) { return index }
            index = text.index(after: index)
        }
        return nil
    }
}
