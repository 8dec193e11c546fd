import FieldcamAudio
import FieldcamCamera
import FieldcamCore
import FieldcamDirector
import FieldcamGPIO
import FieldcamLinux
import FieldcamMedia
import FieldcamPorts
import FieldcamServer
import FieldcamSettings
import FieldcamSimulator
import FieldcamStorage
import Glibc

/// The adapters that a board's profile names.
final class Devices {
    let board: BoardProfile
    let settings: Settings
    /// What a crash had left.
    private(set) var leftovers: [Leftover] = []
    private var mediaLock: StateLock?
    /// The scene of simulated devices; `nil`: the board has none.
    private let world: SimulatedWorld?
    let writers: any ClipWriterFactory

    init(board: BoardProfile, settings: Settings) {
        self.board = board
        self.settings = settings
        let isSimulated =
            board.cameras.contains { $0.driver == .simulator } || board.buttons.contains { $0.wiring == .simulator }
            || board.microphone.driver == .simulator || board.indicator?.wiring == .simulator
            || board.cameras.indices.contains { board.light(of: $0)?.wiring == .simulator }
        world = isSimulated ? SimulatedWorld() : nil
        let ffmpeg = FFmpegClipWriterFactory()
        writers = world.map { SimulatedClipWriters(world: $0, factory: ffmpeg) } ?? ffmpeg
    }

    /// Opens the media and state folders and finishes what a crash left.
    func store(_ options: ServeOptions) throws(HardwareError) -> any MediaStore {
        let durable = try DurableStore(
            media: options.media, state: options.state, reserve: Int64(settings.storage.reserve.bytes))
        // What lies in `.partial` may be another service's running clip: only the folder's holder may touch it.
        mediaLock = try StateLock(folder: options.media, purpose: "media", file: ".lock")
        leftovers = try durable.recover()
        guard let world else { return durable }
        return SimulatedDisk(world: world, store: durable)
    }

    func plant(store: any MediaStore, options: ServeOptions) -> Plant {
        let last = LastCamera(state: options.state)
        // One copy for pictures that are drawn into, whichever thread makes them.
        let scratch = ScratchPicture()
        var plant = Plant(
            clock: MachineClock(), stations: stations(),
            firstCamera: CameraID(settings.defaultCamera(of: board, last: last.role) ?? 0),
            startsCamera: settings.camera.autostart, buttons: buttons(),
            buttonRoles: board.buttons.map(\.role.rawValue), indicator: indicator(), microphone: microphone(),
            stillEncoders: [JPEGEncoder(scratch: scratch), JPEGEncoder(scratch: scratch)], clipWriters: writers,
            store: store, mediaFolder: options.media,
            settings: LiveSettings(settings, board: board, writers: writers), make: "fieldcam",
            software: "fieldcam \(fieldcamVersion)")
        plant.remembersCamera = { last.keep($0) }
        return plant
    }

    private func stations() -> [Plant.Station] {
        guard !board.cameras.isEmpty else { return [Plant.Station(role: "", camera: NoCamera())] }
        var stations: [Plant.Station] = []
        // The board's light serves all cameras without one of their own: one line, claimed once.
        let shared = board.light.flatMap { light($0) }
        for (index, profile) in board.cameras.enumerated() {
            let own = profile.hasOwnLight ? profile.light.flatMap { light($0) } : shared
            stations.append(
                Plant.Station(
                    role: profile.role, camera: camera(profile, variant: index, isLit: own != nil), light: own))
        }
        return stations
    }

    /// `nil`: it can't be had now; shots then say that no flash fired.
    private func light(_ profile: LightProfile) -> (any Light)? {
        switch profile.wiring {
        case .simulator: return SimulatedLight(world: world!)
        case .gpio, .led, .pwm:
            do throws(HardwareError) {
                return try realLight(profile.wiring)
            } catch {
                Log.warning("the light can't be used", ["reason": error.description])
                return nil
            }
        }
    }

    private func realLight(_ wiring: LightProfile.Wiring) throws(HardwareError) -> (any Light)? {
        switch wiring {
        case .simulator: nil
        case .gpio(let line):
            try GPIOLight(chip: line.chip, line: line.place.port, activeLow: line.activeLow)
        case .led(let name): try LEDClassLight(name: name)
        case .pwm(let channel): try PWMLight(chip: channel.chip, channel: channel.channel)
        }
    }

    private func indicator() -> (any OutputLine)? {
        guard let wiring = board.indicator?.wiring else { return nil }
        do throws(HardwareError) {
            switch wiring {
            case .simulator: return SimulatedLine()
            case .gpio(let line):
                return try GPIOOutputLine(chip: line.chip, line: line.place.port, activeLow: line.activeLow)
            case .led(let name): return try LEDClassLine(name: name)
            case .pwm(let channel): return try PWMLine(chip: channel.chip, channel: channel.channel)
            }
        } catch {
            Log.warning("the indicator can't be used", ["reason": error.description])
            return nil
        }
    }

    private func camera(_ profile: CameraProfile, variant: Int, isLit: Bool) -> any Camera {
        switch profile.driver {
        case .libcamera:
            return LibcameraCamera(match: "\(profile.match)", rotation: profile.rotation, mirror: profile.mirror)
        case .simulator:
            if let (model, pipeline) = profile.simulated {
                return SimulatedCamera(
                    world: world!,
                    properties: SimulatedCamera.Properties(
                        profile: .of(model, on: pipeline), rotation: profile.rotation, mirror: profile.mirror,
                        variant: variant, hasLight: isLit))
            }
            return SimulatedCamera(
                world: world!,
                properties: SimulatedCamera.Properties(
                    rotation: profile.rotation, mirror: profile.mirror, variant: variant, hasLight: isLit))
        }
    }

    private func buttons() -> any Buttons {
        let lines = board.buttons.compactMap(\.line)
        if let world, lines.isEmpty { return SimulatedButtons(world: world, count: max(1, board.buttons.count)) }
        return GPIOButtons(lines)
    }

    private func microphone() -> (any Microphone)? {
        switch board.microphone.driver {
        case .simulator: return SimulatedMicrophone(world: world!)
        case .alsa:
            return board.microphone.device.map {
                ALSAMicrophone(device: $0, isExclusive: settings.audio.sharing == .exclusive)
            }
        }
    }

    func serverConfiguration(_ settings: SettingsDesk) -> ServerConfiguration {
        var buttons: [ServerConfiguration.Button] = []
        for (index, button) in board.buttons.enumerated() {
            buttons.append(ServerConfiguration.Button(role: button.role.rawValue, id: ButtonID(index)))
        }
        var configuration = ServerConfiguration(
            board: board.json, versions: [JSON.Member("fieldcam", .string(fieldcamVersion))], buttons: buttons,
            cameras: board.cameras.map(\.role))
        configuration.settings = SettingsAccess(read: { settings.json }, change: { settings.change($0) })
        if let world { configuration.simulator = { body in world.take(body) } }
        return configuration
    }
}

extension ButtonProfile {
    /// The port's words for a GPIO line; `nil`: simulated.
    fileprivate var line: ButtonLine? {
        guard case .gpio(let line, let bias) = wiring else { return nil }
        return ButtonLine(
            chip: line.chip, line: line.place.port, activeLow: line.activeLow,
            bias: ButtonLine.Bias(rawValue: bias.rawValue)!)
    }
}

extension GPIOLine.Place {
    /// The port's words for it.
    fileprivate var port: ButtonLine.Place {
        switch self {
        case .name(let name): .name(name)
        case .offset(let offset): .offset(offset)
        }
    }
}
