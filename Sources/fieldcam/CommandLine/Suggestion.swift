/// The known word that was probably meant: at most two letters (one, in a short word) wrong, missing or swapped.
func nearest(_ word: String, among known: [String]) -> String? {
    let found = known.map { (word: $0, distance: distance(Array(word.utf8), Array($0.utf8))) }
        .min { $0.distance < $1.distance }
    guard let found, found.distance <= (word.utf8.count < 5 ? 1 : 2) else { return nil }
    return found.word
}

/// Insertions, deletions, changes and swaps of neighbours that turn one word into the other.
private func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var rows = [Array(0...right.count)]
    for (i, a) in left.enumerated() {
        var row = [i + 1]
        for (j, b) in right.enumerated() {
            var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a == b ? 0 : 1))
            if i > 0, j > 0, a == right[j - 1], b == left[i - 1] { best = min(best, rows[i - 1][j - 1] + 1) }
            row.append(best)
        }
        rows.append(row)
    }
    return rows[left.count][right.count]
}
