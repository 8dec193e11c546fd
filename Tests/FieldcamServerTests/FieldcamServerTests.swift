import XCTest

final class FieldcamServerTests: XCTestCase {}
