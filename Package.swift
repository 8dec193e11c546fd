// swift-tools-version: 6.0
import PackageDescription

// The rooms and the arrows between them; Tests/ArchitectureTests checks the imports against the same list.
let package = Package(
    name: "fieldcam",
    products: [
        .executable(name: "fieldcam", targets: ["fieldcam"]),
        // The camera shim is a library of its own, loaded at run time: the program never links libcamera.
        .library(name: "fieldcam-camera", type: .dynamic, targets: ["CFieldcamCamera"]),
    ],
    targets: [
        // Libraries of the system
        .systemLibrary(name: "Clibcamera", pkgConfig: "libcamera"),
        .systemLibrary(name: "Clibgpiod", pkgConfig: "libgpiod"),
        .systemLibrary(name: "Calsa", pkgConfig: "alsa"),
        .systemLibrary(name: "Clibjpeg", pkgConfig: "libjpeg"),
        .systemLibrary(name: "Clibexif", pkgConfig: "libexif"),
        .systemLibrary(name: "Clibavcodec", pkgConfig: "libavcodec"),
        .systemLibrary(name: "Clibavformat", pkgConfig: "libavformat"),
        .systemLibrary(name: "Clibavutil", pkgConfig: "libavutil"),
        .systemLibrary(name: "Clibswresample", pkgConfig: "libswresample"),
        .systemLibrary(name: "Clibswscale", pkgConfig: "libswscale"),
        .systemLibrary(name: "Clibmicrohttpd", pkgConfig: "libmicrohttpd"),

        // Our C and C++ shims
        .target(name: "CFieldcamLinux"),
        .target(name: "CFieldcamCameraTable"),
        .target(
            name: "CFieldcamCamera",
            dependencies: ["CFieldcamCameraTable", "Clibcamera"],
            // A library of its own must be movable; on arm64 SwiftPM doesn't ask for it in C++.
            cxxSettings: [.unsafeFlags(["-fPIC"])]),
        .target(name: "CFieldcamGPIO", dependencies: ["Clibgpiod"]),
        .target(name: "CFieldcamAudio", dependencies: ["Calsa"]),
        .target(
            name: "CFieldcamMedia",
            dependencies: [
                "Clibjpeg", "Clibexif", "Clibavcodec", "Clibavformat", "Clibavutil", "Clibswresample", "Clibswscale",
            ]),
        .target(name: "CFieldcamTOML"),
        .target(name: "CFieldcamHTTP", dependencies: ["Clibmicrohttpd"]),

        // The house
        .target(name: "FieldcamCore", exclude: ["FieldcamCore.docc"]),
        .target(name: "FieldcamLinux", dependencies: ["FieldcamCore", "CFieldcamLinux"]),
        .target(name: "FieldcamPorts", dependencies: ["FieldcamCore", "FieldcamLinux"]),
        .target(name: "FieldcamDirector", dependencies: ["FieldcamPorts"]),
        .target(name: "FieldcamCamera", dependencies: ["FieldcamPorts", "CFieldcamCameraTable"]),
        .target(name: "FieldcamGPIO", dependencies: ["FieldcamPorts", "CFieldcamGPIO"]),
        .target(name: "FieldcamAudio", dependencies: ["FieldcamPorts", "CFieldcamAudio"]),
        .target(name: "FieldcamMedia", dependencies: ["FieldcamPorts", "CFieldcamMedia"]),
        .target(name: "FieldcamStorage", dependencies: ["FieldcamPorts"]),
        // Always optimised: simulated frames must keep 30 fps in debug builds too.
        .target(
            name: "FieldcamSimulator", dependencies: ["FieldcamPorts"],
            swiftSettings: [.unsafeFlags(["-O"], .when(configuration: .debug))]),
        .target(name: "FieldcamSettings", dependencies: ["FieldcamCore", "CFieldcamTOML"]),
        .target(name: "FieldcamServer", dependencies: ["FieldcamDirector", "CFieldcamHTTP"]),
        .executableTarget(
            name: "fieldcam",
            dependencies: [
                "FieldcamServer", "FieldcamSettings", "FieldcamDirector", "FieldcamCamera", "FieldcamGPIO",
                "FieldcamAudio", "FieldcamMedia", "FieldcamStorage", "FieldcamSimulator",
            ]),

        // Tests
        .target(name: "CFieldcamTestKit", dependencies: ["Clibjpeg"], path: "Tests/CFieldcamTestKit"),
        .target(
            name: "FieldcamTestKit",
            dependencies: ["FieldcamPorts", "FieldcamSimulator", "FieldcamDirector", "CFieldcamTestKit"],
            path: "Tests/FieldcamTestKit"),
        // The same contract suites on real drivers: a program without a test framework, so that it runs in any guest.
        .executableTarget(
            name: "LabContracts",
            dependencies: ["FieldcamTestKit", "FieldcamCamera", "FieldcamGPIO", "FieldcamAudio", "Calsa"],
            path: "Tests/Lab/Contracts"),
        // Figures and ratios (release build): time, CPU, allocations against the libraries' own tools.
        .target(name: "CFieldcamCount", path: "Tests/Budget/Count"),
        .executableTarget(
            name: "Budget",
            dependencies: [
                "CFieldcamCount", "FieldcamTestKit", "FieldcamMedia", "FieldcamStorage", "FieldcamSimulator",
                "FieldcamDirector", "FieldcamSettings",
            ],
            path: "Tests/Budget", exclude: ["Count"]),
        .testTarget(name: "ArchitectureTests"),
        .testTarget(name: "FieldcamCoreTests", dependencies: ["FieldcamCore"]),
        .testTarget(name: "FieldcamLinuxTests", dependencies: ["FieldcamLinux", "CFieldcamLinux"]),
        .testTarget(name: "FieldcamDirectorTests", dependencies: ["FieldcamDirector", "FieldcamTestKit"]),
        // A clip as FFmpeg's own demuxer and decoders see it.
        .target(
            name: "FieldcamMediaKit", dependencies: ["CFieldcamMedia", "Clibavcodec", "Clibavformat", "Clibavutil"],
            path: "Tests/FieldcamMediaKit"),
        .testTarget(
            name: "FieldcamMediaTests",
            dependencies: ["FieldcamMedia", "FieldcamMediaKit", "FieldcamTestKit", "FieldcamSettings"]),
        .testTarget(name: "FieldcamStorageTests", dependencies: ["FieldcamStorage"]),
        .testTarget(name: "FieldcamSettingsTests", dependencies: ["FieldcamSettings"]),
        .testTarget(name: "FieldcamSimulatorTests", dependencies: ["FieldcamSimulator", "FieldcamTestKit"]),
        // A service with a scripted director, and the built program as a child process.
        .target(
            name: "FieldcamServiceKit", dependencies: ["FieldcamServer", "CFieldcamLinux"],
            path: "Tests/FieldcamServiceKit"),
        .testTarget(name: "FieldcamServerTests", dependencies: ["FieldcamServer", "FieldcamServiceKit"]),
        .testTarget(name: "fieldcamTests", dependencies: ["fieldcam", "FieldcamServiceKit"]),
        .testTarget(
            name: "ContractTests",
            dependencies: ["FieldcamTestKit", "FieldcamCamera", "FieldcamGPIO", "FieldcamAudio", "FieldcamSimulator"]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: ["fieldcam", "FieldcamServiceKit", "FieldcamMediaKit", "FieldcamTestKit"]),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu11,
    cxxLanguageStandard: .cxx17
)

// A cross build with Swift 6.0 doesn't rename a program's main, so that its tests can't be linked; and under emulation they
// couldn't start the program anyway. deploy/cross-arm64 leaves them out; everywhere else they are in.
if Context.environment["FIELDCAM_CROSS_TESTS"] != nil {
    package.targets.removeAll { ["fieldcamTests", "EndToEndTests"].contains($0.name) }
}
