import FieldcamCore
import FieldcamDirector
import FieldcamServer
import FieldcamServiceKit
import XCTest

final class EventStreamTests: XCTestCase {
    private func open(_ bench: ScriptedService, lastEventID: String? = nil) throws -> TestConnection {
        let client = try bench.connect()
        client.write(
            "GET /v1/events HTTP/1.0\r\n\(lastEventID.map { "Last-Event-ID: \($0)\r\n" } ?? "")\r\n")
        let head = try client.head()
        XCTAssertEqual(head.status, 200)
        XCTAssertEqual(head.headers["content-type"], "text/event-stream")
        XCTAssertEqual(try client.until("\n\n"), ": fieldcam events\nretry: 2000")
        return client
    }

    private func number(_ message: String) -> Int? {
        message.split(separator: "\n").first.flatMap { Int($0.dropFirst(4)) }
    }

    func testEventsComeAsTheyAreSent() throws {
        let bench = try ScriptedService()
        defer { bench.close() }
        bench.send("camera.up", nil, ["role": .string("rear")])
        let client = try open(bench)
        bench.send("photo.requested", 12, ["source": .string("button")])
        XCTAssertEqual(
            try client.until("\n\n"),
            """
            id: 2
            event: photo.requested
            data: {"seq":2,"event":"photo.requested","at":"2025-11-30T14:49:27.120Z","mono_ns":7,"id":12,"source":"button"}
            """)
        bench.send("photo.saved", 12)
        XCTAssertEqual(number(try client.until("\n\n")), 3)
    }

    func testAClientThatComesBackGetsWhatItMissed() throws {
        let bench = try ScriptedService()
        defer { bench.close() }
        for _ in 0..<10 { bench.send("photo.saved", 1) }
        let client = try open(bench, lastEventID: "7")
        for expected in 8...10 { XCTAssertEqual(number(try client.until("\n\n")), expected) }
        bench.send("photo.saved", 1)
        XCTAssertEqual(number(try client.until("\n\n")), 11)
    }

    func testReplayReaches256EventsBack() throws {
        let bench = try ScriptedService()
        defer { bench.close() }
        for _ in 0..<300 { bench.send("photo.saved", 1) }
        let client = try open(bench, lastEventID: "0")
        for expected in 45...300 { XCTAssertEqual(number(try client.until("\n\n")), expected) }
    }

    func testANumberOfAnEarlierRunReplaysAllOfThisOne() throws {
        let bench = try ScriptedService()
        defer { bench.close() }
        bench.send("camera.up")
        let client = try open(bench, lastEventID: "5000")
        XCTAssertEqual(number(try client.until("\n\n")), 1)
    }

    func testAWrongNumberIsRefused() throws {
        let bench = try ScriptedService()
        defer { bench.close() }
        let answer = try bench.ask("GET", "/v1/events", headers: ["Last-Event-ID: abc"])
        XCTAssertEqual(answer.status, 400)
        XCTAssertEqual(answer.code, .string("header.invalid"))
    }

    func testASilentStreamBeats() throws {
        let bench = try ScriptedService { $0.heartbeat = .milliseconds(20) }
        defer { bench.close() }
        let client = try open(bench)
        for _ in 0..<3 { XCTAssertEqual(try client.until("\n\n"), ":") }
        bench.send("camera.up")
        var message = try client.until("\n\n")
        while message == ":" { message = try client.until("\n\n") }
        XCTAssertEqual(number(message), 1)
    }

    func testAVanishedReaderGivesItsConnectionBackAtOnce() throws {
        let bench = try ScriptedService()
        defer { bench.close() }
        // Far more than there are connections, and no heartbeat or event comes to notice it by.
        for _ in 0..<200 { _ = try open(bench) }
    }

    func testStoppingSendsTheLastEventsAndEndsTheStream() throws {
        let bench = try ScriptedService()
        let client = try open(bench)
        bench.send("recording.stopped", 1, ["reason": .string("shutdown")])
        bench.send("clip.saved", 1)
        bench.server.stop()
        XCTAssertTrue(try client.until("\n\n").contains("recording.stopped"))
        XCTAssertTrue(try client.until("\n\n").contains("clip.saved"))
        XCTAssertEqual(try client.rest(), "")
        bench.close()
    }

    func testAReaderThatDoesNotReadHoldsUpNoOne() throws {
        let bench = try ScriptedService()
        defer { bench.close() }
        let lazy = try open(bench)
        let quick = try open(bench)
        let text = String(repeating: "x", count: 4000)
        // A client that reads along gets every one; 8 MB fit in no socket.
        for expected in 1...2000 {
            bench.send("settings.changed", nil, ["effective": .string(text)])
            XCTAssertEqual(number(try quick.until("\n\n")), expected)
        }
        // The lazy one finds a gap, then the newest.
        var last = 0
        while last < 2000 { last = number(try lazy.until("\n\n")) ?? last }
    }
}
