// HTTP/1.1 by libmicrohttpd, driven by one thread of ours: no thread inside, so no locks.
// Every function is called by the one thread that called fc_http_start (fc_http_refuse: any); the callbacks run on it,
// inside fc_http_run or fc_http_stop. Errors come back as negative errno.
#ifndef FC_HTTP_H
#define FC_HTTP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fc_http fc_http;
/// One request and its answer. Owned by the shim: valid from `arrived` until `over` has returned.
typedef struct fc_http_exchange fc_http_exchange;

enum {
	/// The request came whole.
	FC_HTTP_WHOLE = 0,
	/// Its body is larger than allowed; none of it is kept.
	FC_HTTP_BODY_TOO_LARGE = 1,
	/// Its headers are larger than allowed.
	FC_HTTP_HEADERS_TOO_LARGE = 2
};

typedef struct {
	void *_Nullable context;
	/// A request came. For a fault it must be answered before this returns; a whole one may be answered any time later.
	void (*_Nonnull arrived)(void *_Nullable context, fc_http_exchange *_Nonnull exchange, int fault);
	/// The next piece of a stream, at most `room` bytes. Returns how many; 0: nothing now, asked again after fc_http_wake;
	/// negative: the stream ends here.
	ssize_t (*_Nonnull piece)(void *_Nullable context, fc_http_exchange *_Nonnull exchange, char *_Nonnull into, size_t room);
	/// The client has its answer, or is gone, answered or not. The exchange is freed after this.
	void (*_Nonnull over)(void *_Nullable context, fc_http_exchange *_Nonnull exchange);
} fc_http_callbacks;

typedef struct {
	int connections;
	size_t header_bytes;
	size_t body_bytes;
	/// From the connection, or the end of the answer before, to the end of the request.
	int64_t request_deadline_ns;
	/// A client that takes nothing of its answer for this long is dropped.
	unsigned idle_seconds;
} fc_http_limits;

/// Starts without a listening socket; connections come by fc_http_adopt.
int fc_http_start(const fc_http_limits *_Nonnull limits, const fc_http_callbacks *_Nonnull callbacks, fc_http *_Nullable *_Nonnull out);
/// Ends every exchange (`over` is called for each), closes every connection, frees.
void fc_http_stop(fc_http *_Nonnull http);

/// Readable when fc_http_run has something to do; owned by the shim.
int fc_http_descriptor(const fc_http *_Nonnull http);
/// When fc_http_run wants to be called though the descriptor stays silent, on CLOCK_MONOTONIC: 0 at once, -1 never.
int64_t fc_http_deadline_ns(const fc_http *_Nonnull http);
/// Does what can be done without waiting.
void fc_http_run(fc_http *_Nonnull http);

/// Accepts a waiting client of a listening socket, non-blocking and close-on-exec; -EAGAIN if none waits.
int fc_http_accept(int listener);
/// How many connections are open.
int fc_http_connections(const fc_http *_Nonnull http);
/// Takes over an accepted, non-blocking socket, in any case. -EMFILE: the limit is reached.
int fc_http_adopt(fc_http *_Nonnull http, int descriptor);
/// Sends these bytes as far as they fit at once, then closes the socket.
void fc_http_refuse(int descriptor, const char *_Nonnull bytes, size_t size);

/// Strings of the request live as long as the exchange.
const char *_Nonnull fc_http_method(const fc_http_exchange *_Nonnull exchange);
/// Decoded, without the query.
const char *_Nonnull fc_http_path(const fc_http_exchange *_Nonnull exchange);
const char *_Nullable fc_http_header(const fc_http_exchange *_Nonnull exchange, const char *_Nonnull name);
/// The query's pairs, decoded, in order; 0 past the last. A key without "=" has a null value.
int fc_http_query(const fc_http_exchange *_Nonnull exchange, size_t index, const char *_Nullable *_Nonnull key, const char *_Nullable *_Nonnull value);
const char *_Nullable fc_http_body(const fc_http_exchange *_Nonnull exchange, size_t *_Nonnull size);

/// Answers with these bytes (copied). `allow`: the Allow header of a 405. Once per exchange.
int fc_http_answer(fc_http_exchange *_Nonnull exchange, int status, const char *_Nonnull type, const char *_Nullable allow, const char *_Nonnull bytes, size_t size);
/// Answers with a stream of unknown length, pulled by `piece`. Once per exchange.
int fc_http_stream(fc_http_exchange *_Nonnull exchange, const char *_Nonnull type);
/// A parked stream has something again (or is to end).
void fc_http_wake(fc_http_exchange *_Nonnull exchange);

#ifdef __cplusplus
}
#endif
#endif
