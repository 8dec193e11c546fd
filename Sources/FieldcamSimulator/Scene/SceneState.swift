import FieldcamCore

/// What lies before the cameras, as functions of time: how bright it is and where the subject stands.
///
/// A value that is copied once a frame; a copy allocates nothing.
struct SceneState {
    private(set) var ambient = 100.0
    private(set) var distance = 1.0
    private(set) var isMoving = true
    /// Where the subject stands in the field; `nil`: it walks, as high as its distance makes it.
    var subject: UnitRect?
    var window: Window?
    /// Which of the rooms behind the subject it is.
    var backdrop = 0
    /// How far the wall behind the subject is, metres.
    static let backdropDistance = 4.0

    /// A light of ours that is on.
    private struct Lit {
        var light: Int
        /// At 1 m.
        var lux: Double
        var until: Instant
    }
    private var lit: [Lit] = []
    /// The last changes of brightness, and those that are sure to come, latest first; the oldest of more are forgotten.
    private var changes: (Change, Change, Change, Change, Change, Change, Change, Change)
    /// Where the subject was in its walk, 0 … 1, when it last started or stopped.
    private var phase = 0.1
    private var phaseAt: Instant

    struct Change {
        var at: Instant
        var lux: Double
    }

    /// The subject crosses the picture and comes back in this time: fast enough for a visible shear of a rolling read-out.
    static let walk = 2.0

    init(at start: Instant) {
        phaseAt = start
        let first = Change(at: Instant(nanoseconds: .min), lux: 100)
        changes = (first, first, first, first, first, first, first, first)
    }

    mutating func setAmbient(_ lux: Double, at now: Instant) {
        ambient = lux
        brightnessChanged(at: now)
    }

    /// A light goes on until an instant, changes, or goes off (0 lux).
    mutating func set(light: Int, lux: Double, until: Instant, at now: Instant) {
        lit.removeAll { $0.light == light }
        if lux > 0, until > now { lit.append(Lit(light: light, lux: lux, until: until)) }
        brightnessChanged(at: now)
    }

    mutating func setDistance(_ metres: Double, at now: Instant) {
        distance = metres
        if !lit.isEmpty { brightnessChanged(at: now) }
    }

    /// How far off what is to be focused is: the subject, or the wall behind it where a window misses one that stands still.
    func distance(within window: UnitRect?) -> Double {
        guard let window, let subject else { return distance }
        let isMissed =
            window.x + window.width <= subject.x || subject.x + subject.width <= window.x
            || window.y + window.height <= subject.y || subject.y + subject.height <= window.y
        return isMissed ? Self.backdropDistance : distance
    }

    mutating func setMoving(_ moving: Bool, at now: Instant) {
        phase = walked(at: now)
        phaseAt = now
        isMoving = moving
    }

    /// Brightness at an instant, lux.
    func illumination(at instant: Instant) -> Double {
        lit.reduce(ambient) { $0 + ($1.until > instant ? $1.lux / (distance * distance) : 0) }
    }

    private mutating func brightnessChanged(at now: Instant) {
        lit.removeAll { $0.until <= now }
        // What was to come is planned anew.
        while changes.0.at > now {
            let (_, b, c, d, e, f, g, h) = changes
            changes = (b, c, d, e, f, g, h, h)
        }
        push(at: now)
        for end in lit.map(\.until).sorted() { push(at: end) }
    }

    private mutating func push(at instant: Instant) {
        let (a, b, c, d, e, f, g, _) = changes
        changes = (Change(at: instant, lux: illumination(at: instant)), a, b, c, d, e, f, g)
    }

    private func walked(at instant: Instant) -> Double {
        guard isMoving else { return phase }
        let now = phase + Double(instant.nanoseconds - phaseAt.nanoseconds) / (Self.walk * 1e9)
        return now - now.rounded(.down)
    }

    /// Where the subject's middle stands across its way, 0 (left) … 1 (right).
    func place(at instant: Instant) -> Double {
        let now = walked(at: instant)
        return now < 0.5 ? now * 2 : 2 - now * 2
    }

    /// Whether brightness stayed the same all the time from `start` to `end`.
    func isSteady(from start: Instant, to end: Instant) -> Bool {
        guard changes.0.at > start else { return true }
        return withUnsafeBytes(of: changes) { raw in
            let all = raw.bindMemory(to: Change.self)
            for change in all where change.at > start && change.at < end { return false }
            return true
        }
    }

    /// Mean brightness from `start` to `end`, lux.
    func lux(from start: Instant, to end: Instant) -> Double {
        withUnsafeBytes(of: changes) { raw in
            let all = raw.bindMemory(to: Change.self)
            guard end > start else {
                for change in all where change.at <= start { return change.lux }
                return all[all.count - 1].lux
            }
            var until = end
            var sum = 0.0
            for index in 0..<all.count {
                let isOldest = index == all.count - 1
                let from = isOldest ? start : max(start, all[index].at)
                guard from < until else { continue }
                sum += all[index].lux * Double(until.nanoseconds - from.nanoseconds)
                until = from
                if until <= start { break }
            }
            return sum / Double(end.nanoseconds - start.nanoseconds)
        }
    }
}
