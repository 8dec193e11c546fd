import Glibc

@main
struct Main {
    static func main() {
        // A reader that goes away is an error of `write`, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        exit(Program(environment: getenv("FIELDCAM_SOCKET").map { String(cString: $0) }).run(CommandLine.arguments))
    }
}
