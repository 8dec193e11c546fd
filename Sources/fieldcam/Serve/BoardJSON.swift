import FieldcamDirector
import FieldcamSettings

extension BoardProfile {
    /// The body of `GET /v1/board`.
    var json: JSON {
        .members([
            "name": .string(name),
            "title": .string(title),
            "cameras": .array(
                cameras.map {
                    .members([
                        "role": .string($0.role), "driver": .string($0.driver.rawValue),
                        "match": .string("\($0.match)"), "rotation": .integer(Int64($0.rotation)),
                        "mirror": .bool($0.mirror),
                    ])
                }),
            "buttons": .array(buttons.map(\.json)),
            "microphone": .members([
                "driver": .string(microphone.driver.rawValue),
                "device": microphone.device.map { .string($0) } ?? .null,
            ]),
            "encoders": .array(encoders.map { .string($0) }),
        ])
    }
}

extension ButtonProfile {
    fileprivate var json: JSON {
        switch wiring {
        case .simulator: .members(["role": .string(role.rawValue), "driver": .string("simulator")])
        case .gpio(let line, let bias):
            .members([
                "role": .string(role.rawValue), "driver": .string("gpio"), "chip": .string(line.chip),
                "line": line.place.json,
                "active_low": .bool(line.activeLow), "bias": .string(bias.rawValue),
            ])
        }
    }
}

extension GPIOLine.Place {
    fileprivate var json: JSON {
        switch self {
        case .name(let name): .string(name)
        case .offset(let offset): .integer(Int64(offset))
        }
    }
}
