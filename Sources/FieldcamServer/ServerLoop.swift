import CFieldcamHTTP
import FieldcamCore
import FieldcamDirector
import FieldcamLinux
import Glibc

/// What `fc-http` owns and does. Everything here happens on that one thread.
final class ServerLoop {
    static let connections = 32
    static let headerBytes = 16 << 10
    static let bodyBytes = 64 << 10

    /// What an exchange that isn't answered yet waits for.
    enum Waiting {
        case reply(RequestToken, Wish, by: Instant)
        case photo(MediaNumber)
        case clip(MediaNumber)
        case release(ButtonID)
        case events(EventStream)
    }
    /// What the client of an order wants to be told.
    enum Wish {
        case acceptance(started: Bool)
        case photo
        case clip
        case effective(Control)
    }
    /// What a live command is about, for the words of a refusal.
    enum Control {
        case focus
        case dioptres
        case zoom
        case flash
        case torch
        /// The camera that is to count afterwards; without it, any but the one of the role `before`.
        case camera(wanted: CameraID?, before: String)
        case state
    }
    /// A software press; its release is owed whatever becomes of the client.
    struct Press {
        var button: ServerConfiguration.Button
        var source: Source
        var pressed: Instant
        var span: Duration
        /// When the release, refused by a full mailbox, is tried again.
        var retry: Instant?
        var release: Instant { pressed + span }
    }

    let desk: FrontDesk
    let configuration: ServerConfiguration
    private let socket: ListeningSocket
    private let stopping: EventFD
    private let alarm = TimerFD()
    private var http: OpaquePointer?
    private var waiting: [Exchange: Waiting] = [:]
    private(set) var presses: [Press] = []
    private var lastEvent: UInt64
    private var nextHeartbeat = SystemClock.now
    private var isStopping = false

    init(desk: FrontDesk, configuration: ServerConfiguration, socket: ListeningSocket, stopping: EventFD) {
        self.desk = desk
        self.configuration = configuration
        self.socket = socket
        self.stopping = stopping
        lastEvent = desk.events.newest
    }

    // The loop

    func run() {
        guard start() else { return socket.remove() }
        var descriptors = [
            pollfd(fd: alarm.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: fc_http_descriptor(http!), events: Int16(POLLIN), revents: 0),
            pollfd(fd: desk.changed.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stopping.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            wait(&descriptors, until: deadline)
            if descriptors[4].revents != 0 { break }
            if descriptors[1].revents != 0 { acceptClients() }
            if descriptors[3].revents != 0 { desk.changed.clear() }
            release(due: SystemClock.now)
            hearDirector()
            beat(SystemClock.now)
            fc_http_run(http!)
        }
        finish(descriptors)
    }

    private func start() -> Bool {
        var limits = fc_http_limits()
        limits.connections = Int32(Self.connections)
        limits.header_bytes = Self.headerBytes
        limits.body_bytes = Self.bodyBytes
        limits.request_deadline_ns = configuration.requestDeadline.inNanoseconds
        limits.idle_seconds = 30
        // The loop outlives the shim: it is stopped at the end of `run`.
        var callbacks = fc_http_callbacks(
            context: Unmanaged.passUnretained(self).toOpaque(),
            arrived: { context, exchange, fault in
                ServerLoop.from(context).arrived(Exchange(raw: exchange), fault: fault)
            },
            piece: { context, exchange, into, room in
                ServerLoop.from(context).piece(
                    Exchange(raw: exchange), into: UnsafeMutableRawBufferPointer(start: into, count: room))
            },
            over: { context, exchange in
                ServerLoop.from(context).waiting[Exchange(raw: exchange)] = nil
            })
        let code = fc_http_start(&limits, &callbacks, &http)
        if code < 0 { Log.error("the HTTP server can't start", ["reason": errorText(-code)]) }
        return code == 0
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> ServerLoop {
        Unmanaged<ServerLoop>.fromOpaque(context!).takeUnretainedValue()
    }

    private func wait(_ descriptors: inout [pollfd], until deadline: Instant?) {
        for index in descriptors.indices { descriptors[index].revents = 0 }
        alarm.arm(at: deadline)
        _ = poll(&descriptors, nfds_t(descriptors.count), -1)
        alarm.clear()
    }

    /// When something is to be done though nothing comes.
    private var deadline: Instant? {
        var first: Instant?
        func consider(_ instant: Instant) { first = min(first ?? instant, instant) }
        let library = fc_http_deadline_ns(http!)
        if library >= 0 { consider(Instant(nanoseconds: library)) }
        for press in presses { consider(press.retry ?? press.release) }
        for case .reply(_, _, let by) in waiting.values { consider(by) }
        if waiting.values.contains(where: { if case .events = $0 { true } else { false } }) { consider(nextHeartbeat) }
        return first
    }

    private func acceptClients() {
        while let client = socket.accept() {
            if fc_http_connections(http!) >= Int32(Self.connections) {
                let problem = Problem.connections(limit: Self.connections)
                let body = problem.json.text + "\n"
                let text =
                    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
                    + "Connection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                fc_http_refuse(client, text, text.utf8.count)
            } else {
                _ = fc_http_adopt(http!, client)
            }
        }
    }

    /// The director has said its last word: pass it on, end the rest, and close.
    private func finish(_ descriptors: [pollfd]) {
        isStopping = true
        socket.remove()
        release(due: nil)
        hearDirector()
        for (exchange, state) in waiting {
            if case .events = state {
                fc_http_wake(exchange.raw)
            } else {
                waiting[exchange] = nil
                exchange.answer(.stopping)
            }
        }
        let end = SystemClock.now + .milliseconds(500)
        var descriptors = Array(descriptors.prefix { $0.fd != socket.descriptor } + [descriptors[2]])
        while fc_http_connections(http!) > 0, SystemClock.now < end {
            fc_http_run(http!)
            let library = fc_http_deadline_ns(http!)
            let next = library < 0 ? end : min(end, Instant(nanoseconds: library))
            if waiting.isEmpty && library != 0 { break }
            wait(&descriptors, until: next)
        }
        fc_http_stop(http!)
        http = nil
    }

    // Clients

    private func arrived(_ exchange: Exchange, fault: Int32) {
        switch Int(fault) {
        case Int(FC_HTTP_BODY_TOO_LARGE): return exchange.answer(.bodyTooLarge(limit: Self.bodyBytes))
        case Int(FC_HTTP_HEADERS_TOO_LARGE): return exchange.answer(.headersTooLarge(limit: Self.headerBytes))
        default: break
        }
        do {
            try route(exchange)
        } catch {
            exchange.answer(error)
        }
    }

    private func piece(_ exchange: Exchange, into target: UnsafeMutableRawBufferPointer) -> Int {
        guard case .events(var stream) = waiting[exchange] else { return -1 }
        // Moved out and back, so that its buffer isn't copied.
        waiting[exchange] = nil
        let count = stream.fill(target, from: desk.events)
        if count == 0 && isStopping { return -1 }
        waiting[exchange] = .events(stream)
        return count
    }

    /// Hands an order to the director; the exchange is answered once its reply or outcome comes.
    func submit(_ exchange: Exchange, _ wish: Wish, _ order: (RequestToken) -> Order) throws(Problem) {
        let token = desk.newToken()
        guard desk.submit(order(token)) else { throw .busy }
        var patience = configuration.orderDeadline
        if case .effective(.camera) = wish { patience = configuration.switchDeadline }
        waiting[exchange] = .reply(token, wish, by: SystemClock.now + patience)
    }

    func stream(_ exchange: Exchange, after lastEventID: UInt64?) {
        if !waiting.values.contains(where: { if case .events = $0 { true } else { false } }) {
            nextHeartbeat = SystemClock.now + configuration.heartbeat
        }
        waiting[exchange] = .events(EventStream(lastEventID: lastEventID, log: desk.events))
        _ = fc_http_stream(exchange.raw, "text/event-stream")
    }

    /// Presses a button and owes its release. With `exchange`: it is answered at the release.
    func press(_ press: Press, answering exchange: Exchange?) throws(Problem) {
        guard desk.submit(.contact(press.button.id, pressed: true, press.source), at: press.pressed) else {
            throw .busy
        }
        presses.append(press)
        if let exchange { waiting[exchange] = .release(press.button.id) }
    }

    /// Releases what is due; nil: everything, since the service stops.
    private func release(due now: Instant?) {
        while let index = presses.firstIndex(where: { press in now.map { (press.retry ?? press.release) <= $0 } ?? true
        }) {
            let press = presses[index]
            let at = min(press.release, SystemClock.now)
            guard desk.submit(.contact(press.button.id, pressed: false, press.source), at: at) else {
                // 128 orders wait: the release is tried again in a moment, still with the time at which it was due.
                guard let now else { return }
                presses[index].retry = now + .milliseconds(5)
                continue
            }
            presses.remove(at: index)
            for (exchange, state) in waiting {
                guard case .release(press.button.id) = state else { continue }
                waiting[exchange] = nil
                exchange.answer(202, pressed(press))
            }
        }
    }

    func pressed(_ press: Press) -> JSON {
        .members(["role": .string(press.button.role), "for": .string(press.span.text)])
    }

    private func beat(_ now: Instant) {
        guard now >= nextHeartbeat else { return }
        nextHeartbeat = now + configuration.heartbeat
        for (exchange, state) in waiting {
            guard case .events(var stream) = state else { continue }
            stream.heartbeatIsDue = true
            waiting[exchange] = .events(stream)
            fc_http_wake(exchange.raw)
        }
    }

    // The director

    private func hearDirector() {
        while let reply = desk.takeReply() {
            let found = waiting.first {
                if case .reply(reply.token, _, _) = $0.value { true } else { false }
            }
            guard let (exchange, state) = found, case .reply(_, let wish, _) = state else { continue }
            waiting[exchange] = nil
            hear(reply.answer, exchange, wish)
        }
        let now = SystemClock.now
        for (exchange, state) in waiting {
            guard case .reply(_, _, let by) = state, by <= now else { continue }
            waiting[exchange] = nil
            exchange.answer(.busy)
        }
        guard desk.events.newest > lastEvent else { return }
        for event in desk.events.events(after: lastEvent) {
            lastEvent = event.sequence
            for (exchange, state) in waiting { hear(event, exchange, state) }
        }
        for (exchange, state) in waiting {
            if case .events = state { fc_http_wake(exchange.raw) }
        }
    }

    private func hear(_ answer: Answer, _ exchange: Exchange, _ wish: Wish) {
        switch (answer, wish) {
        case (.rejected(let reason), .effective(let control)):
            exchange.answer(.rejected(reason, control, status: desk.status))
        case (.rejected(let reason), _):
            exchange.answer(.rejected(reason, status: desk.status))
        case (.accepted(let number), .acceptance(let started)):
            exchange.answer(
                202,
                .members(["id": .integer(Int64(number.value)), "state": .string(started ? "starting" : "requested")]))
        case (.accepted(let number), .photo): follow(number, exchange, .photo(number))
        case (.accepted(let number), .clip): follow(number, exchange, .clip(number))
        case (.effective(.camera(let camera)), .effective(.camera(let wanted, let before))):
            // A switch that failed is answered by the camera that stays.
            let role = configuration.cameras.indices.contains(camera.index) ? configuration.cameras[camera.index] : ""
            guard wanted.map({ $0 == camera }) ?? (role != before) else {
                return exchange.answer(.switchFailed(stays: role))
            }
            exchange.answer(200, Effective.camera(camera).json(cameras: configuration.cameras))
        case (.effective(let effective), _):
            exchange.answer(200, effective.json(cameras: configuration.cameras))
        case (.accepted, .effective): preconditionFailure("a live command is answered with what is in effect")
        }
    }

    /// The outcome may have been sent before the reply was read.
    private func follow(_ number: MediaNumber, _ exchange: Exchange, _ state: Waiting) {
        waiting[exchange] = state
        for event in desk.events.events(after: 0) where event.number == number {
            hear(event, exchange, state)
            guard waiting[exchange] != nil else { return }
        }
    }

    private func hear(_ event: Event, _ exchange: Exchange, _ state: Waiting) {
        switch state {
        case .photo(let number) where number == event.number:
            switch event.name {
            case "photo.saved": exchange.answer(201, event.json)
            case "photo.failed": exchange.answer(failed("The photo", event))
            default: return
            }
        case .clip(let number) where number == event.number:
            switch event.name {
            case "clip.saved": exchange.answer(200, event.json)
            case "clip.failed": exchange.answer(failed("The clip", event))
            case "clip.discarded": exchange.answer(.discarded(event: event.json))
            default: return
            }
        default: return
        }
        waiting[exchange] = nil
    }

    private func failed(_ what: String, _ event: Event) -> Problem {
        var reason = "internal"
        if case .string(let text) = event["reason"] { reason = text }
        return .failed(what, reason: reason, event: event.json, status: desk.status)
    }
}
