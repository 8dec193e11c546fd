import FieldcamDirector
import FieldcamSettings

extension Program {
    func boards(_ invocation: Invocation) throws(CommandFailure) -> Int32 {
        let paths = Folders.boards
        var found: [BoardProfile] = []
        var code = ExitCode.done
        let names = BoardProfile.names(paths: paths)
        for name in names {
            do throws(Complaints) {
                found.append(try BoardProfile.find(name, paths: paths))
            } catch {
                code = .wrongSettings
                for complaint in error.list { Output.complain(complaint) }
            }
        }
        if names.isEmpty {
            throw CommandFailure(
                .failed, "there are no boards in \(paths.joined(separator: ", ")); install fieldcam's boards.")
        }
        let width = found.map(\.name.count).max() ?? 0
        for board in found {
            if invocation.json {
                let models = JSON.array(board.models.map { .string($0) })
                try Output.line(
                    JSON.members([
                        "name": .string(board.name), "title": .string(board.title), "models": models,
                        "folder": .string(board.folder),
                    ]).text)
            } else {
                let space = String(repeating: " ", count: width + 2 - board.name.count)
                try Output.line(board.name + space + board.title)
            }
        }
        return code.rawValue
    }
}
