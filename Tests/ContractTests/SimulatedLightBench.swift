import FieldcamCore
import FieldcamPorts
import FieldcamSimulator
import FieldcamTestKit

/// A light whose LED is measured by what it adds to the scene.
final class SimulatedLightBench: SimulatedBench, LightBench, @unchecked Sendable {
    private let hasLevels: Bool
    private let full = 300.0

    init(hasLevels: Bool) {
        self.hasLevels = hasLevels
        super.init()
        world.set(lux: 0, distance: 1)
    }

    func makeLight() throws(HardwareError) -> any Light {
        SimulatedLight(world: world, lux: full, hasLevels: hasLevels)
    }

    func brightness() -> Double { world.illumination / full }
}
