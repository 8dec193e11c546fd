/// What a button is for (contract §1). Number 0 is the shutter button, whatever its role is called.
public enum ButtonRole: String, Hashable, Sendable, CaseIterable {
    case shutter
    /// Cycles off → on → auto.
    case flash
    case switchCamera = "switch"
    /// Focuses at the centre.
    case focus
    case trigger
}

/// A button: its line and its software contact, either of which keeps it down, and the gesture that is under way.
struct Button: Sendable {
    /// What both contacts together say.
    struct Position: Sendable, Hashable {
        /// Confirmed down.
        var isDown = false
        /// A change in the other direction that isn't confirmed yet, and since when.
        var changing: Instant?
    }

    var line = Contact()
    var software = false
    var softwareReleased: Instant?
    /// The position that the gesture was told last.
    var told = Position()
    var gesture = Gesture.idle

    var position: Position {
        if software { return Position(isDown: true, changing: nil) }
        guard line.isDown else { return Position(isDown: false, changing: line.changing) }
        guard let from = line.changing else { return Position(isDown: true, changing: nil) }
        return Position(isDown: true, changing: max(from, softwareReleased ?? from))
    }

    /// Whether it is known that the button was still down at that time, undelivered edges or not.
    func isKnownDown(at time: Instant) -> Bool {
        if software { return true }
        guard line.isDown, line.change == nil, let verified = line.verified else { return false }
        return verified >= time
    }
}
