/// The composition root of `fieldcam serve`.
enum Serve {
    static func run(_ options: ServeOptions) -> Int32 {
        Output.complain("the service isn't in this build.")
        return ExitCode.failed.rawValue
    }
}
