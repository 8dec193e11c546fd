import FieldcamCore
import XCTest

@testable import FieldcamGPIO

/// How loss is seen in what the kernel tells of a line.
final class EdgeHistoryTests: XCTestCase {
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    func testEdgesInTurnLoseNothing() {
        var history = EdgeHistory(pressed: false, at: at(0))
        XCTAssertEqual(history.note(pressed: true, at: at(1), number: 1), .edge(lost: 0))
        XCTAssertEqual(history.note(pressed: false, at: at(2), number: 2), .edge(lost: 0))
        XCTAssertEqual(history.note(pressed: true, at: at(3), number: 3), .edge(lost: 0))
        XCTAssertTrue(history.pressed)
    }

    func testAGapInTheNumbersIsLoss() {
        var history = EdgeHistory(pressed: false, at: at(0))
        XCTAssertEqual(history.note(pressed: true, at: at(1), number: 4), .edge(lost: 3))
        XCTAssertEqual(history.note(pressed: true, at: at(2), number: 6), .edge(lost: 1))
    }

    func testNumbersMayRunOver() {
        var history = EdgeHistory(pressed: false, at: at(0))
        _ = history.note(pressed: true, at: at(1), number: .max)
        // 0 is left out by the kernel's own count only once in four thousand million edges: one is told lost then.
        XCTAssertEqual(history.note(pressed: false, at: at(2), number: 1), .edge(lost: 1))
    }

    func testTwoEqualEdgesInARowAreLossWithoutNumbers() {
        var history = EdgeHistory(pressed: false, at: at(0))
        XCTAssertEqual(history.note(pressed: false, at: at(1), number: 0), .edge(lost: 1))
        XCTAssertEqual(history.note(pressed: true, at: at(2), number: 0), .edge(lost: 0))
        XCTAssertEqual(history.note(pressed: true, at: at(3), number: 0), .edge(lost: 1))
    }

    func testTwoEqualEdgesInARowAreLossEvenIfTheirNumbersFollow() {
        var history = EdgeHistory(pressed: false, at: at(0))
        _ = history.note(pressed: true, at: at(1), number: 1)
        XCTAssertEqual(history.note(pressed: true, at: at(2), number: 2), .edge(lost: 1))
    }

    func testAnEdgeThatAReadingToldIsNoNews() {
        var history = EdgeHistory(pressed: false, at: at(0))
        history.read(pressed: true, at: at(10))
        XCTAssertEqual(history.note(pressed: true, at: at(9), number: 0), .nothing)
        XCTAssertEqual(history.note(pressed: true, at: at(11), number: 0), .edge(lost: 1))
    }

    func testAnEdgeBeforeAReadingThatSaysOtherwiseIsNews() {
        var history = EdgeHistory(pressed: false, at: at(0))
        history.read(pressed: true, at: at(10))
        XCTAssertEqual(history.note(pressed: false, at: at(9), number: 0), .edge(lost: 0))
        XCTAssertFalse(history.pressed)
    }
}
