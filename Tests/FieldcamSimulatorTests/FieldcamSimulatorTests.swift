import XCTest

final class FieldcamSimulatorTests: XCTestCase {}
