import FieldcamCore
import FieldcamPorts

// Memory of cameras: what doesn't fit is stepped down and told.
extension Director {
    func planned(_ station: Station, _ step: MemoryStep?) {
        if !station.isExposing {
            let before = station.memory
            station.memory = step
            if station === active { desk.update { $0.camera.memory = step?.sentence ?? "" } }
            // Told again only if something else came of it.
            guard step?.effective != before?.effective || step?.isSmaller != before?.isSmaller else { return }
        }
        guard let step, step.isSmaller else { return }
        send(
            "quality.fallback",
            fields: [
                .init("requested", .string(step.requested)), .init("effective", .string(step.effective)),
                .reason(step.reason),
            ])
    }
}
