// The small status LED (contract §9).
extension Session {
    /// How long before the maximum a clip's indicator blinks fast.
    private static let warning: Duration = .seconds(3)

    /// Orders the pattern of the state as it is now, and blinks for what was told since `first` in the list.
    mutating func indicate(since first: Int, into effects: inout Effects) {
        var isSaved = false
        var isRefused = false
        for index in first..<effects.list.count {
            guard case .announce(let announcement) = effects.list[index] else { continue }
            switch announcement {
            case .photoSaved: isSaved = true
            case .rejected, .photoFailed, .clipFailed, .cameraSwitchFailed: isRefused = true
            default: break
            }
        }
        // The dark begins before a blink and ends before it.
        let next = pattern
        if next != indicated {
            indicated = next
            effects.append(.indicate(next))
        }
        guard next != .off else { return }
        if isSaved { effects.append(.indicate(.saved)) }
        if isRefused { effects.append(.indicate(.refused)) }
    }

    private var pattern: IndicatorPattern {
        if isStopping, isIdle { return .off }
        for index in queue.indices where queue[index].isExposedLate || queue[index].candidate.camera != active {
            return .dark
        }
        if let key = recordingClip, let index = clipIndex(key) {
            return warningTime(index).map { $0 <= latest } == true ? .endingSoon : .recording
        }
        if storage != .ready { return .disk }
        switch camera {
        case .down: return .cameraDown
        case .up, .standby: return .ready
        // While cameras, or modes for a shot, are switched nothing is wrong.
        case .starting: return switching == nil && sensor == nil && indicated != .ready ? .off : .ready
        case .released: return .off
        }
    }

    private func warningTime(_ index: Int) -> Instant? {
        guard clips[index].maximum > .zero else { return nil }
        let end = clips[index].limit ?? clips[index].press + clips[index].maximum
        return end - Self.warning
    }

    var indicatorDeadline: Instant? {
        guard indicated == .recording, let key = recordingClip, let index = clipIndex(key) else { return nil }
        return warningTime(index)
    }
}
