import Glibc

/// The words of the C library for an error number, such as "No such file or directory".
public func errorText(_ code: Int32) -> String {
    String(cString: strerror(code))
}
