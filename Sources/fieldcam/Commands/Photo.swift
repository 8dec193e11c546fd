import FieldcamDirector

extension Program {
    func photo(_ invocation: Invocation, _ client: ServiceClient) throws(CommandFailure) {
        try refuseMixedOutput(invocation)
        let body = invocation["--flash"].map { JSON.members(["flash": .string($0)]) }
        let saved = try client.request("POST", "/v1/photos", body: body).body
        try deliver(saved, invocation)
    }

    /// stdout can't carry the file and a description of it.
    func refuseMixedOutput(_ invocation: Invocation) throws(CommandFailure) {
        guard invocation.json, invocation["-o"] == "-" else { return }
        throw .usage("--json and -o - both want stdout: give -o a file name, or leave --json out.")
    }

    /// Copies and prints what `photo.saved` or `clip.saved` tells.
    func deliver(_ saved: JSON, _ invocation: Invocation) throws(CommandFailure) {
        guard let path = saved["path"]?.string else {
            throw CommandFailure(.failed, "the service told no path; its version and this command's differ.")
        }
        if let target = invocation["-o"] {
            try copyDurableFile(path, to: target)
            if target == "-" { return }
        }
        try Output.line(invocation.json ? saved.text : path)
    }
}
