/// The command line from its words to its exit code.
struct Program {
    /// $FIELDCAM_SOCKET.
    var environmentSocket: String?

    init(environment socket: String?) {
        environmentSocket = socket.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// - Parameter arguments: with the program's name first.
    func run(_ arguments: [String]) -> Int32 {
        do {
            return try run(Invocation(arguments.dropFirst()))
        } catch {
            if !error.message.isEmpty { Output.complain(error.message) }
            return error.code.rawValue
        }
    }

    private func run(_ invocation: Invocation) throws(CommandFailure) -> Int32 {
        switch invocation.request {
        case .help(let syntax): try Output.write(syntax?.help ?? CommandSyntax.overview)
        case .version:
            try Output.line(
                invocation.json
                    ? "{\"name\":\"fieldcam\",\"version\":\"\(fieldcamVersion)\"}" : "fieldcam \(fieldcamVersion)")
        case .run(let syntax):
            let client = ServiceClient(
                socketPath: invocation["--socket"] ?? environmentSocket ?? ServeOptions.defaultSocket)
            switch syntax.name {
            case "serve": return Serve.run(try ServeOptions(invocation))
            case "photo": try photo(invocation, client)
            case "record": try record(invocation, client)
            case "stop": try stop(invocation, client)
            case "press": try press(invocation, client)
            case "focus": try focus(invocation, client)
            case "zoom": try zoom(invocation, client)
            case "flash": try flash(invocation, client)
            case "torch": try torch(invocation, client)
            case "switch": try switchCamera(invocation, client)
            case "start", "standby", "release": try camera(syntax.name, invocation, client)
            case "status": try status(invocation, client)
            case "events": try events(invocation, client)
            case "get": try get(invocation, client)
            case "set": try set(invocation, client)
            case "boards": return try boards(invocation)
            case "check": return try check(invocation)
            default: preconditionFailure("the command \(syntax.name) has no body")
            }
        }
        return ExitCode.done.rawValue
    }
}
