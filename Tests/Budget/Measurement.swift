import FieldcamLinux
import Glibc

/// How figures are taken: programs beside ours, with their CPU time; medians; lines for people and for programs.
enum Measurement {
    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    }

    /// Asks for real-time scheduling of this process and its children, so that other load on the machine doesn't count. False
    /// where that isn't allowed: figures of wall time then want a quiet machine.
    @discardableResult
    static func takePriority() -> Bool {
        var parameter = sched_param()
        parameter.sched_priority = 5
        return sched_setscheduler(0, SCHED_FIFO, &parameter) == 0
    }

    struct Outcome {
        var output: String
        var cpuSeconds: Double
        var status: Int32
    }

    /// Runs a program found in PATH and waits for it; what it prints on stdout comes back. `nil`: it can't be run.
    static func run(_ arguments: [String]) -> Outcome? {
        var ends: (Int32, Int32) = (0, 0)
        guard withUnsafeMutableBytes(of: &ends, { pipe($0.baseAddress!.assumingMemoryBound(to: Int32.self)) }) == 0
        else {
            return nil
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends.1, 1)
        posix_spawn_file_actions_addclose(&actions, ends.0)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child = pid_t()
        let code = posix_spawnp(&child, arguments[0], &actions, nil, &words, environ)
        close(ends.1)
        defer { close(ends.0) }
        guard code == 0 else { return nil }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(ends.0, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { break }
            output += buffer[0..<count]
        }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(child, &status, 0, &usage) < 0 && errno == EINTR {}
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return Outcome(
            output: String(decoding: output, as: UTF8.self),
            cpuSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime), status: status)
    }

    /// Seconds of wall time on the monotonic clock.
    static var seconds: Double { Double(SystemClock.now.nanoseconds) / 1e9 }

    static func text(_ value: Double, _ digits: Int = 3) -> String {
        let scale = pow(10.0, Double(digits))
        let scaled = (value * scale).rounded() / scale
        return "\(scaled)"
    }
}
