import FieldcamDirector

extension Program {
    func events(_ invocation: Invocation, _ client: ServiceClient) throws(CommandFailure) {
        let events = try client.events()
        while true {
            guard case .event(let text, let event) = try events.next() else { continue }
            try Output.line(invocation.json ? text : describe(event))
        }
    }

    /// `2026-11-30T14:49:27.120Z photo.saved id=123 source=button path=…`
    func describe(_ event: JSON) -> String {
        guard case .object(let members) = event else { return event.text }
        var line = "\(event["at"]?.string ?? "") \(event["event"]?.string ?? "")"
        for member in members where !["seq", "event", "at", "mono_ns"].contains(member.key) {
            line += " \(member.key)=\(member.value.string ?? member.value.text)"
        }
        return line
    }
}
