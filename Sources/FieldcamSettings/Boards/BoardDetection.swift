/// The board that fits this machine, and why.
public struct BoardDetection: Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        /// The device tree's model begins with one of the board's prefixes.
        case model(String)
        /// There is no device tree: the simulator. To be said aloud.
        case noDeviceTree
    }
    public var board: BoardProfile
    public var reason: Reason

    /// Where Linux tells the model of a machine with a device tree.
    public static let modelFile = "/proc/device-tree/model"

    /// Finds the board with the longest prefix of the model; the earlier of `paths` wins a tie.
    ///
    /// - Throws: a model that no board knows; boards that can't be read, if none of the others fits.
    public static func detect(paths: [String], modelFile: String = modelFile) throws(Complaints) -> BoardDetection {
        guard TextFile.exists(modelFile) else {
            return BoardDetection(board: try BoardProfile.find("simulator", paths: paths), reason: .noDeviceTree)
        }
        let model: String
        do {
            // The kernel ends it with a NUL.
            model = String(
                decoding: try TextFile.read(modelFile, limit: 4096).prefix { $0 != 0 && $0 != 0x0A }, as: UTF8.self)
        } catch {
            throw Complaints([
                Complaint(Place(file: modelFile), "the model can't be read: \(error.text); name the board with --board")
            ])
        }
        var best: (length: Int, board: BoardProfile)?
        var complaints: [Complaint] = []
        for name in BoardProfile.names(paths: paths) {
            do {
                let board = try BoardProfile.find(name, paths: paths)
                for prefix in board.models where model.hasPrefix(prefix) && prefix.utf8.count > best?.length ?? 0 {
                    best = (prefix.utf8.count, board)
                }
            } catch {
                complaints += error.list
            }
        }
        if let best { return BoardDetection(board: best.board, reason: .model(model)) }
        let names = BoardProfile.names(paths: paths)
        complaints.append(
            Complaint(
                Place(file: modelFile),
                "no board is known for \(quoted(model)); name one with --board"
                    + (names.isEmpty ? "" : ": \(names.joined(separator: ", "))")))
        throw Complaints(complaints)
    }
}
