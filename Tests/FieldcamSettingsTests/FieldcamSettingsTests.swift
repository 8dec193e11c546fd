import FieldcamCore
import XCTest

@testable import FieldcamSettings

final class ShippedBoardsTests: XCTestCase {
    func testEveryShippedBoardLoads() throws {
        let names = BoardProfile.names(paths: [Fixtures.boards])
        XCTAssertEqual(
            names,
            [
                "compute-module-4", "compute-module-5", "lab", "raspberry-pi-3b-plus", "raspberry-pi-4b",
                "raspberry-pi-5", "raspberry-pi-zero-2-w", "simulator", "simulator-2",
            ])
        for name in names {
            do {
                let board = try BoardProfile.find(name, paths: [Fixtures.boards])
                XCTAssertEqual(board.name, name)
                XCTAssertFalse(board.cameras.isEmpty)
            } catch {
                XCTFail("\(error)")
            }
        }
    }
    func testTheContractsBlockIsTheDefaults() throws {
        let loaded: LoadedSettings
        do {
            loaded = try LoadedSettings.load(file: Fixtures.folder + "/settings/defaults.toml", required: true)
        } catch {
            return XCTFail("\(error)")
        }
        XCTAssertEqual(loaded.settings, Settings())
        XCTAssertEqual(Set(loaded.origins.keys), Set(SettingKey.all.map(\.name)))
    }
}
enum Fixtures {
    static let root: String = {
        var path = #filePath
        for _ in 0..<3 { path = TextFile.folder(of: path) }
        return path
    }()
    static let boards = root + "/boards"
    static let folder = root + "/Tests/Fixtures"
}
