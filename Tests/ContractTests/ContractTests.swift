import FieldcamTestKit
import XCTest

/// Every port's contract on its simulated twin; the lab runs the same cases on real drivers.
final class ContractTests: XCTestCase {
    private func run<Subject: Sendable>(_ cases: [ContractCase<Subject>], bench: () -> Subject) {
        XCTAssertFalse(cases.isEmpty)
        for contract in cases {
            do {
                try contract.run(bench())
            } catch {
                XCTFail("\(contract.name) — \(error)")
            }
        }
    }

    func testASimulatedCameraKeepsTheContractInRealTime() {
        run(CameraContract.cases) { LiveCameraBench() }
        run(CameraFaultContract.cases) { LiveCameraBench() }
    }

    func testSimulatedButtonsKeepTheContract() {
        run(ButtonsContract.cases) { SimulatedButtonsBench() }
    }

    func testASimulatedLineKeepsTheContract() {
        run(LinesContract.cases) { SimulatedLinesBench() }
    }

    func testASimulatedLightKeepsTheContract() {
        run(LightContract.cases) { SimulatedLightBench(hasLevels: true) }
        run(LightContract.cases) { SimulatedLightBench(hasLevels: false) }
    }

    func testASimulatedMicrophoneKeepsTheContract() {
        run(MicrophoneContract.cases) { SimulatedMicrophoneBench() }
    }
}
