import XCTest

final class ArchitectureTests: XCTestCase {}
