/// How long and how brightly the light may still shine: a simple thermal model.
///
/// An LED on a small board heats up within minutes and needs about as long to cool. So time on counts up and time off
/// counts down, one for one, whatever the level. For the first third of `max_torch` the light may shine fully; then its
/// maximum falls linearly, in twelve steps, to a quarter; at `max_torch` it goes off.
struct TorchBudget: Sendable {
    private static let steps = 12
    /// A light that was nearly used up isn't lit for a moment.
    private static let least: Duration = .seconds(1)

    private var spent: Duration = .zero
    private var told: Instant?
    private var isOn = false

    mutating func advance(to now: Instant) {
        if let told, now > told {
            spent = isOn ? spent + (now - told) : max(.zero, spent - (now - told))
        }
        told = max(told ?? now, now)
    }

    mutating func turn(on: Bool, at now: Instant) {
        advance(to: now)
        isOn = on
    }

    /// How long it may stay on from the latest `advance`; zero: it must cool first.
    func remaining(of maximum: Duration) -> Duration {
        let left = maximum - spent
        return isOn || left >= min(Self.least, maximum / 10) ? max(.zero, left) : .zero
    }

    /// Until when a light that is off must cool, as of the latest `advance`; `nil`: it may be lit.
    func rest(of maximum: Duration) -> Instant? {
        let lack = min(Self.least, maximum / 10) - (maximum - spent)
        guard !isOn, lack > .zero, let told else { return nil }
        return told + lack
    }

    /// The highest level, (0, 1].
    func level(of maximum: Duration) -> Double { 1 - Double(step(of: maximum)) / 16 }

    /// How long from the latest `advance` until the level falls, while on; `nil`: it doesn't any more.
    func untilNextStep(of maximum: Duration) -> Duration? {
        let next = step(of: maximum)
        guard next < Self.steps else { return nil }
        return max(.zero, start(of: next, maximum) - spent) + .nanoseconds(1)
    }

    private func start(of step: Int, _ maximum: Duration) -> Duration {
        maximum / 3 + (maximum - maximum / 3) * step / Self.steps
    }

    private func step(of maximum: Duration) -> Int {
        var step = 0
        while step < Self.steps, spent > start(of: step, maximum) { step += 1 }
        return step
    }
}
