import FieldcamDirector
import FieldcamSettings

extension Program {
    /// Faults go to stderr, one line each with its place; with --json to stdout, one object each.
    func check(_ invocation: Invocation) throws(CommandFailure) -> Int32 {
        var code = ExitCode.done
        for path in invocation.operands {
            switch Result(catching: { () throws(Complaints) in try FileCheck.check(path) }) {
            case .success(let content):
                if !invocation.json { try Output.line("\(path): \(content.rawValue), no faults") }
            case .failure(let complaints):
                code = .wrongSettings
                for complaint in complaints.list {
                    if invocation.json {
                        try Output.line(json(complaint).text)
                    } else {
                        Output.complain(complaint)
                    }
                }
            }
        }
        return code.rawValue
    }

    private func json(_ complaint: Complaint) -> JSON {
        .members([
            "file": .string(complaint.place.file),
            "line": .integer(Int64(complaint.place.line)),
            "column": .integer(Int64(complaint.place.column)),
            "message": .string(complaint.message),
        ])
    }
}
