import FieldcamDirector

/// One client's place in the event log, and what of it waits to be sent, as server-sent events.
///
/// A client that reads slower than 256 events come misses some; their missing `id` numbers tell it.
struct EventStream {
    /// The number of the last event put into `waiting`.
    private var cursor: UInt64
    private var waiting: [UInt8] = Array(": fieldcam events\nretry: 2000\n\n".utf8)
    private var sent = 0
    /// A comment is due, so that a vanished client is noticed and a proxy keeps the connection.
    var heartbeatIsDue = false

    /// - Parameter lastEventID: the client's header: events after it are replayed. A number that this run hasn't reached
    ///   is of an earlier run: then all that is kept is replayed. Without one: only what comes from now on.
    init(lastEventID: UInt64?, log: EventLog) {
        let newest = log.newest
        cursor = lastEventID.map { $0 > newest ? 0 : $0 } ?? newest
    }

    /// The next bytes, at most `room`; 0 if there are none now.
    mutating func fill(_ target: UnsafeMutableRawBufferPointer, from log: EventLog) -> Int {
        if sent == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            sent = 0
            for event in log.events(after: cursor, limit: 16) {
                cursor = event.sequence
                waiting.append(
                    contentsOf: "id: \(event.sequence)\nevent: \(event.name)\ndata: \(event.json.text)\n\n".utf8)
            }
            if waiting.isEmpty && heartbeatIsDue { waiting.append(contentsOf: ":\n\n".utf8) }
            heartbeatIsDue = false
        }
        let count = min(target.count, waiting.count - sent)
        waiting[sent..<sent + count].withUnsafeBytes { target.copyMemory(from: $0) }
        sent += count
        return count
    }
}
