import FieldcamCore

extension Settings {
    /// What of a frame becomes which file, and what is burnt into it.
    public var framing: Framing {
        var framing = Framing()
        framing.aspect = photo.aspect
        if case .fractions(let x, let y, let width, let height) = guide.rect {
            framing.guide = UnitRect(x: x, y: y, width: width, height: height)
        }
        framing.cornerRadius = guide.cornerRadius
        framing.savesWhole = guide.save.files.contains(.whole)
        framing.savesCrop = guide.save.files.contains(.crop)
        framing.savesReview = guide.review == .blur
        if overlay.burnIn { framing.grid = overlay.grid }
        return framing
    }
}

extension LoadedSettings {
    /// Settings that would do nothing, alone or without a guide.
    var framingComplaints: [Complaint] {
        var complaints: [Complaint] = []
        func complain(_ key: String, _ words: String) {
            let literal = SettingKey.byName[key]?.literal(in: settings) ?? ""
            complaints.append(Complaint(origins[key] ?? Place(file: "settings"), "\(key) = \(literal) \(words)"))
        }
        if settings.guide.rect == .none {
            let words = "needs a guide; set guide.rect, such as [0.1, 0.1, 0.8, 0.8]"
            if settings.photo.aspect == .guide { complain("photo.aspect", words) }
            if !settings.guide.save.files.contains(.whole) { complain("guide.save", words) }
            if settings.guide.review != .none { complain("guide.review", words) }
            if settings.overlay.grid == .guide { complain("overlay.grid", words) }
        }
        // The viewfinder, where a grid shows without being in the files, isn't in this version.
        if settings.overlay.grid != .none, !settings.overlay.burnIn {
            complain("overlay.grid", "is not in this version unless it is burnt in; set overlay.burn_in = true with it")
        }
        return complaints
    }
}
