import XCTest

@testable import FieldcamSettings

final class BoardTests: XCTestCase {
    private let one = """
        name = "mine"
        [[camera]]
        role = "rear"
        [[button]]
        role = "shutter"
        chip = "pinctrl-rp1"
        line = "GPIO17"

        """

    // MARK: The boards that come along

    func testEveryShippedBoardLoads() throws {
        let names = BoardProfile.names(paths: [Fixtures.boards])
        XCTAssertEqual(
            names,
            [
                "compute-module-4", "compute-module-5", "lab", "raspberry-pi-3b-plus", "raspberry-pi-4b",
                "raspberry-pi-5", "raspberry-pi-zero-2-w", "simulator", "simulator-2",
            ])
        for name in names {
            let board = try BoardProfile.find(name, paths: [Fixtures.boards])
            XCTAssertEqual(board.name, name)
            XCTAssertEqual(board.folder, "\(Fixtures.boards)/\(name)")
            XCTAssertEqual(board.cameras.count, name == "simulator-2" ? 2 : 1)
            XCTAssertEqual(board.buttons.map(\.role), [.shutter])
            XCTAssertNotNil(board.light)
            XCTAssertNotNil(board.indicator)
            for file in ["config.txt", "README.md"] { XCTAssertTrue(TextFile.exists("\(board.folder)/\(file)"), file) }
        }
    }

    func testTheLabsWiring() throws {
        let lab = try BoardProfile.find("lab", paths: [Fixtures.boards])
        XCTAssertEqual(lab.cameras[0].match, .index(0))
        XCTAssertEqual(
            lab.buttons[0].wiring,
            .gpio(GPIOLine(chip: "pinctrl-lab", place: .name("SHUTTER"), activeLow: false), .pullDown))
        XCTAssertEqual(lab.microphone.device, "plughw:Loopback,1,0")
        XCTAssertEqual(
            lab.light?.wiring, .gpio(GPIOLine(chip: "pinctrl-lab", place: .offset(27), activeLow: false)))
    }

    /// The wiring and the lines of the firmware's file belong together.
    func testConfigSetsTheLinesThatTheBoardUses() throws {
        for name in BoardProfile.names(paths: [Fixtures.boards])
        where name.hasPrefix("raspberry") || name.hasPrefix("c") {
            let board = try BoardProfile.find(name, paths: [Fixtures.boards])
            let config = String(decoding: try TextFile.read("\(board.folder)/config.txt"), as: UTF8.self)
            let lines = config.split(separator: "\n").map(String.init)
            func number(_ line: GPIOLine) throws -> String {
                guard case .name(let name) = line.place else { throw Misreading("the line has no name") }
                return String(name.dropFirst(4))
            }
            guard case .gpio(let button, .pullUp) = board.buttons[0].wiring, button.activeLow,
                case .gpio(let light)? = board.light?.wiring, case .gpio(let indicator)? = board.indicator?.wiring
            else { return XCTFail(name) }
            XCTAssertTrue(lines.contains("gpio=\(try number(button))=ip,pu"), name)
            XCTAssertTrue(lines.contains("gpio=\(try number(light))=op,dl"), name)
            XCTAssertTrue(lines.contains("gpio=\(try number(indicator))=op,dl"), name)
            XCTAssertTrue(lines.contains("dtparam=strict_gpiod"), name)
        }
    }

    // MARK: Reading

    func testTheContractsExample() throws {
        let board = try BoardProfile.load(folder: Fixtures.folder + "/boards/contract")
        XCTAssertEqual(board.name, "raspberry-pi-5")
        XCTAssertEqual(board.models, ["Raspberry Pi 5 Model B"])
        XCTAssertEqual(board.cameras, [CameraProfile(role: "rear", match: .location("back"))])
        let line = GPIOLine(chip: "pinctrl-rp1", place: .name("GPIO17"), activeLow: true)
        XCTAssertEqual(board.buttons, [ButtonProfile(role: .shutter, wiring: .gpio(line, .pullUp))])
        let light = GPIOLine(chip: "pinctrl-rp1", place: .name("GPIO27"), activeLow: false)
        XCTAssertEqual(board.light, LightProfile(wiring: .gpio(light)))
        XCTAssertEqual(board.light?.maximumFlash, .milliseconds(800))
        XCTAssertEqual(board.light?.maximumTorch, .seconds(600))
        XCTAssertEqual(board.microphone, MicrophoneProfile(driver: .alsa, device: "default"))
        XCTAssertEqual(board.encoders, ["h264_v4l2m2m", "libx264", "mjpeg"])
    }

    func testDriversDefaultToTheRealOnes() throws {
        let board = try BoardProfile.parse(one)
        XCTAssertEqual(board.cameras[0].driver, .libcamera)
        XCTAssertEqual(board.cameras[0].match, .index(0))
        XCTAssertEqual(board.title, "mine")
        XCTAssertEqual(
            board.buttons[0].wiring,
            .gpio(GPIOLine(chip: "pinctrl-rp1", place: .name("GPIO17"), activeLow: true), .pullUp))
        XCTAssertNil(board.light)
        XCTAssertNil(board.indicator)
        XCTAssertEqual(board.microphone.device, "default")
    }

    func testASimulatedCameraMayPretendToBeASensor() throws {
        let board = try BoardProfile.parse(
            """
            name = "mine"
            [[camera]]
            driver = "simulator"
            role = "rear"
            match = "model:imx708_wide"
            [[camera]]
            driver = "simulator"
            role = "front"
            match = "model:ov5647"
            pipeline = "vc4"
            [[camera]]
            driver = "simulator"
            role = "third"
            """)
        XCTAssertEqual(board.cameras[0].simulated?.model, .imx708Wide)
        XCTAssertEqual(board.cameras[0].simulated?.pipeline, .pisp)
        XCTAssertEqual(board.cameras[1].simulated?.model, .ov5647)
        XCTAssertEqual(board.cameras[1].simulated?.pipeline, .vc4)
        XCTAssertNil(board.cameras[2].simulated)
        XCTAssertEqual(
            boardComplaints(
                """
                name = "x"
                [[camera]]
                driver = "simulator"
                role = "rear"
                match = "model:imx707"
                [[camera]]
                role = "front"
                match = "model:imx707"
                pipeline = "vc5"
                [[camera]]
                role = "back"
                match = "index:1"
                pipeline = "vc4"
                """),
            [
                #"b.toml:5:9: the simulator has no sensor "imx707"; it has imx219, imx477, imx708, imx708_wide, ov5647, imx296, ov9281"#,
                "b.toml:9:1: 'pipeline' makes no sense here: libcamera knows its pipeline by itself; remove it",
                #"b.toml:9:12: pipeline is "vc5"; did you mean "vc4"? Allowed: "vc4" or "pisp""#,
                "b.toml:13:1: 'pipeline' makes no sense here: libcamera knows its pipeline by itself; remove it",
            ])
    }

    func testABoardMayHaveNoCameraNoButtonAndNoMicrophone() throws {
        let board = try BoardProfile.parse("name = \"bare\"\n[microphone]\ndevice = \"none\"\n")
        XCTAssertEqual(board.cameras, [])
        XCTAssertEqual(board.buttons, [])
        XCTAssertNil(board.microphone.device)
    }

    func testACameraMayHaveALightOfItsOwn() throws {
        let board = try BoardProfile.parse(
            """
            name = "mine"
            [light]
            driver = "simulator"
            max_flash = "100ms"
            [[camera]]
            role = "rear"
            [[camera]]
            role = "front"
            [camera.light]
            chip = "pinctrl-rp1"
            offset = 5
            active_low = true
            max_torch = "1min"
            """)
        XCTAssertEqual(board.light(of: 0)?.wiring, .simulator)
        XCTAssertEqual(board.light(of: 0)?.maximumFlash, .milliseconds(100))
        XCTAssertEqual(
            board.light(of: 1)?.wiring, .gpio(GPIOLine(chip: "pinctrl-rp1", place: .offset(5), activeLow: true)))
        XCTAssertEqual(board.light(of: 1)?.maximumTorch, .seconds(60))
    }

    func testALightMayBeAnLEDOfTheKernelOrAPWMChannel() throws {
        let board = try BoardProfile.parse(
            """
            name = "mine"
            [light]
            driver = "led"
            name = "white:flash"
            max_flash = "200ms"
            [indicator]
            driver = "pwm"
            chip = "fe20c000.pwm"
            channel = 1
            """)
        XCTAssertEqual(board.light?.wiring, .led("white:flash"))
        XCTAssertEqual(board.light?.maximumFlash, .milliseconds(200))
        XCTAssertEqual(board.indicator?.wiring, .pwm(PWMChannel(chip: "fe20c000.pwm", channel: 1)))
    }

    // MARK: What is wrong

    func testEveryMistakeIsToldWithItsPlaceAndItsMend() {
        XCTAssertEqual(
            boardComplaints(
                """
                nmae = "x"
                [[camera]]
                role = "rear"
                rotation = 45
                match = "location:behind"
                [[camera]]
                role = "rear"
                [[button]]
                role = "shuter"
                chip = "gpiochip0"
                line = "GPIO17"
                bias = "up"
                [light]
                max_flash = 800
                [indicator]
                driver = "pwm"
                [microphone]
                device = ""
                [video]
                encoders = ["x264"]
                """),
            [
                #"b.toml:1:1: unknown key "nmae" in a board; did you mean 'name'?"#,
                "b.toml:1:1: 'name' is missing here; add it",
                "b.toml:4:12: rotation is 45; write 0, 90, 180 or 270",
                #"b.toml:5:9: match has the location "behind"; known here: back, front, external"#,
                #"b.toml:6:1: two cameras have the role "rear"; give each a role of its own"#,
                #"b.toml:9:8: role is "shuter"; did you mean "shutter"? Allowed: "shutter", "flash", "switch", "focus" or "trigger""#,
                #"b.toml:10:8: chip is "gpiochip0", a number that changes with the kernel; write the chip's label as gpiodetect shows it in brackets"#,
                #"b.toml:12:8: bias is "up"; write "pull-up", "pull-down", "disabled" or "as-is""#,
                "b.toml:13:1: the light has no line; write line = \"GPIO17\" or offset = 17",
                "b.toml:13:1: 'chip' is missing here; add it",
                #"b.toml:14:13: max_flash has no unit: write "800ms" or "800s""#,
                "b.toml:15:1: 'chip' is missing here; add it",
                "b.toml:15:1: 'channel' is missing here; add it",
                #"b.toml:18:10: device is empty; write an ALSA device such as "default", or "none""#,
                #"b.toml:20:13: encoders holds "x264"; known here: h264_v4l2m2m, libx264, mjpeg"#,
            ])
    }

    func testALineHasOneOwner() {
        let light = "[light]\nchip = \"pinctrl-rp1\"\n"
        for line in ["line = \"GPIO17\"", "offset = 17"] {
            XCTAssertEqual(
                boardComplaints(one + light + line),
                [
                    "b.toml:10:\(line.hasPrefix("line") ? 8 : 10): line 17 of pinctrl-rp1 is claimed twice: by the button \"shutter\" (line 7) and by the light; give each its own"
                ])
        }
        XCTAssertEqual(boardComplaints(one + light + "offset = 18"), [])
        XCTAssertEqual(boardComplaints(one + "[light]\nchip = \"another\"\nline = \"GPIO17\""), [])
        XCTAssertEqual(
            boardComplaints(one + light + "line = \"GPIO18\"\noffset = 18"),
            ["b.toml:11:10: both 'line' and 'offset' are given; keep one of the two"])
    }

    func testAnLEDHasOneOwner() {
        let led = "driver = \"led\"\nname = \"ACT\"\n"
        XCTAssertEqual(
            boardComplaints("name = \"x\"\n[light]\n\(led)[indicator]\n\(led)"),
            [
                #"b.toml:7:8: the LED "ACT" is claimed twice: by the light (line 4) and by the indicator; give each its own"#
            ])
    }

    func testACameraHasOneRole() {
        XCTAssertEqual(
            boardComplaints(
                "name = \"x\"\n[[camera]]\nrole = \"a\"\nmatch = \"index:1\"\n[[camera]]\nrole = \"b\"\n"),
            [
                #"b.toml:5:1: camera index:1 is claimed twice: by the camera "a" (line 4) and by the camera "b"; give each its own"#
            ])
    }

    func testWrongShapes() {
        let wrong: [(String, String)] = [
            ("[camera]\nrole = \"rear\"", "not a list of tables; write [[camera]]"),
            ("camera = [1]", "write [[camera]]"),
            ("[[light]]\nchip = \"x\"", "write [light]"),
            ("models = \"Pi\"", "write a list"),
            ("models = [3]", "models is 3; write a text in quotes"),
            ("title = 3", "write a text in quotes"),
            ("[[camera]]\nrole = \"first\"", "choose another name"),
            ("[[camera]]\nrole = \"a b\"", "write letters, digits"),
            ("[[camera]]\nmirror = true", "'role' is missing here"),
            ("[[button]]\nrole = \"trigger\"\nchip = \"c\"\noffset = 1", "is not in this version"),
            ("[[button]]\ndriver = \"simulator\"\nrole = \"shutter\"\nchip = \"c\"", "makes no sense here"),
            ("[[button]]\nrole = \"shutter\"\nchip = \"c\"\noffset = -1", "it must be from 0 to 1023"),
            ("[light]\ndriver = \"led\"", "'name' is missing here"),
            ("[light]\ndriver = \"led\"\nname = \"../x\"", "as ls /sys/class/leds shows it"),
            ("[light]\ndriver = \"led\"\nname = \"x\"\nline = \"GPIO1\"", "makes no sense here"),
            ("[light]\nchip = \"c\"\noffset = 1\nname = \"x\"", "has a chip and a line"),
            ("[light]\ndriver = \"pwm\"\nchip = \"pwmchip0\"\nchannel = 0", "the name of the chip's device"),
            ("[light]\ndriver = \"pwm\"\nchip = \"fe20c000.pwm\"\nchannel = 64", "it must be from 0 to 63"),
            ("[video]\nencoders = []", "is empty"),
        ]
        for (text, words) in wrong {
            let found = boardComplaints("name = \"x\"\n" + text)
            XCTAssertEqual(found.count, 1, "\(text): \(found)")
            XCTAssertTrue(found.first?.contains(words) == true, "\(text): \(found)")
        }
    }

    // MARK: Finding

    func testANameIsSoughtInOrderAndAFolderIsTakenAsItIs() throws {
        let folder = SettingsFolder()
        folder.write("a/pi/board.toml", "name = \"first\"")
        folder.write("b/pi/board.toml", "name = \"second\"")
        folder.write("b/cam/board.toml", "name = \"cam\"")
        let paths = [folder.path + "/a", folder.path + "/b", folder.path + "/none"]
        XCTAssertEqual(try BoardProfile.find("pi", paths: paths).name, "first")
        XCTAssertEqual(try BoardProfile.find(folder.path + "/b/pi", paths: paths).name, "second")
        XCTAssertEqual(BoardProfile.names(paths: paths), ["cam", "pi"])
        XCTAssertThrowsError(try BoardProfile.find("cma", paths: paths)) { error in
            XCTAssertEqual(
                "\(error)",
                "--board: there is no board \"cma\" in \(paths.joined(separator: ", ")); did you mean 'cam'?")
        }
        XCTAssertThrowsError(try BoardProfile.find(folder.path + "/c", paths: paths)) { error in
            XCTAssertEqual("\(error)", "\(folder.path)/c/board.toml: the file can't be read: No such file or directory")
        }
    }

    func testTheDeviceTreeNamesTheBoard() throws {
        let folder = SettingsFolder()
        func detect(_ model: String) throws -> BoardDetection {
            let file = folder.write("model", model + "\0")
            return try BoardDetection.detect(paths: [Fixtures.boards], modelFile: file)
        }
        let models = [
            "Raspberry Pi 5 Model B Rev 1.0": "raspberry-pi-5", "Raspberry Pi 4 Model B Rev 1.5": "raspberry-pi-4b",
            "Raspberry Pi 3 Model B Plus Rev 1.3": "raspberry-pi-3b-plus",
            "Raspberry Pi Zero 2 W Rev 1.0": "raspberry-pi-zero-2-w",
            "Raspberry Pi Compute Module 4 Rev 1.1": "compute-module-4",
            "Raspberry Pi Compute Module 5 Rev 1.0": "compute-module-5",
        ]
        for (model, name) in models {
            let found = try detect(model)
            XCTAssertEqual(found.board.name, name)
            XCTAssertEqual(found.reason, .model(model))
        }
        XCTAssertThrowsError(try detect("Banana Pi BPI-M5")) { error in
            XCTAssertTrue(
                "\(error)".hasPrefix(
                    "\(folder.path)/model: no board is known for \"Banana Pi BPI-M5\"; name one with --board: "),
                "\(error)")
        }
        XCTAssertThrowsError(try detect("Raspberry Pi 3 Model B Rev 1.2"), "not the plus")
    }

    func testTheLongestPrefixWins() throws {
        let folder = SettingsFolder()
        folder.write("boards/a/board.toml", "name = \"a\"\nmodels = [\"Board\", \"Other\"]")
        folder.write("boards/b/board.toml", "name = \"b\"\nmodels = [\"Board X\"]")
        folder.write("boards/broken/board.toml", "name =")
        let paths = [folder.path + "/boards"]
        let file = folder.write("model", "Board X2")
        XCTAssertEqual(try BoardDetection.detect(paths: paths, modelFile: file).board.name, "b")
        folder.write("model", "Board Y")
        XCTAssertEqual(try BoardDetection.detect(paths: paths, modelFile: file).board.name, "a")
        folder.write("model", "Unknown")
        XCTAssertThrowsError(try BoardDetection.detect(paths: paths, modelFile: file)) { error in
            XCTAssertEqual((error as? Complaints)?.list.count, 2, "the board that can't be read might have been it")
        }
    }

    func testWithoutADeviceTreeItIsTheSimulator() throws {
        let found = try BoardDetection.detect(paths: [Fixtures.boards], modelFile: "/no/such/file")
        XCTAssertEqual(found.board.name, "simulator")
        XCTAssertEqual(found.reason, .noDeviceTree)
    }

    // MARK: check

    func testCheckTellsBoardsFromSettings() throws {
        let folder = SettingsFolder()
        XCTAssertEqual(try FileCheck.check(folder.write("fieldcam.toml", "[button]\nenabled = true")), .settings)
        XCTAssertEqual(try FileCheck.check(folder.write("x/board.toml", one)), .board)
        XCTAssertEqual(try FileCheck.check(folder.write("other.toml", one)), .board)
        XCTAssertEqual(try FileCheck.check(folder.write("empty.toml", "")), .settings)
        XCTAssertThrowsError(try FileCheck.check(folder.write("bad.toml", "[button]\nhold = 3")))
        XCTAssertThrowsError(try FileCheck.check(folder.path + "/none.toml"))
    }
}
