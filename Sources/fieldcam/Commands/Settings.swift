import FieldcamDirector
import FieldcamServer
import FieldcamSettings

extension Program {
    /// One key's value, or all, a line each.
    func get(_ invocation: Invocation, _ client: ServiceClient) throws(CommandFailure) {
        guard case .object(let all) = try client.request("GET", "/v1/settings").body else {
            throw CommandFailure(.failed, "the service told no settings; its version and this command's differ.")
        }
        guard let name = invocation.operands.first else {
            if invocation.json { return try Output.line(JSON.object(all).text) }
            for member in all { try Output.line("\(member.key) = \(Self.setting(member.value))") }
            return
        }
        guard let found = all.first(where: { $0.key == name }) else {
            let advice =
                Suggestion.nearest(to: name, among: all.map(\.key)).map { "did you mean '\($0)'?" }
                ?? "`fieldcam get` lists them."
            throw .usage("there is no setting '\(name)': \(advice)")
        }
        try Output.line(invocation.json ? found.value.text : Self.setting(found.value))
    }

    /// VALUE is read as JSON where it is that (`92`, `true`, `[0, 0, 1, 1]`), else as a text.
    func set(_ invocation: Invocation, _ client: ServiceClient) throws(CommandFailure) {
        let (name, text) = (invocation.operands[0], invocation.operands[1])
        let value = (try? JSON(parsing: text.utf8)) ?? .string(text)
        let body = try client.request("PATCH", "/v1/settings", body: .object([.init(name, value)])).body
        guard let told = body[name] else {
            throw CommandFailure(.failed, "the service told no value; its version and this command's differ.")
        }
        try Output.line(invocation.json ? told.text : Self.setting(told))
    }

    /// What is in effect; beside it what is asked, where that waits.
    static func setting(_ value: JSON) -> String {
        func word(_ json: JSON?) -> String { json.map { $0.string ?? $0.shownNumber ?? $0.text } ?? "" }
        let (requested, effective) = (value["requested"], value["effective"])
        guard requested != effective else { return word(effective) }
        let reason = value["reason"]?.string.map { "; \($0)" } ?? ""
        return "\(effective == .null ? "none" : word(effective)) (requested: \(word(requested))\(reason))"
    }
}
