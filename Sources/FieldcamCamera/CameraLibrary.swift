import CFieldcamCameraTable
import FieldcamLinux
import FieldcamPorts
import Glibc

/// One camera of the machine, as lists show it.
public struct CameraListing: Hashable, Sendable {
    public var id: String
    /// libcamera's model, such as "imx708"; the id where there is none.
    public var model: String
    /// "back", "front", "external", or "" where the machine doesn't tell.
    public var location: String
}

/// The camera library that fits the libcamera of this machine.
///
/// libcamera keeps no binary interface from one 0.x to the next, so the program never links it. A library of ours for each
/// generation, `libfieldcam-camera-0.4.so` and so on, does; the first one that can be opened is the one whose libcamera is here.
public final class CameraLibrary: @unchecked Sendable {
    // Proof of Sendable: the table is constant and lives as long as the library, which is never closed.
    let table: UnsafePointer<fc_camera_table>
    public let path: String
    /// The libcamera behind it, such as "v0.4.0".
    public let version: String

    init(table: UnsafePointer<fc_camera_table>, path: String) {
        self.table = table
        self.path = path
        version = String(cString: table.pointee.library_version)
    }

    /// Beside the program, then where the package puts them.
    public static var standardFolders: [String] {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &path, path.count - 1)
        guard length > 0 else { return ["/usr/lib/fieldcam"] }
        let program = String(decoding: path[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let slash = program.lastIndex(of: "/") else { return ["/usr/lib/fieldcam"] }
        return [String(program[..<slash]), "/usr/lib/fieldcam"]
    }

    /// Opens the first library that fits: folders in order, in each the newest generation first.
    /// - Throws: `absent` with the reason of each library that was tried.
    public static func load(from folders: [String] = standardFolders) throws(HardwareError) -> CameraLibrary {
        let operation = "open a camera library"
        var reasons: [String] = []
        for path in folders.flatMap({ candidates(in: $0) }) {
            guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
                reasons.append(dlerror().map { String(cString: $0) } ?? path)
                continue
            }
            guard let symbol = dlsym(library, FC_CAMERA_TABLE_SYMBOL) else {
                reasons.append("\(path) is no camera library")
                continue
            }
            let table = unsafeBitCast(symbol, to: fc_camera_table_function.self)()
            guard table.pointee.version == UInt32(FC_CAMERA_TABLE_VERSION) else {
                reasons.append(
                    "\(path) has table version \(table.pointee.version), this program wants \(FC_CAMERA_TABLE_VERSION)")
                continue
            }
            return CameraLibrary(table: table, path: path)
        }
        let tried =
            reasons.isEmpty
            ? "no libfieldcam-camera-*.so lies in \(folders.joined(separator: " or "))"
            : "none fits the libcamera of this machine (\(reasons.joined(separator: "; ")))"
        throw HardwareError(.absent, operation, detail: "\(tried); build one here with deploy/build-camera-shim")
    }

    /// The cameras of the machine; not while a camera of this process is held on another thread.
    public func cameras() throws(HardwareError) -> [CameraListing] {
        let text = ErrorText()
        var listings = [fc_camera_listing](repeating: fc_camera_listing(), count: 16)
        let count = table.pointee.list(&listings, listings.count, text.start, text.size)
        guard count >= 0 else { throw .errno(count, "list the cameras", detail: text.string) }
        return listings.prefix(Int(count)).map { listing in
            CameraListing(
                id: string(of: listing.id), model: string(of: listing.model), location: string(of: listing.location))
        }
    }

    /// Our libraries in a folder: generations downwards, then the one that the package build makes without a number.
    static func candidates(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        let prefix = "libfieldcam-camera"
        let suffix = ".so"
        var found: [(generation: [Int], name: String)] = []
        while let entry = readdir(directory) {
            let name = string(of: entry.pointee.d_name)
            guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { continue }
            let middle = name.dropFirst(prefix.count).dropLast(suffix.count)
            guard middle.isEmpty || middle.hasPrefix("-") else { continue }
            let parts =
                middle.isEmpty ? [] : middle.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { Int($0) }
            guard numbers.count == parts.count else { continue }
            found.append((numbers, name))
        }
        found.sort { $1.generation.lexicographicallyPrecedes($0.generation) }
        return found.map { "\(folder)/\($0.name)" }
    }
}

/// Where the table's functions leave their sentence.
final class ErrorText {
    let size = 512
    let start: UnsafeMutablePointer<CChar>

    init() {
        start = .allocate(capacity: size)
        start.initialize(repeating: 0, count: size)
    }

    deinit { start.deallocate() }

    var string: String? {
        let text = String(cString: start)
        return text.isEmpty ? nil : text
    }
}

/// The text in a C array, which Swift sees as a tuple of characters.
private func string<Characters>(of characters: Characters) -> String {
    withUnsafeBytes(of: characters) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
