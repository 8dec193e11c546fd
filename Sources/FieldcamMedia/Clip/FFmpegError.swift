import CFieldcamMedia
import FieldcamPorts

extension HardwareError {
    /// An error of FFmpeg's, with what it last said about it on this thread.
    static func ffmpeg(_ code: Int32, _ operation: String) -> HardwareError {
        let said = String(cString: fc_av_message())
        return .errno(fc_av_errno(code), operation, detail: said.isEmpty ? nil : said)
    }
}
