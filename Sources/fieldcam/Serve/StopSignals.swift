import CFieldcamLinux
import Glibc

/// SIGTERM and SIGINT as something that can be waited for. Made before any thread, which inherit the mask.
struct StopSignals {
    private let descriptor: Int32

    init() {
        descriptor = fc_signalfd_for_stop()
        precondition(descriptor >= 0, "no file descriptor left for a signalfd")
    }

    func wait() {
        while true {
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&polled, 1, -1) > 0, fc_signalfd_read(descriptor) != 0 { return }
        }
    }
}
