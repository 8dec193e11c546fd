import FieldcamCore
import XCTest

@testable import FieldcamLinux

final class MemoryInformationTests: XCTestCase {
    func testAPisLinesAreRead() {
        let text = """
            MemTotal:         437020 kB
            MemFree:          101520 kB
            MemAvailable:     228412 kB
            CmaTotal:          65536 kB
            CmaFree:           58112 kB
            """
        XCTAssertEqual(
            MemoryInformation.budget(of: Array(text.utf8)),
            MemoryBudget(contiguous: 58112 * 1024, available: 228_412 * 1024))
    }

    func testAMachineWithoutIsWithoutLimit() {
        XCTAssertNil(MemoryInformation.budget(of: Array("MemTotal: 8000000 kB\nMemAvailable: 7 kB\n".utf8)))
        XCTAssertNil(MemoryInformation.budget(of: Array("CmaTotal: 0 kB\nCmaFree: 0 kB\n".utf8)))
        XCTAssertNil(MemoryInformation.budget(of: []))
        XCTAssertNil(MemoryInformation.budget(of: Array("CmaTotal: many kB\nCmaFree\n:::\n".utf8)))
    }

    func testFilesAreReadWhole() {
        XCTAssertFalse(Files.contents(of: "/proc/meminfo").isEmpty)
        XCTAssertEqual(Files.contents(of: "/nonexistent"), [])
    }
}
