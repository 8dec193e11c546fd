import CFieldcamTestKit
import FieldcamSimulator

/// The luma of a decoded JPEG.
public final class DecodedLuma {
    public let width: Int
    public let height: Int
    /// `width` × `height` bytes, rows end to end; valid as long as this object.
    public let pixels: UnsafePointer<UInt8>
    private let memory: UnsafeMutablePointer<UInt8>

    /// - Throws: libjpeg's words, if the file doesn't decode to its end without a warning.
    public init(jpeg: UnsafeRawBufferPointer) throws(ContractFailure) {
        guard let bytes = jpeg.bindMemory(to: UInt8.self).baseAddress else { throw ContractFailure("an empty file") }
        var size: (Int32, Int32) = (0, 0)
        var message = [CChar](repeating: 0, count: 200)
        guard let luma = fc_test_jpeg_luma(bytes, jpeg.count, &size.0, &size.1, &message) else {
            let words = message.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
            throw ContractFailure("no whole JPEG: \(words)")
        }
        memory = luma
        pixels = UnsafePointer(luma)
        width = Int(size.0)
        height = Int(size.1)
    }

    deinit { fc_test_jpeg_free(memory) }

    /// The strip of a simulated frame, if there is one.
    public func read() -> Strip? {
        StripReader.read(luma: pixels, width: width, height: height, stride: width)
    }
}
