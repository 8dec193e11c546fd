import XCTest

@testable import fieldcam

final class InvocationTests: XCTestCase {
    private func parse(_ line: String) throws(CommandFailure) -> Invocation {
        try Invocation(line.split(separator: " ").map(String.init))
    }

    private func complaint(_ line: String) -> String? {
        do throws(CommandFailure) {
            let invocation = try parse(line)
            if case .run(let syntax) = invocation.request, syntax.name == "serve" {
                _ = try ServeOptions(invocation)
            }
            return nil
        } catch {
            XCTAssertEqual(error.code, .usage, line)
            return error.message
        }
    }

    func testOptionsAreWrittenInEachUsualWay() throws {
        for line in [
            "record -t 10s -o a.mp4", "record -t10s -oa.mp4", "record -o a.mp4 --json -t 10s",
        ] {
            let invocation = try parse(line)
            XCTAssertEqual(invocation["-t"], "10s", line)
            XCTAssertEqual(invocation["-o"], "a.mp4", line)
            XCTAssertEqual(try invocation.duration("-t"), .seconds(10))
        }
        XCTAssertEqual(try parse("photo --socket=/a=b")["--socket"], "/a=b")
        XCTAssertEqual(try parse("photo -o -")["-o"], "-")
        XCTAssertTrue(try parse("--json status").json)
        XCTAssertEqual(try parse("press flash --for 2s").operands, ["flash"])
        XCTAssertEqual(try parse("focus -0.5,0.5").operands, ["-0.5,0.5"], "a number, no option")
        XCTAssertEqual(try parse("check -- --odd.toml -").operands, ["--odd.toml", "-"])
    }

    func testServeTakesItsFolders() throws {
        let plain = try ServeOptions(parse("serve"))
        XCTAssertEqual(plain, ServeOptions())
        XCTAssertEqual(plain.state, "/var/lib/fieldcam")
        XCTAssertEqual(plain.media, "/var/lib/fieldcam/media")
        XCTAssertEqual(plain.socket, "/run/fieldcam/fieldcam.sock")
        XCTAssertNil(plain.settings)
        let own = try ServeOptions(parse("serve --board b --settings s --state t --media m --socket k"))
        XCTAssertEqual([own.board, own.settings, own.state, own.media, own.socket], ["b", "s", "t", "m", "k"])
    }

    func testHelpAndVersionAreKnownEverywhere() throws {
        for syntax in CommandSyntax.all {
            guard case .help(let told?) = try parse("\(syntax.name) --help").request else {
                return XCTFail(syntax.name)
            }
            XCTAssertEqual(told.name, syntax.name)
            guard case .version = try parse("\(syntax.name) --version").request else { return XCTFail(syntax.name) }
            for option in syntax.allOptions { XCTAssertTrue(syntax.help.contains(option.name), option.name) }
            XCTAssertTrue(CommandSyntax.overview.contains("  \(syntax.name) "), syntax.name)
        }
        guard case .help(nil) = try parse("--help").request, case .version = try parse("--version").request,
            case .version = try parse("--version --json").request
        else { return XCTFail("without a command") }
    }

    func testWrongUsageIsNamedWithItsMend() {
        let cases = [
            "": "no command was given: `fieldcam --help` lists the commands.",
            "phto": "'phto' is no command: did you mean 'photo'?",
            "statsu": "'statsu' is no command: did you mean 'status'?",
            "frobnicate": "'frobnicate' is no command: `fieldcam --help` lists the commands.",
            "bench": "the command 'bench' isn't in this version; `fieldcam --help` lists those that are.",
            "focus": "`fieldcam focus` needs X,Y|auto|DIOPTRES.",
            "zoom 1 2": "`fieldcam zoom` has no use for '2'; `fieldcam zoom --help` tells what it takes.",
            "switch front rear":
                "`fieldcam switch` has no use for 'rear'; `fieldcam switch --help` tells what it takes.",
            "lights-off": "the command 'lights-off' isn't in this version; `fieldcam --help` lists those that are.",
            "--socket /x photo":
                "the command comes before its options: `fieldcam COMMAND --socket …`; `fieldcam --help` lists the commands.",
            "photo --sockt /x": "`fieldcam photo` has no option '--sockt': did you mean '--socket'?",
            "stop -t 5s": "`fieldcam stop` has no option '-t': `fieldcam stop --help` lists its options.",
            "photo x": "`fieldcam photo` has no use for 'x'; `fieldcam photo --help` tells what it takes.",
            "press a b": "`fieldcam press` has no use for 'b'; `fieldcam press --help` tells what it takes.",
            "check": "`fieldcam check` needs FILE….",
            "record -t": "-t needs a value: `fieldcam record -t DURATION`.",
            "record -t 1s -t 2s": "-t is given twice.",
            "status --json=yes": "--json takes no value.",
            "photo --socket=": "--socket has an empty value; it needs PATH.",
            "serve --listen 0.0.0.0:80":
                "--listen isn't in this version: the service answers on its unix socket alone; leave it out.",
        ]
        for (line, expected) in cases { XCTAssertEqual(complaint(line), expected, line) }
    }

    func testEveryCommandOfTheContractIsKnownOrCalledLater() {
        let contract = [
            "serve", "photo", "record", "stop", "press", "focus", "zoom", "flash", "torch", "switch", "start",
            "standby", "release", "status", "events", "get", "set", "doctor", "boards", "check", "repair", "bench",
            "lights-off",
        ]
        XCTAssertEqual((CommandSyntax.all.map(\.name) + CommandSyntax.later).sorted(), contract.sorted())
    }
}
