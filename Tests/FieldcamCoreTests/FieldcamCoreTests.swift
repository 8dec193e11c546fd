import XCTest

final class FieldcamCoreTests: XCTestCase {}
