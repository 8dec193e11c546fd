import FieldcamCore

/// One event of contract §6, as it is told to everyone.
public struct Event: Hashable, Sendable {
    /// Rises by one from event to event of a run, from 1.
    public var sequence: UInt64
    /// Such as `photo.saved`.
    public var name: String
    /// When it was sent.
    public var monotonic: Instant
    /// The same on the wall clock, nanoseconds since 1970.
    public var wallNanoseconds: Int64
    /// The shot's or clip's number, for all events of shots and clips.
    public var number: MediaNumber?
    /// What else the contract names for it, in its order.
    public var fields: [JSON.Member]

    public init(
        sequence: UInt64, name: String, monotonic: Instant, wallNanoseconds: Int64, number: MediaNumber?,
        fields: [JSON.Member]
    ) {
        self.sequence = sequence
        self.name = name
        self.monotonic = monotonic
        self.wallNanoseconds = wallNanoseconds
        self.number = number
        self.fields = fields
    }

    /// The object of contract §6: `seq`, `event`, `at`, `mono_ns`, then `id` and the rest.
    public var json: JSON {
        var members: [JSON.Member] = [
            .init("seq", .integer(Int64(sequence))),
            .init("event", .string(name)),
            .init("at", .string(rfc3339(wallNanoseconds))),
            .init("mono_ns", .integer(monotonic.nanoseconds)),
        ]
        if let number { members.append(.init("id", .integer(Int64(number.value)))) }
        members.append(contentsOf: fields)
        return .object(members)
    }

    /// A field's value.
    public subscript(key: String) -> JSON? {
        fields.first { $0.key == key }?.value
    }
}
