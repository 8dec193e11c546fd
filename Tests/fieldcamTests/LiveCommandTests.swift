import FieldcamCore
import FieldcamDirector
import FieldcamServer
import FieldcamServiceKit
import XCTest

/// Live control by the built program, against a director that grants everything.
final class LiveCommandTests: XCTestCase {
    private func service() throws -> ScriptedService {
        try ScriptedService(script: { service, order in
            guard case .command(let command, let token, .cli) = order else { return }
            let effective: Effective =
                switch command {
                case .focus(let point): .focus(point)
                case .focusAutomatically: .focus(nil)
                case .focusManually(let dioptres): .dioptres(dioptres)
                case .zoom(let factor): .zoom(factor)
                case .flash(let mode): .flash(mode)
                case .torch(let level): .torch(level)
                case .torchAutomatically: .torch(0.25)
                case .switchCamera(let camera): .camera(camera ?? CameraID(1))
                case .start: .cameraState(.starting)
                case .standby: .cameraState(.standby)
                case .release: .cameraState(.released)
                }
            service.reply(token, .effective(effective))
        })
    }

    func testEachPrintsWhatIsInEffect() throws {
        let service = try service()
        defer { service.close() }
        service.update { $0.camera.role = "rear" }
        let cases: [(line: String, command: ControlCommand, output: String, json: String)] = [
            (
                "focus 0.25,1", .focus(UnitPoint(x: 0.25, y: 1)), "0.25,1",
                #"{"mode":"auto","x":0.25,"y":1.0}"#
            ),
            ("focus auto", .focusAutomatically, "continuous", #"{"mode":"continuous"}"#),
            ("focus 2.5", .focusManually(2.5), "2.5", #"{"mode":"manual","dioptres":2.5}"#),
            ("zoom 2", .zoom(2), "2", #"{"zoom":2.0}"#),
            ("flash auto", .flash(.auto), "auto", #"{"flash":"auto"}"#),
            ("torch on", .torch(1), "1", #"{"level":1.0}"#),
            ("torch 0.5", .torch(0.5), "0.5", #"{"level":0.5}"#),
            ("torch off", .torch(0), "off", #"{"level":0.0}"#),
            ("torch auto", .torchAutomatically, "0.25", #"{"level":0.25}"#),
            ("switch", .switchCamera(nil), "front", #"{"role":"front"}"#),
            ("switch rear", .switchCamera(CameraID(0)), "rear", #"{"role":"rear"}"#),
            ("start", .start, "starting", #"{"state":"starting"}"#),
            ("standby", .standby, "standby", #"{"state":"standby"}"#),
            ("release", .release, "released", #"{"state":"released"}"#),
        ]
        for (index, live) in cases.enumerated() {
            let words = live.line.split(separator: " ").map(String.init)
            let plain = try ChildProcess.run(words + ["--socket", service.path])
            XCTAssertEqual(plain.code, 0, live.line + plain.errors)
            XCTAssertEqual(plain.output, live.output + "\n", live.line)
            guard case .command(let command, _, .cli) = try service.orders(2 * index + 1)[2 * index].order else {
                return XCTFail(live.line)
            }
            XCTAssertEqual(command, live.command, live.line)
            let json = try ChildProcess.run(words + ["--json", "--socket", service.path])
            XCTAssertEqual(json.output, live.json + "\n", live.line)
        }
    }

    func testWrongValuesAreNamedWithWhatIsAllowed() throws {
        let service = try service()
        defer { service.close() }
        let cases = [
            "focus middle":
                "'middle' is no focus: write X,Y (each 0 to 1, from the top left), auto, or dioptres such as 2.5.",
            "focus 0.5,":
                "'0.5,' is no focus: write X,Y (each 0 to 1, from the top left), auto, or dioptres such as 2.5.",
            "focus 1,2,3": "'1,2,3' has 3 numbers; a point has two: X,Y.",
            "focus 0.5,1.5": "Out of range: y is 1.5; it may be 0 to 1.",
            "focus -1": "Out of range: dioptres is -1.0; it may be 0 (infinity) and up.",
            "zoom big": "'big' is no zoom factor: write a number from 1 up, such as 2 or 1.5.",
            "zoom 0.5": "Out of range: factor is 0.5; it may be 1 and up.",
            "zoom nan": "'nan' is no zoom factor: write a number from 1 up, such as 2 or 1.5.",
            "flash bright": "'bright' is no flash mode: write off, on or auto.",
            "torch 0":
                "Out of range: level is 0.0; it may be above 0, up to 1; mode \"off\" switches it off.",
            "torch dim": "'dim' is no torch level: write off, on, auto, or a number above 0, up to 1.",
            "switch side": "The board has no camera 'side'; it has rear, front.",
        ]
        for (line, expected) in cases {
            let outcome = try ChildProcess.run(
                line.split(separator: " ").map(String.init) + ["--socket", service.path])
            XCTAssertEqual(outcome.code, 64, line)
            XCTAssertEqual(outcome.errors, "fieldcam: \(expected)\n", line)
            XCTAssertEqual(outcome.output, "", line)
        }
    }
}
