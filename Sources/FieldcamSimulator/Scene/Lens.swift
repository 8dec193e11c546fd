import FieldcamCore

/// A lens that travels, and a camera that focuses with it on the subject.
struct Lens {
    /// Dioptres, where no sensor's profile says otherwise.
    static let range = 0.0...10.0
    /// Dioptres a second: end to end in 0.4 s; slowly for clips.
    static let speed = 25.0
    static let slowSpeed = 5.0
    /// Below this brightness there is nothing to focus on, lux.
    static let darkest = 1.0

    var range = Self.range
    private(set) var position = 1.0
    private(set) var state = FocusState.focused
    private var scan: UInt32 = 0
    private var isScanning = false

    /// Time passes until the next frame. `distance`: of what lies where the camera focuses.
    mutating func travel(for span: Duration, distance: Double, lux: Double, controls: CameraControls) {
        let seconds = Double(span.inNanoseconds) / 1e9
        let way = seconds * (controls.focusIsSlow ? Self.slowSpeed : Self.speed)
        let right = 1 / distance
        let canFocus = range.contains(right) && lux >= Self.darkest
        switch controls.focus {
        case .manual(let dioptres):
            isScanning = false
            move(to: min(max(dioptres, range.lowerBound), range.upperBound), way: seconds * Self.speed)
            state = .idle
            return
        case .continuous:
            guard !controls.focusIsPaused else { return }
            // What is slightly off isn't chased, and what can't be focused isn't tried over and over.
            let isRight = state == .focused && abs(position - right) < 0.15
            if !isRight && !(state == .failed && !canFocus) { isScanning = true }
        case .oneShot:
            if controls.focusScan != scan { isScanning = true }
        }
        scan = controls.focusScan
        guard isScanning else { return }
        state = .scanning
        let goal = canFocus ? right : range.upperBound
        move(to: goal, way: way)
        guard position == goal else { return }
        isScanning = false
        state = canFocus ? .focused : .failed
    }

    private mutating func move(to goal: Double, way: Double) {
        position = abs(goal - position) <= way ? goal : position + (goal > position ? way : -way)
    }

    /// How far the subject is out of focus, dioptres.
    func defocus(distance: Double) -> Double { abs(position - 1 / distance) }
}
