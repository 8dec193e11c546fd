import CFieldcamLinux

/// Calls on files that the C library's module doesn't give to Swift.
public enum Files {
    /// Moves a file to a name that must not exist yet; `-EEXIST` if it does. Other errors as negative errno.
    public static func renameWithoutReplacing(_ from: String, to: String) -> Int32 {
        fc_rename_noreplace(from, to)
    }

    /// Free bytes for unprivileged users where the path lies; negative errno.
    public static func freeBytes(at path: String) -> Int64 {
        fc_free_bytes(path)
    }
}
