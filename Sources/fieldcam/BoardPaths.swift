import FieldcamLinux
import Glibc

/// The folders in which a board's name is sought, in this order: the owner's, the installed ones, then the nearest
/// `boards` above the program (a build folder, an unpacked archive).
func boardPaths() -> [String] {
    var paths = ["/etc/fieldcam/boards", "/usr/share/fieldcam/boards"]
    var folder = programPath()
    while let slash = folder.lastIndex(of: "/") {
        folder = String(folder[..<slash])
        var information = stat()
        let boards = folder + "/boards"
        if stat(boards, &information) == 0, information.st_mode & S_IFMT == S_IFDIR {
            paths.append(boards)
            break
        }
    }
    return paths
}

/// Where the running program lies; empty if the kernel doesn't say.
func programPath() -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes {
        readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : ""
}
