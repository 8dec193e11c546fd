import FieldcamCore
import Glibc
import XCTest

@testable import FieldcamStorage

final class ClipScanTests: XCTestCase {
    private let head = Boxes.fileType + Boxes.movie

    private func scan(_ bytes: [UInt8]) -> ClipScan {
        ClipScan(size: Int64(bytes.count)) { offset, count in
            Array(bytes.dropFirst(Int(offset)).prefix(count))
        }
    }

    func testACutFragmentIsLeftOutAndTheWholeOnesStay() {
        let whole = head + Boxes.fragment(1) + Boxes.fragment(2)
        for cut in 1..<Boxes.fragment(3).count {
            let found = scan(whole + Boxes.fragment(3).prefix(cut))
            XCTAssertEqual(found.length, Int64(whole.count), "\(cut) bytes of the third")
            XCTAssertEqual(found.fragments, 2)
        }
        XCTAssertEqual(scan(whole + Boxes.fragment(3)).fragments, 3)
    }

    func testNothingWholeMeansEmpty() {
        let first = head + Boxes.fragment(1)
        for length in 0..<first.count { XCTAssertEqual(scan(Array(first.prefix(length))).length, 0, "\(length) bytes") }
        XCTAssertEqual(scan([UInt8](repeating: 0, count: 100_000)).length, 0)
        XCTAssertEqual(scan(Array("not a clip at all, but a text".utf8)).length, 0)
        XCTAssertEqual(scan(Boxes.fileType + Boxes.fragment(1)).length, 0, "fragments without a movie box play nowhere")
    }

    func testZerosAfterTheLastFragmentAreCutOff() {
        let whole = head + Boxes.fragment(1)
        XCTAssertEqual(scan(whole + [UInt8](repeating: 0, count: 4096)).length, Int64(whole.count))
    }

    func testBoxesOfNoConcernDoNotDisturb() {
        let bytes =
            Boxes.fileType + Boxes.box("free", [0, 0, 0, 0, 0, 0, 0, 0]) + Boxes.movie + Boxes.box("styp")
            + Boxes.box("sidx", [1, 2, 3]) + Boxes.fragment(1) + Boxes.box("free") + Boxes.fragment(2)
        XCTAssertEqual(scan(bytes).length, Int64(bytes.count))
        XCTAssertEqual(scan(bytes + Boxes.box("mfra", [0])).length, Int64(bytes.count))
    }

    func testA64BitBoxCounts() {
        let bytes = head + Boxes.box("moof", Boxes.box("mfhd")) + Boxes.largeBox("mdat", [1, 2, 3])
        XCTAssertEqual(scan(bytes).length, Int64(bytes.count))
        XCTAssertEqual(scan(bytes + Boxes.bigEndian(1, 4) + Array("mdat".utf8) + [0xFF]).length, Int64(bytes.count))
        let huge = Boxes.bigEndian(1, 4) + Array("mdat".utf8) + [UInt8](repeating: 0xFF, count: 8)
        XCTAssertEqual(scan(bytes + huge).length, Int64(bytes.count))
    }

    func testAFinishedFileIsKeptWhole() {
        let atEnd = Boxes.fileType + Boxes.box("mdat", [1, 2, 3]) + Boxes.finishedMovie
        XCTAssertEqual(scan(atEnd).length, Int64(atEnd.count))
        XCTAssertTrue(scan(atEnd).isFinished)
        let atStart = Boxes.fileType + Boxes.finishedMovie + Boxes.box("mdat", [1, 2, 3])
        XCTAssertEqual(scan(atStart).length, Int64(atStart.count))
        XCTAssertTrue(scan(atStart).isFinished)
        XCTAssertEqual(scan(Array(atEnd.dropLast())).length, 0, "samples without a movie box play nowhere")
    }

    /// The finishing of a hybrid file overwrites the first movie box's header, then writes the final movie box.
    func testAnInterruptedFinishIsTakenBack() {
        for isLarge in [false, true] {
            let placeholder = isLarge ? Boxes.box("free") : Boxes.box("free", [0, 0, 0, 0, 0, 0, 0, 0])
            let before = Boxes.fileType + placeholder + Boxes.movie + Boxes.fragment(1) + Boxes.fragment(2)
            var turned = before
            let movieStart = Boxes.fileType.count + placeholder.count
            let data = UInt64(before.count - movieStart)
            if isLarge {
                turned.replaceSubrange(
                    movieStart - 8..<movieStart + 8,
                    with: Boxes.bigEndian(1, 4) + Array("mdat".utf8) + Boxes.bigEndian(data + 8, 8))
            } else {
                turned.replaceSubrange(movieStart..<movieStart + 8, with: Boxes.bigEndian(data, 4) + Array("mdat".utf8))
            }
            for tail in 0..<Boxes.finishedMovie.count {
                let found = scan(turned + Boxes.finishedMovie.prefix(tail))
                XCTAssertEqual(found.length, Int64(before.count))
                XCTAssertEqual(found.fragments, 2)
                guard let repair = found.repair else { return XCTFail("no repair") }
                var mended = turned
                mended.replaceSubrange(Int(repair.offset)..<Int(repair.offset) + repair.bytes.count, with: repair.bytes)
                XCTAssertEqual(mended, before)
            }
            let finished = turned + Boxes.finishedMovie
            XCTAssertTrue(scan(finished).isFinished)
            XCTAssertNil(scan(finished).repair)
            XCTAssertEqual(scan(finished).length, Int64(finished.count))
            // The final movie box came to the disk first.
            let early = before + Boxes.finishedMovie
            XCTAssertEqual(scan(early).length, Int64(before.count))
            XCTAssertNil(scan(early).repair)
        }
    }

    func testGarbageNeverCrashes() {
        var random = SplitMix(seed: 7)
        let good = head + Boxes.fragment(1) + Boxes.fragment(2) + Boxes.finishedMovie
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
            let found = scan(bytes)
            XCTAssertTrue((0...Int64(bytes.count)).contains(found.length))
        }
    }

    /// A clip that FFmpeg made: cut anywhere, what is kept ends with a fragment.
    func testARealClipCutAnywhere() throws {
        let path = fixtures + "/clips/fragmented.mp4"
        let file = LinuxFileSystem()
        let descriptor = try file.open(path)
        defer { file.close(descriptor) }
        let bytes = try file.readAll(descriptor, at: 0, Int(file.size(descriptor)))
        var ends: [Int64] = []
        for length in 0...bytes.count {
            let found = ClipScan(size: Int64(length)) { offset, count in
                Array(bytes[min(length, Int(offset))..<min(length, Int(offset) + count)])
            }
            if found.length != ends.last ?? 0 {
                XCTAssertEqual(found.length, Int64(length), "a fragment counts from its last byte on")
                ends.append(found.length)
            }
        }
        XCTAssertEqual(ends.count, 3)
    }
}

/// Random numbers that are the same in every run.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

let fixtures: String = {
    var path = #filePath
    for _ in 0..<2 { path = LinuxFileSystem().folder(of: path) }
    return path + "/Fixtures"
}()
