import FieldcamAudio
import XCTest

/// `audio.sharing = "exclusive"`: which card an ALSA name stands for.
final class ExclusiveDeviceTests: XCTestCase {
    func testNamesLeadToTheirCard() {
        let cards = ["hw:CARD=Device,DEV=0", "hw:CARD=Loopback,DEV=1"]
        for (device, card) in [
            ("default", "plughw:CARD=Device,DEV=0"), ("sysdefault", "plughw:CARD=Device,DEV=0"),
            ("hw:1,0", "plughw:1,0"), ("hw:CARD=Loopback,DEV=1", "plughw:CARD=Loopback,DEV=1"),
            ("plughw:2", "plughw:2"), ("sysdefault:CARD=Device", "plughw:CARD=Device"),
            ("dsnoop:CARD=Loopback,DEV=1", "plughw:CARD=Loopback,DEV=1"), ("my_microphone", nil), ("dsnoop:1", nil),
        ] as [(String, String?)] {
            XCTAssertEqual(ExclusiveDevice.name(of: device, cards: cards), card, device)
        }
        XCTAssertNil(ExclusiveDevice.name(of: "default", cards: []))
    }

    func testWhatCannotBeExclusiveSaysWhatToDo() {
        let microphone = ALSAMicrophone(device: "my_microphone", isExclusive: true)
        XCTAssertThrowsError(try microphone.open()) { error in
            XCTAssertTrue("\(error)".contains("audio.sharing is exclusive"), "\(error)")
        }
    }
}
