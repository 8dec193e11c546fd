import FieldcamCore
import FieldcamDirector
import FieldcamServer
import FieldcamServiceKit
import XCTest

final class RouteTests: XCTestCase {
    private func with(
        _ bench: @autoclosure () throws -> ScriptedService, _ body: (ScriptedService) throws -> Void, line: UInt = #line
    ) throws {
        let bench = try bench()
        defer { bench.close() }
        try body(bench)
    }

    // State

    func testStatusTellsWhatTheDirectorKnows() throws {
        try with(ScriptedService()) { bench in
            var status = Status()
            status.camera.state = "up"
            status.camera.role = "rear"
            status.camera.lastFrame = Instant(nanoseconds: 1)
            status.recording.state = "running"
            status.recording.number = MediaNumber(124)
            status.counters.presses = 3
            bench.update { $0 = status }
            let answer = try bench.ask("GET", "/v1/status")
            XCTAssertEqual(answer.status, 200)
            XCTAssertEqual(answer.headers["content-type"], "application/json")
            XCTAssertEqual(answer.json["camera"]?["state"], .string("up"))
            XCTAssertEqual(answer.json["camera"]?["running"], .bool(false), "the last frame is old")
            XCTAssertEqual(answer.json["recording"]?["id"], .integer(124))
            XCTAssertEqual(answer.json["counters"]?["presses"], .integer(3))
            XCTAssertEqual(answer.json["versions"]?["fieldcam"], .string("1.2.3"))
        }
    }

    func testBoardIsToldAsItIs() throws {
        try with(ScriptedService()) { bench in
            XCTAssertEqual(try bench.ask("GET", "/v1/board").json["name"], .string("test"))
        }
    }

    func testHealthIsWhetherAPressWouldBeServed() throws {
        try with(ScriptedService()) { bench in
            XCTAssertEqual(try bench.ask("GET", "/healthz").status, 503, "still starting")
            var status = Status()
            status.camera.state = "up"
            bench.update { $0 = status }
            XCTAssertEqual(try bench.ask("GET", "/healthz").status, 200)
            status.storage.state = "low"
            bench.update { $0 = status }
            let ill = try bench.ask("GET", "/healthz")
            XCTAssertEqual(ill.status, 503)
            XCTAssertEqual(ill.detail, "the storage is low.")
        }
    }

    // Photos

    func testAPhotoIsAnsweredWhenItIsDurable() throws {
        let bench = try ScriptedService(script: { bench, order in
            guard case .shot(let token, let source, _) = order else { return }
            bench.reply(token, .accepted(MediaNumber(123)))
            bench.send("photo.requested", 123, ["source": .string("\(source)")])
            bench.send("photo.saved", 122, ["path": .string("/other.jpg")])
            bench.send("photo.saved", 123, ["path": .string("/media/IMG_000123.jpg")])
        })
        try with(bench) { bench in
            let answer = try bench.ask("POST", "/v1/photos", "{}", headers: ["X-Fieldcam-Source: cli"])
            XCTAssertEqual(answer.status, 201)
            XCTAssertEqual(answer.json["event"], .string("photo.saved"))
            XCTAssertEqual(answer.json["id"], .integer(123))
            XCTAssertEqual(answer.json["path"], .string("/media/IMG_000123.jpg"))
            guard case .shot(_, .cli, _) = try bench.orders(1)[0].order else {
                return XCTFail("not by the command line")
            }
            _ = try bench.ask("POST", "/v1/photos")
            guard case .shot(_, .api, _) = try bench.orders(2)[1].order else { return XCTFail("not by the API") }
        }
    }

    func testAPhotoMayAskForItsOwnFlash() throws {
        let bench = try ScriptedService(script: { bench, order in
            guard case .shot(let token, _, _) = order else { return }
            bench.reply(token, .accepted(MediaNumber(9)))
        })
        try with(bench) { bench in
            XCTAssertEqual(try bench.ask("POST", "/v1/photos?wait=0", #"{"flash":"on"}"#).status, 202)
            guard case .shot(_, _, .on) = try bench.orders(1)[0].order else {
                return XCTFail("the flash isn't asked for")
            }
            let wrong = try bench.ask("POST", "/v1/photos?wait=0", #"{"flash":"bright"}"#)
            XCTAssertEqual(wrong.status, 400)
            XCTAssertEqual(wrong.json["detail"], .string("flash is 'bright'; it may be off, on, auto."))
        }
    }

    func testAnOutcomeBeforeItsReplyIsNotMissed() throws {
        let bench = try ScriptedService(script: { bench, order in
            guard case .shot(let token, _, _) = order else { return }
            bench.send("photo.saved", 5, ["path": .string("/a.jpg")])
            // A status request passes in between: the server has read the event for sure.
            _ = try? bench.ask("GET", "/v1/status")
            bench.reply(token, .accepted(MediaNumber(5)))
        })
        try with(bench) { bench in XCTAssertEqual(try bench.ask("POST", "/v1/photos").status, 201) }
    }

    func testWithoutWaitingAPhotoIsAnsweredWithItsNumber() throws {
        let bench = try ScriptedService(script: { bench, order in
            guard case .shot(let token, _, _) = order else { return }
            bench.reply(token, .accepted(MediaNumber(9)))
        })
        try with(bench) { bench in
            let answer = try bench.ask("POST", "/v1/photos?wait=0")
            XCTAssertEqual(answer.status, 202)
            XCTAssertEqual(answer.json["id"], .integer(9))
        }
    }

    func testAFailedPhotoSaysWhyAndHowToMendIt() throws {
        for (reason, status, code) in [
            ("camera_absent", 503, "camera.absent"), ("camera_lost", 503, "camera.lost"),
            ("storage_low", 507, "storage.low"), ("storage_unwritable", 507, "storage.unwritable"),
            ("encoder_lost", 500, "encoder.lost"), ("internal", 500, "internal"),
        ] {
            let bench = try ScriptedService(script: { bench, order in
                guard case .shot(let token, _, _) = order else { return }
                bench.reply(token, .accepted(MediaNumber(1)))
                bench.send("photo.failed", 1, ["reason": .string(reason)])
            })
            try with(bench) { bench in
                let answer = try bench.ask("POST", "/v1/photos")
                XCTAssertEqual(answer.status, status)
                XCTAssertEqual(answer.headers["content-type"], "application/problem+json")
                XCTAssertEqual(answer.code, .string(code))
                XCTAssertEqual(answer.json["type"], .string("urn:fieldcam:problem:" + code))
                XCTAssertEqual(answer.json["event"]?["reason"], .string(reason))
                XCTAssertTrue(answer.detail?.hasPrefix("The photo failed: ") ?? false)
                XCTAssertTrue(answer.detail?.hasSuffix(".") ?? false)
            }
        }
    }

    func testAFailureSpeaksTheAdaptersOwnSentence() throws {
        let bench = try ScriptedService(script: { bench, order in
            guard case .shot(let token, _, _) = order else { return }
            bench.reply(token, .accepted(MediaNumber(1)))
            bench.send("photo.failed", 1, ["reason": .string("camera_busy")])
        })
        try with(bench) { bench in
            bench.update { $0.camera.detail = "process 42 (cam) holds imx708; stop it." }
            XCTAssertEqual(
                try bench.ask("POST", "/v1/photos").detail, "The photo failed: process 42 (cam) holds imx708; stop it.")
        }
    }

    func testAFullQueueIsRefused() throws {
        let bench = try ScriptedService(script: { bench, order in
            guard case .shot(let token, _, _) = order else { return }
            bench.reply(token, .rejected(.queueFull))
        })
        try with(bench) { bench in
            let answer = try bench.ask("POST", "/v1/photos")
            XCTAssertEqual(answer.status, 409)
            XCTAssertEqual(answer.code, .string("queue_full"))
        }
    }

    func testADirectorThatTakesNothingIsReported() throws {
        try with(ScriptedService { $0.orderDeadline = .milliseconds(50) }) { bench in
            let answer = try bench.ask("POST", "/v1/photos")
            XCTAssertEqual(answer.status, 503)
            XCTAssertEqual(answer.code, .string("service.busy"))
        }
    }

    // Clips

    func testAClipStartsAndStops() throws {
        let bench = try ScriptedService(script: { bench, order in
            switch order {
            case .record(let token, _, _, _): bench.reply(token, .accepted(MediaNumber(124)))
            case .stop(let token, _):
                bench.reply(token, .accepted(MediaNumber(124)))
                bench.send("recording.stopped", 124, ["reason": .string("command")])
                bench.send("clip.saved", 124, ["path": .string("/media/VID_000124.mp4")])
            default: break
            }
        })
        try with(bench) { bench in
            let started = try bench.ask("POST", "/v1/recording", #"{"maximum_duration":"1.5s"}"#)
            XCTAssertEqual(started.status, 202)
            XCTAssertEqual(started.json["id"], .integer(124))
            guard case .record(_, .api, .milliseconds(1500), nil) = try bench.orders(1)[0].order else {
                return XCTFail("\(try bench.orders(1))")
            }
            let stopped = try bench.ask("DELETE", "/v1/recording")
            XCTAssertEqual(stopped.status, 200)
            XCTAssertEqual(stopped.json["path"], .string("/media/VID_000124.mp4"))
        }
    }

    func testAClipMayAskForItsOwnTorch() throws {
        let bench = try ScriptedService(script: { bench, order in
            guard case .record(let token, _, _, _) = order else { return }
            bench.reply(token, .accepted(MediaNumber(1)))
        })
        try with(bench) { bench in
            let asked: [(String, ClipTorch?)] = [
                ("{}", nil), (#"{"torch":null}"#, nil), (#"{"torch":true}"#, ClipTorch(.on)),
                (#"{"torch":false}"#, ClipTorch(.off)), (#"{"torch":"auto"}"#, ClipTorch(.auto)),
                (#"{"torch":"off"}"#, ClipTorch(.off)), (#"{"torch":0.25}"#, ClipTorch(.on, level: 0.25)),
                (#"{"torch":1}"#, ClipTorch(.on, level: 1)),
            ]
            for (index, (body, torch)) in asked.enumerated() {
                XCTAssertEqual(try bench.ask("POST", "/v1/recording", body).status, 202, body)
                guard case .record(_, _, _, torch) = try bench.orders(index + 1)[index].order else {
                    return XCTFail(body)
                }
            }
        }
    }

    func testRefusalsTellTheState() throws {
        let bench = try ScriptedService(script: { bench, order in
            switch order {
            case .record(let token, _, _, _): bench.reply(token, .rejected(.alreadyRecording))
            case .stop(let token, _): bench.reply(token, .rejected(.notRecording))
            default: break
            }
        })
        try with(bench) { bench in
            bench.update { $0.recording.state = "running" }
            let second = try bench.ask("POST", "/v1/recording", "{}")
            XCTAssertEqual(second.status, 409)
            XCTAssertEqual(second.code, .string("already_recording"))
            XCTAssertEqual(second.json["recording"]?["state"], .string("running"))
            XCTAssertEqual(try bench.ask("DELETE", "/v1/recording").code, .string("not_recording"))
        }
    }

    func testAClipWithoutFramesIsNotCalledSaved() throws {
        let bench = try ScriptedService(script: { bench, order in
            guard case .stop(let token, _) = order else { return }
            bench.reply(token, .accepted(MediaNumber(1)))
            bench.send("clip.discarded", 1, ["reason": .string("no_frames")])
        })
        try with(bench) { bench in
            let answer = try bench.ask("DELETE", "/v1/recording")
            XCTAssertEqual(answer.status, 500)
            XCTAssertEqual(answer.code, .string("clip.discarded"))
        }
    }

    // Presses

    func testAPressIsReleasedExactlyWhenItIsDue() throws {
        try with(ScriptedService()) { bench in
            let answer = try bench.ask("POST", "/v1/buttons/flash/press", #"{"for":"30ms"}"#)
            XCTAssertEqual(answer.status, 202)
            XCTAssertEqual(answer.json["for"], .string("30ms"))
            let orders = try bench.orders(2)
            XCTAssertEqual(orders[0].order, .contact(ButtonID(1), pressed: true, .api))
            XCTAssertEqual(orders[1].order, .contact(ButtonID(1), pressed: false, .api))
            XCTAssertEqual(orders[1].at - orders[0].at, .milliseconds(30))
        }
    }

    func testAWaitingPressIsAnsweredAfterTheRelease() throws {
        try with(ScriptedService()) { bench in
            let answer = try bench.ask("POST", "/v1/buttons/shutter/press?wait=1", headers: ["X-Fieldcam-Source: cli"])
            XCTAssertEqual(answer.status, 202)
            XCTAssertEqual(answer.json["for"], .string("120ms"), "the default")
            // Both were handed over before the answer.
            XCTAssertEqual(try bench.orders(2)[1].order, .contact(ButtonID(0), pressed: false, .cli))
        }
    }

    func testAClientThatVanishesLeavesNoButtonDown() throws {
        try with(ScriptedService()) { bench in
            var client: TestConnection? = try bench.connect()
            try client?.send("POST", "/v1/buttons/shutter/press?wait=1", #"{"for":"60ms"}"#)
            XCTAssertEqual(try bench.orders(1)[0].order, .contact(ButtonID(0), pressed: true, .api))
            client = nil
            XCTAssertEqual(try bench.orders(2)[1].order, .contact(ButtonID(0), pressed: false, .api))
        }
    }

    func testAPressedButtonIsNotPressedAgain() throws {
        try with(ScriptedService()) { bench in
            XCTAssertEqual(try bench.ask("POST", "/v1/buttons/shutter/press", #"{"for":"1h"}"#).status, 202)
            let second = try bench.ask("POST", "/v1/buttons/shutter/press")
            XCTAssertEqual(second.status, 409)
            XCTAssertEqual(second.code, .string("button.pressed"))
            XCTAssertEqual(try bench.orders(2)[1].order, .refusePress(.api), "it ends in an event")
        }
    }

    func testStoppingReleasesWhatIsPressed() throws {
        let bench = try ScriptedService()
        XCTAssertEqual(try bench.ask("POST", "/v1/buttons/shutter/press", #"{"for":"1h"}"#).status, 202)
        bench.server.stop()
        let orders = try bench.orders(2)
        XCTAssertEqual(orders[1].order, .contact(ButtonID(0), pressed: false, .api))
        XCTAssertLessThan(orders[1].at - orders[0].at, .seconds(60))
        bench.close()
    }

    func testAnUnknownButtonIsNamedWithThoseThereAre() throws {
        try with(ScriptedService()) { bench in
            let answer = try bench.ask("POST", "/v1/buttons/shuter/press")
            XCTAssertEqual(answer.status, 404)
            XCTAssertEqual(answer.code, .string("button.unknown"))
            XCTAssertEqual(answer.detail, "The board has no button 'shuter'; it has shutter, flash.")
        }
    }

    // The simulated scene

    func testTheSceneIsChangedWhereTheBoardIsSimulated() throws {
        let configured = try ScriptedService { configuration in
            configuration.simulator = { change in
                change["lux"] == nil
                    ? .failure(SceneError(field: "lx", detail: "lx is an unknown field; did you mean lux?"))
                    : .success(change)
            }
        }
        try with(configured) { bench in
            XCTAssertEqual(try bench.ask("POST", "/v1/simulator", #"{"lux":3}"#).json["lux"], .integer(3))
            let wrong = try bench.ask("POST", "/v1/simulator", #"{"lx":3}"#)
            XCTAssertEqual(wrong.status, 400)
            XCTAssertEqual(wrong.json["field"], .string("lx"))
        }
        try with(ScriptedService()) { bench in
            let answer = try bench.ask("POST", "/v1/simulator", "{}")
            XCTAssertEqual(answer.status, 404)
            XCTAssertEqual(answer.code, .string("board.not_simulated"))
        }
    }

    // Requests that can't be understood

    func testWrongBodiesAreRefusedByName() throws {
        let cases: [(body: String, code: String, detail: String)] = [
            (
                #"{"maximum_duration":5}"#, "field.unit",
                "maximum_duration is a bare number; write it as a text with its unit, such as \"5ms\" or \"5s\"."
            ),
            (
                #"{"maximum_duration":"5"}"#, "field.unit",
                "maximum_duration: \"5\" has no unit: write \"5ms\", \"5s\" or \"5min\"."
            ),
            (
                #"{"maximum_duration":"5sec"}"#, "field.unit",
                "maximum_duration: \"5sec\" has the unknown unit \"sec\": the units are ns, us, ms, s, min, h, d."
            ),
            (
                #"{"maximum_duration":"-5s"}"#, "field.unit",
                "maximum_duration: \"-5s\" is no duration: write a number and a unit, such as \"400ms\", \"2s\" or \"10min\"."
            ),
            (
                #"{"maximum_duration":true}"#, "field.type",
                "maximum_duration must be a text with a unit, such as \"400ms\"."
            ),
            (#"{"maximum_duration":"25h"}"#, "field.range", "maximum_duration is 25h; it may be 0s to 1d."),
            (
                #"{"max_duration":"5s"}"#, "field.unknown",
                "max_duration is an unknown field; known here: maximum_duration, torch."
            ),
            (
                #"{"torch":"bright"}"#, "field.invalid",
                "torch is 'bright'; torch may be true, false, \"on\", \"off\", \"auto\", or a level above 0, up to 1."
            ),
            (
                #"{"torch":[1]}"#, "field.type",
                "torch may be true, false, \"on\", \"off\", \"auto\", or a level above 0, up to 1."
            ),
            (
                #"{"torch":1.5}"#, "out_of_range",
                "Out of range: torch is 1.5; it may be above 0, up to 1; false keeps it dark."
            ),
            (#"[]"#, "body.not_object", "The body must be a JSON object, such as {}."),
            ("{\n oops}", "body.syntax", "The body isn't JSON at 2:2: a key in quotes was expected."),
        ]
        try with(ScriptedService()) { bench in
            for wrong in cases {
                let answer = try bench.ask("POST", "/v1/recording", wrong.body)
                XCTAssertEqual(answer.status, 400, wrong.body)
                XCTAssertEqual(answer.code, .string(wrong.code), wrong.body)
                XCTAssertEqual(answer.detail, wrong.detail)
            }
            XCTAssertEqual(try bench.ask("POST", "/v1/photos", #"{"flesh":"on"}"#).code, .string("field.unknown"))
            XCTAssertEqual(try bench.ask("POST", "/v1/photos?wiat=0").code, .string("query.unknown"))
            XCTAssertEqual(try bench.ask("POST", "/v1/photos?wait=no").code, .string("query.invalid"))
        }
    }

    func testUnknownPathsAndMethods() throws {
        try with(ScriptedService()) { bench in
            for path in ["/", "/v1", "/v1/", "/v1/status/", "/v2/status", "/v1/buttons/shutter", "//v1/status", "/x?y"]
            {
                let answer = try bench.ask("GET", path)
                XCTAssertEqual(answer.status, 404, path)
                XCTAssertEqual(answer.code, .string("path.unknown"), path)
            }
            let answer = try bench.ask("PUT", "/v1/recording")
            XCTAssertEqual(answer.status, 405)
            XCTAssertEqual(answer.headers["allow"], "POST, DELETE")
            XCTAssertEqual(answer.code, .string("method.unknown"))
        }
    }

    func testAConnectionServesOneRequestAfterAnother() throws {
        let bench = try ScriptedService(script: { bench, order in
            guard case .shot(let token, _, _) = order else { return }
            bench.reply(token, .accepted(MediaNumber(1)))
            bench.send("photo.saved", 1)
        })
        try with(bench) { bench in
            let connection = try bench.connect()
            for _ in 0..<3 {
                try connection.send("GET", "/v1/board")
                XCTAssertEqual(try connection.answer().status, 200)
                try connection.send("POST", "/v1/photos", "{}")
                XCTAssertEqual(try connection.answer().status, 201)
            }
        }
    }

    func testStoppingAnswersWhoStillWaits() throws {
        let bench = try ScriptedService(script: { bench, order in
            guard case .shot(let token, _, _) = order else { return }
            bench.reply(token, .accepted(MediaNumber(1)))
        })
        let client = try bench.connect()
        try client.send("POST", "/v1/photos")
        _ = try bench.orders(1)
        bench.server.stop()
        let answer = try client.answer()
        XCTAssertEqual(answer.status, 503)
        XCTAssertEqual(answer.code, .string("service.stopping"))
        bench.close()
    }
}
