import FieldcamCore
import FieldcamDirector
import FieldcamServer
import FieldcamServiceKit
import Glibc
import XCTest

/// The built program against a service whose director is scripted.
final class CommandTests: XCTestCase {
    private func with(_ service: ScriptedService, _ body: (ScriptedService) throws -> Void) throws {
        defer { service.close() }
        try body(service)
    }

    private func run(_ service: ScriptedService, _ arguments: String...) throws -> ChildProcess.Outcome {
        try ChildProcess.run(arguments + ["--socket", service.path])
    }

    private func write(_ text: String, to path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        XCTAssertGreaterThanOrEqual(file, 0)
        var text = text
        text.withUTF8 { XCTAssertEqual(Glibc.write(file, $0.baseAddress, $0.count), $0.count) }
        close(file)
    }

    private func read(_ path: String) -> String? {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = Glibc.read(file, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    /// Saves every photo as the same file in the service's folder.
    private func photographer() throws -> ScriptedService {
        let service = try ScriptedService(script: { service, order in
            guard case .shot(let token, .cli, _) = order else { return }
            service.reply(token, .accepted(MediaNumber(123)))
            service.send("photo.saved", 123, ["path": .string(service.folder + "/IMG_000123.jpg")])
        })
        write("the picture", to: service.folder + "/IMG_000123.jpg")
        return service
    }

    /// Records one clip: frames run at once, it ends by `stop`.
    private func recorder() throws -> ScriptedService {
        let service = try ScriptedService(script: { service, order in
            switch order {
            case .record(let token, .cli, _, _):
                service.reply(token, .accepted(MediaNumber(124)))
                service.send("recording.requested", 124)
                service.send("recording.started", 124, ["encoder": .string("libx264")])
            case .stop(let token, .cli):
                service.reply(token, .accepted(MediaNumber(124)))
                service.send("recording.stopped", 124, ["reason": .string("command")])
                service.send("clip.saved", 124, ["path": .string(service.folder + "/VID_000124.mp4")])
            default: break
            }
        })
        write("the clip", to: service.folder + "/VID_000124.mp4")
        return service
    }

    // Photos

    func testPhotoPrintsThePathAndNothingElse() throws {
        try with(photographer()) { service in
            let outcome = try run(service, "photo")
            XCTAssertEqual(outcome.code, 0)
            XCTAssertEqual(outcome.output, service.folder + "/IMG_000123.jpg\n")
            XCTAssertEqual(outcome.errors, "")
        }
    }

    func testTheSocketIsFoundByTheEnvironment() throws {
        try with(photographer()) { service in
            let outcome = try ChildProcess.run(["photo"], environment: ["FIELDCAM_SOCKET=" + service.path])
            XCTAssertEqual(outcome.code, 0)
            let named = try ChildProcess.run(
                ["photo", "--socket", "/nowhere.sock"], environment: ["FIELDCAM_SOCKET=" + service.path])
            XCTAssertEqual(named.code, 69, "--socket comes first")
        }
    }

    func testPhotoCopiesTheDurableFile() throws {
        try with(photographer()) { service in
            let copy = service.folder + "/copy.jpg"
            write("an old file that is longer than the picture", to: copy)
            let outcome = try run(service, "photo", "-o", copy)
            XCTAssertEqual(outcome.code, 0)
            XCTAssertEqual(outcome.output, service.folder + "/IMG_000123.jpg\n")
            XCTAssertEqual(read(copy), "the picture")
            XCTAssertEqual(
                names(in: service.folder), ["IMG_000123.jpg", "copy.jpg", "fieldcam.sock", "fieldcam.sock.lock"])
            XCTAssertEqual(try run(service, "photo", "-o", "-").output, "the picture")
        }
    }

    func testACopyThatCannotBeMadeSaysWhereTheOriginalIs() throws {
        try with(photographer()) { service in
            let original = service.folder + "/IMG_000123.jpg"
            let nowhere = try run(service, "photo", "-o", "/nowhere/a.jpg")
            XCTAssertEqual(nowhere.code, 73)
            XCTAssertEqual(
                nowhere.errors,
                "fieldcam: /nowhere/a.jpg can't be made: No such file or directory (the original is \(original)).\n")
            let folder = try run(service, "photo", "-o", service.folder)
            XCTAssertEqual(folder.code, 73)
            XCTAssertEqual(
                folder.errors,
                "fieldcam: \(service.folder) is a folder: give a file name (the original is \(original)).\n")
            XCTAssertEqual(try run(service, "photo", "-o", "/dev/null").code, 0, "a device is written to, not replaced")
            let full = try run(service, "photo", "-o", "/dev/full")
            XCTAssertEqual(full.code, 73)
            XCTAssertTrue(full.errors.contains("No space left on device"), full.errors)
        }
    }

    func testJSONIsTheEventItself() throws {
        try with(photographer()) { service in
            let outcome = try run(service, "photo", "--json")
            let json = try JSON(parsing: outcome.output.utf8)
            XCTAssertEqual(json["event"], .string("photo.saved"))
            XCTAssertEqual(json["id"], .integer(123))
            let both = try run(service, "photo", "--json", "-o", "-")
            XCTAssertEqual(both.code, 64)
        }
    }

    func testFailuresHaveTheirExitCodeAndOneSentence() throws {
        let cases: [(reason: String, code: Int32, words: String)] = [
            ("camera_absent", 1, "no camera was found"), ("storage_low", 1, "the disk has no room"),
        ]
        for wrong in cases {
            let service = try ScriptedService(script: { service, order in
                guard case .shot(let token, _, _) = order else { return }
                service.reply(token, .accepted(MediaNumber(1)))
                service.send("photo.failed", 1, ["reason": .string(wrong.reason)])
            })
            try with(service) { service in
                let outcome = try run(service, "photo")
                XCTAssertEqual(outcome.code, wrong.code)
                XCTAssertEqual(outcome.output, "")
                XCTAssertTrue(outcome.errors.hasPrefix("fieldcam: The photo failed: \(wrong.words)"), outcome.errors)
            }
        }
        let full = try ScriptedService(script: { service, order in
            guard case .shot(let token, _, _) = order else { return }
            service.reply(token, .rejected(.queueFull))
        })
        try with(full) { service in XCTAssertEqual(try run(service, "photo").code, 75) }
    }

    func testNoServiceIs69() throws {
        let outcome = try ChildProcess.run(["status", "--socket", "/tmp/none/fieldcam.sock"])
        XCTAssertEqual(outcome.code, 69)
        XCTAssertEqual(
            outcome.errors,
            "fieldcam: no service answers at /tmp/none/fieldcam.sock: start it with `fieldcam serve`, or name its socket with --socket.\n"
        )
        let folder = try temporaryFolder()
        defer { removeFolder(folder) }
        write("", to: folder + "/file")
        XCTAssertEqual(try ChildProcess.run(["photo", "--socket", folder + "/file"]).code, 69)
    }

    func testAServiceThatGoesAwayIs69OrRefused() throws {
        let service = try ScriptedService(script: { service, order in
            guard case .shot(let token, _, _) = order else { return }
            service.reply(token, .accepted(MediaNumber(1)))
        })
        let client = try ChildProcess(["photo", "--socket", service.path])
        _ = try service.orders(1)
        service.server.stop()
        let outcome = try client.wait()
        XCTAssertEqual(outcome.code, 75)
        XCTAssertTrue(outcome.errors.hasPrefix("fieldcam: The service is stopping"), outcome.errors)
        service.close()
    }

    // Clips

    func testRecordPrintsTheIdOnceFramesRunAndStopThePath() throws {
        try with(recorder()) { service in
            let started = try run(service, "record")
            XCTAssertEqual(started.code, 0)
            XCTAssertEqual(started.output, "124\n")
            let stopped = try run(service, "stop")
            XCTAssertEqual(stopped.code, 0)
            XCTAssertEqual(stopped.output, service.folder + "/VID_000124.mp4\n")
        }
    }

    func testRecordWithALengthWaitsForTheClip() throws {
        let service = try ScriptedService(script: { service, order in
            guard case .record(let token, _, .milliseconds(2500), _) = order else { return }
            service.reply(token, .accepted(MediaNumber(7)))
            service.send("recording.started", 7)
            service.send("clip.saved", 6, ["path": .string("/other.mp4")])
            service.send("recording.stopped", 7, ["reason": .string("maximum_duration")])
            service.send("clip.saved", 7, ["path": .string("/media/VID_000007.mp4")])
        })
        try with(service) { service in
            let outcome = try run(service, "record", "-t", "2.5s")
            XCTAssertEqual(outcome.output, "/media/VID_000007.mp4\n")
            XCTAssertEqual(outcome.code, 0)
        }
    }

    func testCtrlCEndsTheClipAndPrintsIt() throws {
        for signal in [SIGINT, SIGTERM] {
            try with(recorder()) { service in
                let copy = service.folder + "/copy.mp4"
                let client = try ChildProcess(["record", "-t", "1h", "-o", copy, "--socket", service.path])
                _ = try service.orders(1)
                client.send(signal)
                let outcome = try client.wait()
                XCTAssertEqual(outcome.code, 0)
                XCTAssertEqual(outcome.output, service.folder + "/VID_000124.mp4\n")
                XCTAssertEqual(read(copy), "the clip")
            }
        }
    }

    func testAClipThatFailsIsNotPrinted() throws {
        for (event, fields, words) in [
            (
                "clip.failed", ["reason": .string("storage_low"), "partial_path": .string("/media/.partial/x")],
                "fieldcam: the clip 3 failed (storage_low); `fieldcam status` says what is wrong. What there is stands in /media/.partial/x.\n"
            ),
            (
                "clip.discarded", ["reason": .string("no_frames")],
                "fieldcam: the clip 3 ended before its first frame; nothing was saved.\n"
            ),
        ] as [(String, KeyValuePairs<String, JSON>, String)] {
            let fields = fields.map { $0 }
            let service = try ScriptedService(script: { service, order in
                guard case .record(let token, _, _, _) = order else { return }
                service.reply(token, .accepted(MediaNumber(3)))
                service.desk.events.append(
                    event, number: MediaNumber(3), fields: fields.map { .init($0.key, $0.value) },
                    monotonic: Instant(nanoseconds: 1), wallNanoseconds: 0)
                service.desk.changed.signal()
            })
            try with(service) { service in
                let outcome = try run(service, "record")
                XCTAssertEqual(outcome.code, 1)
                XCTAssertEqual(outcome.errors, words)
            }
        }
    }

    func testASecondStartAndAStopOfNothingAre75() throws {
        let service = try ScriptedService(script: { service, order in
            switch order {
            case .record(let token, _, _, _): service.reply(token, .rejected(.alreadyRecording))
            case .stop(let token, _): service.reply(token, .rejected(.notRecording))
            default: break
            }
        })
        try with(service) { service in
            let second = try run(service, "record", "-t", "3s")
            XCTAssertEqual(second.code, 75)
            XCTAssertEqual(second.errors, "fieldcam: A clip is being recorded already; stop it first.\n")
            let nothing = try run(service, "stop")
            XCTAssertEqual(nothing.code, 75)
            XCTAssertEqual(
                nothing.errors,
                "fieldcam: No clip is being recorded; start one first with 'fieldcam record' or POST /v1/recording.\n")
        }
    }

    // The rest

    func testPressReturnsAfterTheRelease() throws {
        try with(ScriptedService()) { service in
            let outcome = try run(service, "press", "flash", "--for", "50ms")
            XCTAssertEqual(outcome.code, 0)
            XCTAssertEqual(outcome.output, "")
            let orders = try service.orders(2)
            XCTAssertEqual(orders[0].order, .contact(ButtonID(1), pressed: true, .cli))
            XCTAssertEqual(orders[1].at - orders[0].at, .milliseconds(50))
            XCTAssertEqual(try run(service, "press", "--json").output, "{\"role\":\"shutter\",\"for\":\"120ms\"}\n")
            let unknown = try run(service, "press", "a/b?c")
            XCTAssertEqual(unknown.code, 64)
            XCTAssertEqual(unknown.errors, "fieldcam: The board has no button 'a/b?c'; it has shutter, flash.\n")
            XCTAssertEqual(try run(service, "press", "--for", "50").code, 64)
        }
    }

    func testEventsArePrintedOneALineAsTheyCome() throws {
        try with(ScriptedService()) { service in
            let plain = try ChildProcess(["events", "--socket", service.path])
            let json = try ChildProcess(["events", "--json", "--socket", service.path])
            // A press by each tells that both streams are open: they connected before.
            for stream in [plain, json] {
                var line: String?
                while line == nil {
                    service.send("photo.saved", 12, ["path": .string("/a b.jpg"), "width": .integer(640)])
                    if waitReadable(stream.output, milliseconds: 50) { line = try stream.line() }
                }
                if stream === plain {
                    XCTAssertEqual(line, "2025-11-30T14:49:27.120Z photo.saved id=12 path=/a b.jpg width=640")
                } else {
                    XCTAssertEqual(try JSON(parsing: line!.utf8)["event"], .string("photo.saved"))
                }
            }
            plain.send(SIGINT)
            XCTAssertEqual(try plain.wait().code, -SIGINT)
            service.server.stop()
            let outcome = try json.wait()
            XCTAssertEqual(outcome.code, 69)
            XCTAssertEqual(outcome.errors, "fieldcam: the service ended; its log says why.\n")
        }
    }

    func testStatusIsATableOrJSON() throws {
        try with(ScriptedService()) { service in
            service.update { status in
                status.camera.state = "up"
                status.camera.role = "rear"
                status.camera.model = "imx708"
                status.camera.videoWidth = 1920
                status.camera.videoHeight = 1080
                status.camera.framerate = 30
                status.camera.lastFrame = Instant(nanoseconds: 1)
                var button = Status.Button()
                button.role = "shutter"
                status.buttons = [button]
                status.storage.headroomBytes = 1_234_000_000
                status.storage.mediaFolder = "/media"
                status.counters.presses = 2
            }
            XCTAssertEqual(
                try run(service, "status").output,
                """
                camera     up, rear, imx708, 1920x1080 at 30 fps, no frame within the last second
                recording  idle
                button     shutter, released
                light      off, flash off
                lens       focus continuous, zoom 1
                audio      closed
                storage    ready, 1234 MB above the reserve, /media
                clock      not trusted yet
                counted    2 presses, 0 photos, 0 clips, 0 rejected, 0 edges lost, 0 frames missed
                versions   fieldcam 1.2.3

                """)
            let json = try JSON(parsing: try run(service, "status", "--json").output.utf8)
            XCTAssertEqual(json["camera"]?["state"], .string("up"))
        }
    }

    func testCheckNamesThePlaceOfEachFault() throws {
        let folder = try temporaryFolder()
        defer { removeFolder(folder) }
        write("[button]\nhold = \"400ms\"\n", to: folder + "/good.toml")
        write("[button]\nhlod = \"400ms\"\nhold = 400\n", to: folder + "/bad.toml")
        let good = try ChildProcess.run(["check", folder + "/good.toml"])
        XCTAssertEqual(good.code, 0)
        XCTAssertEqual(good.output, "\(folder)/good.toml: settings, no faults\n")
        let bad = try ChildProcess.run(["check", folder + "/good.toml", folder + "/bad.toml"])
        XCTAssertEqual(bad.code, 78)
        let lines = bad.errors.split(separator: "\n")
        XCTAssertEqual(lines.count, 2)
        XCTAssertEqual(lines[0], "\(folder)/bad.toml:2:1: unknown key \"hlod\" in [button]; did you mean 'hold'?")
        XCTAssertTrue(lines[1].hasPrefix("\(folder)/bad.toml:3:8: "), bad.errors)
        let json = try ChildProcess.run(["check", "--json", folder + "/bad.toml"])
        XCTAssertEqual(try JSON(parsing: json.output.split(separator: "\n")[0].utf8)["line"], .integer(2))
        XCTAssertEqual(try ChildProcess.run(["check", folder + "/none.toml"]).code, 78)
    }

    func testBoardsAreListed() throws {
        let outcome = try ChildProcess.run(["boards"])
        XCTAssertEqual(outcome.code, 0)
        XCTAssertTrue(outcome.output.contains("\nsimulator "), outcome.output)
        XCTAssertTrue(outcome.output.contains("raspberry-pi-5 "), outcome.output)
    }

    func testAReaderThatHasSeenEnoughIsNoFailure() throws {
        try with(ScriptedService()) { service in
            let events = try ChildProcess(["events", "--socket", service.path])
            events.closeOutput()
            repeat { service.send("camera.up") } while !waitReadable(events.life, milliseconds: 20)
            let outcome = try events.wait()
            XCTAssertEqual(outcome.code, 0)
            XCTAssertEqual(outcome.errors, "")
        }
    }
}
