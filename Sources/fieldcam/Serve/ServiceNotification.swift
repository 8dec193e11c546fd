import CFieldcamLinux
import Glibc

/// Tells the service manager how the service stands; nothing where there is none.
enum ServiceNotification {
    static func send(_ message: String) {
        guard let socket = getenv("NOTIFY_SOCKET") else { return }
        _ = fc_notify(socket, message)
    }
}
