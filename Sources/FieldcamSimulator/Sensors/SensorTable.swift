import FieldcamCore
import FieldcamPorts

extension SensorProfile {
    /// The profile of a sensor. Each figure's source stands beside it:
    ///
    /// - [list] `rpicam-hello --list-cameras`, which prints libcamera's modes: raspberrypi/documentation pull request 2587
    ///   (IMX219, IMX477), rpicam-apps issue 427 (OV5647), raspberrypi/libcamera issue 126 (OV9281), allsky issue 3632
    ///   (IMX296, with its controls); IMX708 as camera-streamer's and Reachy Mini's documents print it
    /// - [modes] Picamera2's `sensor_modes`: `exposure_limits` of each mode; picamera2 issue 683 (IMX219),
    ///   indi_pylibcamera's CameraInfos (IMX477, IMX296), and dumps in public repositories (IMX708, OV5647)
    /// - [controls] Picamera2's `camera_controls` of the whole-sensor mode, same places
    /// - [helper] libcamera's src/ipa/rpi/cam_helper/cam_helper_<sensor>.cpp: what a gain code means
    /// - [driver] the kernel's drivers/media/i2c: the smallest and largest gain code
    /// - [tuning] libcamera's src/ipa/rpi/{vc4,pisp}/data/<sensor>.json
    ///
    /// Sensors that can be read with fewer bits for higher rates are given with the bits that libcamera prefers.
    public static func of(_ model: CameraModel, on pipeline: CameraPipeline) -> SensorProfile {
        var profile: SensorProfile
        switch model {
        case .imx219:
            profile = SensorProfile(
                model: model, pipeline: pipeline,
                modes: [
                    // [list]; the 1920x1080 mode is cut from the middle. Shortest exposure: [modes]
                    Mode(640, 480, bits: 10, 103.33, field: (1280, 960), shortest: 75),
                    Mode(1640, 1232, bits: 10, 41.85, field: (3280, 2464), shortest: 75),
                    Mode(1920, 1080, bits: 10, 47.57, field: (1920, 1080), shortest: 75),
                    Mode(3280, 2464, bits: 10, 21.19, field: (3280, 2464), shortest: 75),
                ],
                // [modes] 11766829
                longestExposure: 11_766_829,
                // [controls] 1 … 10.666667; [helper] 256 / (256 - code), [driver] code 0 … 232
                gain: 1...10.666667, honoursNightMode: pipeline == .pisp)
        case .imx477:
            profile = SensorProfile(
                model: model, pipeline: pipeline,
                modes: [
                    // [list], [modes]
                    Mode(1332, 990, bits: 10, 120.05, field: (2664, 1980), shortest: 31),
                    Mode(2028, 1080, bits: 12, 50.03, field: (4056, 2160), shortest: 60),
                    Mode(2028, 1520, bits: 12, 40.01, field: (4056, 3040), shortest: 60),
                    Mode(4056, 3040, bits: 12, 10.00, field: (4056, 3040), shortest: 114),
                ],
                // [controls] ExposureTime (114, 694422939)
                longestExposure: 694_422_939,
                // [controls] 1 … 22.260870; [helper] 1024 / (1024 - code), [driver] code 0 … 978
                gain: 1...22.26087, honoursNightMode: pipeline == .pisp)
        case .imx708, .imx708Wide:
            profile = SensorProfile(
                model: model, pipeline: pipeline,
                modes: [
                    // [list], [modes]; standard and wide have the same sensor
                    Mode(1536, 864, bits: 10, 120.13, field: (3072, 1728), shortest: 9),
                    Mode(2304, 1296, bits: 10, 56.03, field: (4608, 2592), shortest: 13),
                    Mode(4608, 2592, bits: 10, 14.35, field: (4608, 2592), shortest: 26),
                ],
                // [controls] ExposureTime (26, 220416802)
                longestExposure: 220_416_802,
                // [controls] 1.122807 … 16; [helper] 1024 / (1024 - code), [driver] code 112 … 960
                gain: 1.122807...16,
                // [controls] LensPosition (0, 15) and (0, 35): the range of `rpi.af`'s `map` in [tuning] of the standard
                // and the wide lens. Before libcamera 0.5 it was told as 0 … 32 for both.
                focus: model == .imx708 ? 0...15 : 0...35, honoursNightMode: pipeline == .pisp)
        case .ov5647:
            profile = SensorProfile(
                model: model, pipeline: pipeline,
                modes: [
                    // [list], [modes]; newer kernels reach 62.5, 46.34 and 32.81 in the first three
                    Mode(640, 480, bits: 10, 58.92, field: (2560, 1920), shortest: 134),
                    Mode(1296, 972, bits: 10, 43.25, field: (2592, 1944), shortest: 92),
                    Mode(1920, 1080, bits: 10, 30.62, field: (1928, 1080), shortest: 118),
                    Mode(2592, 1944, bits: 10, 15.63, field: (2592, 1944), shortest: 130),
                ],
                // [controls] ExposureTime (130, 3066985); kernels before 6.6: 1064891
                longestExposure: 3_066_985,
                // [controls] 1 … 63.9375; [helper] code / 16
                gain: 1...63.9375, honoursNightMode: pipeline == .pisp)
        case .imx296:
            profile = SensorProfile(
                model: model, pipeline: pipeline,
                // [list], [modes]
                modes: [Mode(1456, 1088, bits: 10, 60.38, field: (1456, 1088), shortest: 29)],
                // [controls] FrameDurationLimits up to 15534444; ExposureTime itself is told as [29..0]
                longestExposure: 15_534_444,
                // [controls] 1 … 251.188644
                gain: 1...251.188644, hasGlobalShutter: true, honoursNightMode: pipeline == .pisp)
        case .ov9281:
            profile = SensorProfile(
                model: model, pipeline: pipeline,
                modes: [
                    // [list], 10 bits
                    Mode(640, 400, bits: 10, 247.83, field: (1280, 800), shortest: 9),
                    Mode(1280, 720, bits: 10, 137.42, field: (1280, 720), shortest: 9),
                    // One line, the shortest exposure of [driver]: 1 s / 114.93 / 910 lines, as 800 rows need at least
                    Mode(1280, 800, bits: 10, 114.93, field: (1280, 800), shortest: 9),
                ],
                // Computed: [driver] exposes at most 65535 - 25 lines ([helper]) of 9.56 µs
                longestExposure: 626_000,
                // [helper] code / 16, [driver] code 16 … 255
                gain: 1...15.9375, isMonochrome: true, hasGlobalShutter: true, honoursNightMode: pipeline == .pisp)
        }
        // [tuning] of vc4: imx708 has `rpi.hdr` with MultiExposureUnmerged only, the others none; [controls] still tells
        // HdrMode 0 … 4 on both pipelines.
        profile.advertisesNightMode = true
        return profile
    }
}
