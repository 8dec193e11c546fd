import CFieldcamMedia
import FieldcamPorts

extension Image {
    /// The same planes in the words of our JPEG encoder.
    var picture: fc_picture {
        let layout = layout
        let pixels: fc_pixels
        switch layout.format {
        case .yuv420: pixels = FC_PIXELS_YUV420
        case .nv12: pixels = FC_PIXELS_NV12
        // DRM names a packed format from the highest byte down, memory goes from the lowest up.
        case .bgr888: pixels = FC_PIXELS_RGB
        case .rgb888: pixels = FC_PIXELS_BGR
        }
        let colour: fc_colour
        switch layout.colour {
        case .sycc, .srgb: colour = FC_COLOUR_SYCC
        case .smpte170m: colour = FC_COLOUR_SMPTE170M
        case .rec709: colour = FC_COLOUR_REC709
        }
        return fc_picture(
            width: Int32(layout.width), height: Int32(layout.height), pixels: pixels, colour: colour,
            plane: (plane(0), plane(1), plane(2)),
            stride: (layout.first.stride, layout.second.stride, layout.third.stride))
    }
}
