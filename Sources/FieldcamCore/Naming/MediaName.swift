/// Names of files and folders (contract §8): `2026-11-30/IMG_000123.jpg`.
public enum MediaName {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// `IMG_000123.jpg`
        case photo
        /// `IMG_000123_crop.jpg`
        case crop
        /// `IMG_000123_review.jpg`
        case review
        /// `VID_000124.mp4`
        case clip

        var prefix: String { self == .clip ? "VID_" : "IMG_" }
        var suffix: String {
            switch self {
            case .photo: ".jpg"
            case .crop: "_crop.jpg"
            case .review: "_review.jpg"
            case .clip: ".mp4"
            }
        }
    }

    /// The folder of files whose press came before the clock was trusted.
    public static let undated = "undated"

    /// The file's name; six digits at least.
    public static func file(_ kind: Kind, _ number: MediaNumber) -> String {
        kind.prefix + padded(number.value, 6) + kind.suffix
    }

    /// The folder of a local date: year 1 … 9999.
    public static func folder(year: Int, month: Int, day: Int) -> String {
        padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2)
    }

    /// Kind and number of a file that has one of our names; `nil` for any other name.
    public static func parse(_ name: some StringProtocol) -> (kind: Kind, number: MediaNumber)? {
        for kind in [Kind.crop, .review, .photo, .clip] {
            guard name.hasPrefix(kind.prefix), name.hasSuffix(kind.suffix) else { continue }
            let digits = name.dropFirst(kind.prefix.count).dropLast(kind.suffix.count)
            guard digits.count >= 6, digits.utf8.allSatisfy({ (48...57).contains($0) }), let value = Int(digits),
                padded(value, 6) == digits
            else { continue }
            return (kind, MediaNumber(value))
        }
        return nil
    }

    private static func padded(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
