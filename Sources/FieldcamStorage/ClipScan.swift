/// What the boxes of an MP4 file that was being written tell: how much of it is whole.
///
/// A clip is written as `ftyp`, perhaps `free`, `moov`, then pairs of `moof` and `mdat`. A finished one has all its samples
/// listed in one `moov`. FFmpeg's hybrid files turn the fragmented beginning into one large `mdat` when they are finished,
/// by overwriting the first `moov`'s header: a crash right then leaves that header without the final `moov`.
struct ClipScan: Equatable {
    /// Bytes from the start that are whole fragments, or the whole file; 0: not one whole fragment.
    var length: Int64 = 0
    var fragments = 0
    /// A finished file, not a row of fragments.
    var isFinished = false
    /// A header to be written back before the file is cut; see above.
    var repair: Repair?

    struct Repair: Equatable {
        var offset: Int64
        var bytes: [UInt8]
    }

    /// Reads up to `count` bytes at an offset; fewer at the end.
    typealias Reader<Failure: Error> = (_ offset: Int64, _ count: Int) throws(Failure) -> [UInt8]

    init<Failure: Error>(size: Int64, read: Reader<Failure>) throws(Failure) {
        var offset: Int64 = 0
        var hasMovie = false
        var hasFinishedMovie = false
        var hasData = false
        var fragmentStart: Int64?
        while let box = try Self.box(at: offset, size: size, read: read) {
            switch box.type {
            case "moov":
                if !hasMovie {
                    hasMovie = true
                    hasFinishedMovie = try !Self.contains("mvex", in: box, read: read)
                } else if hasFinishedMovie == false, fragments > 0 {
                    // The finishing of a hybrid file had begun; the fragments before are whole without it.
                    return
                }
            case "moof":
                fragmentStart = hasMovie ? offset : nil
            case "mdat":
                if fragmentStart != nil {
                    fragments += 1
                    length = box.end
                    fragmentStart = nil
                } else if !hasMovie, !hasData, let start = try Self.buriedMovie(in: box, read: read) {
                    let finished = try Self.isFinished(after: box, size: size, read: read)
                    if !finished {
                        try unbury(start, of: box, size: size, read: read)
                        return
                    }
                    hasData = true
                } else {
                    hasData = true
                }
            default:
                break
            }
            if hasFinishedMovie, hasData {
                isFinished = true
                length = box.end
            }
            offset = box.end
        }
    }

    private struct Box {
        var type: String
        var start: Int64
        /// Where the content begins.
        var content: Int64
        var end: Int64
    }

    /// The whole box at an offset; `nil` at the end, for a cut box and for what isn't a box.
    private static func box<Failure: Error>(at offset: Int64, size: Int64, read: Reader<Failure>) throws(Failure)
        -> Box?
    {
        guard size - offset >= 8 else { return nil }
        let header = try read(offset, 16)
        guard header.count >= 8 else { return nil }
        let type = header[4..<8]
        guard type.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { return nil }
        var length = number(header[0..<4])
        var content = offset + 8
        if length == 1 {
            guard header.count >= 16, header[8] < 0x40 else { return nil }
            length = number(header[8..<16])
            content = offset + 16
        }
        guard length >= content - offset, length <= size - offset else { return nil }
        return Box(type: String(decoding: type, as: UTF8.self), start: offset, content: content, end: offset + length)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }

    private static func contains<Failure: Error>(_ type: String, in parent: Box, read: Reader<Failure>) throws(Failure)
        -> Bool
    {
        var offset = parent.content
        while let child = try box(at: offset, size: parent.end, read: read) {
            if child.type == type { return true }
            offset = child.end
        }
        return false
    }

    /// Where the first `moof` lies behind a `moov` whose header became that of this `mdat`; `nil`: plain data.
    private static func buriedMovie<Failure: Error>(in data: Box, read: Reader<Failure>) throws(Failure) -> Int64? {
        var offset = data.content
        var isFirst = true
        var count = 0
        while count < 64, let child = try box(at: offset, size: data.end, read: read) {
            if isFirst, child.type != "mvhd" { return nil }
            if child.type == "moof" { return offset }
            isFirst = false
            offset = child.end
            count += 1
        }
        return nil
    }

    private static func isFinished<Failure: Error>(after data: Box, size: Int64, read: Reader<Failure>) throws(Failure)
        -> Bool
    {
        var offset = data.end
        while let next = try box(at: offset, size: size, read: read) {
            if next.type == "moov" { return try !contains("mvex", in: next, read: read) }
            offset = next.end
        }
        return false
    }

    /// Finds the fragments inside the `mdat` and what its header has to become again.
    private mutating func unbury<Failure: Error>(
        _ firstFragment: Int64, of data: Box, size: Int64, read: Reader<Failure>
    ) throws(Failure) {
        // The moov's own header lies right before its first child.
        let movieStart = data.content - 8
        let movieLength = UInt32(truncatingIfNeeded: firstFragment - movieStart)
        var bytes: [UInt8] = []
        if data.content - data.start == 16 { bytes += [0, 0, 0, 8] + Array("free".utf8) }
        bytes += (0..<4).map { UInt8(truncatingIfNeeded: movieLength >> (24 - 8 * $0)) } + Array("moov".utf8)
        var offset = firstFragment
        var isInFragment = false
        while let box = try Self.box(at: offset, size: min(size, data.end), read: read) {
            if box.type == "moof" {
                isInFragment = true
            } else if box.type == "mdat", isInFragment {
                fragments += 1
                length = box.end
                isInFragment = false
            }
            offset = box.end
        }
        if fragments > 0 { repair = Repair(offset: data.start, bytes: bytes) }
    }
}
