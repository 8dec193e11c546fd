import FieldcamCore
import FieldcamPorts

/// Names in `.partial`: a photo's is its final one; a clip's also holds the folder it is meant for, so that a clip that a
/// crash left finds its way, and who had asked for it: `VID_000124.2026-11-30.button.mp4`.
struct PartialName: Hashable {
    var kind: MediaName.Kind
    var number: MediaNumber
    /// The date folder.
    var folder: String
    /// Of a clip; `nil`: it isn't known.
    var source: Source?

    init(_ kind: MediaName.Kind, _ number: MediaNumber, folder: String, source: Source? = nil) {
        self.kind = kind
        self.number = number
        self.folder = folder
        self.source = source
    }

    /// As it stands in `.partial`.
    var text: String {
        let file = MediaName.file(kind, number)
        guard kind == .clip, let dot = file.lastIndex(of: ".") else { return file }
        return "\(file[..<dot]).\(folder)\(source.map { ".\($0)" } ?? "")\(file[dot...])"
    }

    /// As it stands in its folder.
    var file: String { MediaName.file(kind, number) }

    /// `nil`: no name of ours.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 3, Self.isFolder(parts[1]), let known = MediaName.parse("\(parts[0]).\(parts[2])") {
            self.init(known.kind, known.number, folder: String(parts[1]))
        } else if parts.count == 4, Self.isFolder(parts[1]),
            let source = Source.allCases.first(where: { "\($0)" == parts[2] }),
            let known = MediaName.parse("\(parts[0]).\(parts[3])"), known.kind == .clip
        {
            self.init(known.kind, known.number, folder: String(parts[1]), source: source)
        } else if let known = MediaName.parse(text) {
            self.init(known.kind, known.number, folder: MediaName.undated)
        } else {
            return nil
        }
    }

    /// Whether a name is that of a folder of ours: a date, or `undated`.
    static func isFolder(_ name: some StringProtocol) -> Bool {
        if name == MediaName.undated { return true }
        return name.utf8.count == 10
            && name.utf8.enumerated().allSatisfy { index, byte in
                index == 4 || index == 7 ? byte == UInt8(ascii: "-") : byte >= 0x30 && byte <= 0x39
            }
    }
}

extension WallTime {
    /// The folder of what was taken then: `2026-11-30`, or `undated` while the clock isn't trusted.
    var folder: String {
        isTrusted ? MediaName.folder(year: year, month: month, day: day) : MediaName.undated
    }
}
