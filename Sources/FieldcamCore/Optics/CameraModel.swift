/// The sensors of which the simulator has a profile, by the model that libcamera tells.
public enum CameraModel: String, Hashable, Sendable, CaseIterable {
    /// Camera Module 2.
    case imx219
    /// High Quality Camera.
    case imx477
    /// Camera Module 3.
    case imx708
    /// Camera Module 3 Wide.
    case imx708Wide = "imx708_wide"
    /// Camera Module 1.
    case ov5647
    /// Global Shutter Camera.
    case imx296
    /// A monochrome global shutter sensor of several makers.
    case ov9281
}

/// libcamera's pipelines of the Raspberry Pis.
public enum CameraPipeline: String, Hashable, Sendable, CaseIterable {
    /// Up to the Pi 4.
    case vc4
    /// Pi 5.
    case pisp
}
