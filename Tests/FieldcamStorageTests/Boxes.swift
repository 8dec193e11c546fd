/// Builds small MP4 files out of boxes.
enum Boxes {
    static func box(_ type: String, _ content: [UInt8] = []) -> [UInt8] {
        bigEndian(UInt64(content.count + 8), 4) + Array(type.utf8) + content
    }

    static func largeBox(_ type: String, _ content: [UInt8]) -> [UInt8] {
        bigEndian(1, 4) + Array(type.utf8) + bigEndian(UInt64(content.count + 16), 8) + content
    }

    static func bigEndian(_ number: UInt64, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (bytes - 1 - $0))) }
    }

    static let fileType = box("ftyp", Array("isom".utf8) + [0, 0, 2, 0])
    /// The movie box of a fragmented file.
    static let movie = box("moov", box("mvhd", [UInt8](repeating: 1, count: 100)) + box("mvex", box("trex")))
    /// The movie box of a finished file.
    static let finishedMovie = box("moov", box("mvhd", [UInt8](repeating: 1, count: 100)) + box("trak", box("mdia")))

    static func fragment(_ number: UInt8, samples: Int = 300) -> [UInt8] {
        box("moof", box("mfhd", [0, 0, 0, 0, 0, 0, 0, number]))
            + box("mdat", [UInt8](repeating: number, count: samples))
    }
}
