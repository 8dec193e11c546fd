import Glibc

/// Where the program finds what belongs to it.
enum Folders {
    /// The folder of the running program, without a slash at its end.
    static var program: String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard length > 0 else { return "." }
        let path = String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// Where a board's name is sought (contract §2): the owner's, the installed, then the nearest `boards/` above the
    /// program (a build folder, an unpacked archive).
    static var boards: [String] {
        var paths = ["/etc/fieldcam/boards", "/usr/share/fieldcam/boards"]
        var folder = program
        while true {
            var information = stat()
            let above = folder + "/boards"
            if stat(above, &information) == 0, information.st_mode & S_IFMT == S_IFDIR {
                paths.append(above)
                break
            }
            guard let slash = folder.lastIndex(of: "/") else { break }
            folder = String(folder[..<slash])
        }
        return paths
    }
}
