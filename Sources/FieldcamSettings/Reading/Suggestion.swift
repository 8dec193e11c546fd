/// Finds what was probably meant.
public enum Suggestion {
    /// The candidate with the fewest edits (insert, remove, replace, swap neighbours), if they are few for its length.
    public static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let letters = Array(word.lowercased().utf8.prefix(64))
        var best: (distance: Int, candidate: String)?
        for candidate in candidates {
            let distance = edits(letters, Array(candidate.lowercased().utf8.prefix(64)))
            let limit = max(1, min(letters.count, candidate.utf8.count) / 3)
            guard distance <= limit, distance < best?.distance ?? Int.max else { continue }
            best = (distance, candidate)
        }
        return best?.candidate
    }

    /// "; did you mean 'x'?" or what is there to choose from.
    public static func words(for word: String, among candidates: [String]) -> String {
        if let near = nearest(to: word, among: candidates) { return "did you mean '\(near)'?" }
        return candidates.count <= 16 ? "known here: \(candidates.joined(separator: ", "))" : "see the list of settings"
    }

    private static func edits(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var older: [Int] = []
        var previous = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(
                    previous[column] + (letter == other ? 0 : 1), previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    cost = min(cost, older[column - 1] + 1)
                }
                current.append(cost)
            }
            older = previous
            previous = current
        }
        return previous[right.count]
    }
}
