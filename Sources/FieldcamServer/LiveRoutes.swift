import FieldcamCore
import FieldcamDirector

// Live control (contract §7): each is answered with what is in effect afterwards.
extension ServerLoop {
    private func submit(_ exchange: Exchange, _ control: Control, _ command: ControlCommand) throws(Problem) {
        let source = exchange.source
        try submit(exchange, .effective(control)) { .command(command, $0, source) }
    }

    /// `{x, y}`, or `{dioptres}`.
    func focus(_ exchange: Exchange) throws(Problem) {
        var fields = try Fields(body: exchange.body)
        let (x, y) = (try fields.number("x"), try fields.number("y"))
        let dioptres = try fields.number("dioptres")
        try fields.finish()
        switch (x, y, dioptres) {
        case (let x?, let y?, nil):
            for (name, value) in [("x", x), ("y", y)] where !(0...1).contains(value) {
                throw .range(name, "\(name) is \(value); it may be 0 to 1.")
            }
            try submit(exchange, .focus, .focus(UnitPoint(x: x, y: y)))
        case (nil, nil, let dioptres?):
            guard dioptres >= 0 else {
                throw .range("dioptres", "dioptres is \(dioptres); it may be 0 (infinity) and up.")
            }
            try submit(exchange, .dioptres, .focusManually(dioptres))
        default: throw .field("x", "Focus takes x and y, each from 0 to 1, or dioptres alone.")
        }
    }

    func focusAutomatically(_ exchange: Exchange) throws(Problem) {
        let fields = try Fields(body: exchange.body)
        try fields.finish()
        try submit(exchange, .focus, .focusAutomatically)
    }

    func zoom(_ exchange: Exchange) throws(Problem) {
        var fields = try Fields(body: exchange.body)
        let given = try fields.number("factor")
        try fields.finish()
        guard let factor = given else { throw .field("factor", "factor is missing; it may be 1 and up.") }
        guard factor >= 1 else { throw .range("factor", "factor is \(factor); it may be 1 and up.") }
        try submit(exchange, .zoom, .zoom(factor))
    }

    func flash(_ exchange: Exchange) throws(Problem) {
        var fields = try Fields(body: exchange.body)
        let given = try fields.word("mode", FlashMode.self)
        try fields.finish()
        guard let mode = given else { throw .field("mode", "mode is missing; it may be off, on, auto.") }
        try submit(exchange, .flash, .flash(mode))
    }

    /// `{level}`, or `{mode}`: by hand at once, or `auto`, which hands back to `torch.mode`.
    func torch(_ exchange: Exchange) throws(Problem) {
        var fields = try Fields(body: exchange.body)
        let level = try fields.number("level")
        let mode = try fields.word("mode", FlashMode.self)
        try fields.finish()
        switch (level, mode) {
        case (let level?, nil):
            guard level > 0, level <= 1 else {
                throw .range("level", "level is \(level); it may be above 0, up to 1; mode \"off\" switches it off.")
            }
            try submit(exchange, .torch, .torch(level))
        case (nil, .off): try submit(exchange, .torch, .torch(0))
        case (nil, .on): try submit(exchange, .torch, .torch(1))
        case (nil, .auto): try submit(exchange, .torch, .torchAutomatically)
        default: throw .field("level", "The torch takes level, above 0 up to 1, or mode: off, on, auto.")
        }
    }

    func camera(_ exchange: Exchange, _ action: String) throws(Problem) {
        var fields = try Fields(body: exchange.body)
        let role = action == "switch" ? try fields.text("role") : nil
        try fields.finish()
        switch action {
        case "start": try submit(exchange, .state, .start)
        case "standby": try submit(exchange, .state, .standby)
        case "release": try submit(exchange, .state, .release)
        default:
            var wanted: CameraID?
            if let role {
                guard let index = configuration.cameras.firstIndex(of: role) else {
                    throw .camera(role, known: configuration.cameras)
                }
                wanted = CameraID(index)
            }
            try submit(
                exchange, .camera(wanted: wanted, before: desk.status.camera.role), .switchCamera(wanted))
        }
    }

    /// Requested and effective, per key; `PATCH {"key": value}` changes all of its keys or none.
    func settings(_ exchange: Exchange) throws(Problem) {
        guard let settings = configuration.settings else { return }
        guard exchange.method == "PATCH" else { return exchange.answer(200, settings.read()) }
        let json: JSON
        do {
            json = try JSON(parsing: exchange.body)
        } catch {
            throw .body(error)
        }
        switch settings.change(json) {
        case .success(let changed): exchange.answer(200, changed)
        case .failure(let error): throw .settings(error)
        }
    }
}
