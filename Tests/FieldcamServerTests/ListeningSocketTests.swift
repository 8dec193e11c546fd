import FieldcamCore
import FieldcamDirector
import FieldcamLinux
import FieldcamServer
import FieldcamServiceKit
import Glibc
import XCTest

final class ListeningSocketTests: XCTestCase {
    private func refusal(_ path: String) -> String? {
        do throws(SocketError) {
            try Server(socketPath: path, desk: FrontDesk()).stop()
            return nil
        } catch {
            return error.description
        }
    }

    func testOnlyOwnerAndGroupMayConnect() throws {
        let bench = try ScriptedService()
        defer { bench.close() }
        var information = stat()
        XCTAssertEqual(lstat(bench.path, &information), 0)
        XCTAssertEqual(information.st_mode & 0o777, 0o660)
    }

    func testALivingServiceIsNamed() throws {
        let bench = try ScriptedService()
        defer { bench.close() }
        let message = try XCTUnwrap(refusal(bench.path))
        XCTAssertTrue(message.hasPrefix("\(bench.path) is served by process \(getpid()) ("), message)
        XCTAssertTrue(message.hasSuffix(") already: stop it, or choose another --socket."), message)
    }

    func testAnotherProgramsSocketIsNotTakenAway() throws {
        let folder = try temporaryFolder()
        defer { removeFolder(folder) }
        let path = folder + "/fieldcam.sock"
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = try XCTUnwrap(UnixAddress(path: path))
        XCTAssertEqual(address.withPointer { bind(listener, $0, $1) }, 0)
        XCTAssertEqual(listen(listener, 1), 0)
        XCTAssertTrue(refusal(path)?.contains("process \(getpid())") ?? false)
    }

    func testADeadServicesSocketIsReplaced() throws {
        let folder = try temporaryFolder()
        defer { removeFolder(folder) }
        let path = folder + "/fieldcam.sock"
        let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = try XCTUnwrap(UnixAddress(path: path))
        XCTAssertEqual(address.withPointer { bind(dead, $0, $1) }, 0)
        XCTAssertEqual(listen(dead, 1), 0)
        close(dead)
        XCTAssertNil(refusal(path))
    }

    func testAPlainFileIsLeftAlone() throws {
        let folder = try temporaryFolder()
        defer { removeFolder(folder) }
        let path = folder + "/fieldcam.sock"
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        XCTAssertEqual(
            refusal(path), "the socket \(path) can't be made: a file that is no socket stands there; move it away.")
    }

    func testPathsThatCannotBe() {
        let long = "/tmp/" + String(repeating: "x", count: 200)
        XCTAssertEqual(
            refusal(long),
            "the socket \(long) can't be made: its path must have 1 to 107 bytes; choose a shorter --socket.")
        XCTAssertEqual(
            refusal("/proc/none/fieldcam.sock"),
            "the socket /proc/none/fieldcam.sock can't be made: the folder /proc/none can't be made (No such file or directory)."
        )
    }

    func testTheSocketIsGoneAfterwards() throws {
        let bench = try ScriptedService()
        bench.server.stop()
        XCTAssertEqual(names(in: bench.folder), [])
        bench.close()
    }
}
