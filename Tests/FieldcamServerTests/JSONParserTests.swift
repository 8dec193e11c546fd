import FieldcamDirector
import FieldcamServer
import XCTest

final class JSONParserTests: XCTestCase {
    private func parse(_ text: String) throws(JSONSyntaxError) -> JSON { try JSON(parsing: text.utf8) }

    private func complaint(_ text: String) -> String? {
        do {
            _ = try parse(text)
            return nil
        } catch {
            return error.description
        }
    }

    func testReadsWhatTheWriterWrites() throws {
        let value = JSON.members([
            "null": .null, "yes": .bool(true), "whole": .integer(-42), "part": .number(0.125),
            "text": .string("a \"b\" \\ \n\t\u{1} é 🎞"), "list": .array([.integer(1), .array([]), .object([])]),
        ])
        XCTAssertEqual(try parse(value.text), value)
    }

    func testReadsAllFormsOfNumbersAndEscapes() throws {
        XCTAssertEqual(
            try parse(" [0, -0, 1e2, 1.5E-1, 9223372036854775807] "),
            .array([
                .integer(0), .integer(0), .number(100), .number(0.15), .integer(.max),
            ]))
        XCTAssertEqual(try parse(#""\u0041\u00e9\ud83c\udf9e\/\b\f""#), .string("Aé🎞/\u{08}\u{0c}"))
        // Beyond 64 bits it is still a number.
        XCTAssertEqual(try parse("9223372036854775808"), .number(9223372036854775808))
    }

    func testNamesThePlaceAndWhatWasExpected() {
        let cases = [
            "": "1:1: a value was expected, but the text ends",
            "{\n  \"a\": 1,\n}": "3:1: a key in quotes was expected",
            "{\"a\":1,\"a\":2}": "1:8: the key \"a\" stands here twice",
            "{\"a\" 1}": "1:6: \":\" was expected after the key \"a\"",
            "[1 2]": "1:4: \",\" or \"]\" was expected",
            "01": "1:2: a number may not start with 0",
            "1.": "1:3: a digit was expected",
            "1e999": "1:6: the number 1e999 is too large",
            "tru": "1:1: \"true\" was expected",
            "{} {}": "1:4: nothing may follow the value",
            "\"a": "1:3: the string isn't closed",
            "\"a\nb\"": "1:3: a control character in a string must be escaped",
            "\"\\x\"": "1:3: this escape isn't known",
            "\"\\ud800\"": "1:8: half of a surrogate pair stands alone",
            "\"\\u12+4\"": "1:4: four hexadecimal digits were expected",
            "'a'": "1:1: a value was expected: an object, array, string, number, true, false or null",
        ]
        for (text, expected) in cases { XCTAssertEqual(complaint(text), expected, text) }
    }

    func testRefusesTextThatIsNotUTF8() {
        XCTAssertThrowsError(try JSON(parsing: [0x22, 0xff, 0x22]))
    }

    func testDepthIsBounded() {
        XCTAssertNil(complaint(String(repeating: "[", count: 17) + String(repeating: "]", count: 17)))
        XCTAssertEqual(complaint(String(repeating: "[", count: 100_000)), "1:18: values may be nested 16 deep at most")
    }

    /// 20,000 damaged texts from a fixed seed: a value or an error with a place inside the text, never a crash.
    func testDamagedTextsEndInAValueOrAnError() {
        var seed: UInt64 = 0x5eed
        func next(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % bound
        }
        let text = Array(#"{"for":"120ms","a":[1,-2.5e3,true,null,{"b":"\u00e9\ud83c\udf9e\n"}]}"#.utf8)
        for _ in 0..<20_000 {
            var bytes = text
            for _ in 0...next(4) {
                switch next(3) {
                case 0: bytes[next(bytes.count)] = UInt8(next(256))
                case 1: bytes.remove(at: next(bytes.count))
                default: bytes.insert(UInt8(next(256)), at: next(bytes.count))
                }
            }
            do throws(JSONSyntaxError) {
                _ = try JSON(parsing: bytes)
            } catch {
                XCTAssertTrue(error.column >= 1 && error.column <= bytes.count + 1 && error.line >= 1)
            }
        }
    }
}
