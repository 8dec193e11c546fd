import FieldcamCamera
import FieldcamCore
import FieldcamPorts
import FieldcamTestKit
import Glibc

extension Suite {
    static let camera = Suite("camera", CameraContract.cases) { () throws(ContractFailure) in try LibcameraBench() }
    /// The same with frames in memory of a heap, as on a Raspberry Pi: written by the camera, read through its caches.
    static let cameraHeap = Suite("camera-heap", CameraContract.memory) { () throws(ContractFailure) in
        try LibcameraBench(heaps: ["/dev/dma_heap/system"])
    }
    /// Only vimc has a plug: its driver's binding. libcamera 0.4.0 aborts the process when a camera that was unplugged while
    /// streaming is stopped (assertion "data->queuedRequests_.empty()" in PipelineHandler::stop), so there it can't be shown.
    static let cameraUnplugging = Suite(
        "camera-unplugging", LibcameraBench.survivesUnplugging ? CameraFaultContract.unplugging : []
    ) { () throws(ContractFailure) in try LibcameraBench() }
    static let cameraWiring = Suite("camera-wiring", CameraWiring.cases) { () throws(ContractFailure) in
        try LibcameraBench()
    }
}

/// libcamera's cameras in the lab: vimc, or its own virtual pipeline; `LAB_CAMERA` tells which.
final class LibcameraBench: RealBench, CameraUnplugBench {
    static var kind: String { getenv("LAB_CAMERA").map { String(cString: $0) } ?? "" }
    static var survivesUnplugging: Bool {
        kind == "vimc" && (try? CameraLibrary.load())?.version.hasPrefix("v0.4") == false
    }

    let slowness: Double
    let abilities: CameraPromises
    let match: String
    private let heaps: [String]

    init(heaps: [String] = []) throws(ContractFailure) {
        for heap in heaps { try expect(access(heap, R_OK | W_OK) == 0, "\(heap) can't be used") }
        self.heaps = heaps
        switch Self.kind {
        case "vimc":
            // One stream, four buffers of its own, and a debayer that an emulated processor runs as fast as it can: from a
            // frame in two seconds (libcamera 0.4 on a busy machine) up. That it isn't too fast is what can be demanded.
            match = "index:0"
            slowness = 20
            abilities = CameraPromises(
                large: Size(width: 480, height: 360), small: Size(width: 240, height: 180), hasTwoStreams: false,
                framerate: 10, slack: 100, ownSlots: 4, isExclusive: true)
        case "virtual":
            match = "location:back"
            slowness = 10
            abilities = CameraPromises(
                large: Size(width: 1280, height: 720), small: Size(width: 640, height: 480), hasTwoStreams: true,
                framerate: 30, slack: 1.5, ownSlots: 4, isExclusive: true)
        case let kind:
            throw ContractFailure("LAB_CAMERA is '\(kind)'; say vimc or virtual")
        }
    }

    func makeCamera() -> any Camera { LibcameraCamera(match: match, heaps: heaps) }
    func makeAbsentCamera() -> any Camera { LibcameraCamera(match: "model:nonesuch") }

    func disconnect() { driver("unbind") }

    func reconnect() {
        driver("bind")
        // libcamera finds it once udev knows all of its devices.
        do throws(HardwareError) {
            let library = try CameraLibrary.load()
            while try library.cameras().isEmpty { wait(.milliseconds(100), for: nil) }
        } catch {
            fatalError("\(error)")
        }
    }

    private func driver(_ verb: String) {
        let file = Glibc.open("/sys/bus/platform/drivers/vimc/\(verb)", O_WRONLY)
        guard file >= 0, write(file, "vimc.0", 6) == 6 else { fatalError("vimc can't be told to \(verb)") }
        Glibc.close(file)
    }
}

/// What only libcamera can show: how cameras are named, and what errors say.
enum CameraWiring {
    static let cases: [ContractCase<LibcameraBench>] = [
        ContractCase("the cameras are listed, and each opens by its id, model and index") {
            bench throws(ContractFailure) in
            do throws(HardwareError) {
                let listings = try CameraLibrary.load().cameras()
                guard !listings.isEmpty else { throw HardwareError(.absent, "find a camera") }
                for (index, listing) in listings.enumerated() {
                    for match in ["id:\(listing.id)", "model:\(listing.model)", "index:\(index)"] {
                        let camera = LibcameraCamera(match: match)
                        try camera.open()
                        camera.close()
                    }
                }
            } catch {
                throw ContractFailure("\(error)")
            }
        },
        ContractCase("an absent camera's error lists what is there") { bench throws(ContractFailure) in
            try expectOpening("model:nonesuch", .absent, "no camera matches 'model:nonesuch'; there is index:0")
        },
        ContractCase("a match of no known kind is invalid and lists the kinds") { bench throws(ContractFailure) in
            try expectOpening("imx708", .invalid, "location:back|front|external")
            try expectOpening("index:back", .invalid, "location:back|front|external")
        },
        ContractCase("frames lie in a heap where one is there, else in libcamera's own memory") {
            bench throws(ContractFailure) in
            let size = bench.abilities.small
            for (heaps, isUsed) in [(["/dev/dma_heap/none", "/dev/dma_heap/system"], true), (["/dev/null"], false)] {
                let camera = LibcameraCamera(match: bench.match, heaps: heaps)
                defer { camera.close() }
                do throws(HardwareError) {
                    try camera.open()
                    _ = try camera.configure(CameraRequest(still: size, video: size, framerate: 10, slots: 4))
                } catch {
                    throw ContractFailure("\(error)")
                }
                try expect(camera.usesHeap == isUsed, "with \(heaps) usesHeap is \(!isUsed)")
            }
        },
        ContractCase("a folder without a camera library is told with the mend") { bench throws(ContractFailure) in
            do throws(HardwareError) {
                try LibcameraCamera(match: bench.match, folders: ["/nonexistent"]).open()
            } catch {
                try expect(
                    error.kind == .absent && error.detail.contains("deploy/build-camera-shim"), "told as \(error)")
                return
            }
            throw ContractFailure("a camera was opened without a library")
        },
    ]

    private static func expectOpening(
        _ match: String, _ kind: HardwareError.Kind, _ words: String
    ) throws(ContractFailure) {
        do throws(HardwareError) {
            try LibcameraCamera(match: match).open()
        } catch {
            try expect(
                error.kind == kind && error.detail.contains(words),
                "told as \(error.kind.rawValue): \(error); expected \(kind.rawValue) with: \(words)")
            return
        }
        throw ContractFailure("'\(match)' was opened")
    }
}
