import FieldcamCore
import FieldcamDirector

/// Why the simulated scene refused a change.
public struct SceneError: Error, Hashable, Sendable {
    /// The field of the body that is wrong; empty: the body as a whole.
    public var field: String
    /// One sentence.
    public var detail: String
    public init(field: String, detail: String) {
        self.field = field
        self.detail = detail
    }
}

/// Why a change of settings was refused; nothing was changed.
public enum SettingsError: Error, Hashable, Sendable {
    /// A key or its value is wrong: one sentence.
    case wrong(key: String, String)
    /// It can't be kept: one sentence.
    case notKept(String)
    /// The director has too much to do.
    case busy
}

/// The way to the settings. On `fc-http`; as quick as the disk.
public struct SettingsAccess: Sendable {
    /// The body of `GET /v1/settings`.
    public var read: @Sendable () -> JSON
    /// Carries out the body of `PATCH /v1/settings` and gives the changed keys as `read` tells them.
    public var change: @Sendable (JSON) -> Result<JSON, SettingsError>
    public init(
        read: @escaping @Sendable () -> JSON, change: @escaping @Sendable (JSON) -> Result<JSON, SettingsError>
    ) {
        self.read = read
        self.change = change
    }
}

/// What the server tells and needs besides the director.
public struct ServerConfiguration: Sendable {
    /// A button by its role, as `POST /v1/buttons/{role}/press` names it.
    public struct Button: Hashable, Sendable {
        public var role: String
        public var id: ButtonID
        public init(role: String, id: ButtonID) {
            self.role = role
            self.id = id
        }
    }

    /// The body of `GET /v1/board`.
    public var board: JSON
    /// `versions` of `GET /v1/status`.
    public var versions: [JSON.Member]
    public var buttons: [Button]
    /// The cameras' roles, by `CameraID.index`.
    public var cameras: [String]
    /// Nil: there are none to be told or changed.
    public var settings: SettingsAccess?
    /// Changes the simulated scene (`POST /v1/simulator`) and gives the scene after it. On `fc-http`; must not block.
    /// Nil: the board isn't simulated.
    public var simulator: (@Sendable (JSON) -> Result<JSON, SceneError>)?
    /// Between two comments on an event stream that has nothing else to say.
    public var heartbeat: Duration = .seconds(10)
    /// From the connection to the end of the request.
    public var requestDeadline: Duration = .seconds(10)
    /// The director takes an order within this, or the client is told that the service is busy.
    public var orderDeadline: Duration = .seconds(5)

    /// The same for a switch of cameras, whose new one may take 5 s to its first frame.
    public var switchDeadline: Duration = .seconds(10)

    public init(
        board: JSON, versions: [JSON.Member], buttons: [Button], cameras: [String] = [],
        simulator: (@Sendable (JSON) -> Result<JSON, SceneError>)? = nil
    ) {
        self.board = board
        self.versions = versions
        self.buttons = buttons
        self.cameras = cameras
        self.simulator = simulator
    }
}
