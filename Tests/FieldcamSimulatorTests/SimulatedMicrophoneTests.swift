import FieldcamCore
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import XCTest

/// What the contract doesn't ask of other microphones: marks, a skewed card, and being unplugged.
final class SimulatedMicrophoneTests: XCTestCase {
    private final class Rig {
        let clock = ManualClock()
        let world: SimulatedWorld
        let microphone: SimulatedMicrophone
        private let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 48_000)

        init() throws {
            world = clock.makeWorld()
            microphone = SimulatedMicrophone(world: world)
            XCTAssertEqual(try microphone.open(), AudioFormat(rate: 48_000, channels: 1))
        }
        deinit { room.deallocate() }

        func listen(_ length: Duration) throws -> Sound {
            var sound = Sound(rate: 48_000)
            let end = clock.now + length
            while clock.now < end {
                clock.advance(by: .milliseconds(10))
                let piece = try microphone.read(into: room)
                sound.pieces.append(piece)
                sound.samples.append(contentsOf: room[..<piece.samples])
                sound.count += piece.samples
            }
            return sound
        }
    }

    /// The frequency of a pure tone, counted by samples, from where it rises through zero.
    private func frequency(of sound: Sound) -> Double {
        var first: Double?
        var last = 0.0
        var waves = -1
        for index in sound.samples.indices.dropFirst()
        where sound.samples[index - 1] < 0 && sound.samples[index] >= 0 {
            let step = Double(sound.samples[index]) - Double(sound.samples[index - 1])
            last = Double(index) - Double(sound.samples[index]) / step
            first = first ?? last
            waves += 1
        }
        guard let first, waves > 0 else { return 0 }
        return Double(waves) * Double(sound.rate) / (last - first)
    }

    func testWithoutTimeThereIsNoSound() throws {
        let rig = try Rig()
        let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 10)
        defer { room.deallocate() }
        XCTAssertEqual(
            try rig.microphone.read(into: room), AudioPiece(samples: 0, at: rig.clock.now, afterGap: false))
    }

    func testWholeSecondsBeep() throws {
        let rig = try Rig()
        let begin = rig.clock.now
        let sound = try rig.listen(.seconds(3))
        var beeps: [Int64] = []
        var isLoud = false
        for (index, sample) in sound.samples.enumerated() {
            let at = begin.nanoseconds + Int64(index) * 1_000_000_000 / 48_000
            if abs(Int(sample)) > 6_000 {
                if !isLoud { beeps.append(at % 1_000_000_000) }
                isLoud = true
            } else if at % 1_000_000_000 > 110_000_000 {
                isLoud = false
            }
        }
        XCTAssertEqual(beeps.count, 3)
        for beep in beeps { XCTAssertLessThan(beep, 1_000_000, "it begins with the second") }
        XCTAssertEqual(sound.gaps, 0)
        XCTAssertGreaterThan(sound.strength(of: SceneSound.softTone), 0.05)
    }

    func testASkewedCardTakesMoreSamplesOfTheSameSecond() throws {
        for ppm in [-200.0, 0, 200, 5000] {
            let rig = try Rig()
            rig.microphone.close()
            rig.world.sound = .tone(1000)
            rig.world.inject(.microphoneSkew(ppm: ppm))
            _ = try rig.microphone.open()
            let sound = try rig.listen(.seconds(20))
            XCTAssertEqual(Double(sound.count), 20 * 48_000 * (1 + ppm / 1e6), accuracy: 2)
            // The samples' own times tell the skew, as a real card's do.
            let last = try XCTUnwrap(sound.pieces.last)
            let told = Double((last.at - sound.pieces[0].at).inNanoseconds) / 1e9
            let counted = Double(sound.count - last.samples) / 48_000
            XCTAssertEqual((counted / told - 1) * 1e6, ppm, accuracy: 2)
            // Counted by its samples the tone is lower when the card is too fast.
            XCTAssertEqual(frequency(of: sound), 1000 / (1 + ppm / 1e6), accuracy: 0.01)
        }
    }

    func testTheSkewCanChangeWhileItRuns() throws {
        let rig = try Rig()
        let even = try rig.listen(.seconds(10))
        rig.world.inject(.microphoneSkew(ppm: 1000))
        let fast = try rig.listen(.seconds(10))
        XCTAssertEqual(Double(even.count), 480_000, accuracy: 2)
        XCTAssertEqual(Double(fast.count), 480_480, accuracy: 12)
        var expected = even.pieces[0].at
        for piece in even.pieces + fast.pieces {
            XCTAssertEqual(Double((piece.at - expected).inNanoseconds), 0, accuracy: 30_000)
            expected = piece.at + .nanoseconds(Int64(piece.samples) * 1_000_000_000 / 48_000)
        }
    }

    func testAnUnpluggedMicrophoneThrowsAndComesBack() throws {
        let rig = try Rig()
        _ = try rig.listen(.milliseconds(100))
        rig.world.inject(.microphoneGone(true))
        XCTAssertThrowsError(try rig.listen(.milliseconds(10))) { XCTAssertEqual(($0 as? HardwareError)?.kind, .io) }
        rig.microphone.close()
        XCTAssertThrowsError(try rig.microphone.open()) { XCTAssertEqual(($0 as? HardwareError)?.kind, .absent) }
        rig.world.inject(.microphoneGone(false))
        _ = try rig.microphone.open()
        XCTAssertEqual(try rig.listen(.milliseconds(100)).count, 4_800, accuracy: 1)
    }

    func testALiveMicrophonePacesItself() throws {
        let microphone = SimulatedMicrophone(world: SimulatedWorld())
        _ = try microphone.open()
        defer { microphone.close() }
        let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 4_800)
        defer { room.deallocate() }
        var pieces: [AudioPiece] = []
        for _ in 0..<5 { pieces.append(try microphone.read(into: room)) }
        XCTAssertGreaterThanOrEqual(pieces.map(\.samples).min() ?? 0, 470)
        for (before, after) in zip(pieces, pieces.dropFirst()) where !after.afterGap {
            let end = before.at + .nanoseconds(Int64(before.samples) * 1_000_000_000 / 48_000)
            XCTAssertEqual(Double((after.at - end).inNanoseconds), 0, accuracy: 2)
        }
    }
}
