// Contacts: from edges, levels and software presses to confirmed changes (contract §5.1).
extension Session {
    mutating func takeEdge(_ index: Int, _ pressed: Bool, at: Instant, into effects: inout Effects) {
        if let change = buttons[index].line.change {
            if at < change.from + settings.bounce {
                buttons[index].line.bounce(pressed, at: at)
                tellGesture(index, at: at, into: &effects)
                return
            }
            // The bounce time was over before this edge, and the level hasn't been read: the last edge tells it.
            settle(index, change.latest, into: &effects)
        }
        if pressed != buttons[index].line.level { beginChange(index, at: at, into: &effects) }
    }

    mutating func takeLevel(_ index: Int, _ pressed: Bool, at: Instant, into effects: inout Effects) {
        buttons[index].line.read = at
        if let change = buttons[index].line.change {
            let settled = change.from + settings.bounce
            guard at >= settled else {
                buttons[index].line.bounce(pressed, at: at)
                tellGesture(index, at: at, into: &effects)
                return
            }
            let tellsTheEnd = pressed == change.latest || at - settled <= Self.promptReading
            settle(index, tellsTheEnd ? pressed : change.latest, into: &effects)
        }
        if pressed != buttons[index].line.level {
            beginChange(index, at: at, into: &effects)
        } else {
            buttons[index].line.verified = at
            considerGesture(index, into: &effects)
        }
    }

    mutating func loseLine(_ index: Int, at: Instant, into effects: inout Effects) {
        let wasReleasing = buttons[index].told.isDown && buttons[index].told.changing != nil
        buttons[index].line = Contact()
        tellGesture(index, at: at, release: wasReleasing ? .released : .lineLost, into: &effects)
    }

    mutating func findLine(_ index: Int, _ pressed: Bool, at: Instant, into effects: inout Effects) {
        // Found again without having been told lost: as a release all the same.
        loseLine(index, at: at, into: &effects)
        buttons[index].line.find(pressed, at: at)
        tellGesture(index, at: at, into: &effects)
    }

    mutating func takeSoftwareContact(
        _ index: Int, _ pressed: Bool, _ source: Source, at: Instant, into effects: inout Effects
    ) {
        buttons[index].software = pressed
        if !pressed { buttons[index].softwareReleased = at }
        tellGesture(index, at: at, source: source, into: &effects)
        if !pressed { buttons[index].softwareReleased = buttons[index].line.isDown ? at : nil }
    }

    mutating func passContactTime(_ index: Int, into effects: inout Effects) {
        let line = buttons[index].line
        guard let due = line.deadline(bounce: settings.bounce, poll: settings.levelPoll), due <= now else { return }
        if let change = line.change, change.asked != nil {
            // No answer: the line can't be read now; the last edge tells.
            settle(index, change.latest, into: &effects)
        } else {
            buttons[index].line.askLevel(at: now)
            effects.append(.readLevel(ButtonID(index)))
        }
    }

    private mutating func beginChange(_ index: Int, at: Instant, into effects: inout Effects) {
        buttons[index].line.begin(at: at)
        tellGesture(index, at: at, into: &effects)
    }

    private mutating func settle(_ index: Int, _ level: Bool, into effects: inout Effects) {
        guard let change = buttons[index].line.change else { return }
        if buttons[index].line.settle(level) {
            if level { buttons[index].line.read = buttons[index].line.read ?? change.from + settings.bounce }
        } else {
            counters.glitches += 1
        }
        tellGesture(index, at: change.from, into: &effects)
    }

    /// Compares the button's position with what the gesture was told, and tells it the difference.
    private mutating func tellGesture(
        _ index: Int, at: Instant, source: Source = .button, release: StopReason = .released,
        into effects: inout Effects
    ) {
        let before = buttons[index].told
        let after = buttons[index].position
        guard before != after else { return }
        buttons[index].told = after
        guard index == Self.shutter else {
            if after.isDown, !before.isDown { rolePressed(index, at: at, source, into: &effects) }
            return
        }
        if before.isDown == after.isDown {
            switch (before.changing, after.changing) {
            case (nil, let from?):
                if after.isDown {
                    releaseBegan(index, at: from)
                } else {
                    pressBegan(index, at: from, source, into: &effects)
                }
            case (_?, nil):
                if after.isDown {
                    releaseWasNoise(index, into: &effects)
                } else {
                    pressWasNoise(index, into: &effects)
                }
            case (_?, let from?):
                if after.isDown {
                    releaseBegan(index, at: from)
                } else {
                    pressWasNoise(index, into: &effects)
                    pressBegan(index, at: from, source, into: &effects)
                }
            case (nil, nil): break
            }
            return
        }
        let from = before.changing ?? at
        if after.isDown {
            if before.changing == nil { pressBegan(index, at: from, source, into: &effects) }
            pressConfirmed(index, at: from, into: &effects)
            if let next = after.changing { releaseBegan(index, at: next) }
        } else {
            if before.changing == nil { releaseBegan(index, at: from) }
            releaseConfirmed(index, at: from, release, into: &effects)
            if let next = after.changing { pressBegan(index, at: next, .button, into: &effects) }
        }
    }
}
