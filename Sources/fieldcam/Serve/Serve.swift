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

/// The composition root of `fieldcam serve`: the only place that knows concrete adapters.
enum Serve {
    static func run(_ options: ServeOptions) -> Int32 {
        let stop = StopSignals()
        let board: BoardProfile
        let settings: LoadedSettings
        do {
            board = try Self.board(options)
            settings = try Self.settings(options, board)
        } catch {
            for complaint in error.list { Output.complain(complaint) }
            return ExitCode.wrongSettings.rawValue
        }
        let desk = FrontDesk()
        do {
            // The socket first: a second service ends before it touches anything else.
            let server = try Server(socketPath: options.socket, desk: desk)
            defer { server.stop() }
            let lock = try StateLock(folder: options.state)
            defer { withExtendedLifetime(lock) {} }
            let devices = Devices(board: board, settings: settings.settings)
            let store = try devices.store(options)
            let plant = devices.plant(store: store, options: options)
            let settings = try SettingsDesk(
                options: options, started: settings, board: board, writers: devices.writers, desk: desk)
            return serve(plant, devices, settings, server: server, desk: desk, stop: stop)
        } catch let error as SocketError {
            Output.complain("\(error)")
            if case .held = error { return ExitCode.refused.rawValue }
            return ExitCode.cannotCreate.rawValue
        } catch let error as Complaints {
            for complaint in error.list { Output.complain(complaint) }
            return ExitCode.wrongSettings.rawValue
        } catch let error as HardwareError {
            Output.complain("\(error)")
            return error.kind == .busy ? ExitCode.refused.rawValue : ExitCode.cannotCreate.rawValue
        } catch {
            Output.complain("\(error)")
            return ExitCode.failed.rawValue
        }
    }

    private static func serve(
        _ plant: Plant, _ devices: Devices, _ settings: SettingsDesk, server: Server, desk: FrontDesk, stop: StopSignals
    ) -> Int32 {
        Log.start()
        defer { Log.stop() }
        Log.notice("service starts", ["version": fieldcamVersion, "board": devices.board.name])
        let director = Director(plant: plant, desk: desk)
        director.tellRecovered(devices.leftovers)
        let thread = Thread(name: "fc-director", stackBytes: 4 << 20) {
            director.run()
            desk.changed.signal()
        }
        server.start(devices.serverConfiguration(settings))
        ServiceNotification.send("READY=1")
        stop.wait()
        Log.notice("service stops")
        ServiceNotification.send("STOPPING=1")
        desk.insist(.shutDown)
        thread.join()
        return ExitCode.done.rawValue
    }

    private static func board(_ options: ServeOptions) throws(Complaints) -> BoardProfile {
        if let name = options.board { return try BoardProfile.find(name, paths: Folders.boards) }
        let detection = try BoardDetection.detect(paths: Folders.boards)
        if case .noDeviceTree = detection.reason {
            Log.notice("this machine has no device tree, so the board is the simulator; name another with --board")
        }
        return detection.board
    }

    private static func settings(_ options: ServeOptions, _ board: BoardProfile) throws(Complaints) -> LoadedSettings {
        let settings = try LoadedSettings.load(
            file: options.settings ?? ServeOptions.defaultSettings, required: options.settings != nil,
            state: options.state)
        let complaints = settings.complaints(about: board)
        if !complaints.isEmpty { throw Complaints(complaints) }
        return settings
    }
}
