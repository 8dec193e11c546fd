import FieldcamDirector

extension Program {
    func status(_ invocation: Invocation, _ client: ServiceClient) throws(CommandFailure) {
        let status = try client.request("GET", "/v1/status").body
        try Output.write(invocation.json ? status.text + "\n" : describe(status: status))
    }

    /// A line for each part, its name first.
    func describe(status: JSON) -> String {
        var text = ""
        func line(_ name: String, _ parts: [String?]) {
            let told = parts.compactMap { $0 }.filter { !$0.isEmpty }
            text += name + String(repeating: " ", count: max(1, 11 - name.count)) + told.joined(separator: ", ") + "\n"
        }
        func count(_ json: JSON?, _ key: String, _ words: String) -> String? {
            json?[key]?.integer.map { "\($0) \(words)" }
        }
        let camera = status["camera"]
        let video = camera?["mode"]?["video"]
        var mode: String?
        if let width = video?["width"]?.integer, width > 0, let height = video?["height"]?.integer {
            mode = "\(width)x\(height)"
            switch camera?["mode"]?["framerate"] {
            case .number(let rate):
                let shown = (rate * 100).rounded() / 100
                mode! += " at \(shown == shown.rounded() ? String(Int(shown)) : String(shown)) fps"
            case .integer(let rate): mode! += " at \(rate) fps"
            default: break
            }
        }
        line(
            "camera",
            [
                camera?["state"]?.string, camera?["role"]?.string, camera?["model"]?.string, mode,
                camera?["state"]?.string == "up" && camera?["running"]?.bool == false
                    ? "no frame within the last second" : nil,
                camera?["detail"]?.string,
            ])
        let recording = status["recording"]
        line(
            "recording",
            [
                recording?["state"]?.string, recording?["id"]?.integer.map { "id \($0)" },
                recording?["elapsed_ms"]?.integer.map { "\($0 / 1000) s" }, recording?["encoder"]?.string,
            ])
        if case .array(let buttons) = status["buttons"] {
            for button in buttons {
                line(
                    "button",
                    [
                        button["role"]?.string, button["pressed"]?.bool == true ? "pressed" : "released",
                        button["detail"]?.string,
                    ])
            }
        }
        let light = status["light"]
        line(
            "light",
            [
                light?["on"]?.bool == true ? light?["level"]?.shownNumber.map { "on at \($0)" } : "off",
                light?["owner"]?.string.map { "by \($0)" },
                status["flash"]?.string.map { "flash \($0)" }, light?["reason"]?.string,
            ])
        line(
            "lens",
            [
                status["focus"].map { "focus \(Program.effective($0))" },
                status["zoom"]?.shownNumber.map { "zoom \($0)" },
                status["low_light"]?.bool == true ? "low light" : nil,
            ])
        line("audio", [status["audio"]?["state"]?.string, status["audio"]?["detail"]?.string])
        let storage = status["storage"]
        line(
            "storage",
            [
                storage?["state"]?.string,
                storage?["headroom_bytes"]?.integer.map { "\($0 / 1_000_000) MB above the reserve" },
                storage?["media"]?.string, storage?["detail"]?.string,
            ])
        line("clock", [status["clock"]?["trusted"]?.bool == true ? "trusted" : "not trusted yet"])
        let counters = status["counters"]
        line(
            "counted",
            [
                count(counters, "presses", "presses"), count(counters, "shots", "photos"),
                count(counters, "clips", "clips"), count(counters, "rejected", "rejected"),
                count(counters, "edges_lost", "edges lost"), count(counters, "frames_missed", "frames missed"),
            ])
        if case .object(let versions) = status["versions"] {
            line("versions", versions.map { "\($0.key) \($0.value.string ?? $0.value.text)" })
        }
        return text
    }
}
