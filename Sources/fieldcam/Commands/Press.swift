import FieldcamCore
import FieldcamDirector

extension Program {
    func press(_ invocation: Invocation, _ client: ServiceClient) throws(CommandFailure) {
        let role = invocation.operands.first ?? "shutter"
        let span = try invocation.duration("--for")
        let body = span.map { JSON.members(["for": .string($0.text)]) } ?? .object([])
        let path = "/v1/buttons/\(percentEncoded(role))/press?wait=1"
        let answer = try client.request("POST", path, body: body).body
        if invocation.json { try Output.line(answer.text) }
    }

    /// A role as one part of a path.
    private func percentEncoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e:
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
        }
    }
}
