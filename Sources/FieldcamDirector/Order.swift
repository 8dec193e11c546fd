import FieldcamCore

/// What another thread asks of the director. Its arrival is stamped when it is submitted.
public enum Order: Hashable, Sendable {
    /// `flash`: for this shot alone; nil takes what is set.
    case shot(RequestToken, Source, flash: FlashMode? = nil)
    /// `maximum`: nil takes the setting; zero means none.
    /// `torch`: what this clip alone has instead of `torch.mode`.
    case record(RequestToken, Source, maximum: Duration?, torch: ClipTorch? = nil)
    case stop(RequestToken, Source)
    /// A software press or release of a button: a contact of its own.
    case contact(ButtonID, pressed: Bool, Source)
    /// A software press of a button that is held down by another one: told, and nothing else.
    case refusePress(Source)
    /// Live control.
    case command(ControlCommand, RequestToken, Source)
    /// Work by these settings from now on; what needs an idle camera waits for it.
    /// `given`: the keys that the owner gave a value; they count for more than what was set by hand before.
    case configure(LiveSettings, given: GivenSettings = [])
    /// Finish what runs, then `Director.run` returns.
    case shutDown
}
