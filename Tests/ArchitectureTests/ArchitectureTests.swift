import Glibc
import XCTest

final class ArchitectureTests: XCTestCase {
    /// The checkout that this test was built from.
    private var root: String {
        #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
    }

    func testImportsRunOneWay() throws {
        var breaches: [ImportRules.Breach] = []
        var files = 0
        for module in try names(in: root + "/Sources").sorted() {
            for file in try swiftFiles(below: root + "/Sources/" + module).sorted() {
                files += 1
                breaches += ImportRules.check(source: try text(of: file), module: module, file: file)
            }
        }
        XCTAssertGreaterThan(files, 40, "the sources weren't found below \(root)")
        XCTAssertEqual(breaches, [])
    }

    func testEveryModuleOfTheRulesExists() throws {
        let modules = Set(try names(in: root + "/Sources"))
        XCTAssertEqual(ImportRules.allowed.keys.filter { !modules.contains($0) }, [])
    }

    // MARK: The checker itself

    func testArrowInTheWrongDirectionIsFound() {
        let source = "// a comment\nimport FieldcamCore\nimport FieldcamDirector\n"
        let breaches = ImportRules.check(source: source, module: "FieldcamPorts", file: "Bad.swift")
        XCTAssertEqual(
            breaches.map(\.description),
            ["Bad.swift:3: FieldcamPorts must not import FieldcamDirector; it may import: FieldcamCore, FieldcamLinux"])
    }

    func testAdaptersDoNotKnowEachOther() {
        for module in ["FieldcamCamera", "FieldcamGPIO", "FieldcamAudio", "FieldcamMedia", "FieldcamStorage"] {
            let source = "import FieldcamPorts\nimport FieldcamSimulator\n"
            XCTAssertEqual(ImportRules.check(source: source, module: module, file: "Bad.swift").map(\.line), [2])
        }
    }

    func testFoundationIsFoundInAnyDress() {
        for line in [
            "import Foundation", "  import Foundation", "@preconcurrency import Foundation",
            "@_exported public import Foundation", "import struct Foundation.URL", "import Glibc; import Foundation",
        ] {
            XCTAssertEqual(ImportRules.check(source: line, module: "fieldcam", file: "Bad.swift").count, 1, line)
        }
        XCTAssertEqual(
            ImportRules.check(source: "import FoundationEssentials", module: "FieldcamServer", file: "Good.swift"), [])
        XCTAssertEqual(
            ImportRules.check(source: "import FoundationEssentials", module: "FieldcamMedia", file: "Bad.swift").count,
            1)
    }

    func testCoreImportsNothing() {
        for imported in ["Glibc", "Synchronization", "FieldcamLinux", "FoundationEssentials"] {
            let breaches = ImportRules.check(source: "import \(imported)", module: "FieldcamCore", file: "Bad.swift")
            XCTAssertEqual(breaches.count, 1, imported)
        }
    }

    func testModuleWithoutARuleIsFound() {
        XCTAssertEqual(ImportRules.check(source: "", module: "FieldcamAttic", file: "New.swift").count, 1)
    }

    func testWordsThatOnlyLookLikeImportsAreNone() {
        for line in ["// import Foundation", "let important = 1", "/// import Foundation", "imported()"] {
            XCTAssertEqual(ImportRules.check(source: line, module: "FieldcamCore", file: "Good.swift"), [], line)
        }
    }

    // MARK: Files

    private struct Unreadable: Error {
        var path: String
    }

    private func names(in folder: String) throws -> [String] {
        guard let stream = opendir(folder) else { throw Unreadable(path: folder) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    private func swiftFiles(below folder: String) throws -> [String] {
        try names(in: folder).flatMap { name -> [String] in
            let path = folder + "/" + name
            var information = stat()
            guard lstat(path, &information) == 0 else { throw Unreadable(path: path) }
            if information.st_mode & S_IFMT == S_IFDIR { return try swiftFiles(below: path) }
            return name.hasSuffix(".swift") ? [path] : []
        }
    }

    private func text(of path: String) throws -> String {
        guard let file = fopen(path, "r") else { throw Unreadable(path: path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { break }
            bytes += buffer[0..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
