import Clibexif
import FieldcamPorts
import Glibc

/// A photo's EXIF as the bytes of one APP1 marker ("Exif\0\0" and a TIFF), made by libexif. Frees itself.
struct ExifBlock: ~Copyable {
    let bytes: UnsafeRawBufferPointer

    /// EXIF 2.32. A thumbnail that would not fit into the marker's 64 KiB is left out.
    init(plan: StillPlan, width: Int, height: Int, thumbnail: UnsafeRawBufferPointer?) {
        let document = ExifDocument()
        document.describe(plan, width: width, height: height)
        if let thumbnail, thumbnail.count <= 60_000 { document.add(thumbnail: thumbnail) }
        bytes = document.save()
    }

    deinit { free(UnsafeMutableRawPointer(mutating: bytes.baseAddress)) }
}

/// libexif's tree while it is filled.
private struct ExifDocument: ~Copyable {
    private let data: UnsafeMutablePointer<ExifData>
    private static let order = EXIF_BYTE_ORDER_INTEL
    // Debian 12's libexif has no names for these.
    private static let compositeImage = ExifTag(rawValue: 0xA460)
    private static let sourceImageNumber = ExifTag(rawValue: 0xA461)

    init() {
        guard let data = exif_data_new() else { preconditionFailure("no memory left for EXIF") }
        self.data = data
        exif_data_set_byte_order(data, Self.order)
        exif_data_set_data_type(data, EXIF_DATA_TYPE_COMPRESSED)
    }

    deinit { exif_data_unref(data) }

    /// The caller frees the bytes.
    func save() -> UnsafeRawBufferPointer {
        var bytes: UnsafeMutablePointer<UInt8>?
        var count: UInt32 = 0
        exif_data_save_data(data, &bytes, &count)
        return UnsafeRawBufferPointer(start: bytes, count: Int(count))
    }

    func describe(_ plan: StillPlan, width: Int, height: Int) {
        let taken = plan.taken
        let date =
            "\(padded(taken.year, 4)):\(padded(taken.month, 2)):\(padded(taken.day, 2)) "
            + "\(padded(taken.hour, 2)):\(padded(taken.minute, 2)):\(padded(taken.second, 2))"
        let minutes = abs(taken.offset) / 60
        let offset = "\(taken.offset < 0 ? "-" : "+")\(padded(minutes / 60, 2)):\(padded(minutes % 60, 2))"
        let fraction = padded(taken.nanosecond / 1_000_000, 3)

        let image = data.pointee.ifd.0!
        text(image, EXIF_TAG_MAKE, plan.make)
        text(image, EXIF_TAG_MODEL, plan.model)
        short(image, EXIF_TAG_ORIENTATION, Orientation(rotation: plan.rotation, mirror: plan.mirror).exif)
        resolution(image)
        text(image, EXIF_TAG_SOFTWARE, plan.software)
        text(image, EXIF_TAG_DATE_TIME, date)
        // Chroma lies in the middle of its four pixels, as JPEG has it.
        short(image, EXIF_TAG_YCBCR_POSITIONING, 1)

        let photo = data.pointee.ifd.2!
        if let exposure = plan.exposure {
            let (seconds, attoseconds) = exposure.components
            let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
            rational(photo, EXIF_TAG_EXPOSURE_TIME, nanoseconds, 1_000_000_000)
        }
        if let gain = plan.gain, gain.isFinite, gain > 0 {
            short(photo, EXIF_TAG_ISO_SPEED_RATINGS, UInt16(min((gain * 100).rounded(), 65535)))
            // 2: recommended exposure index, the freest of the kinds of sensitivity.
            short(photo, EXIF_TAG_SENSITIVITY_TYPE, 2)
            long(photo, EXIF_TAG_RECOMMENDED_EXPOSURE_INDEX, UInt32(min((gain * 100).rounded(), 4_000_000)))
        }
        if plan.frames > 1 {
            // Exposure and sensitivity stay those of one frame: the picture is their mean, as bright as one of them.
            // 3: merged of several frames while shooting (EXIF 2.32, CompositeImage); then how many, and how many were used.
            short(photo, Self.compositeImage, 3)
            shorts(photo, Self.sourceImageNumber, UInt16(clamping: plan.frames), UInt16(clamping: plan.frames))
        }
        bytes(photo, EXIF_TAG_EXIF_VERSION, "0232")
        text(photo, EXIF_TAG_DATE_TIME_ORIGINAL, date)
        text(photo, EXIF_TAG_DATE_TIME_DIGITIZED, date)
        text(photo, EXIF_TAG_OFFSET_TIME, offset)
        text(photo, EXIF_TAG_OFFSET_TIME_ORIGINAL, offset)
        text(photo, EXIF_TAG_OFFSET_TIME_DIGITIZED, offset)
        bytes(photo, EXIF_TAG_COMPONENTS_CONFIGURATION, "\u{1}\u{2}\u{3}\u{0}")
        if let position = plan.lensPosition, position.isFinite, position >= 0 {
            // EXIF's word for infinity is a numerator of all ones.
            if position < 0.001 {
                unsignedRational(photo, EXIF_TAG_SUBJECT_DISTANCE, UInt32.max, 1)
            } else {
                rational(photo, EXIF_TAG_SUBJECT_DISTANCE, Int64((1000 / position).rounded()), 1000)
            }
        }
        // 0x20: the camera has no flash.
        short(photo, EXIF_TAG_FLASH, plan.flashFired.map { $0 ? 1 : 0 } ?? 0x20)
        text(photo, EXIF_TAG_SUB_SEC_TIME, fraction)
        text(photo, EXIF_TAG_SUB_SEC_TIME_ORIGINAL, fraction)
        text(photo, EXIF_TAG_SUB_SEC_TIME_DIGITIZED, fraction)
        bytes(photo, EXIF_TAG_FLASH_PIX_VERSION, "0100")
        short(photo, EXIF_TAG_COLOR_SPACE, 1)
        long(photo, EXIF_TAG_PIXEL_X_DIMENSION, UInt32(width))
        long(photo, EXIF_TAG_PIXEL_Y_DIMENSION, UInt32(height))
    }

    func add(thumbnail: UnsafeRawBufferPointer) {
        let small = data.pointee.ifd.1!
        // 6: JPEG.
        short(small, EXIF_TAG_COMPRESSION, 6)
        resolution(small)
        guard let copy = malloc(thumbnail.count) else { return }
        copy.copyMemory(from: thumbnail.baseAddress!, byteCount: thumbnail.count)
        data.pointee.data = copy.assumingMemoryBound(to: UInt8.self)
        data.pointee.size = UInt32(thumbnail.count)
    }

    // A camera knows no pixels an inch: EXIF wants 72 then.
    private func resolution(_ content: UnsafeMutablePointer<ExifContent>) {
        rational(content, EXIF_TAG_X_RESOLUTION, 72, 1)
        rational(content, EXIF_TAG_Y_RESOLUTION, 72, 1)
        short(content, EXIF_TAG_RESOLUTION_UNIT, 2)
    }

    // MARK: Entries

    private func text(_ content: UnsafeMutablePointer<ExifContent>, _ tag: ExifTag, _ value: String) {
        // EXIF's text is ASCII; anything else becomes a question mark.
        let count = value.unicodeScalars.count + 1
        guard let memory = entry(content, tag, EXIF_FORMAT_ASCII, components: count, size: count) else { return }
        for (index, scalar) in value.unicodeScalars.enumerated() {
            memory[index] = (0x20..<0x7F).contains(scalar.value) ? UInt8(scalar.value) : UInt8(ascii: "?")
        }
        memory[count - 1] = 0
    }

    private func bytes(_ content: UnsafeMutablePointer<ExifContent>, _ tag: ExifTag, _ value: StaticString) {
        let count = value.utf8CodeUnitCount
        guard let memory = entry(content, tag, EXIF_FORMAT_UNDEFINED, components: count, size: count) else { return }
        memory.update(from: value.utf8Start, count: count)
    }

    private func short(_ content: UnsafeMutablePointer<ExifContent>, _ tag: ExifTag, _ value: UInt16) {
        guard let memory = entry(content, tag, EXIF_FORMAT_SHORT, components: 1, size: 2) else { return }
        exif_set_short(memory, Self.order, value)
    }

    private func shorts(
        _ content: UnsafeMutablePointer<ExifContent>, _ tag: ExifTag, _ first: UInt16, _ second: UInt16
    ) {
        guard let memory = entry(content, tag, EXIF_FORMAT_SHORT, components: 2, size: 4) else { return }
        exif_set_short(memory, Self.order, first)
        exif_set_short(memory + 2, Self.order, second)
    }

    private func long(_ content: UnsafeMutablePointer<ExifContent>, _ tag: ExifTag, _ value: UInt32) {
        guard let memory = entry(content, tag, EXIF_FORMAT_LONG, components: 1, size: 4) else { return }
        exif_set_long(memory, Self.order, value)
    }

    /// The fraction in its lowest terms; coarser where it needs more than 32 bits.
    private func rational(
        _ content: UnsafeMutablePointer<ExifContent>, _ tag: ExifTag, _ numerator: Int64, _ denominator: Int64
    ) {
        var (above, below) = (max(0, numerator), denominator)
        var (divisor, rest) = (below, above)
        while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
        (above, below) = (above / divisor, below / divisor)
        while above > Int64(UInt32.max) && below > 1 { (above, below) = (above / 2, max(1, below / 2)) }
        unsignedRational(content, tag, UInt32(clamping: above), UInt32(clamping: below))
    }

    private func unsignedRational(
        _ content: UnsafeMutablePointer<ExifContent>, _ tag: ExifTag, _ numerator: UInt32, _ denominator: UInt32
    ) {
        guard let memory = entry(content, tag, EXIF_FORMAT_RATIONAL, components: 1, size: 8) else { return }
        exif_set_rational(memory, Self.order, ExifRational(numerator: numerator, denominator: denominator))
    }

    /// A new entry's memory. libexif frees it with `free`.
    private func entry(
        _ content: UnsafeMutablePointer<ExifContent>, _ tag: ExifTag, _ format: ExifFormat, components: Int, size: Int
    ) -> UnsafeMutablePointer<UInt8>? {
        guard let entry = exif_entry_new() else { return nil }
        defer { exif_entry_unref(entry) }
        guard let memory = calloc(1, size) else { return nil }
        entry.pointee.tag = tag
        entry.pointee.format = format
        entry.pointee.components = UInt(components)
        entry.pointee.size = UInt32(size)
        entry.pointee.data = memory.assumingMemoryBound(to: UInt8.self)
        exif_content_add_entry(content, entry)
        return entry.pointee.data
    }

    private func padded(_ value: Int, _ digits: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
