import FieldcamDirector

// Live control: each command prints what is in effect afterwards, in one word or number.
extension Program {
    func focus(_ invocation: Invocation, _ client: ServiceClient) throws(CommandFailure) {
        let text = invocation.operands[0]
        if text == "auto" { return try tell(client.request("DELETE", "/v1/focus").body, invocation) }
        let numbers = try text.split(separator: ",", omittingEmptySubsequences: false)
            .map { part throws(CommandFailure) in
                guard let number = Self.number(part) else {
                    throw .usage(
                        "'\(text)' is no focus: write X,Y (each 0 to 1, from the top left), auto, or dioptres such as 2.5."
                    )
                }
                return number
            }
        switch numbers.count {
        case 1: try tell(post("/v1/focus", ["dioptres": .number(numbers[0])], client), invocation)
        case 2:
            try tell(
                post("/v1/focus", ["x": .number(numbers[0]), "y": .number(numbers[1])], client), invocation)
        default: throw .usage("'\(text)' has \(numbers.count) numbers; a point has two: X,Y.")
        }
    }

    func zoom(_ invocation: Invocation, _ client: ServiceClient) throws(CommandFailure) {
        let text = invocation.operands[0]
        guard let factor = Self.number(text) else {
            throw .usage("'\(text)' is no zoom factor: write a number from 1 up, such as 2 or 1.5.")
        }
        try tell(post("/v1/zoom", ["factor": .number(factor)], client), invocation)
    }

    func flash(_ invocation: Invocation, _ client: ServiceClient) throws(CommandFailure) {
        let text = invocation.operands[0]
        guard ["off", "on", "auto"].contains(text) else {
            throw .usage("'\(text)' is no flash mode: write off, on or auto.")
        }
        try tell(post("/v1/flash", ["mode": .string(text)], client), invocation)
    }

    func torch(_ invocation: Invocation, _ client: ServiceClient) throws(CommandFailure) {
        let text = invocation.operands[0]
        if ["off", "on", "auto"].contains(text) {
            return try tell(post("/v1/torch", ["mode": .string(text)], client), invocation)
        }
        guard let level = Self.number(text) else {
            throw .usage("'\(text)' is no torch level: write off, on, auto, or a number above 0, up to 1.")
        }
        try tell(post("/v1/torch", ["level": .number(level)], client), invocation)
    }

    func switchCamera(_ invocation: Invocation, _ client: ServiceClient) throws(CommandFailure) {
        let role = invocation.operands.first.map { JSON.members(["role": .string($0)]) }
        try tell(client.request("POST", "/v1/camera/switch", body: role ?? .object([])).body, invocation)
    }

    /// `start`, `standby` or `release`.
    func camera(_ action: String, _ invocation: Invocation, _ client: ServiceClient) throws(CommandFailure) {
        try tell(post("/v1/camera/\(action)", [:], client), invocation)
    }

    private func post(
        _ path: String, _ body: KeyValuePairs<String, JSON>, _ client: ServiceClient
    ) throws(CommandFailure) -> JSON {
        try client.request("POST", path, body: .members(body)).body
    }

    private func tell(_ body: JSON, _ invocation: Invocation) throws(CommandFailure) {
        try Output.line(invocation.json ? body.text : Self.effective(body))
    }

    /// The one word or number of an answer.
    static func effective(_ body: JSON) -> String {
        if let x = body["x"]?.shownNumber, let y = body["y"]?.shownNumber { return "\(x),\(y)" }
        if let level = body["level"]?.shownNumber { return level == "0" ? "off" : level }
        for key in ["dioptres", "zoom", "flash", "role", "state", "mode"] {
            guard let value = body[key] else { continue }
            return value.shownNumber ?? value.string ?? value.text
        }
        return body.text
    }

    /// Digits with an optional sign and point, as a person writes them: no exponent, no `nan`.
    static func number(_ text: some StringProtocol) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2e || $0 == 0x2d }) else { return nil }
        return Double(text)
    }
}

extension JSON {
    /// A number as a person reads it: `2`, not `2.0`.
    var shownNumber: String? {
        switch self {
        case .integer(let value): String(value)
        case .number(let value): value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
        default: nil
        }
    }
}
