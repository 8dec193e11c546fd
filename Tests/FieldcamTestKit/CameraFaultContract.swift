import FieldcamCore
import FieldcamPorts

/// A bench whose camera can be unplugged.
public protocol CameraUnplugBench: CameraBench {
    func disconnect()
    func reconnect()
}

/// A bench whose camera can be made to fail.
public protocol CameraFaultBench: CameraUnplugBench {
    /// The next frames fail.
    func failFrames(_ count: Int)
}

/// What any `Camera` promises when its hardware fails.
public enum CameraFaultContract {
    public static let cases: [ContractCase<any CameraFaultBench>] = [
        ContractCase("frames that fail are told, and good ones follow") { bench throws(ContractFailure) in
            let watch = try CameraWatch(bench)
            try watch.start()
            try watch.wait("a frame") { !$0.frames.isEmpty }
            bench.failFrames(2)
            try watch.wait("two failed frames") { $0.failures == 2 }
            let before = watch.frames.count
            try watch.wait("more frames than slots") { $0.frames.count >= before + 6 }
            try expect(watch.failures == 2 && !watch.isLost, "\(watch.failures) failed, lost: \(watch.isLost)")
        }
    ]

    public static let unplugging: [ContractCase<any CameraUnplugBench>] = [
        ContractCase("a camera that goes away is told as lost, then nothing more; plugged in again it works") {
            bench throws(ContractFailure) in
            let watch = try CameraWatch(bench)
            try watch.start()
            try watch.wait("a frame") { !$0.frames.isEmpty }
            bench.disconnect()
            try watch.wait("the loss") { $0.isLost }
            let before = watch.frames.count
            watch.run(for: watch.mode.frameInterval * 8)
            try expect(watch.frames.count == before, "frames came after the loss")
            watch.camera.close()
            try CameraContract.expectError(.absent) { () throws(HardwareError) in try watch.camera.open() }
            bench.reconnect()
            try watch.open()
            try watch.start()
            try watch.wait("frames again") { $0.frames.count >= before + 3 }
        }
    ]
}
