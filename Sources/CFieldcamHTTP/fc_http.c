#define _GNU_SOURCE
#include "fc_http.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// An open connection; its deadline is 0 while a request is being answered.
typedef struct {
	int descriptor;
	int64_t deadline_ns;
} connection_slot;

struct fc_http {
	struct MHD_Daemon *daemon;
	fc_http_limits limits;
	fc_http_callbacks callbacks;
	// Holds the library's own epoll and, for hang-ups alone, the sockets that it doesn't watch while they are parked.
	int epoll;
	connection_slot *slots;
	fc_http_exchange *exchanges;
	bool stopping;
	bool resumed;
};

struct fc_http_exchange {
	fc_http *http;
	fc_http_exchange *next;
	struct MHD_Connection *connection;
	connection_slot *slot;
	struct MHD_Response *response;
	int status;
	char *method;
	char *path;
	char *body;
	size_t body_size;
	size_t body_room;
	int fault;
	bool arrived;
	bool parked;
	bool gone;
};

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void park(fc_http_exchange *exchange)
{
	struct epoll_event event = {.events = 0, .data.ptr = exchange};
	exchange->parked = true;
	MHD_suspend_connection(exchange->connection);
	// EPOLLHUP is always reported: a vanished client is noticed although the library doesn't watch it.
	if (exchange->slot)
		epoll_ctl(exchange->http->epoll, EPOLL_CTL_ADD, exchange->slot->descriptor, &event);
}

static void resume(fc_http_exchange *exchange)
{
	if (!exchange->parked)
		return;
	exchange->parked = false;
	if (exchange->slot)
		epoll_ctl(exchange->http->epoll, EPOLL_CTL_DEL, exchange->slot->descriptor, NULL);
	MHD_resume_connection(exchange->connection);
	exchange->http->resumed = true;
}

// Requests

static enum MHD_Result add_size(void *sum, enum MHD_ValueKind kind, const char *key, const char *value)
{
	(void)kind;
	*(size_t *)sum += strlen(key) + (value ? strlen(value) : 0) + 4;
	return MHD_YES;
}

static fc_http_exchange *new_exchange(fc_http *http, struct MHD_Connection *connection, const char *path, const char *method)
{
	fc_http_exchange *exchange = calloc(1, sizeof *exchange);
	if (!exchange)
		return NULL;
	exchange->http = http;
	exchange->connection = connection;
	exchange->path = strdup(path);
	exchange->method = strdup(method);
	if (!exchange->path || !exchange->method) {
		free(exchange->path);
		free(exchange->method);
		free(exchange);
		return NULL;
	}
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	exchange->slot = info ? info->socket_context : NULL;
	exchange->next = http->exchanges;
	http->exchanges = exchange;
	return exchange;
}

static bool grow(fc_http_exchange *exchange, size_t needed)
{
	size_t room = exchange->body_room ? exchange->body_room : 1024;
	while (room < needed)
		room *= 2;
	if (room == exchange->body_room)
		return true;
	char *body = realloc(exchange->body, room);
	if (!body)
		return false;
	exchange->body = body;
	exchange->body_room = room;
	return true;
}

static enum MHD_Result queue(fc_http_exchange *exchange)
{
	return MHD_queue_response(exchange->connection, (unsigned)exchange->status, exchange->response);
}

static enum MHD_Result hand_over(fc_http_exchange *exchange)
{
	fc_http *http = exchange->http;
	exchange->arrived = true;
	if (exchange->slot)
		exchange->slot->deadline_ns = 0;
	http->callbacks.arrived(http->callbacks.context, exchange, exchange->fault);
	if (exchange->response)
		return queue(exchange);
	if (exchange->fault || http->stopping)
		return MHD_NO;
	park(exchange);
	return MHD_YES;
}

static enum MHD_Result handle(
	void *context, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
	const char *upload, size_t *upload_size, void **state)
{
	fc_http *http = context;
	fc_http_exchange *exchange = *state;
	(void)version;
	if (!exchange) {
		exchange = new_exchange(http, connection, url, method);
		*state = exchange;
		if (!exchange)
			return MHD_NO;
		size_t header_bytes = 0;
		MHD_get_connection_values(connection, MHD_HEADER_KIND, add_size, &header_bytes);
		const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
		if (header_bytes > http->limits.header_bytes)
			exchange->fault = FC_HTTP_HEADERS_TOO_LARGE;
		else if (length && strtoull(length, NULL, 10) > http->limits.body_bytes)
			exchange->fault = FC_HTTP_BODY_TOO_LARGE;
		// Answered before the body: the library closes the connection instead of reading it.
		return exchange->fault ? hand_over(exchange) : MHD_YES;
	}
	if (*upload_size > 0) {
		// A chunked body doesn't say its length before: what is too much is read, bounded by the deadline, and not kept.
		size_t size = *upload_size;
		*upload_size = 0;
		if (exchange->fault)
			return MHD_YES;
		if (size > http->limits.body_bytes - exchange->body_size) {
			exchange->fault = FC_HTTP_BODY_TOO_LARGE;
			exchange->body_size = 0;
			return MHD_YES;
		}
		if (!grow(exchange, exchange->body_size + size))
			return MHD_NO;
		memcpy(exchange->body + exchange->body_size, upload, size);
		exchange->body_size += size;
		return MHD_YES;
	}
	if (!exchange->arrived)
		return hand_over(exchange);
	if (exchange->response)
		return queue(exchange);
	if (exchange->gone || http->stopping)
		return MHD_NO;
	park(exchange);
	return MHD_YES;
}

static void completed(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code)
{
	fc_http *http = context;
	fc_http_exchange *exchange = *state;
	(void)connection;
	(void)code;
	if (!exchange)
		return;
	*state = NULL;
	if (exchange->arrived)
		http->callbacks.over(http->callbacks.context, exchange);
	if (exchange->slot)
		exchange->slot->deadline_ns = now_ns() + http->limits.request_deadline_ns;
	for (fc_http_exchange **link = &http->exchanges; *link; link = &(*link)->next) {
		if (*link == exchange) {
			*link = exchange->next;
			break;
		}
	}
	if (exchange->response)
		MHD_destroy_response(exchange->response);
	free(exchange->body);
	free(exchange->path);
	free(exchange->method);
	free(exchange);
}

// Connections

static void connection_changed(void *context, struct MHD_Connection *connection, void **state, enum MHD_ConnectionNotificationCode code)
{
	fc_http *http = context;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		for (int i = 0; info && i < http->limits.connections; i++) {
			if (http->slots[i].descriptor < 0) {
				http->slots[i].descriptor = info->connect_fd;
				http->slots[i].deadline_ns = now_ns() + http->limits.request_deadline_ns;
				*state = &http->slots[i];
				return;
			}
		}
	} else if (*state) {
		((connection_slot *)*state)->descriptor = -1;
		*state = NULL;
	}
}

int fc_http_connections(const fc_http *http)
{
	int count = 0;
	for (int i = 0; i < http->limits.connections; i++)
		count += http->slots[i].descriptor >= 0;
	return count;
}

int fc_http_accept(int listener)
{
	int client = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	return client < 0 ? -errno : client;
}

int fc_http_adopt(fc_http *http, int descriptor)
{
	struct sockaddr_storage address = {.ss_family = AF_UNIX};
	if (fc_http_connections(http) >= http->limits.connections) {
		close(descriptor);
		return -EMFILE;
	}
	// The library closes the socket itself if it can't take it. It may take it only in its next run: run before the next one.
	if (MHD_add_connection(http->daemon, descriptor, (struct sockaddr *)&address, sizeof(sa_family_t)) != MHD_YES)
		return -EIO;
	fc_http_run(http);
	return 0;
}

void fc_http_refuse(int descriptor, const char *bytes, size_t size)
{
	if (send(descriptor, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
		shutdown(descriptor, SHUT_WR);
	close(descriptor);
}

// The loop

int fc_http_start(const fc_http_limits *limits, const fc_http_callbacks *callbacks, fc_http **out)
{
	int error = -ENOMEM;
	fc_http *http = calloc(1, sizeof *http);
	*out = NULL;
	if (!http)
		return error;
	http->limits = *limits;
	http->callbacks = *callbacks;
	http->epoll = epoll_create1(EPOLL_CLOEXEC);
	http->slots = calloc((size_t)limits->connections, sizeof *http->slots);
	if (http->epoll < 0)
		error = -errno;
	if (http->epoll < 0 || !http->slots)
		goto failed;
	for (int i = 0; i < limits->connections; i++)
		http->slots[i].descriptor = -1;
	// Room for the largest headers, what the library makes of them, and an answer's headers.
	http->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, http,
		MHD_OPTION_NOTIFY_COMPLETED, completed, http, MHD_OPTION_NOTIFY_CONNECTION, connection_changed, http,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)limits->connections + 1, MHD_OPTION_CONNECTION_TIMEOUT, limits->idle_seconds,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(3 * limits->header_bytes), MHD_OPTION_END);
	if (!http->daemon) {
		error = -EIO;
		goto failed;
	}
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
	if (!info || epoll_ctl(http->epoll, EPOLL_CTL_ADD, info->epoll_fd, &event) != 0) {
		error = -EIO;
		MHD_stop_daemon(http->daemon);
		goto failed;
	}
	*out = http;
	return 0;
failed:
	if (http->epoll >= 0)
		close(http->epoll);
	free(http->slots);
	free(http);
	return error;
}

void fc_http_run(fc_http *http)
{
	struct epoll_event events[16];
	int64_t now = now_ns();
	int count = epoll_wait(http->epoll, events, 16, 0);
	for (int i = 0; i < count; i++) {
		fc_http_exchange *exchange = events[i].data.ptr;
		if (exchange) {
			exchange->gone = true;
			resume(exchange);
		}
	}
	for (int i = 0; i < http->limits.connections; i++) {
		connection_slot *slot = &http->slots[i];
		if (slot->descriptor >= 0 && slot->deadline_ns && slot->deadline_ns <= now) {
			// The library then reads the end of the stream and closes it.
			shutdown(slot->descriptor, SHUT_RDWR);
			slot->deadline_ns = 0;
		}
	}
	http->resumed = false;
	MHD_run(http->daemon);
}

int fc_http_descriptor(const fc_http *http) { return http->epoll; }

int64_t fc_http_deadline_ns(const fc_http *http)
{
	int64_t first = -1;
	MHD_UNSIGNED_LONG_LONG milliseconds = 0;
	if (http->resumed)
		return 0;
	if (MHD_get_timeout(http->daemon, &milliseconds) == MHD_YES)
		first = milliseconds == 0 ? 0 : now_ns() + (int64_t)milliseconds * 1000000;
	for (int i = 0; i < http->limits.connections; i++) {
		const connection_slot *slot = &http->slots[i];
		if (slot->descriptor >= 0 && slot->deadline_ns && (first < 0 || slot->deadline_ns < first))
			first = slot->deadline_ns;
	}
	return first;
}

void fc_http_stop(fc_http *http)
{
	http->stopping = true;
	// The library aborts the process if it is stopped while a connection is suspended.
	for (fc_http_exchange *exchange = http->exchanges; exchange; exchange = exchange->next)
		resume(exchange);
	MHD_run(http->daemon);
	MHD_stop_daemon(http->daemon);
	close(http->epoll);
	free(http->slots);
	free(http);
}

// What came

const char *fc_http_method(const fc_http_exchange *exchange) { return exchange->method; }
const char *fc_http_path(const fc_http_exchange *exchange) { return exchange->path; }

const char *fc_http_header(const fc_http_exchange *exchange, const char *name)
{
	return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

typedef struct {
	size_t left;
	const char **key;
	const char **value;
	int found;
} query_search;

static enum MHD_Result count_query(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
	query_search *search = context;
	(void)kind;
	if (search->left-- > 0)
		return MHD_YES;
	*search->key = key;
	*search->value = value;
	search->found = 1;
	return MHD_NO;
}

int fc_http_query(const fc_http_exchange *exchange, size_t index, const char **key, const char **value)
{
	query_search search = {.left = index, .key = key, .value = value, .found = 0};
	*key = *value = NULL;
	MHD_get_connection_values(exchange->connection, MHD_GET_ARGUMENT_KIND, count_query, &search);
	return search.found;
}

const char *fc_http_body(const fc_http_exchange *exchange, size_t *size)
{
	*size = exchange->body_size;
	return exchange->body;
}

// Answers

static int respond(fc_http_exchange *exchange, int status, struct MHD_Response *response, const char *type)
{
	if (!response)
		return -ENOMEM;
	if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) != MHD_YES ||
	    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store") != MHD_YES) {
		MHD_destroy_response(response);
		return -ENOMEM;
	}
	exchange->response = response;
	exchange->status = status;
	resume(exchange);
	return 0;
}

int fc_http_answer(fc_http_exchange *exchange, int status, const char *type, const char *allow, const char *bytes, size_t size)
{
	if (exchange->response)
		return -EALREADY;
	struct MHD_Response *response = MHD_create_response_from_buffer(size, (void *)bytes, MHD_RESPMEM_MUST_COPY);
	if (response && allow && MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allow) != MHD_YES) {
		MHD_destroy_response(response);
		return -ENOMEM;
	}
	return respond(exchange, status, response, type);
}

static ssize_t pull(void *context, uint64_t position, char *into, size_t room)
{
	fc_http_exchange *exchange = context;
	fc_http *http = exchange->http;
	(void)position;
	if (exchange->gone)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	ssize_t size = http->callbacks.piece(http->callbacks.context, exchange, into, room);
	if (size > 0)
		return size;
	if (size < 0 || http->stopping)
		return MHD_CONTENT_READER_END_OF_STREAM;
	park(exchange);
	return 0;
}

int fc_http_stream(fc_http_exchange *exchange, const char *type)
{
	if (exchange->response)
		return -EALREADY;
	return respond(exchange, MHD_HTTP_OK, MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, pull, exchange, NULL), type);
}

void fc_http_wake(fc_http_exchange *exchange) { resume(exchange); }
