/// One thing that is wrong in a settings or board file, and what to do about it.
public struct Complaint: Hashable, Sendable, CustomStringConvertible {
    public var place: Place
    /// One sentence without a full stop.
    public var message: String

    public init(_ place: Place, _ message: String) {
        self.place = place
        self.message = message
    }

    /// `file:line:column: message`, always one line.
    public var description: String { "\(place): \(message)" }
}

/// All that is wrong, in the order of the files and their lines. Never empty when thrown.
public struct Complaints: Error, Hashable, Sendable, CustomStringConvertible {
    public var list: [Complaint]

    public init(_ list: [Complaint]) {
        self.list = list
    }

    public var description: String {
        list.map(\.description).joined(separator: "\n")
    }

    /// Sorts the complaints of one file as they stand in it.
    static func sorted(_ list: [Complaint]) -> [Complaint] {
        list.enumerated().sorted { left, right in
            (left.element.place.line, left.element.place.column, left.offset)
                < (right.element.place.line, right.element.place.column, right.offset)
        }.map(\.element)
    }
}

/// Why a value couldn't be read, in words that follow the key's name.
struct Misreading: Error {
    var message: String
    init(_ message: String) { self.message = message }
}
