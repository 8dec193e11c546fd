import CFieldcamMedia
import FieldcamPorts
import Glibc

/// JPEG 4:2:0 with EXIF and a thumbnail, straight from the camera's planes: no conversion pass for sYCC planes and RGB, a range
/// or matrix conversion on the way in for limited-range YCbCr.
public final class JPEGEncoder: StillEncoder, @unchecked Sendable {
    // Proof of Sendable: the handles are made in init and never change; the port says that one worker thread at a time calls.
    private let photo: OpaquePointer
    private let thumbnail: OpaquePointer
    private let scratch: ScratchPicture
    /// What a thumbnail is worth: 160 by 90 pixels are then about 5 KB.
    private static let thumbnailQuality: Int32 = 80

    /// - Parameter scratch: for pictures that are drawn into; one for all encoders keeps memory at one copy.
    public init(scratch: ScratchPicture = ScratchPicture()) {
        self.scratch = scratch
        guard let photo = fc_jpeg_create(), let thumbnail = fc_jpeg_create() else {
            preconditionFailure("no memory left for a JPEG encoder")
        }
        self.photo = photo
        self.thumbnail = thumbnail
    }

    deinit {
        fc_jpeg_destroy(photo)
        fc_jpeg_destroy(thumbnail)
    }

    public func encode(_ image: Image, plan: StillPlan) throws(HardwareError) -> UnsafeRawBufferPointer {
        try scratch.develop(image, by: plan) { picture throws(HardwareError) in try encode(picture, plan) }
    }

    private func encode(_ picture: fc_picture, _ plan: StillPlan) throws(HardwareError) -> UnsafeRawBufferPointer {
        let small = plan.thumbnail > 0 ? try encodedThumbnail(of: picture, longerSide: plan.thumbnail) : nil
        let exif = ExifBlock(plan: plan, width: Int(picture.width), height: Int(picture.height), thumbnail: small)
        let exifBytes = exif.bytes.bindMemory(to: UInt8.self).baseAddress
        return try Self.encode(
            picture, with: photo, quality: Int32(clamping: plan.quality), exif: exifBytes, exifSize: exif.bytes.count)
    }

    private func encodedThumbnail(
        of picture: fc_picture, longerSide: Int
    ) throws(HardwareError) -> UnsafeRawBufferPointer {
        var picture = picture
        var small = fc_picture()
        let code = fc_jpeg_thumbnail(thumbnail, &picture, Int32(clamping: longerSide), &small)
        guard code == 0 else { throw Self.failure(code, of: picture, by: thumbnail) }
        return try Self.encode(small, with: thumbnail, quality: Self.thumbnailQuality, exif: nil, exifSize: 0)
    }

    private static func encode(
        _ picture: fc_picture, with encoder: OpaquePointer, quality: Int32, exif: UnsafePointer<UInt8>?, exifSize: Int
    ) throws(HardwareError) -> UnsafeRawBufferPointer {
        var picture = picture
        var bytes: UnsafePointer<UInt8>?
        var size = 0
        let code = fc_jpeg_encode(encoder, &picture, quality, exif, exifSize, &bytes, &size)
        guard code == 0 else { throw failure(code, of: picture, by: encoder) }
        return UnsafeRawBufferPointer(start: bytes, count: size)
    }

    private static func failure(_ code: Int32, of picture: fc_picture, by encoder: OpaquePointer) -> HardwareError {
        let operation = "encode a photo of \(picture.width)x\(picture.height)"
        return code == -EIO
            ? .errno(code, operation, detail: String(cString: fc_jpeg_message(encoder)))
            : .errno(code, operation)
    }
}
