import FieldcamCore
import FieldcamDirector
import FieldcamLinux
import FieldcamMedia
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import Glibc

/// Figures of the way of a press on the simulator.
enum PressFigures {
    /// `Budget taps [COUNT]`: taps at random phases and lengths on the virtual clock; the frame of each photo, read from the
    /// strip in its JPEG, must be the one nearest the press.
    static func taps(_ arguments: [String]) -> Int32 {
        let count = arguments.first.flatMap { Int($0) } ?? 1000
        let size = Size(width: 640, height: 480)
        let studio = Studio(size: size, stillEncoder: JPEGEncoder())
        studio.run(for: .seconds(1))
        var random = SplitMix(seed: 20_261_130)
        var right = 0
        var worst = Duration.zero
        for _ in 0..<count {
            studio.run(for: .nanoseconds(Int64(random.next() % 200_000_000)))
            let press = studio.now
            do {
                try studio.press(for: .milliseconds(Int64(25 + random.next() % 365)))
            } catch {
                print(error)
                return 1
            }
            studio.run(for: .milliseconds(800))
            guard let photo = studio.store.photos.last,
                let strip = try? photo.bytes.withUnsafeBytes({ try StripReader.read(jpeg: $0) })
            else { continue }
            studio.store.forget()
            let offset = strip.exposureStart - press + (strip.exposureEnd - strip.exposureStart) / 2
            let distance = offset < .zero ? .zero - offset : offset
            worst = max(worst, distance)
            // The grid is exact, so no other frame is nearer than half an interval.
            if distance <= .nanoseconds(16_666_667) { right += 1 }
        }
        print("figure: taps that show the frame nearest the press: \(right) of \(count)")
        print("figure: largest distance of the middle of exposure from the press: \(worst.inNanoseconds / 1000) us")
        return right == count ? 0 : 1
    }

    /// `Budget holds`: holds of 0.41 s to 20 s on the virtual clock: first frame and duration against the press.
    static func holds(_ arguments: [String]) -> Int32 {
        let studio = Studio(size: Size(width: 64, height: 48))
        studio.run(for: .seconds(1))
        _ = studio.events()
        var random = SplitMix(seed: 7)
        let interval = Duration.nanoseconds(33_333_334)
        var worstStart = Duration.zero
        var worstEnd = Duration.zero
        var good = 0
        let lengths: [Int64] = [410, 415, 450, 500, 750, 999, 1000, 1001, 1500, 2000, 3333, 5000, 10000, 20000]
        for length in lengths {
            studio.run(for: .nanoseconds(Int64(500_000_000 + random.next() % 100_000_000)))
            let press = studio.now
            do {
                try studio.press(for: .milliseconds(length))
            } catch {
                print(error)
                return 1
            }
            studio.run(for: .milliseconds(length + 1000))
            guard let clip = studio.writers.finished.last, let first = clip.frames.first, let last = clip.frames.last
            else { continue }
            let start = first - press
            let missing = press + .milliseconds(length) - (last + interval)
            worstStart = max(worstStart, start)
            worstEnd = max(worstEnd, missing < .zero ? .zero - missing : missing)
            if start >= .zero, start <= interval, missing <= interval, missing >= .zero - interval { good += 1 }
        }
        print("figure: holds with first frame and end within one frame interval: \(good) of \(lengths.count)")
        print("figure: latest first frame after the press: \(worstStart.inNanoseconds / 1000) us")
        print("figure: largest difference of the end from the release: \(worstEnd.inNanoseconds / 1000) us")
        return good == lengths.count ? 0 : 1
    }

    /// `Budget presses [COUNT]`: presses at 10 per second with 5 ms of bounce on the virtual clock, none bound: none is lost,
    /// none doubled.
    static func presses(_ arguments: [String]) -> Int32 {
        let count = arguments.first.flatMap { Int($0) } ?? 10_000
        let studio = Studio(size: Size(width: 64, height: 48))
        studio.world.inject(.bounce(.milliseconds(5)))
        studio.run(for: .seconds(1))
        _ = studio.events()
        var saved = 0
        var rejected = 0
        for _ in 0..<count {
            do {
                try studio.press(for: .milliseconds(40))
            } catch {
                print(error)
                return 1
            }
            studio.run(for: .milliseconds(100))
            tally(studio.events(), &saved, &rejected)
            studio.store.forget()
        }
        studio.run(for: .seconds(2))
        tally(studio.events(), &saved, &rejected)
        return report("virtual", count, saved, rejected)
    }

    /// `Budget live [COUNT]`: the same in real time with real JPEGs.
    static func live(_ arguments: [String]) -> Int32 {
        let count = arguments.first.flatMap { Int($0) } ?? 500
        let studio = LiveStudio(size: Size(width: 640, height: 480), stillEncoders: [JPEGEncoder(), JPEGEncoder()])
        studio.world.inject(.bounce(.milliseconds(5)))
        studio.waitForFrames(30)
        let start = SystemClock.now + .milliseconds(100)
        do {
            for index in 0..<count {
                try studio.buttons.press(at: start + .milliseconds(Int64(index) * 100), for: .milliseconds(40))
            }
        } catch {
            print(error)
            return 1
        }
        var saved = 0
        var rejected = 0
        while saved + rejected < count, let event = studio.nextEvent("photo.saved", "photo.failed", "rejected") {
            if event.name == "photo.saved" { saved += 1 }
            if event.name == "rejected" { rejected += 1 }
            if saved % 50 == 0 { studio.store.forget() }
        }
        // A doubled one would come right behind.
        studio.waitForFrames(studio.desk.status.counters.frames + 30)
        let extra = studio.desk.status.counters.shots - saved
        studio.stop()
        print("figure: presses counted: \(studio.desk.status.counters.presses), shots beyond the saved: \(extra)")
        return extra == 0 ? report("real time", count, saved, rejected) : 1
    }

    /// `Budget flash [COUNT]`: flash shots of a dark scene at random phases on the virtual clock. Each must be told fired and be
    /// lit from its first to its last row; with a dead LED none may be told fired.
    static func flash(_ arguments: [String]) -> Int32 {
        let count = arguments.first.flatMap { Int($0) } ?? 500
        var settings = SessionSettings()
        settings.light.flash = .on
        let size = Size(width: 320, height: 240)
        var random = SplitMix(seed: 42)
        let lit = Studio(settings: settings, size: size, light: { SimulatedLight(world: $0) })
        lit.world.set(lux: 2, moving: false)
        lit.run(for: .seconds(2))
        var evenly = 0
        var claimed = 0
        var reference: [Double]?
        for _ in 0..<count {
            lit.run(for: .nanoseconds(Int64(random.next() % 100_000_000)))
            guard let fired = shoot(lit), let photo = lit.store.photos.last else { continue }
            lit.store.forget()
            if fired { claimed += 1 }
            let profile = bands(photo.bytes, size)
            // The first photo's bands, each against the whole, are what an evenly lit picture has.
            let wanted = reference ?? profile
            reference = wanted
            let worst = zip(profile, wanted).map { abs($0 - $1) }.max() ?? 1
            if worst < 0.08 { evenly += 1 } else { print("uneven by \(worst): \(profile)") }
        }
        let dead = Studio(settings: settings, size: size, light: { _ in BrokenLight() })
        dead.world.set(lux: 2, moving: false)
        dead.run(for: .seconds(2))
        var lies = 0
        for _ in 0..<count {
            dead.run(for: .nanoseconds(Int64(random.next() % 100_000_000)))
            if shoot(dead) == true { lies += 1 }
            dead.store.forget()
        }
        print("figure: flash shots: \(claimed) of \(count) told fired, \(evenly) of \(count) evenly lit")
        print("figure: flash shots with a dead light: \(lies) of \(count) told fired (must be 0)")
        return claimed == count && evenly == count && lies == 0 ? 0 : 1
    }

    /// One tap; whether its photo says that the flash fired; nil: no photo came.
    private static func shoot(_ studio: Studio) -> Bool? {
        _ = studio.events()
        do {
            try studio.press(for: .milliseconds(60))
        } catch {
            return nil
        }
        studio.run(for: .milliseconds(3500))
        guard let saved = studio.events().last(where: { $0.name == "photo.saved" }) else { return nil }
        return saved["flash_fired"] == .bool(true)
    }

    /// Mean light of twelve bands of rows below the strip, each divided by the mean of all.
    private static func bands(_ luma: [UInt8], _ size: Size) -> [Double] {
        let count = 12
        var means: [Double] = []
        let top = size.height / 3
        let rows = (size.height - top) / count
        for band in 0..<count {
            var sum = 0
            // The right half: the lamp of the whole seconds is at the lower left.
            for row in top + band * rows..<top + (band + 1) * rows {
                for index in row * size.width + size.width / 2..<(row + 1) * size.width {
                    // Squared, near enough linear light: automatic exposure moves all bands alike then.
                    sum += Int(luma[index]) * Int(luma[index])
                }
            }
            means.append(Double(sum) / Double(rows * (size.width - size.width / 2)))
        }
        let mean = means.reduce(0, +) / Double(count)
        return means.map { $0 / max(1, mean) }
    }

    /// `Budget latency`: from the edge to the decision, real time, with two threads that keep both cores busy.
    static func latency(_ arguments: [String]) -> Int32 {
        let studio = LiveStudio(size: Size(width: 640, height: 480))
        studio.waitForFrames(30)
        let load = BusyCores(2)
        let start = SystemClock.now + .milliseconds(100)
        do {
            for index in 0..<200 {
                try studio.buttons.press(at: start + .milliseconds(Int64(index) * 100), for: .milliseconds(40))
            }
        } catch {
            print(error)
            return 1
        }
        studio.wait { $0.counters.presses >= 200 }
        load.stop()
        studio.stop()
        guard let p50 = studio.director.latency.quantile(0.5), let p99 = studio.director.latency.quantile(0.99) else {
            return 1
        }
        print(
            "figure: edge to decision, two busy cores: p50 < \(p50.inNanoseconds / 1000) us, p99 < \(p99.inNanoseconds / 1000) us (at most 2048)"
        )
        return p99 <= .microseconds(2048) ? 0 : 1
    }

    private static func tally(_ events: [Event], _ saved: inout Int, _ rejected: inout Int) {
        for event in events {
            if event.name == "photo.saved" { saved += 1 }
            if event.name == "rejected" { rejected += 1 }
        }
    }

    private static func report(_ clock: String, _ count: Int, _ saved: Int, _ rejected: Int) -> Int32 {
        print(
            "figure: \(count) presses at 10 per second with 5 ms of bounce, \(clock): \(saved) photos, \(rejected) rejected, \(max(0, count - saved - rejected)) lost, \(max(0, saved + rejected - count)) doubled"
        )
        return saved + rejected == count ? 0 : 1
    }
}

/// Threads that compute for nothing until they are stopped.
final class BusyCores {
    private let flag = Flag()
    private var threads: [Thread] = []

    final class Flag: @unchecked Sendable {
        // Proof of Sendable: one word, written once, read until it changed.
        private let event = EventFD()
        func raise() { event.signal() }
        var isRaised: Bool {
            var polled = pollfd(fd: event.descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&polled, 1, 0) > 0
        }
    }

    init(_ count: Int) {
        let flag = flag
        for index in 0..<count {
            threads.append(
                Thread(name: "busy-\(index)") {
                    var x: UInt64 = 88_172_645_463_325_252
                    while !flag.isRaised {
                        for _ in 0..<1_000_000 {
                            x ^= x << 13
                            x ^= x >> 7
                            x ^= x << 17
                        }
                    }
                    if x == 0 { print("") }
                })
        }
    }

    func stop() {
        flag.raise()
        for thread in threads { thread.join() }
    }
}

/// A small generator with a seed, so that a figure can be repeated.
struct SplitMix {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
