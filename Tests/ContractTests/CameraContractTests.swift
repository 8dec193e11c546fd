import FieldcamCore
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit
import Glibc
import XCTest

/// The simulated camera on a virtual clock.
private final class SimulatedCameraBench: CameraFaultBench {
    private let clock: ManualClock
    private let world: SimulatedWorld
    private let properties: SimulatedCamera.Properties
    let slowness = 1.0
    let abilities: CameraPromises

    init(format: PixelFormat) {
        clock = ManualClock()
        world = clock.makeWorld()
        properties = SimulatedCamera.Properties(sensor: Size(width: 640, height: 480), format: format)
        abilities = CameraPromises(
            large: Size(width: 320, height: 240), small: Size(width: 160, height: 120), hasTwoStreams: true,
            framerate: 30, slack: 1.01, ownSlots: FramePool.maximumSlots, isExclusive: true)
    }

    var now: Instant { clock.now }

    func makeCamera() -> any Camera { SimulatedCamera(world: world, properties: properties) }

    func makeAbsentCamera() -> any Camera {
        world.inject(.cameraUnavailable(.absent))
        return makeCamera()
    }

    func failFrames(_ count: Int) { world.inject(.cancelFrames(count)) }
    func disconnect() { world.inject(.disconnect(nil)) }
    func reconnect() { world.inject(.reconnect) }

    func wait(_ span: Duration, for descriptor: Int32?) {
        let end = now + span
        while true {
            var watched = pollfd(fd: descriptor ?? -1, events: Int16(POLLIN), revents: 0)
            if poll(&watched, 1, 0) > 0 || now >= end { return }
            clock.advance(to: min(end, max(now, clock.nextDue ?? end)))
        }
    }
}

final class CameraContractTests: XCTestCase {
    func testTheSimulatedCameraKeepsTheContract() {
        for format in [PixelFormat.yuv420, .nv12] {
            for contract in CameraContract.cases {
                do throws(ContractFailure) {
                    try contract.run(SimulatedCameraBench(format: format))
                } catch {
                    XCTFail("\(contract.name) (\(format)): \(error)")
                }
            }
        }
    }

    func testTheSimulatedCameraFailsAsARealOne() {
        for contract in CameraFaultContract.cases {
            do throws(ContractFailure) {
                try contract.run(SimulatedCameraBench(format: .yuv420))
            } catch {
                XCTFail("\(contract.name): \(error)")
            }
        }
        for contract in CameraFaultContract.unplugging {
            do throws(ContractFailure) {
                try contract.run(SimulatedCameraBench(format: .yuv420))
            } catch {
                XCTFail("\(contract.name): \(error)")
            }
        }
    }
}
