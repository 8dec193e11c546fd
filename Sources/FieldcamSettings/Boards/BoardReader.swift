import FieldcamCore

/// Turns a board's file into a `BoardProfile`, gathering everything that is wrong on the way.
struct BoardReader {
    private(set) var complaints: [Complaint] = []
    private var claims: [String: (owner: String, place: Place)] = [:]
    private let file: String

    static let tables = ["camera", "button", "light", "indicator", "microphone", "video"]
    static let encoders = ["h264_v4l2m2m", "libx264", "mjpeg"]

    init(file: String) {
        self.file = file
    }

    mutating func board(_ root: [TOMLEntry]) -> BoardProfile {
        var top = Fields(root, title: "a board", known: ["name", "title", "models"] + Self.tables)
        var board = BoardProfile(name: "", title: "")
        board.name =
            top.required("name", at: Place(file: file, line: 1, column: 1)) { value throws(Misreading) in
                try Self.name(value)
            } ?? ""
        board.title = top.value("title", String.self) ?? board.name
        board.models =
            top.list("models") { value throws(Misreading) in
                let model = try String(value)
                if model.isEmpty {
                    throw Misreading("holds an empty text; write the beginning of /proc/device-tree/model")
                }
                return model
            } ?? []
        for (place, entries) in top.tables("camera") {
            board.cameras.append(camera(entries, at: place, index: board.cameras.count))
        }
        for (place, entries) in top.tables("button") {
            if let button = button(entries, at: place) { board.buttons.append(button) }
        }
        if let (place, entries) = top.table("light") { board.light = light(entries, at: place, name: "light") }
        if let (place, entries) = top.table("indicator") { board.indicator = indicator(entries, at: place) }
        if let (_, entries) = top.table("microphone") { board.microphone = microphone(entries) }
        if let (_, entries) = top.table("video") {
            var fields = Fields(entries, title: "[video]", known: ["encoders"])
            board.encoders =
                fields.list("encoders", least: "\"libx264\"") { value throws(Misreading) in try Self.encoder(value) }
                ?? board.encoders
            complaints += fields.complaints
        }
        complaints += top.complaints
        unique(board.cameras.map(\.role), top.tables("camera").map(\.place))
        return board
    }

    private mutating func camera(_ entries: [TOMLEntry], at place: Place, index: Int) -> CameraProfile {
        var fields = Fields(
            entries, title: "a [[camera]]",
            known: ["driver", "role", "match", "pipeline", "rotation", "mirror", "light"])
        var camera = CameraProfile(role: "")
        camera.driver = fields.value("driver", CameraProfile.Driver.self) ?? .libcamera
        camera.role =
            fields.required("role", at: place) { value throws(Misreading) in
                let role = try Self.name(value)
                if role == "first" || role == "last" {
                    throw Misreading(
                        "is \(quoted(role)), which camera.default uses for something else; choose another name")
                }
                return role
            } ?? ""
        camera.match = fields.value("match", CameraMatch.self) ?? .index(index)
        camera.pipeline = fields.value("pipeline", CameraPipeline.self) ?? .pisp
        switch camera.driver {
        case .libcamera: fields.refuse(["pipeline"], because: "libcamera knows its pipeline by itself")
        case .simulator:
            guard case .model(let name) = camera.match, CameraModel(rawValue: name) == nil else { break }
            let known = CameraModel.allCases.map(\.rawValue)
            complaints.append(
                Complaint(
                    fields.place("match") ?? place,
                    "the simulator has no sensor \(quoted(name)); it has \(known.joined(separator: ", "))"))
        }
        camera.rotation =
            fields.value("rotation") { value throws(Misreading) in
                let rotation = try Int(value)
                guard [0, 90, 180, 270].contains(rotation) else {
                    throw Misreading("is \(rotation); write 0, 90, 180 or 270")
                }
                return rotation
            } ?? 0
        camera.mirror = fields.value("mirror", Bool.self) ?? false
        if let (place, entries) = fields.table("light") {
            camera.hasOwnLight = true
            camera.light = light(entries, at: place, name: "light of the camera \(quoted(camera.role))")
        }
        if camera.driver == .libcamera {
            claim(
                "camera \(camera.match.word)", for: "the camera \(quoted(camera.role))",
                at: fields.place("match") ?? place)
        }
        complaints += fields.complaints
        return camera
    }

    private mutating func button(_ entries: [TOMLEntry], at place: Place) -> ButtonProfile? {
        enum Driver: String, SettingChoice {
            case gpio
            case simulator
        }
        var fields = Fields(
            entries, title: "a [[button]]",
            known: ["driver", "role", "chip", "line", "offset", "active_low", "bias"])
        defer { complaints += fields.complaints }
        let driver = fields.value("driver", Driver.self) ?? .gpio
        let role = fields.required("role", at: place) { value throws(Misreading) in try ButtonRole(value) }
        if let role, !FeatureSet.buttonRoles.contains(role.rawValue), let place = fields.place("role") {
            complaints.append(
                Complaint(place, "a button with the role \(quoted(role.rawValue)) is not in this version; remove it"))
        }
        guard driver == .gpio else {
            fields.refuse(["chip", "line", "offset", "active_low", "bias"], because: "a simulated button has no line")
            return role.map { ButtonProfile(role: $0, wiring: .simulator) }
        }
        let bias = fields.value("bias", ButtonProfile.Bias.self) ?? .pullUp
        let line = line(&fields, at: place, owner: "the button \(quoted(role?.rawValue ?? "?"))", activeLow: true)
        guard let role, let line else { return nil }
        return ButtonProfile(role: role, wiring: .gpio(line, bias))
    }

    private mutating func light(_ entries: [TOMLEntry], at place: Place, name: String) -> LightProfile? {
        var fields = Fields(
            entries, title: "the \(name)",
            known: Self.wiringKeys + ["max_flash", "max_torch"])
        defer { complaints += fields.complaints }
        let wiring = wiring(&fields, at: place, owner: "the \(name)")
        let flash = fields.value("max_flash") { value throws(Misreading) in
            try Self.duration(value, .milliseconds(1) ... .seconds(10))
        }
        let torch = fields.value("max_torch") { value throws(Misreading) in
            try Self.duration(value, .seconds(1) ... .seconds(24 * 3600))
        }
        guard let wiring else { return nil }
        var light = LightProfile(wiring: wiring)
        light.maximumFlash = flash ?? light.maximumFlash
        light.maximumTorch = torch ?? light.maximumTorch
        return light
    }

    private mutating func indicator(_ entries: [TOMLEntry], at place: Place) -> IndicatorProfile? {
        var fields = Fields(entries, title: "[indicator]", known: Self.wiringKeys)
        defer { complaints += fields.complaints }
        return wiring(&fields, at: place, owner: "the indicator").map { IndicatorProfile(wiring: $0) }
    }

    private mutating func microphone(_ entries: [TOMLEntry]) -> MicrophoneProfile {
        var fields = Fields(entries, title: "[microphone]", known: ["driver", "device"])
        var microphone = MicrophoneProfile()
        microphone.driver = fields.value("driver", MicrophoneProfile.Driver.self) ?? .alsa
        let device =
            fields.value("device") { value throws(Misreading) in
                let device = try String(value)
                if device.isEmpty {
                    throw Misreading("is empty; write an ALSA device such as \"default\", or \"none\"")
                }
                return device
            } ?? "default"
        microphone.device = device == "none" ? nil : device
        complaints += fields.complaints
        return microphone
    }

    /// What drives a light or an indicator; `nil`: nothing, or it can't be told.
    private mutating func wiring(_ fields: inout Fields, at place: Place, owner: String) -> LightProfile.Wiring? {
        let driver = fields.value("driver", LightProfile.Driver.self) ?? .gpio
        if !FeatureSet.lightDrivers.contains(driver.rawValue) {
            complaints.append(
                Complaint(
                    fields.place("driver") ?? place,
                    "driver = \(quoted(driver.rawValue)) is not in this version; use \"gpio\" or \"none\""))
            return nil
        }
        let keys: Set<String> =
            switch driver {
            case .gpio: ["chip", "line", "offset", "active_low"]
            case .led: ["name"]
            case .pwm: ["chip", "channel"]
            case .simulator, .none: []
            }
        fields.refuse(
            Self.wiringKeys.filter { $0 != "driver" && !keys.contains($0) },
            because: "the driver \(quoted(driver.rawValue)) has \(Self.words[driver]!)")
        switch driver {
        case .gpio: return line(&fields, at: place, owner: owner, activeLow: false).map { .gpio($0) }
        case .led: return led(&fields, at: place, owner: owner).map { .led($0) }
        case .pwm: return channel(&fields, at: place, owner: owner).map { .pwm($0) }
        case .simulator: return .simulator
        case .none: return nil
        }
    }

    private static let wiringKeys = ["driver", "chip", "line", "offset", "active_low", "name", "channel"]
    private static let words: [LightProfile.Driver: String] = [
        .gpio: "a chip and a line", .led: "a name only", .pwm: "a chip and a channel", .simulator: "no line",
        .none: "no line",
    ]

    private mutating func led(_ fields: inout Fields, at place: Place, owner: String) -> String? {
        let name = fields.required("name", at: place) { value throws(Misreading) in
            let name = try String(value)
            if name.isEmpty || name.hasPrefix(".") || name.utf8.contains(UInt8(ascii: "/")) {
                throw Misreading("is \(quoted(name)); write the LED's name as ls /sys/class/leds shows it")
            }
            return name
        }
        guard let name else { return nil }
        claim("the LED \(quoted(name))", for: owner, at: fields.place("name") ?? place)
        return name
    }

    private mutating func channel(_ fields: inout Fields, at place: Place, owner: String) -> PWMChannel? {
        let chip = fields.required("chip", at: place) { value throws(Misreading) in
            let chip = try String(value)
            if chip.isEmpty || chip.hasPrefix("pwmchip") || chip.utf8.contains(UInt8(ascii: "/")) {
                throw Misreading(
                    "is \(quoted(chip)); write the name of the chip's device, such as \"fe20c000.pwm\", to which /sys/class/pwm/pwmchip0/device points"
                )
            }
            return chip
        }
        let channel = fields.required("channel", at: place) { value throws(Misreading) in
            let channel = try Int(value)
            guard (0..<64).contains(channel) else { throw Misreading("is \(channel); it must be from 0 to 63") }
            return channel
        }
        guard let chip, let channel else { return nil }
        claim("channel \(channel) of \(chip)", for: owner, at: fields.place("channel") ?? place)
        return PWMChannel(chip: chip, channel: channel)
    }

    /// The line that the fields name, claimed for its owner.
    private mutating func line(_ fields: inout Fields, at place: Place, owner: String, activeLow: Bool) -> GPIOLine? {
        let chip = fields.required("chip", at: place) { value throws(Misreading) in
            let chip = try String(value)
            if chip.isEmpty { throw Misreading("is empty; write the chip's label, such as \"pinctrl-rp1\"") }
            if chip.hasPrefix("gpiochip") || chip.hasPrefix("/dev/") {
                throw Misreading(
                    "is \(quoted(chip)), a number that changes with the kernel; write the chip's label as gpiodetect shows it in brackets"
                )
            }
            return chip
        }
        let name = fields.value("line") { value throws(Misreading) in
            let name = try String(value)
            if name.isEmpty { throw Misreading("is empty; write the line's name, such as \"GPIO17\", or offset = 17") }
            return name
        }
        let offset = fields.value("offset") { value throws(Misreading) in
            let offset = try Int(value)
            guard (0..<1024).contains(offset) else { throw Misreading("is \(offset); it must be from 0 to 1023") }
            return offset
        }
        let isActiveLow = fields.value("active_low", Bool.self) ?? activeLow
        let where_ = fields.place("line") ?? fields.place("offset") ?? place
        if fields.place("line") != nil, let second = fields.place("offset") {
            complaints.append(Complaint(second, "both 'line' and 'offset' are given; keep one of the two"))
            return nil
        }
        if fields.place("line") == nil, fields.place("offset") == nil {
            complaints.append(
                Complaint(place, "\(owner) has no line; write line = \"GPIO17\" or offset = 17"))
            return nil
        }
        guard let chip, name != nil || offset != nil else { return nil }
        let spot: GPIOLine.Place = name.map { .name($0) } ?? .offset(offset!)
        claim(Self.claimName(chip: chip, spot), for: owner, at: where_)
        return GPIOLine(chip: chip, place: spot, activeLow: isActiveLow)
    }

    /// On Raspberry Pi chips the line GPIO17 is offset 17: both spellings claim the same.
    private static func claimName(chip: String, _ spot: GPIOLine.Place) -> String {
        switch spot {
        case .offset(let offset): return "line \(offset) of \(chip)"
        case .name(let name):
            let digits = name.dropFirst(4)
            if name.hasPrefix("GPIO"), !digits.isEmpty, digits.utf8.allSatisfy(isDigit), let number = Int(digits),
                chip.hasPrefix("pinctrl-bcm") || chip == "pinctrl-rp1"
            {
                return "line \(number) of \(chip)"
            }
            return "line \(quoted(name)) of \(chip)"
        }
    }

    private mutating func claim(_ thing: String, for owner: String, at place: Place) {
        if let first = claims[thing] {
            complaints.append(
                Complaint(
                    place,
                    "\(thing) is claimed twice: by \(first.owner) (line \(first.place.line)) and by \(owner); give each its own"
                ))
        } else {
            claims[thing] = (owner, place)
        }
    }

    private mutating func unique(_ roles: [String], _ places: [Place]) {
        for (index, role) in roles.enumerated() where !role.isEmpty && roles[..<index].contains(role) {
            complaints.append(
                Complaint(places[index], "two cameras have the role \(quoted(role)); give each a role of its own"))
        }
    }

    private static func name(_ value: TOMLValue) throws(Misreading) -> String {
        let name = try String(value)
        guard isName(name) else {
            throw Misreading("is \(quoted(name)); write letters, digits, '-' and '_' only, 64 at most")
        }
        return name
    }

    private static func encoder(_ value: TOMLValue) throws(Misreading) -> String {
        let name = try String(value)
        guard encoders.contains(name) else {
            throw Misreading("holds \(quoted(name)); \(Suggestion.words(for: name, among: encoders))")
        }
        return name
    }

    private static func duration(_ value: TOMLValue, _ range: ClosedRange<Duration>) throws(Misreading) -> Duration {
        let duration = try Duration(value)
        guard range.contains(duration) else {
            throw Misreading(
                "is \(duration.literal); it must be from \(range.lowerBound.word) to \(range.upperBound.word)")
        }
        return duration
    }
}
