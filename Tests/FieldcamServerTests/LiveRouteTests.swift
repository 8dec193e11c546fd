import FieldcamCore
import FieldcamDirector
import FieldcamLinux
import FieldcamServer
import FieldcamServiceKit
import XCTest

/// Live control over HTTP; what is granted is in the command line's tests as well.
final class LiveRouteTests: XCTestCase {
    private func answering(_ answer: Answer) throws -> ScriptedService {
        try ScriptedService(script: { bench, order in
            guard case .command(_, let token, _) = order else { return }
            bench.reply(token, answer)
        })
    }

    func testACommandIsAnsweredWithWhatIsInEffect() throws {
        let bench = try answering(.effective(.torch(0.5)))
        defer { bench.close() }
        let answer = try bench.ask("POST", "/v1/torch", #"{"mode":"on"}"#)
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(answer.text, "{\"level\":0.5}\n", "what the light gives, not what was asked")
        guard case .command(.torch(1), _, .api) = try bench.orders(1)[0].order else { return XCTFail("torch on is 1") }
    }

    func testWrongBodiesReachNobody() throws {
        let bench = try ScriptedService()
        defer { bench.close() }
        let cases: [(path: String, body: String, code: String, detail: String)] = [
            ("focus", #"{"x":1.01,"y":0}"#, "out_of_range", "Out of range: x is 1.01; it may be 0 to 1."),
            ("focus", #"{"x":0.5}"#, "field.invalid", "Focus takes x and y, each from 0 to 1, or dioptres alone."),
            (
                "focus", #"{"x":0,"y":0,"dioptres":1}"#, "field.invalid",
                "Focus takes x and y, each from 0 to 1, or dioptres alone."
            ),
            ("focus", #"{"x":"left","y":0}"#, "field.type", "x must be a number."),
            ("zoom", "{}", "field.invalid", "factor is missing; it may be 1 and up."),
            ("zoom", #"{"factor":0.99}"#, "out_of_range", "Out of range: factor is 0.99; it may be 1 and up."),
            ("zoom", #"{"zoom":2}"#, "field.unknown", "zoom is an unknown field; known here: factor."),
            ("flash", #"{"mode":"bright"}"#, "field.invalid", "mode is 'bright'; it may be off, on, auto."),
            (
                "torch", #"{"level":0}"#, "out_of_range",
                "Out of range: level is 0.0; it may be above 0, up to 1; mode \"off\" switches it off."
            ),
            (
                "torch", #"{"level":1,"mode":"on"}"#, "field.invalid",
                "The torch takes level, above 0 up to 1, or mode: off, on, auto."
            ),
            (
                "camera/switch", #"{"role":"side"}"#, "camera.unknown",
                "The board has no camera 'side'; it has rear, front."
            ),
            ("camera/start", #"{"role":"rear"}"#, "field.unknown", "role is an unknown field; no field is known here."),
        ]
        for wrong in cases {
            let answer = try bench.ask("POST", "/v1/" + wrong.path, wrong.body)
            XCTAssertEqual(answer.status, 400, wrong.body)
            XCTAssertEqual(answer.code, .string(wrong.code), wrong.body)
            XCTAssertEqual(answer.detail, wrong.detail)
        }
        XCTAssertEqual(try bench.ask("GET", "/v1/focus").headers["allow"], "POST, DELETE")
        XCTAssertEqual(try bench.ask("POST", "/v1/camera/stop").status, 404)
        // An order that is right is the first that came.
        _ = try bench.ask("POST", "/v1/buttons/shutter/press", #"{"for":"1ms"}"#)
        guard case .contact = try bench.orders(1)[0].order else { return XCTFail("a wrong body became an order") }
    }

    func testARangeThatTheCameraKnowsIsNamed() throws {
        let bench = try answering(.rejected(.outOfRange))
        defer { bench.close() }
        bench.update {
            $0.lens.maximumZoom = 2.4
            $0.lens.range = 0...12
        }
        let zoom = try bench.ask("POST", "/v1/zoom", #"{"factor":3}"#)
        XCTAssertEqual(zoom.status, 400)
        XCTAssertEqual(zoom.code, .string("out_of_range"))
        XCTAssertEqual(
            zoom.detail,
            "Out of range: zoom.maximum allows a factor from 1 to 2.4 here; \"native\" is as far as no "
                + "pixel is invented, a larger number allows more.")
        XCTAssertEqual(
            try bench.ask("POST", "/v1/focus", #"{"dioptres":20}"#).detail,
            "Out of range: this lens takes dioptres from 0 to 12.")
    }

    func testWhatCannotBeIsToldApartFromWhatCannotBeNow() throws {
        let off = try answering(.rejected(.cameraOff))
        defer { off.close() }
        for (state, detail) in [
            ("standby", "The camera is in standby; start it first with 'fieldcam start' or POST /v1/camera/start."),
            ("released", "The camera is released; start it first with 'fieldcam start' or POST /v1/camera/start."),
            ("starting", "The camera is starting; try again in a moment."),
            ("recovering", "The camera is recovering; the service keeps trying to get it back: unplugged."),
        ] {
            off.update {
                $0.camera.state = state
                $0.camera.detail = state == "recovering" ? "unplugged" : ""
            }
            for (path, body) in [
                ("zoom", #"{"factor":2}"#), ("focus", #"{"x":0.5,"y":0.5}"#), ("torch", #"{"mode":"on"}"#),
            ] {
                let asleep = try off.ask("POST", "/v1/" + path, body)
                XCTAssertEqual(asleep.status, 409)
                XCTAssertEqual(asleep.code, .string("camera_off"))
                XCTAssertEqual(asleep.detail, detail)
            }
        }
        let bench = try answering(.rejected(.unsupported))
        defer { bench.close() }
        bench.update { $0.camera.state = "up" }
        let fixed = try bench.ask("POST", "/v1/focus", #"{"dioptres":2}"#)
        XCTAssertEqual(fixed.status, 501)
        XCTAssertEqual(fixed.code, .string("unsupported"))
        XCTAssertEqual(fixed.detail, "This camera's lens is fixed: it has no focus to set.")
        bench.update { $0.light.reason = "this camera has no light" }
        XCTAssertEqual(
            try bench.ask("POST", "/v1/torch", #"{"mode":"on"}"#).detail,
            "The light can't be lit: this camera has no light.")
        bench.update { $0.light.reason = "" }
        XCTAssertEqual(try bench.ask("POST", "/v1/torch", #"{"mode":"on"}"#).status, 409, "it cools down")
    }

    func testATorchThatMustCoolTellsForHowLong() throws {
        let bench = try answering(.rejected(.outOfRange))
        defer { bench.close() }
        bench.update { $0.light.restsUntil = SystemClock.now + .milliseconds(29_500) }
        let hot = try bench.ask("POST", "/v1/torch", #"{"mode":"on"}"#)
        XCTAssertEqual(hot.status, 409)
        XCTAssertEqual(hot.code, .string("out_of_range"))
        XCTAssertEqual(
            hot.detail, "The light has been on for max_torch and cools down; it may shine again in 30 s.")
    }

    func testARefusalOfTheStateIs409() throws {
        for reason in [RejectionReason.recording, .switching] {
            let bench = try answering(.rejected(reason))
            defer { bench.close() }
            let answer = try bench.ask("POST", "/v1/camera/switch")
            XCTAssertEqual(answer.status, 409)
            XCTAssertEqual(answer.code, .string(reason.rawValue))
        }
    }

    func testASwitchThatFailedIsNoSuccess() throws {
        let bench = try answering(.effective(.camera(CameraID(0))))
        defer { bench.close() }
        bench.update { $0.camera.role = "rear" }
        for body in ["", #"{"role":"front"}"#] {
            let answer = try bench.ask("POST", "/v1/camera/switch", body)
            XCTAssertEqual(answer.status, 503, body)
            XCTAssertEqual(answer.code, .string("camera.switch_failed"))
            XCTAssertEqual(answer.json["role"], .string("rear"))
        }
        XCTAssertEqual(try bench.ask("POST", "/v1/camera/switch", #"{"role":"rear"}"#).json["role"], .string("rear"))
    }

    func testStatusTellsLightAndLens() throws {
        let bench = try ScriptedService()
        defer { bench.close() }
        bench.update {
            $0.light.level = 0.5
            $0.light.owner = "hand"
            $0.lens.zoom = 1.5
            $0.lens.maximumZoom = 4
            $0.lens.focus = .scanning(UnitPoint(x: 0.25, y: 0.75))
            $0.flash = .auto
            $0.isInLowLight = true
        }
        let status = try bench.ask("GET", "/v1/status").json
        XCTAssertEqual(status["light"]?.text, #"{"on":true,"level":0.5,"owner":"hand","reason":null}"#)
        XCTAssertEqual(
            status["focus"]?.text, #"{"mode":"auto","x":0.25,"y":0.75,"scanning":true,"range":null}"#)
        XCTAssertEqual(status["zoom"], .number(1.5))
        XCTAssertEqual(status["flash"], .string("auto"))
        XCTAssertEqual(status["low_light"], .bool(true))
    }

    func testSettingsAreToldAndChanged() throws {
        let bench = try ScriptedService { configuration in
            configuration.settings = SettingsAccess(
                read: {
                    .members(["photo.quality": .members(["requested": .integer(92), "effective": .integer(92)])])
                },
                change: { change in
                    switch change["photo.quality"] {
                    case .integer(1...100): .success(change)
                    case .integer: .failure(.wrong(key: "photo.quality", "photo.quality must be from 1 to 100."))
                    case .bool: .failure(.notKept("settings.toml can't be written."))
                    default: .failure(.busy)
                    }
                })
        }
        defer { bench.close() }
        XCTAssertEqual(
            try bench.ask("GET", "/v1/settings").json["photo.quality"]?["effective"], .integer(92))
        XCTAssertEqual(try bench.ask("PATCH", "/v1/settings", #"{"photo.quality":5}"#).status, 200)
        let wrong = try bench.ask("PATCH", "/v1/settings", #"{"photo.quality":0}"#)
        XCTAssertEqual(wrong.status, 400)
        XCTAssertEqual(wrong.code, .string("settings.invalid"))
        XCTAssertEqual(wrong.json["field"], .string("photo.quality"))
        XCTAssertEqual(wrong.detail, "photo.quality must be from 1 to 100.")
        XCTAssertEqual(try bench.ask("PATCH", "/v1/settings", #"{"photo.quality":true}"#).status, 507)
        XCTAssertEqual(try bench.ask("PATCH", "/v1/settings", #"{"photo.quality":"x"}"#).code, .string("service.busy"))
        XCTAssertEqual(try bench.ask("PATCH", "/v1/settings", "{").code, .string("body.syntax"))
        XCTAssertEqual(try bench.ask("POST", "/v1/settings", "{}").status, 405)
    }
}
