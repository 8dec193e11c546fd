import FieldcamCore
import FieldcamLinux
import FieldcamPorts
import FieldcamTestKit
import Glibc
import XCTest

@testable import FieldcamGPIO

/// Lights over folders that look like the kernel's: what no test driver of the lab offers. The kernel's own LED class is
/// put to the test in the lab.
final class SysfsLightTests: XCTestCase {
    private var folder = ""
    private var made: [String] = []

    override func setUp() {
        var template = Array("/tmp/fieldcam-sysfs-XXXXXX".utf8CString)
        folder = String(cString: mkdtemp(&template)!)
    }

    override func tearDown() {
        for path in made.reversed() { remove(path) }
        made = []
        rmdir(folder)
    }

    private func put(_ text: String, _ path: String) {
        var place = folder
        for part in path.split(separator: "/").dropLast() {
            place += "/\(part)"
            if mkdir(place, 0o755) == 0 { made.append(place) }
        }
        made.append("\(folder)/\(path)")
        let file = open("\(folder)/\(path)", O_CREAT | O_WRONLY | O_TRUNC, 0o644)
        write(file, text, text.utf8.count)
        close(file)
    }

    private func text(_ path: String) -> String {
        let file = open("\(folder)/\(path)", O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = max(0, read(file, &bytes, bytes.count))
        return String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// Until a write to the file has put the light out, ten seconds at most.
    private func waitUntilDark(_ light: some Light, _ path: String) throws {
        let limit = SystemClock.now + .seconds(10)
        let watch = inotify_init()
        defer { close(watch) }
        XCTAssertGreaterThanOrEqual(inotify_add_watch(watch, "\(folder)/\(path)", UInt32(IN_MODIFY)), 0)
        var told = [UInt8](repeating: 0, count: 4096)
        while try light.level() > 0, SystemClock.now < limit {
            var watched = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
            if poll(&watched, 1, 10_000) > 0 { _ = read(watch, &told, told.count) }
        }
    }

    private func makePWM() {
        for attribute in ["duty_cycle", "period", "enable"] { put("0", "pwmchip3/pwm1/\(attribute)") }
        put("", "pwmchip3/unexport")
        made.append("\(folder)/pwmchip3/device")
        symlink("../../devices/platform/soc/fe20c000.pwm", "\(folder)/pwmchip3/device")
    }

    func testAPWMChannelIsFoundByItsChipsDeviceAndDimsAbove20Kilohertz() throws {
        makePWM()
        let light = try PWMLight(chip: "fe20c000.pwm", channel: 1, folder: folder)
        XCTAssertEqual(text("pwmchip3/pwm1/period"), "40000")
        XCTAssertEqual(text("pwmchip3/pwm1/enable"), "1")
        XCTAssertEqual(text("pwmchip3/pwm1/duty_cycle"), "0")
        XCTAssertTrue(light.hasLevels)
        try light.turnOn(level: 0.25, deadline: SystemClock.now + .seconds(30))
        XCTAssertEqual(text("pwmchip3/pwm1/duty_cycle"), "10000")
        XCTAssertEqual(try light.level(), 0.25)
        light.close()
        XCTAssertEqual(text("pwmchip3/pwm1/duty_cycle"), "0")
        XCTAssertEqual(text("pwmchip3/pwm1/enable"), "0")
        XCTAssertEqual(text("pwmchip3/unexport"), "1")
    }

    func testAPWMLightEndsAtItsDeadline() throws {
        makePWM()
        let light = try PWMLight(chip: "fe20c000.pwm", channel: 1, folder: folder)
        let deadline = SystemClock.now + .milliseconds(30)
        try light.turnOn(level: 1, deadline: deadline)
        try waitUntilDark(light, "pwmchip3/pwm1/duty_cycle")
        XCTAssertEqual(text("pwmchip3/pwm1/duty_cycle"), "0")
        light.close()
    }

    func testAPWMChipThatIsntThereIsAbsentAndListsThoseThatAre() {
        makePWM()
        XCTAssertThrowsError(try PWMLight(chip: "1f00098000.pwm", channel: 0, folder: folder)) { error in
            XCTAssertEqual((error as? HardwareError)?.kind, .absent)
            XCTAssertTrue("\(error)".contains("'fe20c000.pwm'"), "\(error)")
        }
    }

    func testAPWMChannelHasOneHolder() throws {
        makePWM()
        let line = try PWMLine(chip: "fe20c000.pwm", channel: 1, folder: folder)
        XCTAssertThrowsError(try PWMLight(chip: "fe20c000.pwm", channel: 1, folder: folder)) { error in
            XCTAssertEqual((error as? HardwareError)?.kind, .busy)
        }
        try line.set(true)
        XCTAssertTrue(try line.isOn())
        line.close()
        XCTAssertEqual(text("pwmchip3/pwm1/duty_cycle"), "0")
    }

    func testAnLEDOfAKernelWithoutTriggersIsEndedByTheDeadManTimer() throws {
        put("100", "white/max_brightness")
        put("37", "white/brightness")
        let light = try LEDClassLight(name: "white", folder: folder)
        XCTAssertEqual(text("white/brightness"), "0", "what was on before is off")
        let deadline = SystemClock.now + .milliseconds(30)
        try light.turnOn(level: 0.5, deadline: deadline)
        XCTAssertTrue(text("white/brightness") == "50" || SystemClock.now > deadline - .milliseconds(2))
        try waitUntilDark(light, "white/brightness")
        XCTAssertEqual(text("white/brightness"), "0")
        light.close()
    }

    func testAnIndicatorMayBeAnLED() throws {
        put("1", "ACT/max_brightness")
        put("0", "ACT/brightness")
        let line = try LEDClassLine(name: "ACT", folder: folder)
        try line.set(true)
        XCTAssertEqual(text("ACT/brightness"), "1")
        XCTAssertTrue(try line.isOn())
        line.close()
        XCTAssertEqual(text("ACT/brightness"), "0")
        XCTAssertThrowsError(try line.set(true))
    }
}
