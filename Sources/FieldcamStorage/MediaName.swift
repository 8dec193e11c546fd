import FieldcamCore
import FieldcamPorts

/// Names of files (contract §8): `IMG_000123.jpg`, `VID_000124.mp4`.
///
/// In `.partial` a clip's name also holds the folder it is meant for, so that a clip that a crash left finds its way:
/// `VID_000124.2026-11-30.mp4`.
struct MediaName: Hashable {
    enum Kind: String {
        case photo = "IMG"
        case clip = "VID"
        var ending: String { self == .photo ? ".jpg" : ".mp4" }
    }
    var kind: Kind
    var number: MediaNumber

    var text: String {
        let digits = "\(number.value)"
        let zeros = String(repeating: "0", count: max(0, 6 - digits.utf8.count))
        return "\(kind.rawValue)_\(zeros)\(digits)"
    }

    /// As it stands in a date folder.
    var file: String { text + kind.ending }

    /// As it stands in `.partial`.
    func partial(folder: String) -> String {
        kind == .photo ? file : "\(text).\(folder)\(kind.ending)"
    }

    init(_ kind: Kind, _ number: MediaNumber) {
        self.kind = kind
        self.number = number
    }

    /// Reads a name of a date folder or of `.partial`, also one with more after the number (`IMG_000123_crop.jpg`).
    init?(_ name: String) {
        let parts = name.utf8
        guard parts.count > 4, let kind = Kind(rawValue: String(name.prefix(3))), parts.dropFirst(3).first == 0x5F
        else { return nil }
        let digits = parts.dropFirst(4).prefix { $0 >= 0x30 && $0 <= 0x39 }
        guard (6...15).contains(digits.count), let number = Int(String(decoding: digits, as: UTF8.self)) else {
            return nil
        }
        let rest = parts.dropFirst(4 + digits.count).first
        guard rest == UInt8(ascii: ".") || rest == UInt8(ascii: "_") else { return nil }
        self.init(kind, MediaNumber(number))
    }

    /// The folder that a clip's name in `.partial` tells; `undated` if it tells none.
    static func folder(ofPartial name: String) -> String {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, isFolder(String(parts[1])) else { return undated }
        return String(parts[1])
    }

    static let undated = "undated"

    /// `2026-11-30`, or `undated` while the clock isn't trusted.
    static func folder(_ taken: WallTime) -> String {
        guard taken.isTrusted else { return undated }
        func padded(_ value: Int, _ width: Int) -> String {
            let digits = "\(value)"
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        return "\(padded(taken.year, 4))-\(padded(taken.month, 2))-\(padded(taken.day, 2))"
    }

    /// Whether a name is that of a folder of ours.
    static func isFolder(_ name: String) -> Bool {
        if name == undated { return true }
        let bytes = Array(name.utf8)
        return bytes.count == 10
            && bytes.enumerated().allSatisfy { index, byte in
                index == 4 || index == 7 ? byte == UInt8(ascii: "-") : byte >= 0x30 && byte <= 0x39
            }
    }
}
