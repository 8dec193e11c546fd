import CFieldcamTestKit
import FieldcamCore

/// A JPEG as it stands in the file: quantised blocks, planes, EXIF's orientation.
public struct JPEGFile {
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    public init(_ bytes: UnsafeRawBufferPointer) { self.bytes = Array(bytes) }

    /// One component's blocks of 64 coefficients, in rows.
    public struct Blocks: Equatable {
        public var across: Int
        public var down: Int
        public var coefficients: [Int16]
        public var table: [UInt16]

        /// The blocks of a part, in blocks.
        public func part(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> [Int16] {
            var part: [Int16] = []
            for row in y..<y + height {
                part += coefficients[(row * across + x) * 64..<(row * across + x + width) * 64]
            }
            return part
        }
    }

    /// One component's samples, rows end to end.
    public struct Plane {
        public var width: Int
        public var height: Int
        public var samples: [UInt8]
        public subscript(x: Int, y: Int) -> Int { Int(samples[y * width + x]) }
    }

    public func blocks(_ component: Int) throws(ContractFailure) -> Blocks {
        var size: (Int32, Int32) = (0, 0)
        var table = [UInt16](repeating: 0, count: 64)
        var message = [CChar](repeating: 0, count: 200)
        guard
            let blocks = fc_test_jpeg_blocks(bytes, bytes.count, Int32(component), &size.0, &size.1, &table, &message)
        else { throw Self.failure(message) }
        defer { fc_test_jpeg_free_blocks(blocks) }
        let (across, down) = (Int(size.0), Int(size.1))
        return Blocks(
            across: across, down: down,
            coefficients: Array(UnsafeBufferPointer(start: blocks, count: across * down * 64)), table: table)
    }

    public func plane(_ component: Int) throws(ContractFailure) -> Plane {
        var size: (Int32, Int32) = (0, 0)
        var message = [CChar](repeating: 0, count: 200)
        guard let plane = fc_test_jpeg_plane(bytes, bytes.count, Int32(component), &size.0, &size.1, &message) else {
            throw Self.failure(message)
        }
        defer { fc_test_jpeg_free(plane) }
        let (width, height) = (Int(size.0), Int(size.1))
        return Plane(
            width: width, height: height, samples: Array(UnsafeBufferPointer(start: plane, count: width * height)))
    }

    /// EXIF's orientation, 1 … 8; `nil`: the file says nothing.
    public var orientation: Int? {
        guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: Array("Exif\0\0II".utf8)) }) else {
            return nil
        }
        let tiff = start + 6
        func number(_ offset: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(bytes[tiff + offset + $1]) << (8 * $1) }
        }
        let directory = number(4, 4)
        for entry in 0..<number(directory, 2) {
            let place = directory + 2 + 12 * entry
            if number(place, 2) == 0x0112 { return number(place + 8, 2) }
        }
        return nil
    }

    private static func failure(_ message: [CChar]) -> ContractFailure {
        ContractFailure("no whole JPEG: \(message.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })")
    }
}
