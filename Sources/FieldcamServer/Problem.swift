import FieldcamCore
import FieldcamDirector
import FieldcamLinux

/// A refusal or failure as `application/problem+json` (RFC 9457) with a stable `code`.
struct Problem: Error, Hashable, Sendable {
    var status: Int
    /// Such as `camera.absent`; never changes its meaning.
    var code: String
    /// The same for each problem of this code.
    var title: String
    /// One sentence: what, where, what to do.
    var detail: String
    var fields: [JSON.Member] = []
    /// The methods that would do, for 405.
    var allow: String?

    var json: JSON {
        .object(
            [
                .init("type", .string("urn:fieldcam:problem:" + code)),
                .init("title", .string(title)),
                .init("status", .integer(Int64(status))),
                .init("detail", .string(detail)),
                .init("code", .string(code)),
            ] + fields)
    }

    // Requests that can't be understood

    static func path(_ path: String) -> Problem {
        Problem(
            status: 404, code: "path.unknown", title: "No such path",
            detail: "\(path) isn't served by this version; check its spelling.")
    }

    static func method(_ method: String, _ path: String, allow: [String]) -> Problem {
        Problem(
            status: 405, code: "method.unknown", title: "The path doesn't know this method",
            detail: "\(path) doesn't answer \(method); it answers \(allow.joined(separator: " and ")).",
            allow: allow.joined(separator: ", "))
    }

    static func body(_ error: JSONSyntaxError) -> Problem {
        Problem(
            status: 400, code: "body.syntax", title: "The body isn't JSON",
            detail: "The body isn't JSON at \(error.line):\(error.column): \(error.message).")
    }

    static func field(_ field: String, code: String = "field.invalid", _ detail: String) -> Problem {
        Problem(
            status: 400, code: code, title: "A field is wrong", detail: detail,
            fields: [.init("field", .string(field))])
    }

    static func bodyTooLarge(limit: Int) -> Problem {
        Problem(
            status: 413, code: "body.too_large", title: "The body is too large",
            detail: "A body may have \(limit) bytes at most.")
    }

    static func headersTooLarge(limit: Int) -> Problem {
        Problem(
            status: 431, code: "headers.too_large", title: "The headers are too large",
            detail: "The headers may have \(limit) bytes at most.")
    }

    static func connections(limit: Int) -> Problem {
        Problem(
            status: 503, code: "service.connections", title: "Too many connections",
            detail: "The service has \(limit) connections already; close one, or try again later.")
    }

    // What the service can't do now

    static let busy = Problem(
        status: 503, code: "service.busy", title: "The service is busy",
        detail: "The service didn't take the request in time; try again.")

    static let stopping = Problem(
        status: 503, code: "service.stopping", title: "The service is stopping",
        detail: "The service is stopping; what was started is finished, its outcome is in the media folder.")

    static let notSimulated = Problem(
        status: 404, code: "board.not_simulated", title: "The board isn't simulated",
        detail: "Only a simulated board has a scene to change; start the service with --board simulator.")

    static func settings(_ error: SettingsError) -> Problem {
        switch error {
        case .wrong(let key, let detail): .field(key, code: "settings.invalid", detail)
        case .notKept(let detail):
            Problem(status: 507, code: "settings.not_kept", title: "The settings can't be kept", detail: detail)
        case .busy: .busy
        }
    }

    static func button(_ role: String, known: [String]) -> Problem {
        let roles = known.isEmpty ? "it has none" : "it has \(known.joined(separator: ", "))"
        return Problem(
            status: 404, code: "button.unknown", title: "No such button",
            detail: "The board has no button '\(role)'; \(roles).")
    }

    static func pressed(_ role: String) -> Problem {
        Problem(
            status: 409, code: "button.pressed", title: "The button is pressed already",
            detail: "A command holds the button '\(role)' down already; try again after its release.")
    }

    static func rejected(_ reason: RejectionReason, status: Status) -> Problem {
        let detail =
            switch reason {
            case .alreadyRecording: "A clip is being recorded already; stop it first."
            case .notRecording:
                "No clip is being recorded; start one first with 'fieldcam record' or POST /v1/recording."
            case .queueFull: "As many shots as fit are waiting already; try again when one is saved."
            case .buttonDisabled: "The buttons are disabled by button.enabled."
            case .recording: "A clip is being recorded; stop it first."
            case .switching: "The cameras are being switched; try again in a moment."
            case .outOfRange: "The value is out of range."
            case .cameraOff: off(status.camera)
            case .unsupported where status.video.isRefused:
                "video.quality = \"\(status.video.requested)\" can't be recorded here, and video.unsupported is \"reject\": "
                    + "\([status.video.reason, status.video.framerateReason].first { !$0.isEmpty } ?? "")."
            case .unsupported where !status.light.reason.isEmpty:
                "The torch can't be lit: \(status.light.reason); leave it out."
            case .unsupported: "This board or camera can't do that."
            }
        return Problem(
            status: 409, code: reason.rawValue, title: "Refused in this state", detail: detail,
            fields: [.init("recording", status.recording.json(at: nil))])
    }

    /// Why there are no pictures, and what to do.
    private static func off(_ camera: Status.Camera) -> String {
        let start = "start it first with 'fieldcam start' or POST /v1/camera/start"
        switch camera.state {
        case "standby": return "The camera is in standby; \(start)."
        case "released": return "The camera is released; \(start)."
        case "down", "recovering":
            return "The camera is \(camera.state); the service keeps trying to get it back"
                + (camera.detail.isEmpty ? "." : ": \(camera.detail).")
        default: return "The camera is starting; try again in a moment."
        }
    }

    /// A live command that the director refused.
    static func rejected(_ reason: RejectionReason, _ control: ServerLoop.Control, status: Status) -> Problem {
        if case .torch = control, reason == .outOfRange, status.light.restsUntil != nil {
            return torchRests(status.light)
        }
        return switch reason {
        case .outOfRange: outOfRange(control, status.lens)
        case .unsupported: unsupported(control, status)
        default: rejected(reason, status: status)
        }
    }

    private static func outOfRange(_ control: ServerLoop.Control, _ lens: Status.Lens) -> Problem {
        switch control {
        case .focus: return .range("x", "a point's x and y lie from 0 to 1.")
        case .dioptres:
            guard let range = lens.range else { return .range("dioptres", "it is out of range.") }
            return .range(
                "dioptres", "this lens takes dioptres from \(plain(range.lowerBound)) to \(plain(range.upperBound)).")
        case .zoom:
            return .range(
                "factor",
                "zoom.maximum allows a factor from 1 to \(plain(lens.maximumZoom)) here; \"native\" is as far as no "
                    + "pixel is invented, a larger number allows more.")
        case .torch: return .range("level", "a level is above 0, up to 1.")
        case .camera: return .range("role", "the board has no such camera.")
        case .flash, .state: return .range("mode", "it is out of range.")
        }
    }

    /// As people write it: no fraction where there is none, else two places at most, rounded down.
    private static func plain(_ value: Double) -> String {
        let hundredths = Int64((value * 100 + 1e-6).rounded(.down))
        let (whole, rest) = (hundredths / 100, hundredths % 100)
        if rest == 0 { return "\(whole)" }
        return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }

    /// A value outside of what is allowed; nothing was changed.
    static func range(_ field: String, _ detail: String) -> Problem {
        Problem(
            status: 400, code: RejectionReason.outOfRange.rawValue, title: "A value is out of range",
            detail: "Out of range: \(detail)", fields: [.init("field", .string(field))])
    }

    /// 409 where the state forbids it, 501 where board or camera never can.
    private static func unsupported(_ control: ServerLoop.Control, _ status: Status) -> Problem {
        let code = RejectionReason.unsupported.rawValue
        func refused(_ detail: String) -> Problem {
            Problem(status: 409, code: code, title: "Refused in this state", detail: detail)
        }
        func impossible(_ detail: String) -> Problem {
            Problem(status: 501, code: code, title: "The board or camera can't do that", detail: detail)
        }
        switch control {
        case .focus: return impossible("Focus at a point is switched off by focus.tap.")
        case .dioptres: return impossible("This camera's lens is fixed: it has no focus to set.")
        case .zoom:
            return impossible(
                "This camera can't zoom, or zoom.enabled is false; set it to true, or leave the factor at 1.")
        case .flash: return impossible("No light belongs to this camera, so flash.mode stays off.")
        case .torch:
            guard status.light.reason.isEmpty else {
                return impossible("The light can't be lit: \(status.light.reason).")
            }
            return torchRests(status.light)
        case .camera: return impossible("The board has one camera alone; there is none to switch to.")
        case .state: return impossible("This camera can't do that.")
        }
    }

    /// It has been on for as long as it may.
    private static func torchRests(_ light: Status.Light) -> Problem {
        let left = light.restsUntil.map { $0 - SystemClock.now } ?? .zero
        let seconds = max(1, (left.inNanoseconds + 999_999_999) / 1_000_000_000)
        return Problem(
            status: 409, code: RejectionReason.outOfRange.rawValue, title: "Refused in this state",
            detail: "The light has been on for max_torch and cools down; it may shine again in \(seconds) s.",
            fields: [.init("retry_after_s", .integer(seconds))])
    }

    static func switchFailed(stays role: String) -> Problem {
        Problem(
            status: 503, code: "camera.switch_failed", title: "The switch failed",
            detail: "The other camera gave no picture, so the camera '\(role)' stays; the log says why.",
            fields: [.init("role", .string(role))])
    }

    static func camera(_ role: String, known: [String]) -> Problem {
        let roles = known.isEmpty ? "it has none" : "it has \(known.joined(separator: ", "))"
        return .field("role", code: "camera.unknown", "The board has no camera '\(role)'; \(roles).")
    }

    /// A shot or clip that came to nothing. `reason` is the event's word.
    static func failed(_ what: String, reason: String, event: JSON, status: Status) -> Problem {
        let known = FailureReason(rawValue: reason)
        let code =
            reason.firstIndex(of: "_").map { reason[..<$0] + "." + reason[reason.index(after: $0)...] }
            ?? Substring(reason)
        let cause: String
        let number: Int
        switch known {
        case .cameraAbsent:
            (number, cause) = (503, "no camera was found; check its cable and the board's [[camera]] entry")
        case .cameraBusy: (number, cause) = (503, "another program holds the camera; stop that program")
        case .cameraDenied:
            (number, cause) = (503, "the service may not open the camera; add its user to the group video")
        case .cameraLost: (number, cause) = (503, "the camera was lost; the service keeps trying to get it back")
        case .cameraReleased: (number, cause) = (503, "the camera is released; start it first")
        case .storageLow:
            (number, cause) = (507, "the disk has no room above storage.reserve; delete files or lower it")
        case .storageUnwritable:
            (number, cause) = (507, "the media folder can't be written; check its disk and permissions")
        case .focusTimeout:
            (number, cause) = (
                503,
                "the lens found no focus in time; add light, step back, or set photo.wait_for_focus to short or off"
            )
        case .encoderLost: (number, cause) = (500, "the encoder gave up; the log says why")
        case .internal: (number, cause) = (500, "something failed inside; the log says what")
        case nil: (number, cause) = (500, reason)
        }
        let exact =
            switch known {
            case .cameraAbsent, .cameraBusy, .cameraDenied, .cameraLost: status.camera.detail
            case .storageLow, .storageUnwritable: status.storage.detail
            default: ""
            }
        let sentence = exact.isEmpty ? cause + "." : exact
        return Problem(
            status: number, code: String(code), title: "\(what) failed", detail: "\(what) failed: \(sentence)",
            fields: [.init("event", event)])
    }

    /// The clip ended without one frame.
    static func discarded(event: JSON) -> Problem {
        Problem(
            status: 500, code: "clip.discarded", title: "The clip had no frames",
            detail: "The clip ended before its first frame; nothing was saved.", fields: [.init("event", event)])
    }
}
