import XCTest

final class FieldcamSettingsTests: XCTestCase {}
