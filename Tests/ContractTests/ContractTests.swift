import XCTest

final class ContractTests: XCTestCase {}
