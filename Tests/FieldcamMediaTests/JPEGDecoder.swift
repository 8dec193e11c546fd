import Clibjpeg

/// A JPEG as libjpeg itself decodes it: the planes as they lie in the file, or RGB.
struct DecodedJPEG {
    var width = 0
    var height = 0
    /// Y, U, V (chroma at half size), or R, G, B at full size; rows end to end.
    var planes: [[UInt8]] = [[], [], []]
    var sampling: [[Int32]] = []

    /// A file that libjpeg can't read ends the test run, as libjpeg's own error handler does.
    init(_ bytes: UnsafeRawBufferPointer, asRGB: Bool = false) {
        let jpeg = UnsafeMutablePointer<jpeg_decompress_struct>.allocate(capacity: 1)
        let errors = UnsafeMutablePointer<jpeg_error_mgr>.allocate(capacity: 1)
        defer {
            jpeg.deallocate()
            errors.deallocate()
        }
        jpeg.pointee.err = jpeg_std_error(errors)
        jpeg_CreateDecompress(jpeg, Int32(JPEG_LIB_VERSION), MemoryLayout<jpeg_decompress_struct>.size)
        defer { jpeg_destroy_decompress(jpeg) }
        jpeg_mem_src(jpeg, bytes.bindMemory(to: UInt8.self).baseAddress, UInt(bytes.count))
        precondition(jpeg_read_header(jpeg, 1) == JPEG_HEADER_OK)
        (width, height) = (Int(jpeg.pointee.image_width), Int(jpeg.pointee.image_height))
        for index in 0..<Int(jpeg.pointee.num_components) {
            let component = jpeg.pointee.comp_info[index]
            sampling.append([component.h_samp_factor, component.v_samp_factor])
        }
        jpeg.pointee.dct_method = JDCT_ISLOW
        if asRGB { readRGB(jpeg) } else { readPlanes(jpeg) }
        precondition(jpeg.pointee.err.pointee.num_warnings == 0, "libjpeg warned of a damaged file")
    }

    private mutating func readRGB(_ jpeg: UnsafeMutablePointer<jpeg_decompress_struct>) {
        jpeg.pointee.out_color_space = JCS_RGB
        jpeg_start_decompress(jpeg)
        var row = [UInt8](repeating: 0, count: width * 3)
        while jpeg.pointee.output_scanline < jpeg.pointee.output_height {
            row.withUnsafeMutableBufferPointer { row in
                var line: JSAMPROW? = row.baseAddress
                _ = jpeg_read_scanlines(jpeg, &line, 1)
            }
            for x in 0..<width { for plane in 0..<3 { planes[plane].append(row[x * 3 + plane]) } }
        }
        jpeg_finish_decompress(jpeg)
    }

    private mutating func readPlanes(_ jpeg: UnsafeMutablePointer<jpeg_decompress_struct>) {
        jpeg.pointee.raw_data_out = 1
        jpeg_start_decompress(jpeg)
        let padded = (width + 15) / 16 * 16
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: padded * 32)
        let rows = UnsafeMutablePointer<JSAMPROW?>.allocate(capacity: 32)
        let arrays = UnsafeMutablePointer<JSAMPARRAY?>.allocate(capacity: 3)
        defer {
            memory.deallocate()
            rows.deallocate()
            arrays.deallocate()
        }
        for row in 0..<32 { rows[row] = memory + row * padded }
        (arrays[0], arrays[1], arrays[2]) = (rows, rows + 16, rows + 24)
        let chroma = ((width + 1) / 2, (height + 1) / 2)
        var top = 0
        while jpeg.pointee.output_scanline < jpeg.pointee.output_height {
            _ = jpeg_read_raw_data(jpeg, arrays, 16)
            for y in 0..<16 where top + y < height {
                planes[0] += UnsafeBufferPointer(start: rows[y]!, count: width)
            }
            for y in 0..<8 where top / 2 + y < chroma.1 {
                planes[1] += UnsafeBufferPointer(start: rows[16 + y]!, count: chroma.0)
                planes[2] += UnsafeBufferPointer(start: rows[24 + y]!, count: chroma.0)
            }
            top += 16
        }
        jpeg_finish_decompress(jpeg)
    }
}
