import FieldcamLinux
import Glibc

extension HardwareError {
    /// An error number of the C library, its kind and its words. Negative numbers, as the shims return them, are welcome.
    public static func errno(_ code: Int32, _ operation: String, detail: String? = nil) -> HardwareError {
        let number = abs(code)
        let kind: Kind
        switch number {
        case ENOENT, ENODEV, ENXIO, ENOTDIR: kind = .absent
        case EBUSY, EAGAIN, ETXTBSY: kind = .busy
        case EACCES, EPERM, EROFS: kind = .denied
        case ETIMEDOUT: kind = .timedOut
        case ENOTSUP, ENOSYS, ENOTTY: kind = .unsupported
        case EINVAL, ERANGE: kind = .invalid
        case ENOSPC, EDQUOT, ENOMEM: kind = .full
        default: kind = .io
        }
        return HardwareError(kind, operation, code: number, detail: detail ?? errorText(number))
    }
}
