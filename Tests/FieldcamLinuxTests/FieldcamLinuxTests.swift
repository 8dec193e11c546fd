import XCTest

final class FieldcamLinuxTests: XCTestCase {}
