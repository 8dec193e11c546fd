/// Memory that frames may take.
public struct MemoryBudget: Hashable, Sendable {
    /// Free contiguous memory (CMA), bytes: where the camera's own buffers must lie on Raspberry Pis up to the 4.
    public var contiguous: Int64
    /// Memory that programs can still get, bytes; `nil`: it isn't known.
    public var available: Int64?

    public init(contiguous: Int64, available: Int64? = nil) {
        self.contiguous = contiguous
        self.available = available
    }
}

/// Sizes and counts of a camera's frames: as they were wished, or stepped down until they fit into the memory.
///
/// The camera's own buffers hold YUV 4:2:0, 1.5 bytes a pixel in rows of a multiple of 64 bytes; libcamera keeps `rawBuffers`
/// more of what the sensor sends, 10 bits a pixel. With fewer buffers than slots, frames are copied into memory of our own.
public struct MemoryPlan: Hashable, Sendable {
    public struct Picture: Hashable, Sendable {
        public var width: Int
        public var height: Int

        public init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }

        /// As YUV 4:2:0 in the camera's memory.
        var bytes: Int64 { Int64((width + 63) / 64 * 64) * Int64(height) * 3 / 2 }
        /// As the sensor sends it, 10 bits packed.
        var rawBytes: Int64 { Int64((width * 10 / 8 + 31) / 32 * 32) * Int64(height) }
        var area: Int { width * height }
    }

    /// What is wished of a camera.
    public struct Wish: Hashable, Sendable {
        /// Photos; the same as `video`: one stream.
        public var still: Picture
        public var video: Picture
        /// The whole sensor; `nil`: it isn't known.
        public var sensor: Picture?
        public var slots: Int
        /// One stream, for a shot by a mode switch: a buffer or two will do.
        public var isStillOnly: Bool

        public init(still: Picture, video: Picture, sensor: Picture?, slots: Int, isStillOnly: Bool = false) {
            self.still = still
            self.video = video
            self.sensor = sensor
            self.slots = slots
            self.isStillOnly = isStillOnly
        }
    }

    /// What libcamera takes for itself, with the settings of its `rpi_apps.yaml`.
    static let rawBuffers = 2
    /// Left for the display and the video encoder, which take theirs from the same memory: four frames of 1080p.
    static let reserve: Int64 = 4 * 1920 * 1088 * 3 / 2
    /// Fewer slots than these can't hold ring, shots and encoder together.
    static let fewestSlots = 8
    /// A camera loses frames with fewer buffers in turn.
    static let fewestBuffers = 4

    public var still: Picture
    public var video: Picture
    /// The camera's own buffers of each stream.
    public var buffers: Int
    public var slots: Int
    /// Bytes of contiguous memory, estimated.
    public var contiguous: Int64
    /// It fits; false: nothing does, and this is the least.
    public var fits: Bool

    /// Whether sizes were stepped down.
    public func isSmaller(than wish: Wish) -> Bool { still != wish.still || (!wish.isStillOnly && video != wish.video) }

    /// The first that fits: sizes as wished, then photos of half the sensor's sides (how sensors are binned), then of the
    /// clip's size, then clips of 1280x720 and 640x480; of each with a buffer for each slot, with 6, with 4.
    public static func fit(_ wish: Wish, into budget: MemoryBudget) -> MemoryPlan {
        let room = budget.contiguous - (wish.isStillOnly ? 0 : reserve)
        var least: MemoryPlan?
        for (still, video) in sizes(wish) {
            for buffers in counts(wish) {
                let need = contiguous(still, video, buffers, wish)
                let slots = slots(still, video, buffers, wish, budget)
                least = MemoryPlan(
                    still: still, video: video, buffers: buffers, slots: slots ?? fewestSlots, contiguous: need,
                    fits: false)
                guard need <= room, let slots else { continue }
                return MemoryPlan(
                    still: still, video: video, buffers: min(buffers, slots), slots: slots, contiguous: need, fits: true
                )
            }
        }
        return least!
    }

    private static func counts(_ wish: Wish) -> [Int] {
        if wish.isStillOnly { return [min(wish.slots, 2), 1] }
        return [wish.slots] + [6, fewestBuffers].filter { $0 < wish.slots }
    }

    private static func sizes(_ wish: Wish) -> [(Picture, Picture)] {
        var sizes = [(wish.still, wish.video)]
        if let sensor = wish.sensor {
            let half = Picture(width: sensor.width / 4 * 2, height: sensor.height / 4 * 2)
            if half.area < wish.still.area, wish.isStillOnly || half.area > wish.video.area {
                sizes.append((half, wish.video))
            }
        }
        if !wish.isStillOnly, wish.still != wish.video { sizes.append((wish.video, wish.video)) }
        for smaller in [Picture(width: 1280, height: 720), Picture(width: 640, height: 480)]
        where smaller.area < (wish.isStillOnly ? wish.still.area : wish.video.area) {
            sizes.append((smaller, smaller))
        }
        return sizes
    }

    private static func contiguous(_ still: Picture, _ video: Picture, _ buffers: Int, _ wish: Wish) -> Int64 {
        let streams = still.bytes + (wish.isStillOnly || still == video ? 0 : video.bytes)
        return Int64(buffers) * streams + Int64(rawBuffers) * raw(still, video, wish)
    }

    /// What one raw frame takes: of the whole sensor if the picture has more than half of its sides, else binned.
    private static func raw(_ still: Picture, _ video: Picture, _ wish: Wish) -> Int64 {
        let largest = still.area >= video.area || wish.isStillOnly ? still : video
        guard let sensor = wish.sensor else { return largest.rawBytes }
        let isBinned = largest.width * 2 <= sensor.width && largest.height * 2 <= sensor.height
        return isBinned ? Picture(width: sensor.width / 2, height: sensor.height / 2).rawBytes : sensor.rawBytes
    }

    /// Slots that there is memory of our own for, at most half of what is left; `nil`: too few.
    private static func slots(
        _ still: Picture, _ video: Picture, _ buffers: Int, _ wish: Wish, _ budget: MemoryBudget
    ) -> Int? {
        guard buffers < wish.slots, let available = budget.available else { return wish.slots }
        let slot = still.bytes + (wish.isStillOnly || still == video ? 0 : video.bytes)
        let slots = min(Int64(wish.slots), available / 2 / slot)
        return slots >= Int64(min(wish.isStillOnly ? 2 : fewestSlots, wish.slots)) ? Int(slots) : nil
    }
}
