import FieldcamCore
import FieldcamDirector
import FieldcamLinux

extension ServerLoop {
    /// The longest software press and the longest maximum of a clip that may be asked for.
    private static let longest = Duration.seconds(24 * 3600)

    /// Does what the request asks, or throws why not.
    func route(_ exchange: Exchange) throws(Problem) {
        let path = exchange.path
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch (parts.count, parts.first, parts.dropFirst().first) {
        case (1, "healthz", _):
            try only(["GET", "HEAD"], exchange, path)
            return health(exchange)
        case (2, "v1", "status"):
            try only(["GET", "HEAD"], exchange, path)
            exchange.answer(200, statusJSON)
        case (2, "v1", "board"):
            try only(["GET", "HEAD"], exchange, path)
            exchange.answer(200, configuration.board)
        case (2, "v1", "events"):
            try only(["GET"], exchange, path)
            try events(exchange)
        case (2, "v1", "photos"):
            try only(["POST"], exchange, path)
            try photo(exchange)
        case (2, "v1", "recording"):
            try only(["POST", "DELETE"], exchange, path)
            if exchange.method == "POST" { try record(exchange) } else { try stopRecording(exchange) }
        case (4..., "v1", "buttons") where parts.last == "press":
            // A role with an encoded slash comes decoded: it is all that lies between.
            try only(["POST"], exchange, path)
            try press(exchange, role: parts.dropFirst(2).dropLast().joined(separator: "/"))
        case (2, "v1", "focus"):
            try only(["POST", "DELETE"], exchange, path)
            if exchange.method == "POST" { try focus(exchange) } else { try focusAutomatically(exchange) }
        case (2, "v1", "zoom"):
            try only(["POST"], exchange, path)
            try zoom(exchange)
        case (2, "v1", "flash"):
            try only(["POST"], exchange, path)
            try flash(exchange)
        case (2, "v1", "torch"):
            try only(["POST"], exchange, path)
            try torch(exchange)
        case (3, "v1", "camera") where ["start", "standby", "release", "switch"].contains(parts.last):
            try only(["POST"], exchange, path)
            try camera(exchange, parts.last ?? "")
        case (2, "v1", "settings") where configuration.settings != nil:
            try only(["GET", "HEAD", "PATCH"], exchange, path)
            try settings(exchange)
        case (2, "v1", "simulator"):
            try only(["POST"], exchange, path)
            try changeScene(exchange)
        default: throw .path(path)
        }
    }

    private func only(_ methods: [String], _ exchange: Exchange, _ path: String) throws(Problem) {
        guard methods.contains(exchange.method) else { throw .method(exchange.method, path, allow: methods) }
    }

    /// `?wait=0` or `?wait=1`; nothing else may be in the query.
    private func wait(_ exchange: Exchange, default value: Bool) throws(Problem) -> Bool {
        var value = value
        for pair in exchange.query {
            guard pair.key == "wait" else {
                throw .field(
                    pair.key, code: "query.unknown", "\(pair.key) is unknown in the query; known here: wait.")
            }
            switch pair.value {
            case "0": value = false
            case "1": value = true
            default: throw .field("wait", code: "query.invalid", "wait is \(pair.value); it may be 0 or 1.")
            }
        }
        return value
    }

    private func health(_ exchange: Exchange) {
        guard let ailment = desk.status.ailment else {
            return exchange.answer(200, .members(["status": .string("ok")]))
        }
        exchange.answer(
            Problem(
                status: 503, code: "service.unwell", title: "A press would not be served", detail: "\(ailment)."))
    }

    private var statusJSON: JSON {
        .object(desk.status.members(at: SystemClock.now) + [.init("versions", .object(configuration.versions))])
    }

    private func events(_ exchange: Exchange) throws(Problem) {
        var last: UInt64?
        if let text = exchange.header("Last-Event-ID"), !text.isEmpty {
            guard let number = UInt64(text) else {
                throw .field(
                    "Last-Event-ID", code: "header.invalid", "Last-Event-ID must be the number of an event.")
            }
            last = number
        }
        stream(exchange, after: last)
    }

    /// `{flash?}`: `off`, `on` or `auto` for this shot alone.
    private func photo(_ exchange: Exchange) throws(Problem) {
        var fields = try Fields(body: exchange.body)
        let flash = try fields.word("flash", FlashMode.self)
        try fields.finish()
        let waits = try wait(exchange, default: true)
        let source = exchange.source
        try submit(exchange, waits ? .photo : .acceptance(started: false)) { .shot($0, source, flash: flash) }
    }

    /// `{maximum_duration?, torch?}`; `torch` is for this clip alone: `true` or `on`, `false` or `off`, `auto`, or a level.
    private func record(_ exchange: Exchange) throws(Problem) {
        var fields = try Fields(body: exchange.body)
        let maximum = try fields.duration("maximum_duration", in: .zero...Self.longest)
        let torch = try fields.torch("torch")
        try fields.finish()
        let source = exchange.source
        try submit(exchange, .acceptance(started: true)) { .record($0, source, maximum: maximum, torch: torch) }
    }

    private func stopRecording(_ exchange: Exchange) throws(Problem) {
        let fields = try Fields(body: exchange.body)
        try fields.finish()
        let source = exchange.source
        try submit(exchange, .clip) { .stop($0, source) }
    }

    /// 202 at once; with `?wait=1` after the release, so that a script can go on with what the press caused.
    private func press(_ exchange: Exchange, role: String) throws(Problem) {
        let now = SystemClock.now
        guard let button = configuration.buttons.first(where: { $0.role == role }) else {
            throw .button(role, known: configuration.buttons.map(\.role))
        }
        var fields = try Fields(body: exchange.body)
        let span = try fields.duration("for", in: .milliseconds(1)...Self.longest) ?? .milliseconds(120)
        try fields.finish()
        let waits = try wait(exchange, default: false)
        guard !presses.contains(where: { $0.button.id == button.id }) else {
            _ = desk.submit(.refusePress(exchange.source), at: now)
            throw .pressed(role)
        }
        let press = Press(button: button, source: exchange.source, pressed: now, span: span)
        try self.press(press, answering: waits ? exchange : nil)
        if !waits { exchange.answer(202, pressed(press)) }
    }

    private func changeScene(_ exchange: Exchange) throws(Problem) {
        guard let simulator = configuration.simulator else { throw .notSimulated }
        let json: JSON
        do {
            json = try JSON(parsing: exchange.body)
        } catch {
            throw .body(error)
        }
        switch simulator(json) {
        case .success(let scene): exchange.answer(200, scene)
        case .failure(let error): throw .field(error.field, error.detail)
        }
    }
}
