import FieldcamCore
import FieldcamPorts

/// The ports that a director works with, and what it knows of the board and the settings.
public struct Plant {
    public var clock: any Clock
    public var camera: any Camera
    public var cameraRole: String
    public var cameraRequest: CameraRequest
    /// `camera.autostart`
    public var startsCamera: Bool
    public var buttons: any Buttons
    /// The role of each button, by `ButtonID.index`; the first is the shutter.
    public var buttonRoles: [String]
    /// `nil`: the board has none, or `audio.enabled = false`.
    public var microphone: (any Microphone)?
    /// One for each `fc-still` thread.
    public var stillEncoders: [any StillEncoder]
    public var clipWriters: any ClipWriterFactory
    public var store: any MediaStore
    public var mediaFolder: String

    public var session: SessionSettings
    public var photoQuality: Int
    /// The encoder that was found to work, and the order in which others are tried.
    public var encoders: [String]
    public var videoBitRate: Int?
    public var everyFrameIsKey: Bool
    public var framerate: Double
    /// EXIF's make, and software with its version.
    public var make: String
    public var software: String

    public init(
        clock: any Clock, camera: any Camera, cameraRole: String, cameraRequest: CameraRequest,
        startsCamera: Bool = true, buttons: any Buttons, buttonRoles: [String], microphone: (any Microphone)?,
        stillEncoders: [any StillEncoder], clipWriters: any ClipWriterFactory, store: any MediaStore,
        mediaFolder: String, session: SessionSettings, photoQuality: Int, encoders: [String], videoBitRate: Int?,
        everyFrameIsKey: Bool, framerate: Double, make: String, software: String
    ) {
        self.clock = clock
        self.camera = camera
        self.cameraRole = cameraRole
        self.cameraRequest = cameraRequest
        self.startsCamera = startsCamera
        self.buttons = buttons
        self.buttonRoles = buttonRoles
        self.microphone = microphone
        self.stillEncoders = stillEncoders
        self.clipWriters = clipWriters
        self.store = store
        self.mediaFolder = mediaFolder
        self.session = session
        self.photoQuality = photoQuality
        self.encoders = encoders
        self.videoBitRate = videoBitRate
        self.everyFrameIsKey = everyFrameIsKey
        self.framerate = framerate
        self.make = make
        self.software = software
    }
}
