import FieldcamCore
import XCTest

@testable import FieldcamSettings

final class SettingsTests: XCTestCase {
    private func load(_ text: String) throws -> Settings { try LoadedSettings.parse(text).settings }

    // MARK: Defaults

    func testTheContractsBlockIsTheDefaults() throws {
        let loaded = try LoadedSettings.load(file: Fixtures.folder + "/settings/defaults.toml", required: true)
        XCTAssertEqual(loaded.settings, Settings())
        XCTAssertEqual(Set(loaded.origins.keys), Set(SettingKey.all.map(\.name)), "every key, none missing")
    }

    func testEveryKeyWritesItsDefaultAsItReadsIt() throws {
        for key in SettingKey.all {
            let loaded = try LoadedSettings.parse("[\(key.section)]\n\(key.leaf) = \(key.defaultLiteral)\n")
            XCTAssertEqual(loaded.settings, Settings(), key.name)
            XCTAssertEqual(key.literal(in: loaded.settings), key.defaultLiteral)
            XCTAssertFalse(key.form.isEmpty)
        }
    }

    func testFeaturesNameKeysThatExist() {
        for name in FeatureSet.settings.keys { XCTAssertNotNil(SettingKey.byName[name], name) }
    }

    func testNoFileMeansDefaults() throws {
        let folder = SettingsFolder()
        XCTAssertEqual(
            try LoadedSettings.load(file: folder.path + "/fieldcam.toml", state: folder.path), LoadedSettings())
        XCTAssertEqual(try LoadedSettings.load(file: nil), LoadedSettings())
        XCTAssertThrowsError(try LoadedSettings.load(file: folder.path + "/mine.toml", required: true)) { error in
            XCTAssertEqual(
                "\(error)", "\(folder.path)/mine.toml: there is no such settings file; name another with --settings")
        }
    }

    // MARK: Values

    func testValuesAreTaken() throws {
        let settings = try load(
            """
            [button]
            enabled = false
            hold = "0.5s"
            double_press = "250ms"
            double_press_action = "none"
            shutter_role = "video_latch"
            [photo]
            size = "1920x1080"
            quality = 80
            [video]
            quality = "low"
            codec = "mjpeg"
            framerate = 12.5
            maximum_duration = "1.5min"
            unsupported = "reject"
            [audio]
            enabled = false
            [camera]
            default = "front"
            autostart = false
            [storage]
            reserve = "1GiB"
            """)
        XCTAssertEqual(settings.button.enabled, false)
        XCTAssertEqual(settings.button.hold, .milliseconds(500))
        XCTAssertEqual(settings.button.doublePress, .milliseconds(250))
        XCTAssertEqual(settings.button.doublePressAction, DoublePressAction.none)
        XCTAssertEqual(settings.button.shutterRole, .videoLatch)
        XCTAssertEqual(settings.photo.size, .pixels(PixelSize(width: 1920, height: 1080)))
        XCTAssertEqual(settings.photo.quality, 80)
        XCTAssertEqual(settings.video.quality, .low)
        XCTAssertEqual(settings.video.codec, .mjpeg)
        XCTAssertEqual(settings.video.framerate, 12.5)
        XCTAssertEqual(settings.video.maximumDuration, .seconds(90))
        XCTAssertEqual(settings.video.unsupported, .reject)
        XCTAssertEqual(settings.audio.enabled, false)
        XCTAssertEqual(settings.camera.default, .role("front"))
        XCTAssertEqual(settings.camera.autostart, false)
        XCTAssertEqual(settings.storage.reserve, ByteCount(1 << 30))
    }

    func testDurationsAndSizes() {
        let durations: [(String, Int64?)] = [
            ("400ms", 400_000_000), ("2s", 2_000_000_000), ("10min", 600_000_000_000), ("1h", 3_600_000_000_000),
            ("1d", 86_400_000_000_000), ("0s", 0), ("1.5s", 1_500_000_000), ("250us", 250_000), ("7ns", 7),
            ("0.1ns", nil), ("400", nil), ("", nil), ("s", nil), ("-1s", nil), ("1 s", nil), ("1S", nil), ("1m", nil),
            ("1.s", nil), (".5s", nil), ("1.2.3s", nil), ("1e3s", nil), ("999999999999d", nil), ("٣s", nil),
        ]
        for (text, amount) in durations {
            XCTAssertEqual(Quantity.parse(text, units: Quantity.durationUnits), amount, text)
        }
        let sizes: [(String, Int64?)] = [
            ("200MB", 200_000_000), ("1MiB", 1 << 20), ("1.5kB", 1500), ("0B", 0), ("2TiB", 2 << 40), ("200", nil),
            ("1mb", nil), ("9999999999TB", nil),
        ]
        for (text, amount) in sizes { XCTAssertEqual(Quantity.parse(text, units: Quantity.sizeUnits), amount, text) }
        for text in ["400ms", "2s", "10min", "1h", "0s", "1500ms", "90s"] {
            let amount = Quantity.parse(text, units: Quantity.durationUnits)!
            XCTAssertEqual(Quantity.text(.nanoseconds(amount)), text)
        }
    }

    // MARK: What is wrong

    func testEveryMistakeIsToldWithItsPlaceAndItsMend() {
        XCTAssertEqual(
            complaints(
                """
                [button]
                hold = 400
                double_press = "3s"
                hodl = "400ms"
                enabled = "yes"
                shutter_role = "foto_video"
                [photo]
                quality = 92.5
                size = "huge"
                [vidoe]
                quality = "high"
                [storage]
                reserve = 200
                """),
            [
                #"s.toml:2:8: button.hold has no unit: write "400ms" or "400s""#,
                #"s.toml:3:16: button.double_press is "3s"; it must be from 100ms to 1s"#,
                #"s.toml:4:1: unknown key "hodl" in [button]; did you mean 'hold'?"#,
                #"s.toml:5:11: button.enabled is "yes"; write true or false"#,
                #"s.toml:6:16: button.shutter_role is "foto_video"; did you mean "photo_video"? Allowed: "photo_video", "photo_only", "video_hold" or "video_latch""#,
                #"s.toml:8:11: photo.quality is 92.5; write a whole number"#,
                #"s.toml:9:8: photo.size is "huge"; write "max" or a size such as "1920x1080", each side from 16 to 65500"#,
                #"s.toml:10:2: unknown section [vidoe]; did you mean 'video'?"#,
                #"s.toml:13:11: storage.reserve has no unit: write "200MB" or "200B""#,
            ])
    }

    func testRangesAndTypes() {
        let wrong: [(String, String)] = [
            ("button.hold = \"149ms\"", "it must be from 150ms to 1s"),
            ("button.hold = \"1001ms\"", "it must be from 150ms to 1s"),
            ("button.hold = true", "write a number with ns"),
            ("button.hold = \"400\"", "has no unit"),
            ("button.hold = 0.4", "has no unit"),
            ("photo.quality = 0", "it must be from 1 to 100"),
            ("photo.quality = 101", "it must be from 1 to 100"),
            ("photo.size = \"0x0\"", "write \"max\" or a size"),
            ("photo.size = \"99999x10\"", "write \"max\" or a size"),
            ("video.framerate = 0", "it must be from 1 to 240"),
            ("video.framerate = nan", "write a number"),
            ("video.framerate = inf", "write a number"),
            ("video.maximum_duration = \"25h\"", "it must be from 0s to 1d"),
            ("torch.level = 0", "it must be above 0 and at most 1"),
            ("torch.level = 1.1", "it must be above 0 and at most 1"),
            ("exposure.compensation = -8.5", "it must be from -8 to 8"),
            ("exposure.shutter = \"1/0\"", "write \"auto\", a fraction"),
            ("exposure.gain = 0.5", "write \"auto\" or a number from 1"),
            ("zoom.maximum = 0.5", "write \"native\" or a number from 1"),
            ("guide.rect = [0.5, 0.5, 0.6, 0.1]", "isn't a rectangle inside the picture"),
            ("guide.rect = [0.5, 0.5]", "isn't a rectangle inside the picture"),
            ("guide.rect = [2, 0, 1, 1]", "isn't a rectangle inside the picture"),
            ("guide.rect = [-0.1, 0, 0.5, 0.5]", "each from 0 to 1"),
            ("guide.rect = [0.1, 0.1, 0, 0.5]", "its width and height must be from 0.02 to 1"),
            ("guide.rect = [\"a\", 0, 1, 1]", "guide.rect is \"a\""),
            ("guide.corner_radius = 0.6", "it must be from 0 to 0.5"),
            ("photo.aspect = \"3:2\"", "\"sensor\", \"16:9\", \"4:3\", \"1:1\" or \"guide\""),
            ("guide.save = []", "is empty"),
            ("guide.save = [\"whole\", \"whole\"]", "twice"),
            ("camera.default = \"\"", "a camera's role"),
            ("camera.autostart = 1979-05-27", "is a date or time; write true or false"),
            ("server.listen = \"a\\u0000b\"", "NUL"),
            ("hooks.\"photo.savd\" = \"x\"", "did you mean 'photo.saved'?"),
            ("button = 3", "write [button]"),
            ("hold = \"400ms\"", "did you mean 'button.hold'?"),
            ("photo.hold = \"400ms\"", "did you mean 'button.hold'?"),
            ("[[button]]\nrole = \"shutter\"", "not a table; write [button]"),
        ]
        for (text, words) in wrong {
            let found = complaints(text)
            XCTAssertEqual(found.count, 1, "\(text): \(found)")
            XCTAssertTrue(found.first?.contains(words) == true, "\(text): \(found)")
        }
    }

    func testFeaturesOfALaterVersionAreRefused() {
        let later = [
            "interval.every = \"1min\"", "trigger.action = \"clip\"",
            "storage.when_full = \"delete_oldest\"", "storage.delete = \"any\"",
            "server.listen = \"0.0.0.0:8080\"", "server.token_file = \"/tmp/token\"",
            "hooks.\"photo.saved\" = \"/bin/true\"", "hooks.photo.saved = \"/bin/true\"",
        ]
        for text in later {
            let found = complaints(text)
            XCTAssertEqual(found.count, 1, "\(text): \(found)")
            XCTAssertTrue(found.first?.contains("is not in this version; ") == true, "\(text): \(found)")
        }
        XCTAssertEqual(
            complaints("[interval]\nevery = \"1min\""),
            [#"s.toml:2:9: interval.every = "1min" is not in this version; leave it at "0s""#])
    }

    func testThresholdsOfLowLightInTheWrongOrderAreRefusedWithBothNames() throws {
        let folder = SettingsFolder()
        let file = folder.write("f.toml", "[low_light]\nenter_lux = 30\nleave_lux = 12\n")
        let board = try BoardProfile.load(
            file: folder.write("board.toml", "name = \"b\"\ntitle = \"B\"\n"), folder: folder.path)
        XCTAssertEqual(
            try LoadedSettings.load(file: file).complaints(about: board).map(\.description),
            [
                "\(file):3:13: low_light.enter_lux is 30 and low_light.leave_lux 12; low_light.enter_lux must be at most "
                    + "low_light.leave_lux, or low light would come and go all the time"
            ])
        XCTAssertThrowsError(try FileCheck.check(file))
        // One alone may be right with the other file's.
        let one = folder.write("one.toml", "[low_light]\nenter_lux = 30\n")
        XCTAssertEqual(try FileCheck.check(one), .settings)
        XCTAssertEqual(try LoadedSettings.load(file: one).complaints(about: board).count, 1)
        XCTAssertEqual(
            try LoadedSettings.load(file: one).taking("low_light.leave_lux = 40", file: "set").complaints(about: board),
            [])
    }

    func testDuplicatesAndSyntax() {
        for text in [
            "[button]\nhold = \"400ms\"\nhold = \"500ms\"\n", "button.hold = \"1s\"\n\nbutton.hold = \"1s\"\n",
        ] {
            let found = complaints(text)
            XCTAssertEqual(found.count, 1)
            XCTAssertTrue(found[0].hasPrefix("s.toml:3:"), found[0])
            XCTAssertTrue(found[0].hasSuffix("hold' stands here a second time; keep one of the two"), found[0])
        }
        XCTAssertTrue(
            complaints("[photo]\n[photo]\n")[0].hasSuffix("'photo' stands here a second time; keep one of the two"))
        XCTAssertEqual(
            complaints("[photo]\n\n[=]\n[video]\n"),
            ["s.toml:3:1: this isn't TOML: a key, a bracket or a quotation mark is missing or out of place"])
        XCTAssertEqual(
            complaints("# é\n[photo]\nsize = \"é\" é\n"),
            ["s.toml:3:12: this isn't TOML: a character here is allowed only in quotation marks and in comments"])
        XCTAssertEqual(complaints("[button]\nhold = \"400ms\n").count, 1)
        XCTAssertTrue(complaints("[button]\nhold = \"400ms\n")[0].hasPrefix("s.toml:2:"))
        XCTAssertTrue(complaints("= 3")[0].hasPrefix("s.toml:1:1: this isn't TOML: "))
        XCTAssertTrue(complaints("[button]\nhold =\n")[0].hasPrefix("s.toml:2:"))
    }

    // MARK: Several files

    func testLaterFilesWinKeyByKey() throws {
        let folder = SettingsFolder()
        let main = folder.write("etc/fieldcam.toml", "[button]\nhold = \"200ms\"\n[photo]\nquality = 50\n")
        let second = folder.write("etc/conf.d/20-second.toml", "[button]\nhold = \"400ms\"\ndouble_press = \"500ms\"\n")
        folder.write("etc/conf.d/10-first.toml", "[button]\nhold = \"300ms\"\n")
        folder.write("etc/conf.d/README", "not settings")
        folder.write("etc/conf.d/.hidden.toml", "not settings")
        let kept = folder.write("state/settings.toml", "[photo]\nquality = 60\n")
        let loaded = try LoadedSettings.load(file: main, required: true, state: folder.path + "/state")
        XCTAssertEqual(loaded.settings.button.hold, .milliseconds(400))
        XCTAssertEqual(loaded.settings.button.doublePress, .milliseconds(500))
        XCTAssertEqual(loaded.settings.photo.quality, 60)
        XCTAssertEqual(
            loaded.origins,
            [
                "button.hold": Place(file: second, line: 2, column: 8),
                "button.double_press": Place(file: second, line: 3, column: 16),
                "photo.quality": Place(file: kept, line: 2, column: 11),
            ])
    }

    func testMistakesOfAllFilesAreToldTogether() {
        let folder = SettingsFolder()
        let main = folder.write("fieldcam.toml", "[button]\nhold = 1\n")
        let extra = folder.write("conf.d/a.toml", "oops")
        let kept = folder.write("settings.toml", "[photo]\nqualty = 3\n")
        XCTAssertThrowsError(try LoadedSettings.load(file: main, state: folder.path)) { error in
            let places = (error as? Complaints)?.list.map(\.place.file)
            XCTAssertEqual(places, [main, extra, kept])
        }
    }

    func testAFileThatCannotBeReadIsNamed() {
        XCTAssertThrowsError(try LoadedSettings.load(file: "/proc/self/mem", required: true))
        let folder = SettingsFolder()
        folder.write("fieldcam.toml/inside", "")
        XCTAssertThrowsError(try LoadedSettings.load(file: folder.path + "/fieldcam.toml")) { error in
            XCTAssertEqual("\(error)", "\(folder.path)/fieldcam.toml: the file can't be read: Is a directory")
        }
    }

    // MARK: Hostile input

    func testNothingCrashesTheReader() throws {
        var random = SplitMix(seed: 11)
        let settings = Array(try TextFile.read(Fixtures.folder + "/settings/defaults.toml"))
        let board = Array(try TextFile.read(Fixtures.boards + "/lab/board.toml"))
        let spice = Array("\"'[]{}=.,#\n\\\u{0}\u{7F}é0-+_eE:TZ \t\r".utf8) + [0xFF, 0xC0, 0xE2]
        for round in 0..<3000 {
            var bytes = round % 2 == 0 ? settings : board
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[at] = spice[Int.random(in: 0..<spice.count, using: &random)]
                case 1: bytes.insert(spice[Int.random(in: 0..<spice.count, using: &random)], at: at)
                case 2: bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 1...40, using: &random)))
                default: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + 30)], at: at)
                }
                if bytes.isEmpty { bytes = [0x0A] }
            }
            do {
                let root = try TOMLDocument.parse(bytes, file: "x")
                var loaded = LoadedSettings()
                do { try loaded.takeAll(root) } catch { checkLines(error) }
                var reader = BoardReader(file: "x")
                _ = reader.board(root)
                checkLines(Complaints(reader.complaints))
            } catch {
                checkLines(error)
            }
        }
    }

    private func checkLines(_ complaints: Complaints) {
        for complaint in complaints.list {
            let line = complaint.description
            XCTAssertFalse(line.contains { $0.isNewline }, line)
            XCTAssertGreaterThan(complaint.place.line, 0, line)
            XCTAssertGreaterThan(complaint.place.column, 0, line)
            XCTAssertLessThan(line.count, 700, line)
        }
    }

    func testDepthAndLengthAreBounded() {
        let deep = [
            String(repeating: "a.", count: 1000) + "b = 1",
            String(repeating: "[", count: 2000),
            "[" + String(repeating: "a.", count: 1000) + "b]\nc = 1",
            "x = " + String(repeating: "{a=", count: 600) + "1" + String(repeating: "}", count: 600),
            "x = " + String(repeating: "[", count: 900) + String(repeating: "]", count: 900),
            String(repeating: "x", count: 5000) + " = 1",
            String(repeating: "[a]\n", count: 70_000),
            (0..<8).map { _ in "{" + String(repeating: "a.", count: 1000) + "b = [\n" }.reduce("x = [", +),
            String(repeating: "\"", count: 2000),
            "\u{FEFF}x = 1",
        ]
        for text in deep { XCTAssertFalse(complaints(text).isEmpty, "\(text.prefix(40))…") }
        XCTAssertEqual(complaints(""), [])
        XCTAssertEqual(complaints("\u{FEFF}"), [])
        XCTAssertEqual(complaints("# only a comment"), [])
    }

    // MARK: What the decisions get

    func testSessionSettings() throws {
        let board = try BoardProfile.find("simulator", paths: [Fixtures.boards])
        let two = try BoardProfile.find("simulator-2", paths: [Fixtures.boards])
        XCTAssertEqual(Settings().session(for: board), SessionSettings.defaults(cameras: 1))
        let settings = try load(
            """
            [button]
            enabled = false
            hold = "250ms"
            double_press = "200ms"
            shutter_role = "photo_only"
            [video]
            quality = "low"
            maximum_duration = "10s"
            """)
        let session = settings.session(for: board)
        XCTAssertEqual(session.hold, .milliseconds(250))
        XCTAssertEqual(session.doublePress, .milliseconds(200))
        XCTAssertEqual(session.shutterRole, .photoOnly)
        XCTAssertFalse(session.buttonEnabled)
        XCTAssertEqual(session.maximumDuration, .seconds(10))
        XCTAssertEqual(session.frameInterval, .nanoseconds(41_666_667), "the preset caps the rate at 24")
        XCTAssertEqual(session.doublePressAction, .auto)
        XCTAssertEqual(Settings().session(for: two), SessionSettings.defaults(cameras: 2))
    }

    func testSettingsOfLightAndOpticsReachTheDecisions() throws {
        let board = try BoardProfile.find("raspberry-pi-5", paths: [Fixtures.boards])
        let settings = try LoadedSettings.parse(
            """
            flash.mode = "auto"
            torch.mode = "on"
            torch.level = 0.5
            focus.mode = "manual"
            focus.resume_after = "5s"
            focus.while_recording = "lock"
            exposure.compensation = -1.5
            exposure.metering = "spot"
            exposure.shutter = "1/250"
            exposure.gain = 2
            low_light.enter_lux = 5
            zoom.maximum = 3
            camera.standby_after = "1h"
            camera.switch_while_recording = "new_clip"
            button.double_press_action = "cycle_flash"
            """, file: "s.toml"
        ).settings.session(for: board)
        XCTAssertEqual(settings.light.flash, .auto)
        XCTAssertEqual(settings.light.torch, .on)
        XCTAssertEqual(settings.light.torchLevel, 0.5)
        XCTAssertEqual(settings.light.maximumFlash, .milliseconds(800))
        XCTAssertEqual(settings.optics.focusMode, .manual)
        XCTAssertEqual(settings.optics.resumeAfter, .seconds(5))
        XCTAssertEqual(settings.optics.focusWhileRecording, .lock)
        XCTAssertEqual(settings.optics.compensation, -1.5)
        XCTAssertEqual(settings.optics.metering, .spot)
        XCTAssertEqual(settings.optics.shutter, .milliseconds(4))
        XCTAssertEqual(settings.optics.gain, 2)
        XCTAssertEqual(settings.optics.enterLux, 5)
        XCTAssertEqual(settings.optics.zoomMaximum, 3)
        XCTAssertEqual(settings.standbyAfter, .seconds(3600))
        XCTAssertEqual(settings.switchWhileRecording, .newClip)
        XCTAssertEqual(settings.doublePressAction, .cycleFlash)
    }

    func testEachLightHasItsOwnLimits() throws {
        let board = try BoardProfile.parse(
            """
            name = "three"
            [[camera]]
            role = "rear"
            [camera.light]
            driver = "led"
            name = "rear"
            max_flash = "100ms"
            max_torch = "2s"
            [[camera]]
            role = "front"
            [[camera]]
            role = "side"
            [light]
            driver = "led"
            name = "shared"
            max_torch = "5s"
            """)
        typealias Limits = SessionSettings.Light.Limits
        XCTAssertEqual(
            Settings().session(for: board).light.limits,
            [
                Limits(light: 0, maximumFlash: .milliseconds(100), maximumTorch: .seconds(2)),
                Limits(light: 1, maximumFlash: .milliseconds(800), maximumTorch: .seconds(5)),
                Limits(light: 1, maximumFlash: .milliseconds(800), maximumTorch: .seconds(5)),
            ])
    }

    func testTheDefaultCamera() throws {
        let two = try BoardProfile.find("simulator-2", paths: [Fixtures.boards])
        XCTAssertEqual(Settings().defaultCamera(of: two), 0)
        let front = try LoadedSettings.parse("camera.default = \"front\"", file: "s.toml")
        XCTAssertEqual(front.settings.defaultCamera(of: two), 1)
        XCTAssertEqual(front.complaints(about: two), [])
        let last = try LoadedSettings.parse("camera.default = \"last\"", file: "s.toml").settings
        XCTAssertEqual(last.defaultCamera(of: two, last: "front"), 1)
        XCTAssertEqual(last.defaultCamera(of: two, last: "side"), 0, "the board was changed meanwhile")
        XCTAssertEqual(last.defaultCamera(of: two), 0)
        let side = try LoadedSettings.parse("camera.default = \"side\"", file: "s.toml")
        XCTAssertEqual(
            side.complaints(about: two).map(\.description),
            ["s.toml:1:18: camera.default is \"side\", but the board 'simulator-2' has: rear, front"])
    }

    func testGuideAspectAndOverlayBecomeOneFraming() throws {
        XCTAssertEqual(Settings().framing.guide, nil)
        let settings = try LoadedSettings.parse(
            """
            photo.aspect = "4:3"
            guide.rect = [0.1, 0.2, 0.9, 0.8]
            guide.corner_radius = 0.5
            guide.save = ["crop"]
            guide.review = "blur"
            overlay.grid = "thirds"
            overlay.burn_in = true
            """, file: "s.toml")
        let framing = settings.settings.framing
        XCTAssertEqual(framing.aspect, .classic)
        XCTAssertEqual(framing.guide, UnitRect(x: 0.1, y: 0.2, width: 0.9, height: 0.8))
        XCTAssertEqual(framing.cornerRadius, 0.5)
        XCTAssertFalse(framing.savesWhole)
        XCTAssertTrue(framing.savesCrop)
        XCTAssertTrue(framing.savesReview)
        XCTAssertEqual(framing.grid, .thirds)
        XCTAssertEqual(settings.complaints(about: try BoardProfile.find("simulator", paths: [Fixtures.boards])), [])
    }

    func testWhatNeedsAGuideIsToldWithoutOne() throws {
        let board = try BoardProfile.find("simulator", paths: [Fixtures.boards])
        for (text, place, words) in [
            ("photo.aspect = \"guide\"", 16, "photo.aspect = \"guide\" needs a guide; set guide.rect"),
            ("guide.save = [\"crop\"]", 14, "guide.save = [\"crop\"] needs a guide"),
            ("guide.review = \"blur\"", 16, "guide.review = \"blur\" needs a guide"),
            ("overlay = {grid = \"guide\", burn_in = true}", 19, "overlay.grid = \"guide\" needs a guide"),
            ("overlay.grid = \"thirds\"", 16, "set overlay.burn_in = true with it"),
        ] {
            let found = try LoadedSettings.parse(text, file: "s.toml").complaints(about: board).map(\.description)
            XCTAssertEqual(found.count, 1, text)
            XCTAssertTrue(found.first?.hasPrefix("s.toml:1:\(place): ") == true, "\(found)")
            XCTAssertTrue(found.first?.contains(words) == true, "\(found)")
        }
        let guided = try LoadedSettings.parse(
            "guide = {rect = [0, 0, 1, 1], review = \"blur\", save = [\"crop\"]}\nphoto.aspect = \"guide\"",
            file: "s.toml")
        XCTAssertEqual(guided.complaints(about: board), [])
    }

    func testVideoPresets() throws {
        let expected: [VideoQuality: (Int, Int, Double, Int)] = [
            .low: (640, 360, 24, 700_000), .cif: (352, 288, 30, 800_000), .vga: (640, 480, 30, 2_000_000),
            .medium: (1280, 720, 30, 4_000_000), .hd: (1280, 720, 30, 4_000_000), .high: (1920, 1080, 30, 10_000_000),
            .fullHD: (1920, 1080, 30, 10_000_000), .ultraHD: (3840, 2160, 30, 30_000_000),
            .iframe540: (960, 540, 30, 30_000_000), .iframe720: (1280, 720, 30, 40_000_000),
        ]
        for quality in VideoQuality.allCases {
            let preset = quality.preset
            var video = VideoSettings()
            video.quality = quality
            let (width, height, rate, bits) = try XCTUnwrap(expected[quality])
            XCTAssertEqual(preset.size, PixelSize(width: width, height: height))
            XCTAssertEqual(video.effectiveFramerate, rate)
            XCTAssertEqual(preset.bitRate, bits)
            XCTAssertEqual(preset.everyFrameIsKey, quality.rawValue.hasPrefix("iframe"))
        }
        let board = try BoardProfile.find("raspberry-pi-4b", paths: [Fixtures.boards])
        var video = VideoSettings()
        XCTAssertEqual(video.encoders(of: board), ["h264_v4l2m2m", "libx264", "mjpeg"])
        video.codec = .h264
        XCTAssertEqual(video.encoders(of: board), ["h264_v4l2m2m", "libx264"])
        video.codec = .mjpeg
        XCTAssertEqual(video.encoders(of: board), ["mjpeg"])
    }
}

extension SessionSettings {
    fileprivate func with(_ change: (inout SessionSettings) -> Void) -> SessionSettings {
        var copy = self
        change(&copy)
        return copy
    }
}

/// Random numbers that are the same in every run.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension SessionSettings {
    /// What the contract's defaults mean on a board whose light has the usual limits.
    fileprivate static func defaults(cameras: Int) -> SessionSettings {
        var session = SessionSettings()
        session.doublePressAction = .auto
        session.light.limits = (0..<cameras).map {
            Light.Limits(light: $0, maximumFlash: .milliseconds(800), maximumTorch: .seconds(600))
        }
        return session
    }
}
