import FieldcamCore
import XCTest

final class DurationTextTests: XCTestCase {
    private func complaint(_ text: String) -> DurationTextError? {
        do throws(DurationTextError) {
            _ = try Duration(text: text)
            return nil
        } catch {
            return error
        }
    }

    func testDurationsAreReadWithTheirUnit() throws {
        let cases: [String: Duration] = [
            "400ms": .milliseconds(400), "2s": .seconds(2), "1.5s": .milliseconds(1500), "10min": .seconds(600),
            "1h": .seconds(3600), "20us": .microseconds(20), "0s": .zero, "0.000000001s": .nanoseconds(1),
        ]
        for (text, duration) in cases { XCTAssertEqual(try Duration(text: text), duration, text) }
    }

    func testWhatIsWrongIsTold() {
        XCTAssertEqual(complaint("400"), .noUnit("400"))
        XCTAssertEqual(complaint("1.5"), .noUnit("1.5"))
        XCTAssertEqual(complaint("5sec"), .unknownUnit("sec", of: "5sec"))
        XCTAssertEqual(complaint("5S"), .unknownUnit("S", of: "5S"))
        for text in ["", "s", ".s", "-5s", "+5s", "5 s", "1.s", "1.2.3s", "1e3s", "９s", "99999999999999999999s"] {
            XCTAssertEqual(complaint(text), .notADuration(text), text)
        }
    }

    func testTheTextIsReadBackTheSame() throws {
        for nanoseconds: Int64 in [0, 1, 999, 1_000, 120_000_000, 1_500_000_000, 60_000_000_000, 5_400_000_000_000] {
            let duration = Duration.nanoseconds(nanoseconds)
            XCTAssertEqual(try Duration(text: duration.text), duration)
        }
        XCTAssertEqual(Duration.milliseconds(1500).text, "1500ms")
    }
}
