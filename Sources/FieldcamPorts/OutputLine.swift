/// A line of ours that drives something: a light, an indicator.
public protocol OutputLine: AnyObject, Sendable {
    /// Any thread; never blocks for long.
    func set(_ on: Bool) throws(HardwareError)
    /// The level as the line itself tells it.
    func isOn() throws(HardwareError) -> Bool
    /// Off, then given back.
    func close()
}
