import FieldcamDirector
import FieldcamMediaKit
import FieldcamServer
import FieldcamServiceKit
import FieldcamTestKit
import Glibc
import XCTest

/// The built program as a person uses it, on the simulated board in real time.
final class EndToEndTests: XCTestCase {
    private func string(_ json: JSON?) -> String {
        if case .string(let text)? = json { text } else { "" }
    }
    private func integer(_ json: JSON?) -> Int64 {
        if case .integer(let value)? = json { value } else { Int64.min }
    }
    private func line(_ outcome: ChildProcess.Outcome) -> String {
        String(outcome.output.split(separator: "\n").first ?? "")
    }

    /// Decodes all of it and gives its length in seconds.
    @discardableResult
    private func assertPlays(_ path: String, line: UInt = #line) -> Double {
        guard let clip = DecodedClip(path: path) else {
            XCTFail("\(path) can't be opened", line: line)
            return 0
        }
        XCTAssertEqual(clip.decodeErrors, 0, line: line)
        XCTAssertEqual(clip.times.count, clip.keys.count, "every packet is a picture", line: line)
        XCTAssertGreaterThan(clip.times.count, 1, line: line)
        XCTAssertEqual(clip.times, clip.times.sorted(), line: line)
        return clip.end
    }

    // A person with a button

    func testATapIsAPhotoAndAHoldIsAClip() throws {
        let service = try RunningService()
        let events = try service.events()
        XCTAssertEqual(try service.run("press", "--for", "100ms").code, 0)
        let shot = try events.until("photo.saved")
        XCTAssertEqual(shot.map { string($0["event"]) }, ["photo.requested", "photo.saved"])
        let photo = try XCTUnwrap(shot.last)
        XCTAssertEqual(photo["source"], .string("cli"))
        XCTAssertNotNil(try StripReader.read(jpegFile: string(photo["path"])))
        // |middle of exposure − press| ≤ half a frame interval + half the exposure
        let bound = 33_333_334 / 2 + integer(photo["exposure_ns"]) / 2
        XCTAssertLessThanOrEqual(abs(integer(photo["press_offset_ns"])), bound)

        XCTAssertEqual(try service.run("press", "--for", "1500ms").code, 0)
        let clip = try events.until("clip.saved")
        XCTAssertEqual(
            clip.map { string($0["event"]) },
            ["recording.requested", "recording.started", "recording.stopped", "clip.saved"])
        XCTAssertEqual(clip[2]["reason"], .string("released"))
        let offset = integer(clip[1]["first_frame_offset_ns"])
        XCTAssertTrue((0...33_400_000).contains(offset), "\(offset)")
        XCTAssertEqual(assertPlays(string(clip[3]["path"])), 1.5, accuracy: 0.07)
        XCTAssertEqual(service.files.count, 2)
        XCTAssertEqual(service.partial, [])
    }

    // A person with a shell

    func testTheCommandsDoWhatTheyPrint() throws {
        let service = try RunningService()
        let photo = try service.run("photo", "-o", service.folder + "/copy.jpg")
        XCTAssertEqual(photo.code, 0, photo.errors)
        XCTAssertNotNil(try StripReader.read(jpegFile: line(photo)))
        XCTAssertEqual(
            try StripReader.read(jpegFile: service.folder + "/copy.jpg")?.sequence,
            try StripReader.read(jpegFile: line(photo))?.sequence)

        let timed = try service.run("record", "-t", "1s")
        XCTAssertEqual(timed.code, 0, timed.errors)
        XCTAssertEqual(assertPlays(line(timed)), 1, accuracy: 0.035)

        let started = try service.run("record")
        XCTAssertEqual(started.code, 0, started.errors)
        XCTAssertEqual(try service.run("record").code, 75)
        let status = try JSON(parsing: try service.run("status", "--json").output.utf8)
        XCTAssertEqual(status["recording"]?["state"], .string("running"))
        XCTAssertEqual(String(integer(status["recording"]?["id"])), line(started))
        XCTAssertEqual(try service.run("photo").code, 0, "a shot in the middle of a clip")
        let stopped = try service.run("stop")
        XCTAssertEqual(stopped.code, 0, stopped.errors)
        assertPlays(line(stopped))
        XCTAssertEqual(try service.run("stop").code, 75)

        let events = try service.events()
        let endless = try service.start("record", "-t", "1h")
        _ = try events.until("recording.started")
        endless.send(SIGINT)
        let ended = try endless.wait()
        XCTAssertEqual(ended.code, 0, ended.errors)
        assertPlays(line(ended))

        let everything = try service.run("status")
        XCTAssertEqual(everything.code, 0)
        XCTAssertTrue(everything.output.hasPrefix("camera     up, rear"), everything.output)
    }

    // Settings while it runs

    func testSettingsAreChangedLiveAndKept() throws {
        let service = try RunningService(settings: "[photo]\nquality = 90\n")
        func set(_ key: String, _ value: String) throws -> String {
            let outcome = try service.run("set", key, value)
            XCTAssertEqual(outcome.code, 0, outcome.errors)
            return line(outcome)
        }
        func get(_ key: String) throws -> String { line(try service.run("get", key)) }
        let fine = try JSON(parsing: try service.run("photo", "--json").output.utf8)
        XCTAssertEqual(try set("photo.quality", "15"), "15")
        let coarse = try JSON(parsing: try service.run("photo", "--json").output.utf8)
        XCTAssertLessThan(integer(coarse["bytes"]), integer(fine["bytes"]) * 2 / 3)

        let events = try service.events()
        XCTAssertEqual(try set("button.hold", "900ms"), "900ms")
        XCTAssertEqual(try service.run("press", "--for", "600ms").code, 0)
        let told = try events.until("photo.saved")
        XCTAssertEqual(
            told.map { string($0["event"]) }, ["settings.changed", "photo.requested", "photo.saved"],
            "no hold any more")
        XCTAssertEqual(told[0]["key"], .string("button.hold"))
        XCTAssertEqual(told[0]["effective"], .string("900ms"))

        _ = try set("video.quality", "640x480")
        _ = try events.until("camera.up")
        XCTAssertEqual(try get("video.quality"), "640x480")
        XCTAssertEqual(try service.run("record", "-t", "1s").code, 0)
        let started = try XCTUnwrap(try events.until("recording.started").last)
        XCTAssertEqual(started["width"], .integer(640))
        XCTAssertEqual(started["height"], .integer(480))

        for (key, value, words) in [
            ("button.hold", "50ms", "button.hold is \"50ms\"; it must be from 150ms to 1s."),
            ("button.hlod", "500ms", "unknown key \"hlod\" in [button]; did you mean 'hold'?"),
            ("interval.every", "1min", "interval.every = \"1min\" is not in this version; leave it at \"0s\"."),
            ("camera.default", "front", "camera.default is \"front\", but the board 'simulator' has: rear."),
        ] {
            let outcome = try service.run("set", key, value)
            XCTAssertEqual(outcome.code, 64, key)
            XCTAssertEqual(outcome.errors, "fieldcam: \(words)\n")
        }
        XCTAssertEqual(try get("button.hold"), "900ms", "nothing was changed")

        service.process.send(SIGTERM)
        XCTAssertEqual(try service.process.wait().code, 0)
        try service.restart()
        XCTAssertEqual(try get("photo.quality"), "15")
        XCTAssertEqual(try get("button.hold"), "900ms")
        XCTAssertEqual(try get("video.quality"), "640x480")
        XCTAssertEqual(try set("photo.quality", "default"), "90", "what the owner's file says")
        XCTAssertEqual(
            try set("camera.autostart", "false"),
            "true (requested: false; it counts from the next start of the service)")
        XCTAssertEqual(try service.run("get", "photo.qualty").code, 64)
    }

    /// What is set counts for more than what was set by hand before, also where the setting had that value all along.
    func testWhatIsSetCountsForMoreThanWhatWasSetByHand() throws {
        let service = try RunningService()
        let events = try service.events()
        func told(_ outcome: ChildProcess.Outcome) -> String {
            XCTAssertEqual(outcome.code, 0, outcome.errors)
            return line(outcome)
        }
        for value in ["off", "default"] {
            XCTAssertEqual(told(try service.run("flash", "on")), "on")
            let byHand = try XCTUnwrap(try events.until("settings.changed").last)
            XCTAssertEqual([byHand["requested"], byHand["effective"]], [.string("off"), .string("on")])
            XCTAssertTrue(told(try service.run("get", "flash.mode")).hasPrefix("on (requested: off; "))
            XCTAssertEqual(told(try service.run("set", "flash.mode", value)), "off")
            let set = try XCTUnwrap(try events.until("settings.changed").last)
            XCTAssertEqual([set["requested"], set["effective"]], [.string("off"), .string("off")])
        }
        XCTAssertEqual(told(try service.run("focus", "2")), "2")
        XCTAssertTrue(told(try service.run("get", "focus.mode")).hasPrefix("manual (requested: continuous; "))
        XCTAssertEqual(told(try service.run("set", "focus.mode", "continuous")), "continuous")
        let status = try JSON(parsing: try service.run("status", "--json").output.utf8)
        XCTAssertEqual(status["focus"]?["mode"], .string("continuous"))
    }

    // Quality

    func testQualityIsChangedLiveAndToldAsItIs() throws {
        let service = try RunningService()
        let events = try service.events()
        let low = try service.run("set", "video.quality", "low")
        XCTAssertEqual(line(low), "low")
        XCTAssertEqual(
            line(try service.run("get", "video.framerate")),
            "24 (requested: 30; low has 24 frames a second at most)")
        let cap = try XCTUnwrap(try events.until("quality.fallback").last)
        XCTAssertEqual([cap["key"], cap["effective"]], [.string("video.framerate"), .string("24")])
        XCTAssertEqual(try service.run("record", "-t", "1s").code, 0)
        XCTAssertEqual(try events.until("recording.started").last?["framerate"], .number(24))
        let saved = try XCTUnwrap(try events.until("clip.saved").last)
        let clip = try XCTUnwrap(DecodedClip(path: string(saved["path"])))
        XCTAssertEqual([clip.width, clip.height], [640, 360])
        // A busy machine may lose some in real time.
        XCTAssertLessThanOrEqual(clip.times.count, 25)

        // So is a photo's size.
        XCTAssertEqual(
            line(try service.run("set", "photo.size", "4000x3000")),
            "1920x1080 (requested: 4000x3000; the nearest size that the camera has)")
        XCTAssertEqual(line(try service.run("set", "photo.size", "640x480")), "640x480")

        // More than the sensor has: told at once, and the clip is what was told.
        XCTAssertEqual(
            line(try service.run("set", "video.quality", "3840x2160")),
            "1920x1080 (requested: 3840x2160; the camera's picture has 1920x1080 pixels)")
        let fallback = try XCTUnwrap(try events.until("quality.fallback").last)
        XCTAssertEqual([fallback["requested"], fallback["effective"]], [.string("3840x2160"), .string("1920x1080")])
        XCTAssertEqual(try service.run("set", "video.unsupported", "reject").code, 0)
        let refused = try service.run("record")
        XCTAssertEqual(refused.code, 75)
        XCTAssertEqual(
            refused.errors,
            "fieldcam: video.quality = \"3840x2160\" can't be recorded here, and video.unsupported is \"reject\": "
                + "the camera's picture has 1920x1080 pixels.\n")
        XCTAssertEqual(try events.until("rejected").last?["reason"], .string("unsupported"))
        XCTAssertEqual(line(try service.run("get", "video.quality")).prefix(5), "none ")
        XCTAssertEqual(try service.run("photo").code, 0, "photos have nothing to do with it")
    }

    func testQualityThatIsSetWhileRecordingWaitsForTheEndOfTheClip() throws {
        let service = try RunningService(settings: "[video]\nquality = \"640x480\"\n")
        let events = try service.events()
        XCTAssertEqual(try service.run("record").code, 0)
        XCTAssertEqual(
            line(try service.run("set", "video.quality", "352x288")),
            "640x480 (requested: 352x288; it waits until nothing is under way)")
        let told = try XCTUnwrap(try events.until("settings.changed").last)
        XCTAssertEqual([told["requested"], told["effective"]], [.string("352x288"), .string("640x480")])
        XCTAssertEqual(try service.run("stop").code, 0)
        let applied = try events.until("settings.changed")
        XCTAssertEqual(applied.last?["effective"], .string("352x288"))
        let first = try XCTUnwrap(applied.first { $0["event"] == .string("clip.saved") })
        XCTAssertEqual(DecodedClip(path: string(first["path"]))?.width, 640)
        XCTAssertEqual(line(try service.run("get", "video.quality")), "352x288")
        XCTAssertEqual(try service.run("record", "-t", "1s").code, 0)
        let second = try XCTUnwrap(try events.until("clip.saved").last)
        XCTAssertEqual(DecodedClip(path: string(second["path"]))?.width, 352)
    }

    // Live control

    func testTheCameraIsControlledLive() throws {
        let service = try RunningService()
        let events = try service.events()
        let torch = try service.run("torch", "0.5")
        XCTAssertEqual(torch.code, 0, torch.errors)
        let light = try XCTUnwrap(try events.until("light.changed").last)
        XCTAssertEqual(light["owner"], .string("hand"))
        XCTAssertEqual(line(try service.run("torch", "off")), "off")
        XCTAssertEqual(try events.until("light.changed").last?["level"], .number(0))
        XCTAssertEqual(line(try service.run("standby")), "standby")
        let status = try JSON(parsing: try service.run("status", "--json").output.utf8)
        XCTAssertEqual(status["camera"]?["state"], .string("standby"))
        XCTAssertEqual(try service.run("press").code, 0)
        XCTAssertNotNil(try events.until("photo.saved").last, "a press wakes it")
        XCTAssertEqual(line(try service.run("release")), "released")
        XCTAssertEqual(try service.run("photo").code, 1, "released means released")
        XCTAssertEqual(try service.run("start").code, 0)
        _ = try events.until("camera.up")
        XCTAssertEqual(try service.run("photo").code, 0)
        XCTAssertEqual(try service.run("switch").code, 1, "it has one camera")
    }

    func testTwoCamerasAreSwitched() throws {
        let service = try RunningService(board: "simulator-2")
        let events = try service.events()
        XCTAssertEqual(line(try service.run("flash", "auto")), "auto")
        let flash = try XCTUnwrap(try events.until("settings.changed").last)
        XCTAssertEqual(flash["key"], .string("flash.mode"))
        XCTAssertEqual(flash["effective"], .string("auto"))
        for role in ["front", "rear"] {
            let switched = try service.run("switch")
            XCTAssertEqual(switched.code, 0, switched.errors)
            XCTAssertEqual(line(switched), role)
            XCTAssertEqual(try events.until("camera.switched").last?["role"], .string(role))
            XCTAssertEqual(try service.run("photo").code, 0)
        }
        let unknown = try service.run("switch", "side")
        XCTAssertEqual(unknown.code, 64)
        XCTAssertEqual(unknown.errors, "fieldcam: The board has no camera 'side'; it has rear, front.\n")
    }

    func testTheCameraThatWasUsedLastComesBack() throws {
        let service = try RunningService(settings: "camera.default = \"last\"", board: "simulator-2")
        func role() throws -> String {
            string(try JSON(parsing: try service.run("status", "--json").output.utf8)["camera"]?["role"])
        }
        XCTAssertEqual(try role(), "rear")
        XCTAssertEqual(line(try service.run("switch")), "front")
        service.process.send(SIGTERM)
        XCTAssertEqual(try service.process.wait().code, 0)
        try service.restart()
        XCTAssertEqual(try role(), "front")
    }

    func testAShotOfTheFullSensorIsSetLive() throws {
        let service = try RunningService()
        let events = try service.events()
        XCTAssertEqual(try service.run("set", "video.quality", "640x480").code, 0)
        XCTAssertEqual(try service.run("set", "photo.source", "sensor").code, 0)
        XCTAssertEqual(line(try service.run("get", "photo.source")), "sensor")
        XCTAssertEqual(try service.run("photo").code, 0)
        let photo = try XCTUnwrap(try events.until("photo.saved").last)
        XCTAssertEqual(photo["width"], .integer(1920))
        XCTAssertEqual(photo["height"], .integer(1080))
        XCTAssertEqual(try service.run("record", "-t", "500ms").code, 0, "the stream is back")
        XCTAssertEqual(try events.until("recording.started").last?["width"], .integer(640))
    }

    // Two services

    func testASecondServiceIsRefusedByName() throws {
        let service = try RunningService()
        let name = "process \(service.process.identifier) (fieldcam)"
        let same = try ChildProcess.run(RunningService.arguments(service.folder))
        XCTAssertEqual(same.code, 75)
        XCTAssertTrue(same.errors.contains(name), same.errors)
        XCTAssertEqual(same.output, "")

        var other = RunningService.arguments(service.folder)
        other[other.count - 1] = service.folder + "/other.sock"
        let sameState = try ChildProcess.run(other)
        XCTAssertEqual(sameState.code, 75)
        XCTAssertTrue(sameState.errors.contains(name), sameState.errors)
        XCTAssertEqual(try service.run("photo").code, 0, "the first isn't disturbed")
    }

    // Ends, soft and hard

    func testSIGTERMFinishesTheClip() throws {
        for signal in [SIGTERM, SIGINT] {
            let service = try RunningService()
            let events = try service.events()
            XCTAssertEqual(try service.run("record").code, 0)
            service.process.send(signal)
            let last = try events.until("clip.saved")
            let stopped = try XCTUnwrap(last.first { $0["event"] == .string("recording.stopped") })
            XCTAssertEqual(stopped["reason"], .string("shutdown"))
            let outcome = try service.process.wait()
            XCTAssertEqual(outcome.code, 0, outcome.errors)
            XCTAssertEqual(outcome.output, "", "stdout holds only results")
            assertPlays(string(last.last?["path"]))
            XCTAssertEqual(service.partial, [])
            XCTAssertNotEqual(access(service.socket, F_OK), 0, "the socket is taken away")
        }
    }

    func testAClipOutlivesSIGKILL() throws {
        let service = try RunningService()
        let id = line(try service.run("record"))
        try service.waitForFragments(2)
        service.process.send(SIGKILL)
        XCTAssertEqual(try service.process.wait().code, -SIGKILL)
        XCTAssertEqual(service.partial.count, 1)

        try service.restart()
        let recovered = try service.events(after: 0).until("clip.saved").last
        XCTAssertEqual([recovered?["source"], recovered?["recovered"]], [.string("cli"), .bool(true)])
        XCTAssertEqual(service.partial, [])
        let file = try XCTUnwrap(service.files.first)
        XCTAssertTrue(file.hasSuffix("_00000\(id).mp4"), file)
        let length = assertPlays(service.media + "/" + file)
        XCTAssertGreaterThanOrEqual(length, 0.5, "a power cut loses at most 2 s")
        // The next number is above it.
        let next = line(try service.run("photo"))
        XCTAssertGreaterThan(next.split(separator: "_").last ?? "", "00000\(id).jpg")
    }

    // A world that refuses

    func testAFullDiskIsTold() throws {
        let service = try RunningService(settings: "[storage]\nreserve = \"900TB\"\n")
        let photo = try service.run("photo")
        XCTAssertEqual(photo.code, 1)
        XCTAssertEqual(photo.output, "")
        XCTAssertTrue(photo.errors.hasPrefix("fieldcam: The photo failed: "), photo.errors)
        let events = try service.events()
        XCTAssertEqual(try service.run("press", "--for", "600ms").code, 0)
        let told = try events.until("clip.failed")
        XCTAssertEqual(told.last?["reason"], .string("storage_low"))
        XCTAssertEqual(
            told.filter { $0["event"] == .string("recording.stopped") }.map { string($0["reason"]) }, ["error"])
        XCTAssertEqual(service.files, [])
        XCTAssertEqual(service.partial, [])
    }

    func testADiskThatFillsEndsTheClipAndKeepsIt() throws {
        let service = try RunningService()
        let events = try service.events()
        XCTAssertEqual(try service.run("record").code, 0)
        _ = try events.until("recording.started")
        try change(service, "{\"disk_full\":true}")
        let told = try events.until("recording.stopped")
        XCTAssertEqual(told.last?["reason"], .string("storage_low"))
        let end = try events.next()
        XCTAssertEqual(end["event"], .string("clip.saved"), "\(end)")
        assertPlays(string(end["path"]))
    }

    func testACameraThatIsLostIsToldAndComesBack() throws {
        let service = try RunningService()
        let events = try service.events()
        try change(service, "{\"fault\":\"disconnect\"}")
        let down = try events.until("camera.down")
        XCTAssertEqual(down.last?["role"], .string("rear"))
        let photo = try service.run("photo")
        if photo.code != 0 {
            XCTAssertEqual(photo.code, 1)
            XCTAssertTrue(photo.errors.hasPrefix("fieldcam: The photo failed: "), photo.errors)
        }
        try change(service, "{\"disconnect\":false}")
        _ = try events.until("camera.up")
        XCTAssertEqual(try service.run("photo").code, 0)
    }

    func testTwentyPressesAtOnceEachEndInAnEvent() throws {
        let service = try RunningService()
        let events = try service.events()
        let presses = try (0..<20).map { _ in try service.start("press", "--for", "300ms") }
        var outcomes: [Int32] = []
        for press in presses { outcomes.append(try press.wait().code) }
        let accepted = outcomes.filter { $0 == 0 }.count
        XCTAssertEqual(outcomes.filter { $0 == 75 }.count, 20 - accepted)
        var ends = 0
        var refused = 0
        while ends + refused < 20 {
            let event = try events.next()
            if event["event"] == .string("photo.saved") { ends += 1 }
            if event["event"] == .string("rejected") {
                refused += 1
                XCTAssertEqual(event["reason"], .string("queue_full"))
            }
        }
        XCTAssertEqual(ends, accepted)
    }

    func testAnEncoderThatHangsCostsNoClip() throws {
        let service = try RunningService(settings: "[video]\nquality = \"640x480\"\n")
        let events = try service.events()
        XCTAssertEqual(try service.run("record").code, 0)
        _ = try events.until("recording.started")
        XCTAssertEqual(try service.run("photo").code, 0)
        try service.waitForFragments(2)
        try change(service, #"{"encoder_hang": true}"#)
        let lost = try events.until("recording.stopped")
        XCTAssertEqual(lost.last?["reason"], .string("encoder_lost"))
        try change(service, #"{"encoder_hang": false}"#)
        let saved = try XCTUnwrap(try events.until("clip.saved").last)
        XCTAssertGreaterThanOrEqual(assertPlays(string(saved["path"])), 0.9)
        XCTAssertEqual(try service.run("photo").code, 0, "the camera has its frames")
        XCTAssertEqual(try service.run("stop").code, 0)
        let second = try XCTUnwrap(try events.until("clip.saved").last)
        assertPlays(string(second["path"]))
        XCTAssertNotEqual(second["id"], saved["id"])
        XCTAssertEqual(service.partial, [])
    }

    private func change(_ service: RunningService, _ body: String) throws {
        guard var address = UnixAddress(path: service.socket) else { throw KitError("no address") }
        let descriptor = address.connect()
        defer { close(descriptor) }
        let request = Array(
            "POST /v1/simulator HTTP/1.0\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
        XCTAssertEqual(write(descriptor, request, request.count), request.count)
        var answer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &answer, answer.count)
        let text = String(decoding: answer.prefix(max(0, count)), as: UTF8.self)
        XCTAssertTrue(text.contains(" 200 "), text)
    }

    func testWrongSettingsEndWith78AndTheirPlace() throws {
        let folder = try temporaryFolder()
        defer { removeFolder(folder) }
        let cases = [
            ("[button]\nhlod = \"400ms\"\n", ":2:1: unknown key \"hlod\" in [button]; did you mean 'hold'?\n"),
            ("[button]\nhold = 400\n", ":2:8: "), ("[button\n", ":1:"),
            ("[server]\nlisten = \"0.0.0.0:80\"\n", "is not in this version"),
        ]
        for (text, words) in cases {
            try writeText(text, to: folder + "/fieldcam.toml")
            let outcome = try ChildProcess.run(RunningService.arguments(folder))
            XCTAssertEqual(outcome.code, 78, outcome.errors)
            XCTAssertTrue(outcome.errors.hasPrefix(folder + "/fieldcam.toml:"), outcome.errors)
            XCTAssertTrue(outcome.errors.contains(words), outcome.errors)
            XCTAssertEqual(outcome.errors.filter { $0 == "\n" }.count, 1, outcome.errors)
        }
        unlink(folder + "/fieldcam.toml")
        XCTAssertEqual(try ChildProcess.run(RunningService.arguments(folder)).code, 78, "a named file must exist")
        let board = try ChildProcess.run(["serve", "--board", "simulatro", "--socket", folder + "/s"])
        XCTAssertEqual(board.code, 78)
        XCTAssertTrue(board.errors.contains("did you mean 'simulator'?"), board.errors)
    }

    func testFoldersThatCannotBeMadeAre73() throws {
        let folder = try temporaryFolder()
        defer { removeFolder(folder) }
        try writeText("", to: folder + "/fieldcam.toml")
        for option in ["--state", "--media", "--socket"] {
            var arguments = RunningService.arguments(folder)
            let place = try XCTUnwrap(arguments.firstIndex(of: option))
            arguments[place + 1] = folder + "/fieldcam.toml/below"
            let outcome = try ChildProcess.run(arguments)
            XCTAssertEqual(outcome.code, 73, outcome.errors)
            XCTAssertTrue(outcome.errors.contains(folder + "/fieldcam.toml"), outcome.errors)
        }
    }
}
