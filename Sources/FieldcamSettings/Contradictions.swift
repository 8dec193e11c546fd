extension LoadedSettings {
    /// Keys that are right each by itself but not together.
    var contradictions: [Complaint] {
        let lowLight = settings.lowLight
        guard lowLight.enterLux > lowLight.leaveLux else { return [] }
        let (enter, leave) = ("low_light.enter_lux", "low_light.leave_lux")
        // The one that was set is wrong; of two the later.
        let place = origins[leave] ?? origins[enter] ?? Place(file: "settings")
        return [
            Complaint(
                place,
                "\(enter) is \(lowLight.enterLux.literal) and \(leave) \(lowLight.leaveLux.literal); "
                    + "\(enter) must be at most \(leave), or low light would come and go all the time")
        ]
    }

    /// The same for one file of several: only if it holds both keys.
    var contradictionsInside: [Complaint] {
        origins["low_light.enter_lux"] != nil && origins["low_light.leave_lux"] != nil ? contradictions : []
    }
}
