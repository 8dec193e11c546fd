import CFieldcamMedia
import Clibavutil
import Clibswscale
import FieldcamPorts
import Glibc

/// Brings frames of one layout to a clip's size: cropped about their middle to its shape, so that pixels stay square, then
/// scaled. Where the crop alone has the size nothing is copied. Owned by one thread; allocates in `init` only.
final class PictureScaler {
    /// Of the pictures that come out.
    let layout: ImageLayout
    /// The part of a frame that is used.
    private let part: ImageLayout
    private var scaler: OpaquePointer?
    private var picture: UnsafeMutablePointer<UInt8>?
    /// The last rows of a frame, with room behind them.
    private var tail: UnsafeMutablePointer<UInt8>?
    private static let room = 64

    /// - Parameter size: even sides, within the frame's for a picture that isn't enlarged.
    init(from frame: ImageLayout, to size: Size, keepsTransfer: Bool) throws(HardwareError) {
        let part = Self.part(of: frame, for: size)
        self.part = part
        guard part.width != size.width || part.height != size.height else {
            layout = part
            return
        }
        let isRGB = frame.format == .bgr888 || frame.format == .rgb888
        // RGB becomes BT.709 on the way; its transfer stays sRGB's where the track can say so.
        layout = .packed(
            width: size.width, height: size.height, format: isRGB ? .yuv420 : frame.format,
            colour: isRGB && !keepsTransfer ? .rec709 : frame.colour)
        let operation = "scale \(frame.width)x\(frame.height) to \(size.width)x\(size.height)"
        guard
            let scaler = sws_getContext(
                Int32(part.width), Int32(part.height), Self.format(frame.format), Int32(size.width),
                Int32(size.height), Self.format(layout.format), SWS_BILINEAR, nil, nil, nil)
        else { throw .errno(ENOMEM, operation) }
        self.scaler = scaler
        if isRGB {
            let matrix = sws_getCoefficients(SWS_CS_ITU709)
            sws_setColorspaceDetails(scaler, matrix, 1, matrix, 0, 0, 1 << 16, 1 << 16)
        }
        let tailBytes = 2 * (part.first.stride + part.second.stride + part.third.stride) + 3 * Self.room
        tail = .allocate(capacity: tailBytes)
        tail!.initialize(repeating: 0, count: tailBytes)
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, 64, layout.byteCount + Self.room) == 0, let memory else {
            sws_freeContext(scaler)
            tail!.deallocate()
            throw .errno(ENOMEM, operation)
        }
        picture = memory.bindMemory(to: UInt8.self, capacity: layout.byteCount + Self.room)
        picture!.initialize(repeating: 0, count: layout.byteCount + Self.room)
    }

    deinit {
        sws_freeContext(scaler)
        tail?.deallocate()
        free(picture)
    }

    /// The picture of a frame; valid until the next call, and no longer than the frame.
    func scale(_ image: Image) -> Image {
        let source = Image(layout: part, base: image.base)
        guard let scaler, let picture, let tail else { return source }
        var into = fc_planes(
            plane: (picture + layout.first.offset, picture + layout.second.offset, picture + layout.third.offset),
            stride: (Int32(layout.first.stride), Int32(layout.second.stride), Int32(layout.third.stride)))
        let strides = (Int32(part.first.stride), Int32(part.second.stride), Int32(part.third.stride))
        func mutable(_ index: Int) -> UnsafeMutablePointer<UInt8> {
            UnsafeMutablePointer(mutating: source.plane(index))
        }
        // Read only; one type serves both ways.
        var rows = fc_planes(plane: (mutable(0), mutable(1), mutable(2)), stride: strides)
        let last = part.height - 2
        fc_sws_scale(scaler, &rows, 0, Int32(last), &into)
        // libswscale's vector code reads some bytes beyond the last row, which may be where the camera's memory ends: the last
        // two rows are scaled from a copy with room behind each.
        let width = part.format == .yuv420 || part.format == .nv12 ? part.width : part.width * 3
        let first = tail
        first.update(from: source.plane(0) + last * part.first.stride, count: part.first.stride + width)
        let second = first + 2 * part.first.stride + Self.room
        let third = second + 2 * part.second.stride + Self.room
        switch part.format {
        case .yuv420:
            second.update(from: source.plane(1) + last / 2 * part.second.stride, count: width / 2)
            third.update(from: source.plane(2) + last / 2 * part.third.stride, count: width / 2)
        case .nv12: second.update(from: source.plane(1) + last / 2 * part.second.stride, count: width)
        case .bgr888, .rgb888: break
        }
        rows = fc_planes(plane: (first, second, third), stride: strides)
        fc_sws_scale(scaler, &rows, Int32(last), 2, &into)
        return Image(layout: layout, base: UnsafeRawPointer(picture))
    }

    /// The largest part of a frame about its middle that has the size's shape; the size itself where a few pixels are left.
    static func part(of frame: ImageLayout, for size: Size) -> ImageLayout {
        var width = frame.width
        var height = frame.height
        if frame.width * size.height > frame.height * size.width {
            width = frame.height * size.width / size.height
        } else {
            height = frame.width * size.height / size.width
        }
        if size.width <= frame.width, size.height <= frame.height, width - size.width < 16, height - size.height < 16 {
            (width, height) = (size.width, size.height)
        }
        (width, height) = (max(2, width / 2 * 2), max(2, height / 2 * 2))
        // Chroma goes in steps of two pixels.
        let left = (frame.width - width) / 4 * 2
        let top = (frame.height - height) / 4 * 2
        var part = frame
        part.width = width
        part.height = height
        let sample = frame.format == .yuv420 || frame.format == .nv12 ? 1 : 3
        part.first.offset += top * frame.first.stride + left * sample
        switch frame.format {
        case .yuv420:
            part.second.offset += top / 2 * frame.second.stride + left / 2
            part.third.offset += top / 2 * frame.third.stride + left / 2
        case .nv12: part.second.offset += top / 2 * frame.second.stride + left
        case .bgr888, .rgb888: break
        }
        return part
    }

    private static func format(_ format: PixelFormat) -> AVPixelFormat {
        switch format {
        case .yuv420: AV_PIX_FMT_YUV420P
        case .nv12: AV_PIX_FMT_NV12
        // DRM names a packed format from the highest byte down, memory goes from the lowest up.
        case .bgr888: AV_PIX_FMT_RGB24
        case .rgb888: AV_PIX_FMT_BGR24
        }
    }
}
