import FieldcamCore
import FieldcamDirector
import FieldcamLinux
import FieldcamServer
import FieldcamServiceKit
import Glibc
import XCTest

final class LimitTests: XCTestCase {
    private func with(
        _ configure: (inout ServerConfiguration) -> Void = { _ in }, _ body: (ScriptedService) throws -> Void
    )
        throws
    {
        let bench = try ScriptedService(configure)
        defer { bench.close() }
        try body(bench)
    }

    func testABodyOver64KiBIsRefusedBeforeItIsSent() throws {
        try with { bench in
            let client = try bench.connect()
            client.write("POST /v1/recording HTTP/1.1\r\nHost: test\r\nContent-Length: 65537\r\n\r\n")
            let answer = try client.answer()
            XCTAssertEqual(answer.status, 413)
            XCTAssertEqual(answer.code, .string("body.too_large"))
            XCTAssertEqual(answer.detail, "A body may have 65536 bytes at most.")
        }
    }

    func testAChunkedBodyOver64KiBIsRefused() throws {
        try with { bench in
            let client = try bench.connect()
            client.write("POST /v1/recording HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = String(repeating: " ", count: 0x4000)
            for _ in 0..<5 { client.write("4000\r\n\(chunk)\r\n") }
            client.write("0\r\n\r\n")
            XCTAssertEqual(try client.answer().status, 413)
        }
    }

    func testABodyOf64KiBIsRead() throws {
        try with { bench in
            let body = "{\"x\":1" + String(repeating: " ", count: 65536 - 7) + "}"
            let answer = try bench.ask("POST", "/v1/recording", body)
            XCTAssertEqual(answer.code, .string("field.unknown"))
        }
    }

    func testHeadersOver16KiBAreRefused() throws {
        try with { bench in
            let fits = try bench.ask("GET", "/v1/board", headers: ["X-Long: " + String(repeating: "x", count: 16000)])
            XCTAssertEqual(fits.status, 200)
            let tooLong = try bench.ask(
                "GET", "/v1/board", headers: ["X-Long: " + String(repeating: "x", count: 16400)])
            XCTAssertEqual(tooLong.status, 431)
            XCTAssertEqual(tooLong.code, .string("headers.too_large"))
            let far = try bench.ask("GET", "/v1/board", headers: ["X-Long: " + String(repeating: "x", count: 200_000)])
            XCTAssertEqual(far.status, 431, "by the library, when its memory for the connection is used up")
        }
    }

    func testThe33rdConnectionIsRefusedAndOneThatEndsMakesRoom() throws {
        try with { bench in
            var clients: [TestConnection] = []
            for _ in 0..<32 {
                let client = try bench.connect()
                try client.send("GET", "/v1/board")
                XCTAssertEqual(try client.answer().status, 200)
                clients.append(client)
            }
            let refused = try bench.ask("GET", "/v1/board")
            XCTAssertEqual(refused.status, 503)
            XCTAssertEqual(refused.code, .string("service.connections"))
            clients[7].write("GET /v1/board HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
            XCTAssertEqual(try clients[7].answer().status, 200)
            XCTAssertEqual(try clients[7].rest(), "")
            XCTAssertEqual(try bench.ask("GET", "/v1/board").status, 200)
        }
    }

    func testARequestThatDoesNotEndInTimeIsClosed() throws {
        try with({ $0.requestDeadline = .milliseconds(100) }) { bench in
            let silent = try bench.connect()
            let slow = try bench.connect()
            let half = try bench.connect()
            slow.write("GET /v1/board HTTP/1.1\r\nX-")
            half.write("POST /v1/recording HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\n{")
            for client in [silent, slow, half] { XCTAssertEqual(try client.rest(), "") }
        }
    }

    func testAWaitingAnswerIsUnderNoDeadline() throws {
        let bench = try ScriptedService {
            $0.requestDeadline = .milliseconds(20)
        } script: { bench, order in
            guard case .shot(let token, _, _) = order else { return }
            bench.reply(token, .accepted(MediaNumber(1)))
        }
        defer { bench.close() }
        let client = try bench.connect()
        try client.send("POST", "/v1/photos")
        // Another connection lives and dies of the deadline meanwhile.
        XCTAssertEqual(try bench.connect().rest(), "")
        XCTAssertEqual(try bench.connect().rest(), "")
        bench.send("photo.saved", 1)
        XCTAssertEqual(try client.answer().status, 201)
    }

    func testNoiseIsNoRequest() throws {
        try with { bench in
            let client = try bench.connect()
            client.write("\u{16}\u{3}\u{1}\u{2}\u{0}\r\n\r\n")
            _ = try client.rest()
            XCTAssertEqual(try bench.ask("GET", "/v1/board").status, 200)
        }
    }
}
