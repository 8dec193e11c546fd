/// A spot in a settings or board file.
public struct Place: Hashable, Sendable, CustomStringConvertible {
    public var file: String
    /// From 1; 0: the file as a whole.
    public var line: Int
    /// From 1, in characters; 0: the file as a whole.
    public var column: Int

    public init(file: String, line: Int = 0, column: Int = 0) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// `file:line:column`, or the file alone.
    public var description: String { line > 0 ? "\(file):\(line):\(column)" : file }
}
