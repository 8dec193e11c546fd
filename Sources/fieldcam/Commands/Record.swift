import CFieldcamLinux
import FieldcamCore
import FieldcamDirector

extension Program {
    func record(_ invocation: Invocation, _ client: ServiceClient) throws(CommandFailure) {
        try refuseMixedOutput(invocation)
        let maximum = try invocation.duration("-t")
        if maximum == .zero { throw .usage("-t: a clip of 0s has no frames; give it a length such as 10s.") }
        let waits = maximum != nil || invocation["-o"] != nil
        // Before the first request, so that Ctrl-C never leaves a clip without its end.
        let signals = waits ? fc_signalfd_for_stop() : nil
        let events = try client.events()
        let body = maximum.map { JSON.members(["maximum_duration": .string($0.text)]) } ?? .object([])
        let accepted = try client.request("POST", "/v1/recording", body: body).body
        guard let id = accepted["id"]?.integer else {
            throw CommandFailure(.failed, "the service told no id; its version and this command's differ.")
        }
        while true {
            switch try events.next(orReadable: signals) {
            case .interrupted:
                _ = fc_signalfd_read(signals!)
                // Ended by itself in the same moment: its event comes.
                do {
                    try client.request("DELETE", "/v1/recording")
                } catch  where error.code == .refused {}
            case .event(_, let event) where event["id"]?.integer == id:
                switch event["event"]?.string {
                case "recording.started" where !waits:
                    return try Output.line(invocation.json ? event.text : String(id))
                case "clip.saved": return try deliver(event, invocation)
                case "clip.failed":
                    let reason = event["reason"]?.string ?? "internal"
                    let partial = event["partial_path"]?.string.map { " What there is stands in \($0)." } ?? ""
                    throw CommandFailure(
                        .failed, "the clip \(id) failed (\(reason)); `fieldcam status` says what is wrong.\(partial)")
                case "clip.discarded":
                    throw CommandFailure(.failed, "the clip \(id) ended before its first frame; nothing was saved.")
                default: break
                }
            case .event: break
            }
        }
    }

    func stop(_ invocation: Invocation, _ client: ServiceClient) throws(CommandFailure) {
        try deliver(try client.request("DELETE", "/v1/recording").body, invocation)
    }
}
