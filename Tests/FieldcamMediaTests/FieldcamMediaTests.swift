import XCTest

final class FieldcamMediaTests: XCTestCase {}
