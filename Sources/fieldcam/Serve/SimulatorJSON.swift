import FieldcamDirector
import FieldcamServer
import FieldcamSimulator

extension SimulatedWorld {
    /// Carries out the body of `POST /v1/simulator` and gives the scene after it.
    func take(_ body: JSON) -> Result<JSON, SceneError> {
        guard case .object(let members) = body else {
            return .failure(SceneError(field: "", detail: "The body is no JSON object."))
        }
        var values: [(name: String, value: SimulatorValue)] = []
        for member in members {
            guard let value = SimulatorValue(member.value) else {
                return .failure(
                    SceneError(field: member.key, detail: "\(member.key) takes a number, a text, true or false."))
            }
            values.append((member.key, value))
        }
        do {
            try apply(values)
        } catch {
            return .failure(SceneError(field: error.name, detail: error.detail))
        }
        return .success(.object(self.values.map { JSON.Member($0.name, JSON($0.value)) }))
    }
}

extension SimulatorValue {
    fileprivate init?(_ json: JSON) {
        switch json {
        case .bool(let value): self = .boolean(value)
        case .integer(let value): self = .number(Double(value))
        case .number(let value): self = .number(value)
        case .string(let value): self = .text(value)
        case .null, .array, .object: return nil
        }
    }
}

extension JSON {
    fileprivate init(_ value: SimulatorValue) {
        switch value {
        case .number(let number):
            self = number == number.rounded() && abs(number) < 1e15 ? .integer(Int64(number)) : .number(number)
        case .boolean(let value): self = .bool(value)
        case .text(let text): self = .string(text)
        }
    }
}
