import XCTest

final class EndToEndTests: XCTestCase {}
