import FieldcamCore
import FieldcamPorts

/// The ports that a director works with, and what it knows of the board and the settings.
public struct Plant {
    /// A camera of the board, by `CameraID.index`.
    public struct Station {
        public var role: String
        public var camera: any Camera
        /// `nil`: no light reaches what it sees.
        public var light: (any Light)?

        public init(role: String, camera: any Camera, light: (any Light)? = nil) {
            self.role = role
            self.camera = camera
            self.light = light
        }
    }

    public var clock: any Clock
    /// At least one.
    public var stations: [Station]
    /// The camera to begin with.
    public var firstCamera: CameraID
    /// `camera.autostart`
    public var startsCamera: Bool
    public var buttons: any Buttons
    /// The role of each button, by `ButtonID.index`; the first is the shutter.
    public var buttonRoles: [String]
    public var indicator: (any OutputLine)?
    /// `nil`: the board has none.
    public var microphone: (any Microphone)?
    /// One for each `fc-still` thread.
    public var stillEncoders: [any StillEncoder]
    public var clipWriters: any ClipWriterFactory
    public var store: any MediaStore
    public var mediaFolder: String
    public var settings: LiveSettings
    /// EXIF's make, and software with its version.
    public var make: String
    public var software: String
    /// Keeps the role of the camera that was switched to; called by the thread that may wait for the disk.
    public var remembersCamera: (@Sendable (String) -> Void)?

    public init(
        clock: any Clock, stations: [Station], firstCamera: CameraID = CameraID(0), startsCamera: Bool = true,
        buttons: any Buttons, buttonRoles: [String], indicator: (any OutputLine)? = nil,
        microphone: (any Microphone)?, stillEncoders: [any StillEncoder], clipWriters: any ClipWriterFactory,
        store: any MediaStore, mediaFolder: String, settings: LiveSettings, make: String, software: String
    ) {
        precondition(stations.indices.contains(firstCamera.index))
        self.clock = clock
        self.stations = stations
        self.firstCamera = firstCamera
        self.startsCamera = startsCamera
        self.buttons = buttons
        self.buttonRoles = buttonRoles
        self.indicator = indicator
        self.microphone = microphone
        self.stillEncoders = stillEncoders
        self.clipWriters = clipWriters
        self.store = store
        self.mediaFolder = mediaFolder
        self.settings = settings
        self.make = make
        self.software = software
    }
}
