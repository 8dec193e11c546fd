import XCTest

final class FieldcamStorageTests: XCTestCase {}
