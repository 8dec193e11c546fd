import Glibc

/// Figures and ratios: `Budget FIGURE [ARGUMENT …]`. Each prints one JSON object or `figure:` lines; exit 1 if it breaks
/// its promise, 64 for an unknown one.
@main
struct Budget {
    static let figures: [(name: String, run: @Sendable ([String]) -> Int32)] = [
        ("still-alone", StillAlone.run),
        ("loop", LoopFigure.run),
        ("simulator", SimulatorFigure.run),
        ("taps", PressFigures.taps),
        ("holds", PressFigures.holds),
        ("presses", PressFigures.presses),
        ("live", PressFigures.live),
        ("latency", PressFigures.latency),
        ("flash", PressFigures.flash),
        ("focus", FocusFigure.run),
        ("exposure", ExposureFigure.run),
        ("lowlight", LowLightFigure.run),
        ("still", StillBudget.run),
        ("guide", GuideFigure.run),
        ("clip", ClipBudget.run),
        ("presets", PresetFigure.run),
        ("skew", SkewBudget.run),
        ("media-allocations", MediaAllocations.run),
    ]

    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let name = arguments.first, let figure = figures.first(where: { $0.name == name }) else {
            print("name a figure: \(figures.map(\.name).joined(separator: ", "))")
            exit(64)
        }
        exit(figure.run(Array(arguments.dropFirst())))
    }
}
