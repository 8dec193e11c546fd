import FieldcamCore
import FieldcamDirector
import FieldcamMedia
import FieldcamPorts
import FieldcamTestKit
import Glibc

/// `Budget lowlight`: scripts of light around the thresholds enter and leave low light once each; recorded frames never come
/// more slowly than `minimum_framerate`; a shot merged of eight frames has at most 1/2.5 of the noise of a single one, and
/// a walking subject is in it once. Noise and subject are read from decoded JPEGs.
enum LowLightFigure {
    static func run(_ arguments: [String]) -> Int32 {
        let results = [scripts(), recording(), noise(), movement()]
        return results.allSatisfy { $0 } ? 0 : 1
    }

    // MARK: Thresholds

    /// Each a course of light over 12 s that is dark in its middle: below 10 lux enters, above 20 leaves.
    private static func scripts() -> Bool {
        var random = SplitMix(seed: 7)
        func jitter(_ part: Double) -> Double { 1 + part * (Double(random.next() % 2001) / 1000 - 1) }
        func dip(_ t: Double, _ high: Double, _ low: Double) -> Double { t > 3 && t < 8 ? low : high }
        /// Straight down from 3 s to 5 s and up again from 7 s to 9 s.
        func slope(_ t: Double, _ high: Double, _ low: Double) -> Double {
            let depth = min(max(min(t - 3, 9 - t) / 2, 0), 1)
            return high + (low - high) * depth
        }
        let courses: [(String, (Double) -> Double)] = [
            ("a step", { dip($0, 100, 3) }),
            ("a step just past both thresholds", { dip($0, 21, 9) }),
            ("a slope", { slope($0, 60, 2) }),
            ("a slope with a tenth of jitter", { slope($0, 60, 2) * jitter(0.1) }),
            ("a slope with a lamp's flicker", { slope($0, 40, 4) * (1 + 0.2 * sin($0 * 100)) }),
            (
                "a passing shadow every second",
                { dip($0, 40, 5) * ($0.truncatingRemainder(dividingBy: 1) < 0.1 ? 0.5 : 1) }
            ),
            ("jitter between the thresholds", { dip($0, 60, 5) * (($0 > 4 && $0 < 7) ? 2.8 * jitter(0.3) : 1) }),
        ]
        var right = 0
        for (name, course) in courses {
            let studio = Studio(size: Size(width: 64, height: 48))
            studio.world.set(lux: course(0))
            studio.run(for: .seconds(1))
            _ = studio.events()
            var told: [Bool] = []
            for step in 0..<1200 {
                studio.world.set(lux: max(0, course(Double(step) / 100)))
                studio.run(for: .milliseconds(10))
                for event in studio.events() where event.name == "low_light.changed" {
                    told.append(event["active"] == .bool(true))
                }
            }
            if told == [true, false] { right += 1 } else { print("\(name): \(told)") }
        }
        print("figure: low light entered and left once each in \(right) of \(courses.count) scripts")
        return right == courses.count
    }

    private static func recording() -> Bool {
        var worst = [String]()
        var isRight = true
        for floor in [5.0, 10, 15, 24] {
            for lux in [0.0, 0.5, 4] {
                var settings = SessionSettings()
                settings.optics.minimumFramerate = floor
                let studio = Studio(settings: settings, size: Size(width: 64, height: 48))
                // One begins in the light and gets dark, one in the dark, where frames take longer before.
                studio.world.set(lux: lux == 4 ? 200 : lux)
                studio.run(for: .seconds(4))
                _ = studio.submit(.record(studio.desk.newToken(), .cli, maximum: nil))
                studio.run(for: .seconds(1))
                studio.world.set(lux: lux)
                studio.run(for: .seconds(4))
                _ = studio.submit(.stop(studio.desk.newToken(), .cli))
                studio.run(for: .seconds(1))
                guard let frames = studio.writers.finished.last?.frames, frames.count > 4 else { return false }
                let slowest = zip(frames.dropFirst(), frames).map { $0 - $1 }.max() ?? .zero
                if slowest > .seconds(1 / floor) + .milliseconds(1) { isRight = false }
                worst.append(
                    "\(Measurement.text(1e9 / Double(slowest.inNanoseconds), 2)) (at least \(Measurement.text(floor, 0)))"
                )
            }
        }
        print("figure: slowest recorded frame rate: \(worst.joined(separator: ", "))")
        return isRight
    }

    // MARK: Merging

    private static let size = Size(width: 640, height: 480)
    /// Rows of the wall, which has one brightness along each of them; the subject covers some.
    private static let wall = 160..<232

    private static func shoot(stack: Int, moving: Bool, quality: Int, after: Duration) -> DecodedLuma? {
        var settings = SessionSettings()
        settings.optics.stack = stack
        let studio = Studio(
            settings: settings, size: size, stillEncoder: JPEGEncoder(), photoQuality: quality)
        studio.world.set(lux: 1, moving: moving)
        studio.run(for: .seconds(3) + after)
        _ = studio.events()
        do {
            try studio.press(for: .milliseconds(70))
            studio.run(for: .seconds(5))
            guard let photo = studio.store.photos.last,
                stack == 1 || studio.events().contains(where: { $0["frames"] == .integer(Int64(stack)) })
            else { return nil }
            return try photo.bytes.withUnsafeBytes { try DecodedLuma(jpeg: $0) }
        } catch {
            print("\(error)")
            return nil
        }
    }

    /// The deviation of the wall's pixels from their row's mean, right of the subject.
    private static func deviation(_ luma: DecodedLuma) -> Double {
        var sum = 0.0
        let columns = 400..<620
        for row in wall {
            let pixels = luma.pixels + row * luma.width
            let mean = columns.reduce(0.0) { $0 + Double(pixels[$1]) } / Double(columns.count)
            for column in columns { sum += (Double(pixels[column]) - mean) * (Double(pixels[column]) - mean) }
        }
        return (sum / Double(wall.count * columns.count)).squareRoot()
    }

    private static func noise() -> Bool {
        var isRight = true
        // At 100 the file's own rounding adds and takes nothing.
        for quality in [92, 100] {
            guard let single = shoot(stack: 1, moving: false, quality: quality, after: .zero),
                let merged = shoot(stack: 8, moving: false, quality: quality, after: .zero)
            else { return false }
            let (before, after) = (deviation(single), deviation(merged))
            let ratio = before / after
            print(
                "figure: stack = 8, JPEG quality \(quality): noise \(Measurement.text(before, 2)) → \(Measurement.text(after, 2)),"
                    + " down \(Measurement.text(ratio, 2)) × (at least 2.5)")
            isRight = isRight && ratio >= 2.5
        }
        return isRight
    }

    /// What stands out of the wall: the columns' means over its rows, less the median of all, and where they differ.
    private static func outstanding(_ luma: DecodedLuma) -> [(columns: Range<Int>, by: Double)] {
        let means = (0..<luma.width).map { column in
            wall.reduce(0.0) { $0 + Double(luma.pixels[$1 * luma.width + column]) } / Double(wall.count)
        }
        let median = Measurement.median(means)
        var runs: [(columns: Range<Int>, by: Double)] = []
        var column = 0
        while column < luma.width {
            guard abs(means[column] - median) > 3 else {
                column += 1
                continue
            }
            let from = column
            // The subject's rim, stripes and face cross the wall's brightness here and there.
            while column < luma.width,
                (column..<min(luma.width, column + 4)).contains(where: { abs(means[$0] - median) > 3 })
            {
                column += 1
            }
            let part = means[from..<column]
            runs.append((from..<column, part.reduce(0, +) / Double(part.count) - median))
        }
        return runs
    }

    private static func movement() -> Bool {
        var once = 0
        let shots = 10
        for index in 0..<shots {
            let after = Duration.milliseconds(Int64(index) * 190)
            guard let single = shoot(stack: 1, moving: true, quality: 92, after: after),
                let merged = shoot(stack: 8, moving: true, quality: 92, after: after)
            else { return false }
            let (alone, seen) = (outstanding(single), outstanding(merged))
            if seen.count == 1, alone.count == 1, abs(seen[0].columns.count - alone[0].columns.count) <= 3,
                abs(seen[0].by / alone[0].by - 1) < 0.15
            {
                once += 1
            } else {
                print("single: \(alone), merged: \(seen)")
            }
        }
        print("figure: stack = 8, a walking subject is seen once in \(once) of \(shots) shots")
        return once == shots
    }
}
