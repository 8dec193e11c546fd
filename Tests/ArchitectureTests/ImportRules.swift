/// Which module may import which: the arrows of the house, all in one direction.
struct ImportRules {
    /// An import that the rules forbid, or a module that they don't know.
    struct Breach: Equatable, CustomStringConvertible {
        var file: String
        var line: Int
        var sentence: String
        var description: String { "\(file):\(line): \(sentence)" }
    }

    /// Modules of the platform that everything but Core may use.
    static let platform: Set<String> = ["Glibc", "Synchronization"]
    /// Parts of Foundation that need no ICU, where text and dates are told to people.
    static let essentials: Set<String> = ["FoundationEssentials"]

    private static let ports: Set<String> = ["FieldcamPorts", "FieldcamLinux", "FieldcamCore", "CFieldcamLinux"]
    private static let director = ports.union(["FieldcamDirector"])
    private static let adapters: Set<String> = [
        "FieldcamCamera", "FieldcamGPIO", "FieldcamAudio", "FieldcamMedia", "FieldcamStorage", "FieldcamSimulator",
    ]

    /// By module, what it may import beside `platform`. Core: nothing at all.
    static let allowed: [String: Set<String>] = [
        "FieldcamCore": [],
        "FieldcamLinux": ["FieldcamCore", "CFieldcamLinux"],
        "FieldcamPorts": ["FieldcamLinux", "FieldcamCore"],
        "FieldcamDirector": ports,
        "FieldcamCamera": ports.union(["CFieldcamCameraTable"]),
        "FieldcamGPIO": ports.union(["CFieldcamGPIO"]),
        "FieldcamAudio": ports.union(["CFieldcamAudio"]),
        "FieldcamMedia": ports.union([
            "CFieldcamMedia", "Clibjpeg", "Clibexif", "Clibavcodec", "Clibavformat", "Clibavutil", "Clibswresample",
            "Clibswscale",
        ]),
        "FieldcamStorage": ports,
        "FieldcamSimulator": ports,
        "FieldcamSettings": ["FieldcamCore", "CFieldcamTOML"],
        "FieldcamServer": director.union(essentials).union(["CFieldcamHTTP"]),
        "fieldcam": director.union(adapters).union(essentials).union(["FieldcamServer", "FieldcamSettings"]),
    ]

    /// The breaches in one Swift file of a module.
    static func check(source: String, module: String, file: String) -> [Breach] {
        guard let allowed = allowed[module] else {
            return [
                Breach(
                    file: file, line: 1, sentence: "module \(module) has no import rule; add it to ImportRules.allowed")
            ]
        }
        var breaches: [Breach] = []
        var number = 0
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            number += 1
            for imported in imports(of: line) where !allowed.contains(imported) {
                if module != "FieldcamCore", platform.contains(imported) { continue }
                let sentence =
                    imported == "Foundation"
                    ? "Foundation brings ICU along; use Glibc, or FoundationEssentials in FieldcamServer and fieldcam"
                    : "\(module) must not import \(imported); it may import: "
                        + (allowed.isEmpty ? "nothing" : allowed.sorted().joined(separator: ", "))
                breaches.append(Breach(file: file, line: number, sentence: sentence))
            }
        }
        return breaches
    }

    /// The modules that a line imports, whatever stands before `import` (attributes, access) and after it (`struct` …).
    static func imports(of line: Substring) -> [String] {
        line.split(separator: ";").compactMap { statement in
            var words = statement.split(whereSeparator: { $0 == " " || $0 == "\t" })[...]
            while let word = words.first, word.hasPrefix("@") || access.contains(String(word)) { words.removeFirst() }
            guard words.first == "import" else { return nil }
            words.removeFirst()
            if let word = words.first, kinds.contains(String(word)) { words.removeFirst() }
            return words.first?.split(whereSeparator: { $0 == "." || $0 == "/" }).first.map(String.init)
        }
    }

    private static let access: Set<String> = ["public", "package", "internal", "fileprivate", "private"]
    private static let kinds: Set<String> = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
}
