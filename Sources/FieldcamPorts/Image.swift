import FieldcamCore

/// How the pixels of a frame lie in memory. Names as libcamera and DRM use them.
public enum PixelFormat: UInt8, Hashable, Sendable {
    /// Planar Y, U, V; chroma halved both ways (I420).
    case yuv420
    /// Y, then U and V interleaved; chroma halved both ways.
    case nv12
    /// One plane, bytes R, G, B in memory (DRM's BGR888).
    case bgr888
    /// One plane, bytes B, G, R in memory (DRM's RGB888).
    case rgb888
}

/// What the YCbCr numbers mean.
public enum ColourSpace: UInt8, Hashable, Sendable {
    /// sYCC: BT.601 matrix, full range; what JPEG expects.
    case sycc
    /// BT.601, limited range.
    case smpte170m
    /// BT.709, limited range.
    case rec709
    /// RGB formats: sRGB.
    case srgb
}

/// Size, format and layout of one image of a slot; the same for every frame of a configuration.
public struct ImageLayout: Hashable, Sendable {
    public struct Plane: Hashable, Sendable {
        /// Bytes from the image's base address.
        public var offset: Int
        /// Bytes from one row to the next.
        public var stride: Int
        public init(offset: Int, stride: Int) {
            self.offset = offset
            self.stride = stride
        }
    }

    public var width: Int
    public var height: Int
    public var format: PixelFormat
    public var colour: ColourSpace
    /// Y, U, V · Y, UV · RGB; unused ones have stride 0.
    public var first: Plane
    public var second: Plane
    public var third: Plane
    /// Bytes of the whole image, padding included.
    public var byteCount: Int

    public init(
        width: Int, height: Int, format: PixelFormat, colour: ColourSpace, first: Plane,
        second: Plane = Plane(offset: 0, stride: 0), third: Plane = Plane(offset: 0, stride: 0), byteCount: Int
    ) {
        self.width = width
        self.height = height
        self.format = format
        self.colour = colour
        self.first = first
        self.second = second
        self.third = third
        self.byteCount = byteCount
    }

    /// A packed layout (rows end to end, strides rounded up to `alignment`), as our own slots use.
    public static func packed(
        width: Int, height: Int, format: PixelFormat, colour: ColourSpace, alignment: Int = 64
    ) -> ImageLayout {
        func aligned(_ value: Int) -> Int { (value + alignment - 1) / alignment * alignment }
        let rows = (height + 1) / 2
        switch format {
        case .yuv420:
            let luma = aligned(width)
            let chroma = aligned((width + 1) / 2)
            let u = luma * height
            let v = u + chroma * rows
            return ImageLayout(
                width: width, height: height, format: format, colour: colour, first: Plane(offset: 0, stride: luma),
                second: Plane(offset: u, stride: chroma), third: Plane(offset: v, stride: chroma),
                byteCount: v + chroma * rows)
        case .nv12:
            let luma = aligned(width)
            return ImageLayout(
                width: width, height: height, format: format, colour: colour, first: Plane(offset: 0, stride: luma),
                second: Plane(offset: luma * height, stride: luma), byteCount: luma * height + luma * rows)
        case .bgr888, .rgb888:
            let stride = aligned(width * 3)
            return ImageLayout(
                width: width, height: height, format: format, colour: colour, first: Plane(offset: 0, stride: stride),
                byteCount: stride * height)
        }
    }
}

/// An image that can be read now: a layout and where it lies. Valid only as long as the lease it came from.
public struct Image: @unchecked Sendable {
    // Proof of Sendable: read only, and used only while a lease keeps the slot from being written.
    public var layout: ImageLayout
    public var base: UnsafeRawPointer
    /// Where the first plane lies if not at its place in the layout: in a copy that was drawn into.
    public var firstPlane: UnsafePointer<UInt8>?

    public init(layout: ImageLayout, base: UnsafeRawPointer) {
        self.layout = layout
        self.base = base
    }

    public func plane(_ index: Int) -> UnsafePointer<UInt8> {
        if index == 0, let firstPlane { return firstPlane }
        let plane = index == 0 ? layout.first : index == 1 ? layout.second : layout.third
        return (base + plane.offset).assumingMemoryBound(to: UInt8.self)
    }
}

extension Image {
    /// A part of the same pixels; nothing is copied.
    ///
    /// - Parameter rect: lies in the image; with halved chroma its left and top are even.
    public func cut(_ rect: PixelRect) -> Image {
        precondition(rect.x >= 0 && rect.y >= 0 && rect.width > 0 && rect.height > 0)
        precondition(rect.x + rect.width <= layout.width && rect.y + rect.height <= layout.height)
        var part = self
        part.layout.width = rect.width
        part.layout.height = rect.height
        func move(_ plane: inout ImageLayout.Plane, _ x: Int, _ y: Int) { plane.offset += y * plane.stride + x }
        switch layout.format {
        case .yuv420, .nv12:
            precondition(rect.x % 2 == 0 && rect.y % 2 == 0, "chroma is halved")
            move(&part.layout.first, rect.x, rect.y)
            move(&part.layout.second, layout.format == .nv12 ? rect.x : rect.x / 2, rect.y / 2)
            move(&part.layout.third, rect.x / 2, rect.y / 2)
        case .bgr888, .rgb888:
            move(&part.layout.first, rect.x * 3, rect.y)
        }
        part.firstPlane = firstPlane.map { $0 + part.layout.first.offset - layout.first.offset }
        return part
    }
}
