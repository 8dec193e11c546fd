import FieldcamDirector
import FieldcamServer
import FieldcamServiceKit
import Glibc
import XCTest

/// What no camera can do is refused with what is allowed, by HTTP and by command alike, and changes nothing.
final class BadInputTests: XCTestCase {
    private struct Case {
        /// The command, word by word.
        var line: String
        var method = "POST"
        var path: String
        var body: String
        var status = 400
        var code = "out_of_range"
        /// The sentence, or the part of it that names what is allowed.
        var says: String
        /// Of the command; 64: wrong usage.
        var exit: Int32 = 64
        /// What the command says where it reads the word itself.
        var commandSays: String?
    }

    private static func setting(_ key: String, _ value: String, json: String? = nil, says: String) -> Case {
        Case(
            line: "set \(key) \(value)", method: "PATCH", path: "settings", body: "{\"\(key)\":\(json ?? value)}",
            code: "settings.invalid", says: says)
    }

    private static let cases: [Case] = [
        Case(line: "focus 1.5,0.5", path: "focus", body: #"{"x":1.5,"y":0.5}"#, says: "x is 1.5; it may be 0 to 1"),
        Case(line: "focus 0.5,-0.1", path: "focus", body: #"{"x":0.5,"y":-0.1}"#, says: "y is -0.1; it may be 0 to 1"),
        Case(
            line: "focus 99", path: "focus", body: #"{"dioptres":99}"#,
            says: "this lens takes dioptres from 0 to 10"),
        Case(line: "focus -1", path: "focus", body: #"{"dioptres":-1}"#, says: "it may be 0 (infinity) and up"),
        Case(line: "zoom 0.5", path: "zoom", body: #"{"factor":0.5}"#, says: "factor is 0.5; it may be 1 and up"),
        Case(
            line: "zoom 4.5", path: "zoom", body: #"{"factor":4.5}"#,
            says: "zoom.maximum allows a factor from 1 to 4 here"),
        Case(line: "torch 0", path: "torch", body: #"{"level":0}"#, says: "it may be above 0, up to 1"),
        Case(line: "torch 1.5", path: "torch", body: #"{"level":1.5}"#, says: "it may be above 0, up to 1"),
        Case(
            line: "flash bright", path: "flash", body: #"{"mode":"bright"}"#, code: "field.invalid",
            says: "it may be off, on, auto", commandSays: "write off, on or auto"),
        Case(
            line: "switch side", path: "camera/switch", body: #"{"role":"side"}"#, code: "camera.unknown",
            says: "The board has no camera 'side'; it has rear"),
        Case(
            line: "press bell", path: "buttons/bell/press", body: "{}", status: 404, code: "button.unknown",
            says: "The board has no button 'bell'; it has shutter"),
        setting("exposure.shutter", "2s", json: "\"2s\"", says: "this camera takes 50us to 950ms"),
        setting("exposure.shutter", "0s", json: "\"0s\"", says: "times above 0s and up to 4min are allowed"),
        setting("exposure.gain", "200", says: "this camera takes 1.0 to 16.0"),
        setting("exposure.gain", "0.5", says: "a number from 1 to 1000"),
        setting("exposure.compensation", "9", says: "it must be from -8 to 8"),
        setting("exposure.metering", "left", json: "\"left\"", says: "\"centre\", \"spot\" or \"matrix\""),
        setting("torch.level", "0", says: "it must be above 0 and at most 1"),
        setting("torch.level", "1.1", says: "it must be above 0 and at most 1"),
        setting("zoom.maximum", "0.5", says: "\"native\" or a number from 1 to 100"),
        setting("low_light.stack", "17", says: "it must be from 1 to 16"),
        setting("low_light.enter_lux", "30", says: "low_light.enter_lux must be at most low_light.leave_lux"),
        setting("low_light.minimum_framerate", "0", says: "it must be from 1 to 240"),
        setting("guide.rect", "[0.5,0.5,0.6,0.6]", says: "guide.rect"),
    ]

    /// Everything that a refused command might have changed.
    private func state(_ service: RunningService) throws -> [String?] {
        let status = try JSON(parsing: try service.run("status", "--json").output.utf8)
        let settings = try service.run("get", "--json").output
        return ["focus", "zoom", "flash", "light"].map { status[$0]?.text } + [
            status["camera"]?["role"]?.text, settings,
        ]
    }

    private func ask(_ service: RunningService, _ wrong: Case) throws -> (status: Int, body: JSON) {
        guard var address = UnixAddress(path: service.socket) else { throw KitError("the path is too long") }
        let descriptor = address.connect()
        guard descriptor >= 0 else { throw KitError("no connection") }
        defer { close(descriptor) }
        let request = Array(
            ("\(wrong.method) /v1/\(wrong.path) HTTP/1.0\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(wrong.body.utf8.count)\r\n\r\n\(wrong.body)").utf8)
        guard write(descriptor, request, request.count) == request.count else { throw KitError("can't write") }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        let text = String(decoding: answer, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n") else { throw KitError("no answer: \(text)") }
        let status = Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0
        return (status, try JSON(parsing: text[end.upperBound...].utf8))
    }

    func testWhatIsOutOfRangeIsRefusedWithTheRangeAndChangesNothing() throws {
        let service = try RunningService(settings: "[zoom]\nmaximum = 4.0\n")
        let before = try state(service)
        for wrong in Self.cases {
            let answer = try ask(service, wrong)
            XCTAssertEqual(answer.status, wrong.status, "\(wrong.path) \(wrong.body): \(answer.body.text)")
            XCTAssertEqual(answer.body["code"], .string(wrong.code), "\(wrong.path) \(wrong.body)")
            let detail = answer.body["detail"]?.text ?? ""
            XCTAssertTrue(
                detail.contains(JSON.string(wrong.says).text.dropFirst().dropLast()),
                "\(wrong.path) \(wrong.body): \(detail)")
            let outcome = try ChildProcess.run(
                wrong.line.split(separator: " ").map(String.init) + ["--socket", service.socket])
            XCTAssertEqual(outcome.code, wrong.exit, "\(wrong.line): \(outcome.errors)")
            XCTAssertTrue(
                outcome.errors.contains(wrong.commandSays ?? wrong.says), "\(wrong.line): \(outcome.errors)")
            XCTAssertEqual(outcome.errors.filter { $0 == "\n" }.count, 1, "one sentence: \(outcome.errors)")
            XCTAssertEqual(outcome.output, "", wrong.line)
        }
        XCTAssertEqual(try state(service), before)
    }

    /// A camera with a fixed lens, without a light, manual exposure or metering: each control that it lacks is named.
    func testAControlThatTheCameraLacksIsUnsupportedByName() throws {
        let board = try temporaryFolder()
        defer { removeFolder(board) }
        try writeText(
            """
            name = "fixed"
            title = "A camera with a fixed lens and no light"
            [[camera]]
            driver = "simulator"
            role = "rear"
            match = "model:ov5647"
            [[button]]
            driver = "simulator"
            role = "shutter"
            [microphone]
            driver = "simulator"
            """, to: board + "/board.toml")
        let service = try RunningService(board: board)
        let before = try state(service)
        let cases: [(wrong: Case, exit: Int32)] = [
            (
                Case(
                    line: "focus 2", path: "focus", body: #"{"dioptres":2}"#, status: 501, code: "unsupported",
                    says: "This camera's lens is fixed"), 1
            ),
            (
                Case(
                    line: "torch on", path: "torch", body: #"{"mode":"on"}"#, status: 501, code: "unsupported",
                    says: "this camera has no light"), 1
            ),
            (
                Case(
                    line: "flash on", path: "flash", body: #"{"mode":"on"}"#, status: 501, code: "unsupported",
                    says: "No light belongs to this camera"), 1
            ),
            (
                Case(
                    line: "set focus.mode manual", method: "PATCH", path: "settings", body: #"{"focus.mode":"manual"}"#,
                    code: "settings.invalid", says: "focus.mode is unsupported by this camera"), 64
            ),
        ]
        for (wrong, exit) in cases {
            let answer = try ask(service, wrong)
            XCTAssertEqual(answer.status, wrong.status, answer.body.text)
            XCTAssertEqual(answer.body["code"], .string(wrong.code), answer.body.text)
            XCTAssertTrue(answer.body["detail"]?.text.contains(wrong.says) ?? false, answer.body.text)
            let outcome = try ChildProcess.run(
                wrong.line.split(separator: " ").map(String.init) + ["--socket", service.socket])
            XCTAssertEqual(outcome.code, exit, "\(wrong.line): \(outcome.errors)")
            XCTAssertTrue(outcome.errors.contains(wrong.says), outcome.errors)
        }
        XCTAssertEqual(try state(service), before)
        // It exposes at a point all the same, and says that it can't focus there.
        let events = try service.events()
        XCTAssertEqual(try service.run("focus", "0.5,0.5").code, 0)
        XCTAssertEqual(try events.until("focus.ended").last?["result"], .string("unsupported"))
    }
}
