/// How a command is written: what its help says and what the parser accepts are the same.
struct CommandSyntax: Sendable {
    struct Option: Sendable {
        /// `-o` or `--for`.
        var name: String
        /// What stands for its value in the help; empty: it has none.
        var value: String
        var help: String
    }

    var name: String
    /// As the help shows them, such as `[BUTTON]` or `FILE…`.
    var operands = ""
    /// How many there may be.
    var operandCount: ClosedRange<Int> = 0...0
    var options: [Option] = []
    var summary: String
    /// The rest of its help.
    var details = ""
    /// Whether it talks to the service.
    var isClient = true

    private static let common = [
        Option(name: "--json", value: "", help: "print the result as JSON, one value a line"),
        Option(name: "--help", value: "", help: "print this and exit"),
        Option(name: "--version", value: "", help: "print the version and exit"),
    ]
    private static let socket = Option(
        name: "--socket", value: "PATH",
        help: "the service's socket (default: $FIELDCAM_SOCKET, then \(ServeOptions.defaultSocket))")

    /// The options it accepts, with those of all commands.
    var allOptions: [Option] { options + (isClient ? [Self.socket] : []) + Self.common }

    /// What `fieldcam NAME --help` prints.
    var help: String {
        let all = allOptions
        let width = all.map { $0.name.count + $0.value.count }.max()! + 4
        var text = "Usage: fieldcam \(name)"
        for option in options { text += " [\(option.name)\(option.value.isEmpty ? "" : " " + option.value)]" }
        if !operands.isEmpty { text += " \(operands)" }
        text += "\n\n\(summary)\n"
        if !details.isEmpty { text += "\n\(details)\n" }
        text += "\n"
        for option in all {
            let left = option.value.isEmpty ? option.name : "\(option.name) \(option.value)"
            text += "  " + left + String(repeating: " ", count: width - left.count) + option.help + "\n"
        }
        return text
    }
}

extension CommandSyntax {
    private static let output = Option(
        name: "-o", value: "FILE",
        help: "also copy the durable file there (\"-\": to stdout); replaces an existing file")

    static let serve = CommandSyntax(
        name: "serve",
        options: [
            Option(
                name: "--board", value: "NAME|DIR",
                help: "the board (default: by the device tree; without one, simulator)"),
            Option(
                name: "--settings", value: "FILE",
                help: "the settings (default: \(ServeOptions.defaultSettings), if it exists)"),
            Option(
                name: "--state", value: "DIR", help: "counter and own state (default: \(ServeOptions.defaultState))"),
            Option(name: "--media", value: "DIR", help: "photos and clips (default: \(ServeOptions.defaultMedia))"),
            Option(
                name: "--socket", value: "PATH", help: "the socket for clients (default: \(ServeOptions.defaultSocket))"
            ),
            Option(name: "--listen", value: "ADDR:PORT", help: "not in this version"),
        ],
        summary: "Runs the service until SIGTERM or SIGINT, which finish a running clip first. Logs go to stderr.",
        isClient: false)
    static let photo = CommandSyntax(
        name: "photo",
        options: [output, Option(name: "--flash", value: "off|on|auto", help: "the flash for this shot alone")],
        summary: "Takes a shot, waits until it is durable, and prints its path.")
    static let record = CommandSyntax(
        name: "record",
        options: [
            Option(
                name: "-t", value: "DURATION", help: "end the clip after this, such as 10s; wait and print its path"),
            output,
        ],
        summary: "Starts a clip and prints its id once frames run.",
        details: """
            With -t or -o it waits until the clip is durable and prints its path; Ctrl-C ends the clip, then prints.
            """)
    static let stop = CommandSyntax(name: "stop", summary: "Ends the running clip and prints its path.")
    static let press = CommandSyntax(
        name: "press", operands: "[BUTTON]", operandCount: 0...1,
        options: [Option(name: "--for", value: "DURATION", help: "how long, such as 2s (default: 120ms)")],
        summary: "Presses a button (default: shutter) as a finger would; returns after the release.")
    static let focus = CommandSyntax(
        name: "focus", operands: "X,Y|auto|DIOPTRES", operandCount: 1...1,
        summary: "Focuses and exposes at a point, by itself, or at a distance; prints the effective focus.",
        details:
            "X and Y run from 0 to 1, from the top left of the picture as the viewer sees it; 0 dioptres is infinity.")
    static let zoom = CommandSyntax(
        name: "zoom", operands: "FACTOR", operandCount: 1...1,
        summary: "Zooms, from 1 up to zoom.maximum; prints the effective factor.")
    static let flash = CommandSyntax(
        name: "flash", operands: "off|on|auto", operandCount: 1...1,
        summary: "Sets the flash for shots; prints the effective mode.")
    static let torch = CommandSyntax(
        name: "torch", operands: "off|on|auto|LEVEL", operandCount: 1...1,
        summary: "Lights the torch by hand, now; prints the effective level.",
        details: "LEVEL is above 0, up to 1; on is 1. It outlives a clip; auto hands back to torch.mode.")
    static let switchCamera = CommandSyntax(
        name: "switch", operands: "[ROLE]", operandCount: 0...1,
        summary: "Switches to the next camera, or to this one; prints the effective camera's role.")
    static let start = CommandSyntax(
        name: "start", summary: "Starts the camera; prints its state.")
    static let standby = CommandSyntax(
        name: "standby", summary: "Stops the camera but keeps it, for a fast resume; prints its state.")
    static let release = CommandSyntax(
        name: "release", summary: "Gives the camera up so that another program can use it; prints its state.")
    static let status = CommandSyntax(name: "status", summary: "Prints the service's state.")
    static let events = CommandSyntax(
        name: "events", summary: "Prints events as they come, one a line, until Ctrl-C.")
    static let get = CommandSyntax(
        name: "get", operands: "[KEY]", operandCount: 0...1,
        summary: "Prints a setting, such as button.hold, or all of them.",
        details: "Where what is in effect isn't what was asked for, both are told.")
    static let set = CommandSyntax(
        name: "set", operands: "KEY VALUE", operandCount: 2...2,
        summary: "Changes a setting and keeps it; prints the effective value.",
        details: "`fieldcam set KEY default` takes back what was set. `[0, 0, 1, 1]` and the like need quotes.")
    static let check = CommandSyntax(
        name: "check", operands: "FILE…", operandCount: 1...Int.max,
        summary: "Validates settings and board files; prints each fault with file, line and column.",
        isClient: false)
    static let boards = CommandSyntax(
        name: "boards", summary: "Lists the boards that --board knows.", isClient: false)

    /// In the order of the help.
    static let all = [
        serve, photo, record, stop, press, focus, zoom, flash, torch, switchCamera, start, standby, release, status,
        events, get, set, boards, check,
    ]

    /// Commands of the contract that aren't in this version.
    static let later = [
        "doctor", "repair", "bench", "lights-off",
    ]

    /// What `fieldcam --help` prints.
    static var overview: String {
        var text = """
            Usage: fieldcam COMMAND [OPTION…]

            Turns button presses into photos and clips: a tap is a photo, a hold is a clip.


            """
        for syntax in all {
            text += "  " + syntax.name + String(repeating: " ", count: 10 - syntax.name.count) + syntax.summary + "\n"
        }
        text += """

            `fieldcam COMMAND --help` tells a command's options; all know --json, --help and --version.
            Exit codes: 0 done, 1 failed, 64 wrong usage, 69 service not reachable, 73 an output can't be made,
            75 refused now, try again, 78 wrong settings or board.

            """
        return text
    }
}
