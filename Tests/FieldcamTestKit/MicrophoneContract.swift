import FieldcamCore
import FieldcamPorts
import Glibc

/// Where any `Microphone` is put to the test: something to hear, and ways to be without it.
public protocol MicrophoneBench: Bench {
    /// A microphone that hears what the bench plays.
    func makeMicrophone() -> any Microphone
    /// One whose device doesn't exist.
    func makeAbsentMicrophone() -> any Microphone
    /// Plays a tone from now on, until the bench ends.
    func play(frequency: Double)
    /// Takes the device away while it may be open, or brings it back.
    func unplug()
    func plug()
    /// Somebody else takes the device for good, alone.
    func holdElsewhere()
    /// How far a piece's time may be off; one in ten may be off by as much as `stall`.
    var jitter: Duration { get }
    /// For how long the machine under the bench may stand still.
    var stall: Duration { get }
}

/// What any `Microphone` promises.
public enum MicrophoneContract {
    public static let cases: [ContractCase<any MicrophoneBench>] = [
        ContractCase("a tone is heard at its frequency") { bench throws(ContractFailure) in
            let tone = 1000.0
            bench.play(frequency: tone)
            let ear = try Ear(bench)
            // The first half second may hold the tone's beginning.
            _ = try ear.listen(.milliseconds(500))
            let sound = try ear.listenUnbroken(.seconds(1))
            try expect(sound.gaps == 0, "\(sound.gaps) gaps in a second")
            let heard = sound.strength(of: tone)
            try expect(heard > 0.1, "\(tone) Hz has the strength \(heard), of 1 at most")
            // In a second, tones 3 Hz apart are well told from each other.
            for other in [0.7 * tone, tone - 3, tone + 3, 1.3 * tone] {
                let strength = sound.strength(of: other)
                try expect(heard > 10 * strength, "\(tone) Hz is heard at \(heard), \(other) Hz at \(strength)")
            }
        },
        ContractCase("times rise by samples over rate") { bench throws(ContractFailure) in
            let ear = try Ear(bench)
            let sound = try ear.listenUnbroken(.seconds(2))
            try expect(sound.gaps == 0, "\(sound.gaps) gaps in two seconds")
            try expectSteady(sound, ear, on: bench)
            // The card's clock against the monotonic clock, whatever single pieces say.
            let offsets = sound.offsets
            let third = offsets.count / 3
            let drift = abs(median(offsets.suffix(third)) - median(offsets.prefix(third)))
            try expect(
                drift <= bench.jitter.inNanoseconds, "in two seconds samples and times part by \(drift) ns")
        },
        ContractCase("a piece is of the moment: neither old nor of the future") { bench throws(ContractFailure) in
            let ear = try Ear(bench)
            let opened = bench.now
            for _ in 0..<10 {
                let piece = try ear.next()
                let now = bench.now
                let end = piece.at + ear.span(piece.samples)
                try expect(end <= now, "a piece ends \((end - now).inNanoseconds) ns after now")
                try expect(
                    piece.at >= opened - bench.jitter - .milliseconds(500),
                    "a piece is \((opened - piece.at).inNanoseconds) ns older than the microphone")
                let age = now - end
                try expect(
                    age <= .milliseconds(100) * bench.slowness, "a piece is read \(age.inNanoseconds) ns after its end")
            }
        },
        ContractCase("when nobody reads for a second, the gap is told and the times are still right") {
            bench throws(ContractFailure) in
            let ear = try Ear(bench)
            let before = try ear.next()
            try expect(!before.afterGap, "the first piece tells a gap")
            bench.wait(.seconds(1) * max(1, bench.slowness / 10), for: nil)
            let resumed = bench.now
            var pieces: [AudioPiece] = []
            repeat { pieces.append(try ear.next()) } while !pieces.last!.afterGap && pieces.count < 200
            let piece = pieces.last!
            try expect(piece.afterGap, "no gap was told in \(pieces.count) pieces")
            try expect(
                piece.at - before.at >= .milliseconds(500),
                "after the gap the time went on by \((piece.at - before.at).inNanoseconds) ns")
            let off = piece.at - resumed
            try expect(
                off >= Duration.zero - bench.jitter && off <= .milliseconds(500) * bench.slowness,
                "the sound after the gap is told \(off.inNanoseconds) ns after the reading went on")
            let next = try ear.next()
            try expect(!next.afterGap, "one gap is told twice")
            let step = next.at - (piece.at + ear.span(piece.samples))
            try expect(
                abs(step.inNanoseconds) <= bench.stall.inNanoseconds, "the next piece is \(step.inNanoseconds) ns off")
        },
        ContractCase("a microphone that isn't there is absent") { bench throws(ContractFailure) in
            try expectRefusal(bench.makeAbsentMicrophone(), .absent)
        },
        ContractCase("a microphone that another program holds alone is busy") { bench throws(ContractFailure) in
            bench.holdElsewhere()
            try expectRefusal(bench.makeMicrophone(), .busy)
        },
        ContractCase("a microphone that is unplugged tells so, and opens again when it is back") {
            bench throws(ContractFailure) in
            let ear = try Ear(bench)
            _ = try ear.next()
            bench.unplug()
            let end = bench.now + .seconds(5) * bench.slowness
            var told: HardwareError?
            while told == nil && bench.now < end { told = ear.readFailure() }
            guard let told else { throw ContractFailure("no word of it for \(.seconds(5) * bench.slowness)") }
            try expect(
                told.kind == .absent || told.kind == .io,
                "told as \(told.kind.rawValue): \(told); expected absent or io")
            ear.microphone.close()
            try expectRefusal(bench.makeMicrophone(), .absent)
            bench.plug()
            let next = try Ear(bench)
            let piece = try next.next()
            try expect(!piece.afterGap, "a fresh microphone tells a gap")
        },
        ContractCase("closed, it can be opened again") { bench throws(ContractFailure) in
            for _ in 0..<3 {
                let ear = try Ear(bench)
                let piece = try ear.next()
                try expect(!piece.afterGap, "a fresh microphone tells a gap")
                ear.microphone.close()
                ear.microphone.close()
            }
        },
        ContractCase("a small room is filled in several reads without loss") { bench throws(ContractFailure) in
            let ear = try Ear(bench, room: 96)
            let sound = try ear.listenUnbroken(.milliseconds(300))
            try expect(sound.pieces.allSatisfy { $0.samples <= 96 }, "more samples than there was room for")
            try expect(sound.gaps == 0, "\(sound.gaps) gaps though everything was read")
            try expectSteady(sound, ear, on: bench)
        },
    ]

    /// Each piece begins where the one before ended, as far as the bench can tell.
    private static func expectSteady(
        _ sound: Sound, _ ear: Ear, on bench: any MicrophoneBench
    ) throws(ContractFailure) {
        let steps = zip(sound.pieces, sound.pieces.dropFirst()).map { before, next in
            abs((next.at - before.at - ear.span(before.samples)).inNanoseconds)
        }.sorted()
        let usual = steps[steps.count * 9 / 10]
        try expect(
            usual <= bench.jitter.inNanoseconds,
            "one piece in ten is \(usual) ns or more off the end of the one before; \(bench.jitter) is allowed")
        try expect(
            steps.last! <= bench.stall.inNanoseconds,
            "a piece is \(steps.last!) ns off the end of the one before; \(bench.stall) is allowed")
    }

    private static func median(_ values: some Collection<Int64>) -> Int64 {
        values.sorted()[values.count / 2]
    }

    private static func expectRefusal(
        _ microphone: any Microphone, _ kind: HardwareError.Kind
    ) throws(ContractFailure) {
        do {
            _ = try microphone.open()
        } catch {
            try expect(error.kind == kind, "refused as \(error.kind.rawValue): \(error); expected \(kind.rawValue)")
            try expect(!error.detail.isEmpty, "refused without a word of help")
            return
        }
        microphone.close()
        throw ContractFailure("it opened; expected \(kind.rawValue)")
    }
}

/// Reads a microphone as `fc-audio` does.
public final class Ear {
    public let microphone: any Microphone
    public let format: AudioFormat
    private let bench: any Bench
    private let room: UnsafeMutableBufferPointer<Int16>

    /// - Parameter room: samples of each channel in one read.
    public convenience init(_ bench: any MicrophoneBench, room: Int = 48_000) throws(ContractFailure) {
        try self.init(bench.makeMicrophone(), on: bench, room: room)
    }

    public init(
        _ microphone: any Microphone, on bench: any Bench, room: Int = 48_000
    ) throws(ContractFailure) {
        self.bench = bench
        self.microphone = microphone
        do { format = try microphone.open() } catch { throw ContractFailure("\(error)") }
        self.room = .allocate(capacity: room * format.channels)
    }

    deinit {
        microphone.close()
        room.deallocate()
    }

    public func span(_ samples: Int) -> Duration {
        .nanoseconds(Int64(samples) * 1_000_000_000 / Int64(format.rate))
    }

    /// The next piece that holds something.
    public func next() throws(ContractFailure) -> AudioPiece {
        let end = bench.now + .seconds(5) * max(1, bench.slowness)
        repeat {
            let piece: AudioPiece
            do { piece = try microphone.read(into: room) } catch { throw ContractFailure("\(error)") }
            if piece.samples > 0 { return piece }
            try expect(!piece.afterGap, "a gap is told with a piece of nothing, where nobody looks")
            // Where a clock is moved by hand, somebody has to move it.
            bench.wait(.milliseconds(10), for: nil)
        } while bench.now < end
        throw ContractFailure("no sound for 5 s")
    }

    /// Reads once: what it failed with.
    public func readFailure() -> HardwareError? {
        do {
            if try microphone.read(into: room).samples == 0 { bench.wait(.milliseconds(10), for: nil) }
            return nil
        } catch {
            return error
        }
    }

    /// The same without a gap. A machine under the bench that stood still for longer than the card's buffer gets two more
    /// tries.
    public func listenUnbroken(_ length: Duration) throws(ContractFailure) -> Sound {
        for _ in 0..<2 {
            let sound = try listen(length)
            if sound.gaps == 0 { return sound }
        }
        return try listen(length)
    }

    /// Sound of at least this length.
    public func listen(_ length: Duration) throws(ContractFailure) -> Sound {
        var sound = Sound(rate: format.rate)
        while span(sound.count) < length {
            let piece = try next()
            sound.pieces.append(piece)
            for sample in 0..<piece.samples { sound.samples.append(room[sample * format.channels]) }
            sound.count += piece.samples
        }
        return sound
    }
}

/// Pieces of sound and the samples of their first channel.
public struct Sound {
    public let rate: Int
    public var pieces: [AudioPiece] = []
    public var samples: [Int16] = []
    public var count = 0

    public init(rate: Int) { self.rate = rate }

    /// Each piece's time less the length of all sound before it, in ns since the first.
    public var offsets: [Int64] {
        var before = 0
        return pieces.map { piece in
            defer { before += piece.samples }
            return (piece.at - pieces[0].at).inNanoseconds - Int64(before) * 1_000_000_000 / Int64(rate)
        }
    }

    public var gaps: Int { pieces.count { $0.afterGap } }

    /// The amplitude of a frequency, 1 = full scale (one bin of a Fourier transform, by Goertzel's recursion).
    public func strength(of frequency: Double) -> Double {
        let turn = 2 * Double.pi * frequency / Double(rate)
        let factor = 2 * cos(turn)
        var last = 0.0
        var before = 0.0
        for sample in samples { (last, before) = (Double(sample) + factor * last - before, last) }
        let power = last * last + before * before - factor * last * before
        return 2 * power.squareRoot() / (Double(samples.count) * 32_768)
    }
}
