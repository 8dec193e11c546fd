import XCTest

final class FieldcamDirectorTests: XCTestCase {}
