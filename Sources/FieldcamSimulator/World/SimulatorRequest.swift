import FieldcamCore
import FieldcamPorts

/// A change of the scene, or faults, in names and values as `POST /v1/simulator` brings them.
///
/// | name | value | does |
/// |---|---|---|
/// | `lux` | 0 … 200000 | brightness of the scene |
/// | `distance_m` | 0.05 … 100 | distance of the subject |
/// | `moving` | boolean | whether the subject walks |
/// | `cma_free_mb` | 0 … 4096, or `false` | free contiguous memory that cameras find when they are configured; `false`: no limit |
/// | `subject` | `"x,y,width,height"` of the field, each 0 … 1, or `walks` | where the subject stands |
/// | `window` | the same, or `none` | a part that is brighter or darker than the rest |
/// | `window_ev` | -6 … 6 | by how much (usual: 3) |
/// | `backdrop` | 0 … 7 | another room behind the subject |
/// | `fault` | a name below, or `"none"` | that fault with its usual measure; `none` ends all |
/// | `stall` | duration, or boolean | the camera goes silent, for so long or until it is started again |
/// | `disconnect` | duration, or boolean | the camera is unplugged, for so long or until `false` (usual: 2 s) |
/// | `cancel_frames` | 0 … 1000000 | so many frames fail (usual: 3) |
/// | `slow_start` | duration | starting a camera takes so long (usual: 2 s) |
/// | `camera` | `ok`, `absent`, `busy`, `denied` | how opening a camera goes |
/// | `bounce` | duration | edges are followed by bounce for so long (usual: 5 ms) |
/// | `lost_edge` | count, or boolean | so many releases come without an edge (usual: 1) |
/// | `line` | `lost`, `found` | the first button's line goes, or is back |
/// | `press` | duration | the first button is pressed now, for so long |
/// | `microphone_gone` | boolean | the microphone is unplugged |
/// | `microphone` | `ok`, `absent`, `busy`, `denied` | how opening the microphone goes |
/// | `microphone_skew_ppm` | -10000 … 10000 | its sample clock is so much too fast (usual: 200) |
/// | `disk_full` | boolean | no room |
/// | `encoder_stall` | boolean | the encoder takes frames and gives nothing |
/// | `encoder_hang` | boolean | a call into the encoder doesn't come back |
///
/// Durations are texts with a unit: `"5ms"`, `"2s"`, `"1min"`.
struct SimulatorRequest {
    enum Change {
        case lux(Double)
        case distance(Double)
        case moving(Bool)
        /// Bytes; `nil`: no limit.
        case memory(Int64?)
        case subject(UnitRect?)
        case window(UnitRect?)
        case windowValue(Double)
        case backdrop(Int)
        case fault(Fault)
        case clear
        case press(Duration)
        case line(isFound: Bool)
    }

    static let faults = [
        "stall", "disconnect", "cancel_frames", "slow_start", "lost_edge", "bounce", "microphone_gone",
        "microphone_skew_ppm", "disk_full", "encoder_stall", "encoder_hang",
    ]
    static let names =
        ["lux", "distance_m", "moving", "cma_free_mb", "subject", "window", "window_ev", "backdrop", "fault"] + faults
        + [
            "camera", "microphone", "line", "press",
        ]

    var changes: [Change] = []

    init(_ values: [(name: String, value: SimulatorValue)]) throws(SimulatorRequestError) {
        guard !values.isEmpty else {
            throw SimulatorRequestError(
                name: "", detail: "Nothing to change was given; known are: \(Self.names.joined(separator: ", ")).")
        }
        // "none" makes room first, whatever the order; what is named beside it holds.
        for (name, value) in values where name == "fault" && value == .text("none") { changes.append(.clear) }
        for (name, value) in values where name != "window_ev" { changes.append(contentsOf: try Self.read(name, value)) }
        // After the window that it belongs to.
        for (name, value) in values where name == "window_ev" { changes.append(contentsOf: try Self.read(name, value)) }
    }

    private static func read(_ name: String, _ value: SimulatorValue) throws(SimulatorRequestError) -> [Change] {
        switch name {
        case "lux": return [.lux(try number(name, value, 0...200_000))]
        case "distance_m": return [.distance(try number(name, value, 0.05...100))]
        case "moving": return [.moving(try boolean(name, value))]
        case "cma_free_mb":
            if value == .boolean(false) { return [.memory(nil)] }
            return [.memory(Int64(try number(name, value, 0...4096) * 1_048_576))]
        case "subject": return [.subject(try part(name, value, or: "walks"))]
        case "window": return [.window(try part(name, value, or: "none"))]
        case "window_ev": return [.windowValue(try number(name, value, -6...6))]
        case "backdrop": return [.backdrop(Int(try whole(name, value, 0...7)))]
        case "press": return [.press(try duration(name, value))]
        case "line": return [.line(isFound: try choice(name, value, ["lost", "found"]) == "found")]
        case "fault":
            let fault = try choice(name, value, faults + ["none"])
            return fault == "none" ? [] : [.fault(usual(fault))]
        default: return [.fault(try fault(name, value))]
        }
    }

    private static func usual(_ name: String) -> Fault {
        switch name {
        case "stall": return .stall(nil)
        case "disconnect": return .disconnect(.seconds(2))
        case "cancel_frames": return .cancelFrames(3)
        case "slow_start": return .slowStart(.seconds(2))
        case "lost_edge": return .lostEdges(1)
        case "bounce": return .bounce(.milliseconds(5))
        case "microphone_gone": return .microphoneGone(true)
        case "microphone_skew_ppm": return .microphoneSkew(ppm: 200)
        case "disk_full": return .diskFull(true)
        case "encoder_hang": return .encoderHang(true)
        default: return .encoderStall(true)
        }
    }

    private static func fault(_ name: String, _ value: SimulatorValue) throws(SimulatorRequestError) -> Fault {
        switch name {
        case "stall":
            guard case .boolean(let isOn) = value else { return .stall(try duration(name, value)) }
            return isOn ? .stall(nil) : .stall(.zero)
        case "disconnect":
            guard case .boolean(let isOn) = value else { return .disconnect(try duration(name, value)) }
            return isOn ? .disconnect(nil) : .reconnect
        case "cancel_frames": return .cancelFrames(Int(try whole(name, value, 0...1_000_000)))
        case "slow_start": return .slowStart(try duration(name, value))
        case "lost_edge":
            guard case .boolean(let isOn) = value else { return .lostEdges(Int(try whole(name, value, 0...10_000))) }
            return .lostEdges(isOn ? 1 : 0)
        case "bounce": return .bounce(try duration(name, value))
        case "microphone_gone": return .microphoneGone(try boolean(name, value))
        case "microphone_skew_ppm": return .microphoneSkew(ppm: try number(name, value, -10_000...10_000))
        case "disk_full": return .diskFull(try boolean(name, value))
        case "encoder_stall": return .encoderStall(try boolean(name, value))
        case "encoder_hang": return .encoderHang(try boolean(name, value))
        case "camera": return .cameraUnavailable(try unavailability(name, value))
        case "microphone": return .microphoneUnavailable(try unavailability(name, value))
        default:
            throw SimulatorRequestError(
                name: name, detail: "The simulator knows no '\(name)'; known are: \(names.joined(separator: ", ")).")
        }
    }

    // MARK: - Scalars

    private static func wrong(_ name: String, _ value: SimulatorValue, _ expected: String) -> SimulatorRequestError {
        SimulatorRequestError(name: name, detail: "'\(name)' is \(expected), not \(value.words).")
    }

    private static func number(_ name: String, _ value: SimulatorValue, _ range: ClosedRange<Double>)
        throws(SimulatorRequestError) -> Double
    {
        guard case .number(let number) = value, range.contains(number) else {
            let ends = [range.lowerBound, range.upperBound].map { SimulatorValue.number($0).words }
            throw wrong(name, value, "a number from \(ends[0]) to \(ends[1])")
        }
        return number
    }

    /// A part of the field, or the word that stands for none.
    private static func part(_ name: String, _ value: SimulatorValue, or word: String) throws(SimulatorRequestError)
        -> UnitRect?
    {
        let expected = "four numbers from 0 to 1 such as \"0.4,0.4,0.2,0.2\" (left, top, width, height), or \"\(word)\""
        guard case .text(let text) = value else { throw wrong(name, value, expected) }
        if text == word { return nil }
        let sides = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { Double($0) }
        guard sides.count == 4 else { throw wrong(name, value, expected) }
        let rect = UnitRect(x: sides[0], y: sides[1], width: sides[2], height: sides[3])
        guard rect.isInside else { throw wrong(name, value, expected) }
        return rect
    }

    private static func whole(_ name: String, _ value: SimulatorValue, _ range: ClosedRange<Double>)
        throws(SimulatorRequestError) -> Double
    {
        let number = try number(name, value, range)
        guard number == number.rounded() else { throw wrong(name, value, "a whole number") }
        return number
    }

    private static func boolean(_ name: String, _ value: SimulatorValue) throws(SimulatorRequestError) -> Bool {
        guard case .boolean(let boolean) = value else { throw wrong(name, value, "true or false") }
        return boolean
    }

    private static func choice(_ name: String, _ value: SimulatorValue, _ choices: [String])
        throws(SimulatorRequestError) -> String
    {
        guard case .text(let text) = value, choices.contains(text) else {
            throw wrong(name, value, "one of \(choices.joined(separator: ", "))")
        }
        return text
    }

    private static func unavailability(_ name: String, _ value: SimulatorValue) throws(SimulatorRequestError)
        -> HardwareError.Kind?
    {
        let word = try choice(name, value, ["ok", "absent", "busy", "denied"])
        return HardwareError.Kind(rawValue: word)
    }

    private static func duration(_ name: String, _ value: SimulatorValue) throws(SimulatorRequestError) -> Duration {
        let expected = "a duration with its unit, such as \"5ms\", \"2s\" or \"1min\", of an hour at most"
        guard case .text(let text) = value else { throw wrong(name, value, expected) }
        for (unit, seconds) in [("ms", 1e-3), ("us", 1e-6), ("min", 60), ("s", 1.0)] where text.hasSuffix(unit) {
            guard let number = Double(text.dropLast(unit.count)), number >= 0, number * seconds <= 3600 else { break }
            return .nanoseconds(Int64((number * seconds * 1e9).rounded()))
        }
        throw wrong(name, value, expected)
    }
}

extension SimulatedWorld {
    /// Changes the scene or injects faults, by name (`SimulatorRequest`'s table). With a wrong name or value nothing is done.
    public func apply(_ values: [(name: String, value: SimulatorValue)]) throws(SimulatorRequestError) {
        let request = try SimulatorRequest(values)
        for (name, _) in values where name == "press" || name == "line" { _ = try buttons(for: name) }
        for change in request.changes {
            switch change {
            case .lux(let lux): set(lux: lux)
            case .distance(let distance): set(distance: distance)
            case .moving(let moving): set(moving: moving)
            case .memory(let bytes): contiguousMemory = bytes
            case .subject(let part): place(subject: part)
            case .window(let part): set(window: part, value: window?.value ?? 3)
            case .windowValue(let value): set(window: window?.place, value: value)
            case .backdrop(let room): set(backdrop: room)
            case .fault(let fault): inject(fault)
            case .clear: clearFaults()
            case .press(let length):
                let buttons = try buttons(for: "press")
                do {
                    try buttons.press(for: length)
                } catch {
                    throw SimulatorRequestError(name: "press", detail: "The press was refused: \(error).")
                }
            case .line(let isFound):
                let buttons = try buttons(for: "line")
                do {
                    try isFound ? buttons.find(at: now) : buttons.lose(at: now)
                } catch {
                    throw SimulatorRequestError(name: "line", detail: "The line stayed as it was: \(error).")
                }
            }
        }
    }

    private func buttons(for name: String) throws(SimulatorRequestError) -> SimulatedButtons {
        guard let buttons else {
            throw SimulatorRequestError(name: name, detail: "The board has no simulated button.")
        }
        return buttons
    }

    /// The scene and the faults in force, named as `apply` takes them.
    public var values: [(name: String, value: SimulatorValue)] {
        let faults = faults
        let now = now
        func milliseconds(_ span: Duration) -> SimulatorValue {
            let microseconds = span.inNanoseconds / 1000
            return .text(microseconds % 1000 == 0 ? "\(microseconds / 1000)ms" : "\(microseconds)us")
        }
        return [
            ("lux", .number(lux)), ("distance_m", .number(distance)), ("moving", .boolean(isMoving)),
            ("cma_free_mb", contiguousMemory.map { .number(Double($0) / 1_048_576) } ?? .boolean(false)),
            ("subject", .text(subject?.words ?? "walks")), ("window", .text(window?.place.words ?? "none")),
            ("window_ev", .number(window?.value ?? 0)), ("backdrop", .number(Double(backdrop))),
            ("stall", .boolean(faults.stall?.covers(now) ?? false)),
            ("disconnect", .boolean(faults.disconnection?.covers(now) ?? false)),
            ("cancel_frames", .number(Double(faults.cancelledFrames))), ("slow_start", milliseconds(faults.slowStart)),
            ("lost_edge", .number(Double(faults.lostEdges))), ("bounce", milliseconds(faults.bounce)),
            ("microphone_gone", .boolean(faults.microphoneIsGone)),
            ("microphone_skew_ppm", .number(faults.microphoneSkewPPM)), ("disk_full", .boolean(faults.diskIsFull)),
            ("encoder_stall", .boolean(faults.encoderIsStalled)), ("encoder_hang", .boolean(faults.encoderHangs)),
            ("camera", .text(faults.cameraUnavailable?.rawValue ?? "ok")),
            ("microphone", .text(faults.microphoneUnavailable?.rawValue ?? "ok")),
        ]
    }
}

extension UnitRect {
    /// As a request writes it.
    fileprivate var words: String { "\(x),\(y),\(width),\(height)" }
}
