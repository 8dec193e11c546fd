import Clibavcodec
import FieldcamPorts

/// Makes packets of pictures; one object a clip, one thread.
protocol VideoEncoder: AnyObject {
    /// As FFmpeg names it.
    var name: String { get }
    /// Describes the track; complete before the first packet but for H.264's parameter sets, which may lie in it.
    func describe(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws(HardwareError)
    /// Takes a picture; its memory is free again when this returns. `ticks` rise.
    func encode(_ image: Image, ticks: Int64, asKey: Bool) throws(HardwareError)
    /// No further picture comes.
    func flush() throws(HardwareError)
    /// Moves the next packet into an empty one; false: none is ready. Its times are ticks, its duration isn't set. Its bytes are
    /// valid until the packet after the next is made.
    func receive(_ packet: UnsafeMutablePointer<AVPacket>) throws(HardwareError) -> Bool
    func close()
}

/// The time base of our video tracks: 90 kHz, fine enough for any frame and common to every player.
enum Ticks {
    static let perSecond: Int64 = 90_000

    static func of(nanoseconds: Int64) -> Int64 {
        (nanoseconds * 9 + 50_000) / 100_000
    }

    static func seconds(_ ticks: Int64) -> Double { Double(ticks) / Double(perSecond) }
}
