import FieldcamCore
import FieldcamSettings

/// A command line as it was understood.
struct Invocation: Sendable {
    enum Request: Sendable {
        case run(CommandSyntax)
        /// The help of one command, or of all.
        case help(CommandSyntax?)
        case version
    }

    private(set) var request: Request
    private(set) var json = false
    private(set) var operands: [String] = []
    private var values: [String: String] = [:]

    /// An option's value; nil: it wasn't given.
    subscript(option: String) -> String? { values[option] }

    /// An option's value as a duration.
    func duration(_ option: String) throws(CommandFailure) -> Duration? {
        guard let text = values[option] else { return nil }
        do {
            return try Duration(text: text)
        } catch {
            throw .usage("\(option): \(error.message).")
        }
    }

    /// - Parameter arguments: without the program's name.
    init(_ arguments: some Collection<String>) throws(CommandFailure) {
        var rest = Array(arguments)[...]
        var wantsVersion = false
        while let first = rest.first, first.hasPrefix("-") {
            rest.removeFirst()
            switch first {
            case "--help", "-h":
                request = .help(nil)
                return
            case "--version": wantsVersion = true
            case "--json": json = true
            default:
                throw .usage(
                    "the command comes before its options: `fieldcam COMMAND \(first) …`; `fieldcam --help` lists the commands."
                )
            }
        }
        guard let name = rest.popFirst() else {
            guard wantsVersion else {
                throw .usage("no command was given: `fieldcam --help` lists the commands.")
            }
            request = .version
            return
        }
        let syntax = try Self.command(name)
        request = wantsVersion ? .version : .run(syntax)
        try parse(&rest, syntax)
    }

    private static func command(_ name: String) throws(CommandFailure) -> CommandSyntax {
        if let syntax = CommandSyntax.all.first(where: { $0.name == name }) { return syntax }
        if CommandSyntax.later.contains(name) {
            throw .usage("the command '\(name)' isn't in this version; `fieldcam --help` lists those that are.")
        }
        let advice =
            Suggestion.nearest(to: name, among: CommandSyntax.all.map(\.name)).map { "did you mean '\($0)'?" }
            ?? "`fieldcam --help` lists the commands."
        throw .usage("'\(name)' is no command: \(advice)")
    }

    /// `-0.5` is a value out of range, not an option.
    private static func isNumber(_ argument: String) -> Bool {
        argument.utf8.dropFirst().first.map { (0x30...0x39).contains($0) } ?? false
    }

    private mutating func parse(_ rest: inout ArraySlice<String>, _ syntax: CommandSyntax) throws(CommandFailure) {
        var onlyOperands = false
        while let argument = rest.popFirst() {
            if onlyOperands || argument == "-" || !argument.hasPrefix("-") || Self.isNumber(argument) {
                operands.append(argument)
                continue
            }
            if argument == "--" {
                onlyOperands = true
                continue
            }
            // --name=value and -nvalue as well as with a space.
            var name = argument
            var attached: String?
            if argument.hasPrefix("--") {
                if let equals = argument.firstIndex(of: "=") {
                    name = String(argument[..<equals])
                    attached = String(argument[argument.index(after: equals)...])
                }
            } else if argument.count > 2 {
                name = String(argument.prefix(2))
                attached = String(argument.dropFirst(2))
            }
            if name == "-h" { name = "--help" }
            guard let option = syntax.allOptions.first(where: { $0.name == name }) else {
                let advice =
                    Suggestion.nearest(to: name, among: syntax.allOptions.map(\.name)).map { "did you mean '\($0)'?" }
                    ?? "`fieldcam \(syntax.name) --help` lists its options."
                throw .usage("`fieldcam \(syntax.name)` has no option '\(name)': \(advice)")
            }
            if option.value.isEmpty {
                guard attached == nil else { throw .usage("\(name) takes no value.") }
                switch name {
                case "--help":
                    request = .help(syntax)
                    return
                case "--version": request = .version
                default: json = true
                }
                continue
            }
            guard let value = attached ?? rest.popFirst() else {
                throw .usage("\(name) needs a value: `fieldcam \(syntax.name) \(name) \(option.value)`.")
            }
            guard !value.isEmpty else { throw .usage("\(name) has an empty value; it needs \(option.value).") }
            guard values.updateValue(value, forKey: name) == nil else { throw .usage("\(name) is given twice.") }
        }
        if case .version = request { return }
        guard operands.count >= syntax.operandCount.lowerBound else {
            throw .usage("`fieldcam \(syntax.name)` needs \(syntax.operands).")
        }
        guard operands.count <= syntax.operandCount.upperBound else {
            let extra = operands[syntax.operandCount.upperBound]
            throw .usage(
                "`fieldcam \(syntax.name)` has no use for '\(extra)'; `fieldcam \(syntax.name) --help` tells what it takes."
            )
        }
    }
}
