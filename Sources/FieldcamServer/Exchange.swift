import CFieldcamHTTP
import FieldcamCore
import FieldcamDirector

/// A request and the way to answer it; the shim owns what is behind it. `fc-http` only.
struct Exchange: Hashable {
    let raw: OpaquePointer

    var method: String { String(cString: fc_http_method(raw)) }
    var path: String { String(cString: fc_http_path(raw)) }

    func header(_ name: String) -> String? {
        fc_http_header(raw, name).map { String(cString: $0) }
    }

    /// The query's pairs in their order; a key without a value has an empty one.
    var query: [(key: String, value: String)] {
        var pairs: [(key: String, value: String)] = []
        var key: UnsafePointer<CChar>?
        var value: UnsafePointer<CChar>?
        while fc_http_query(raw, pairs.count, &key, &value) != 0, let found = key {
            pairs.append((String(cString: found), value.map { String(cString: $0) } ?? ""))
        }
        return pairs
    }

    var body: UnsafeBufferPointer<UInt8> {
        var size = 0
        let bytes = fc_http_body(raw, &size)
        return UnsafeRawBufferPointer(start: bytes, count: size).assumingMemoryBound(to: UInt8.self)
    }

    /// The command line says who it is; everyone else is `api`.
    var source: Source { header("X-Fieldcam-Source") == "cli" ? .cli : .api }

    func answer(_ status: Int, _ json: JSON) {
        send(status, type: "application/json", json.text + "\n", allow: nil)
    }

    func answer(_ problem: Problem) {
        send(problem.status, type: "application/problem+json", problem.json.text + "\n", allow: problem.allow)
    }

    /// Without memory for an answer the exchange stays parked until its client gives up.
    private func send(_ status: Int, type: String, _ text: String, allow: String?) {
        var text = text
        text.withUTF8 { bytes in
            _ = bytes.withMemoryRebound(to: CChar.self) {
                fc_http_answer(raw, Int32(status), type, allow, $0.baseAddress!, $0.count)
            }
        }
    }
}
