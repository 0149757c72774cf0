/* SPDX-License-Identifier: Apache-2.0 */
/* http.c - what is asked by HTTP, and who may stay. All that comes in is somebody's claim. */
#define _GNU_SOURCE
#include "live/http.h"

#include <assert.h>
#include <limits.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/metrics.h"

#define PATIENCE 10u /* seconds */
#define PIECE 4096   /* bytes of a page that are made at once; any line of it fits */

/* A page that somebody reads. */
struct page {
	struct wf_daemon *d;
	struct wf_http_conn *reader;
	struct wf_metrics_at at; /* how far it is made */
	uint32_t have, done;     /* bytes in text, and those of them that are taken */
	char text[PIECE];
};

static void assert_http(const struct wf_http *h)
{
#ifndef NDEBUG
	uint32_t n = 0;

	for (unsigned i = 0; i < WF_HTTP_CONNS; i++) {
		assert((h->conn[i].mhd != NULL) == (h->conn[i].fd >= 0));
		assert(h->conn[i].since <= h->round);
		n += h->conn[i].mhd != NULL;
	}
	assert(n == h->n_conns);
#else
	(void)h;
#endif
}

/* ---- the page ---- */

/* As much of the page as fits; libmicrohttpd asks when the reader took what was before. */
static ssize_t give_piece(void *arg, uint64_t pos, char *to, size_t size)
{
	struct page *p = arg;
	size_t n;

	(void)pos;
	p->reader->since = ++p->d->http->round;
	if (p->done == p->have) {
		p->done = 0;
		p->have = (uint32_t)wf_metrics_write(p->d, &p->at, p->text, sizeof(p->text));
		if (p->have == 0)
			return MHD_CONTENT_READER_END_OF_STREAM;
	}
	n = p->have - p->done < size ? p->have - p->done : size;
	memcpy(to, p->text + p->done, n);
	p->done += (uint32_t)n;
	return (ssize_t)n;
}

/* The response is the library's from here on, whatever becomes of it. */
static enum MHD_Result send_response(struct MHD_Connection *c, unsigned status,
                                     struct MHD_Response *response, const char *header,
                                     const char *value)
{
	enum MHD_Result ok = MHD_NO;

	if (response == NULL)
		return MHD_NO;
	/* Who asks again comes again: places are few. */
	if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES &&
	    (header == NULL || MHD_add_response_header(response, header, value) == MHD_YES))
		ok = MHD_queue_response(c, status, response);
	MHD_destroy_response(response);
	return ok;
}

static enum MHD_Result send_page(struct wf_daemon *d, struct MHD_Connection *c, bool head)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct MHD_Response *response;
	struct page *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return MHD_NO;
	p->d = d;
	p->reader = info->socket_context;
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, give_piece, p, free);
	if (response == NULL) {
		free(p);
		return MHD_NO;
	}
	/* Of a page in chunks libmicrohttpd 0.9.75 sends the last, empty one, with the head too. */
	if (head && MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT,
	                                     MHD_RO_END) != MHD_YES) {
		MHD_destroy_response(response);
		return MHD_NO;
	}
	return send_response(c, MHD_HTTP_OK, response, MHD_HTTP_HEADER_CONTENT_TYPE,
	                     "text/plain; version=0.0.4");
}

/* A head without a page; NULL: no header more. */
static enum MHD_Result refuse(struct MHD_Connection *c, unsigned status, const char *header,
                              const char *value)
{
	return send_response(c, status,
	                     MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT), header,
	                     value);
}

/* Somebody has asked; what he sends besides, nobody looks at. MHD_NO: he is let go. */
static enum MHD_Result answer(void *arg, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **request)
{
	bool head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)request;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && !head)
		return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (strcmp(url, "/metrics") != 0 && strcmp(url, "/") != 0)
		return refuse(c, MHD_HTTP_NOT_FOUND, NULL, NULL);
	return send_page(arg, c, head);
}

/* ---- connections ---- */

/* A connection is there, which takes the place that waits for it, or is gone. */
static void notice(void *arg, struct MHD_Connection *c, void **place,
                   enum MHD_ConnectionNotificationCode what)
{
	struct wf_http *h = arg;
	struct wf_http_conn *conn = *place;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		conn = h->conn;
		while (conn->fd < 0 || conn->mhd != NULL)
			conn++;
		assert(conn < h->conn + WF_HTTP_CONNS);
		conn->mhd = c;
		*place = conn;
		h->n_conns++;
	} else {
		assert(conn->mhd == c && h->n_conns > 0);
		conn->mhd = NULL;
		conn->fd = -1;
		h->n_conns--;
	}
}

/* Does a round of what the library has to do. */
static void go_on(struct wf_http *h)
{
	h->due = false;
	(void)MHD_run(h->mhd);
	assert_http(h);
}

/* Ends a connection as if its peer had: the library notices. */
static void end_conn(struct wf_http *h, struct wf_http_conn *c)
{
	(void)shutdown(c->fd, SHUT_RDWR);
	for (int i = 0; i < 4 && c->mhd != NULL; i++)
		go_on(h);
}

/* A place for one more from there; NULL: there is none. */
static struct wf_http_conn *find_place(struct wf_http *h, const uint8_t from[16])
{
	struct wf_http_conn *place = NULL, *oldest = NULL, *own = NULL;
	unsigned n_own = 0;

	for (struct wf_http_conn *c = h->conn; c < h->conn + WF_HTTP_CONNS; c++) {
		if (c->mhd == NULL) {
			place = place != NULL ? place : c;
			continue;
		}
		if (oldest == NULL || c->since < oldest->since)
			oldest = c;
		if (memcmp(c->from, from, sizeof(c->from)) != 0)
			continue;
		if (own == NULL || c->since < own->since)
			own = c;
		n_own++;
	}
	if (n_own >= WF_HTTP_PER_IP)
		oldest = own;
	else if (place != NULL)
		return place;
	end_conn(h, oldest);
	return oldest->mhd == NULL ? oldest : NULL;
}

static void read_address(const struct sockaddr *from, uint8_t ip[16])
{
	memset(ip, 0, 16);
	if (from != NULL && from->sa_family == AF_INET) {
		ip[10] = ip[11] = 0xff;
		memcpy(ip + 12, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
	} else if (from != NULL && from->sa_family == AF_INET6) {
		memcpy(ip, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, 16);
	}
}

int wf_http_take(struct wf_daemon *d, int fd, const struct sockaddr *from, socklen_t len)
{
	struct wf_http *h = d->http;
	struct wf_http_conn *c;
	uint8_t ip[16];

	read_address(from, ip);
	c = find_place(h, ip);
	if (c == NULL) {
		close(fd);
		return -EBUSY;
	}
	assert(c->mhd == NULL && c->fd < 0);
	memcpy(c->from, ip, sizeof(ip));
	c->fd = fd;
	c->since = ++h->round;
	/* From here on the library closes it; one that it does not keep, too. */
	if (MHD_add_connection(h->mhd, fd, from, len) != MHD_YES) {
		assert(c->mhd == NULL);
		c->fd = -1;
		return -ENOMEM;
	}
	h->due = true;
	assert_http(h);
	return 0;
}

static void let_in(struct wf_daemon *d, struct wf_watch *w, uint32_t events)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	int fd = accept4(d->http->listener, (void *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)w;
	(void)events;
	if (fd >= 0)
		(void)!wf_http_take(d, fd, (const void *)&from, len);
	else if (errno == EMFILE || errno == ENFILE)
		wf_daemon_turn_away(d, d->http->listener);
}

static void move(struct wf_daemon *d, struct wf_watch *w, uint32_t events)
{
	(void)w;
	(void)events;
	d->http->due = true;
}

void wf_http_serve(struct wf_daemon *d)
{
	if (d->http != NULL && (d->http->due || wf_http_rest(d) == 0))
		go_on(d->http);
}

int wf_http_rest(const struct wf_daemon *d)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (d->http == NULL || d->http->n_conns == 0 ||
	    MHD_get_timeout(d->http->mhd, &ms) != MHD_YES)
		return -1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* ---- begin and end ---- */

static int start_listening(struct wf_http *h, const struct sockaddr_storage *at)
{
	socklen_t len = at->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
	                                          : sizeof(struct sockaddr_in);
	int on = 1;

	h->listener = socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->listener < 0)
		return -errno;
	(void)setsockopt(h->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(h->listener, (const void *)at, len) != 0 ||
	    listen(h->listener, WF_HTTP_CONNS) != 0)
		return -errno;
	return 0;
}

int wf_http_open(struct wf_daemon *d, const struct sockaddr_storage *at)
{
	struct wf_http *h = calloc(1, sizeof(*h));
	const union MHD_DaemonInfo *info;
	int ret;

	if (h == NULL)
		return -ENOMEM;
	d->http = h;
	h->knocks.ready = let_in;
	h->moves.ready = move;
	for (unsigned i = 0; i < WF_HTTP_CONNS; i++)
		h->conn[i].fd = -1;
	ret = start_listening(h, at);
	if (ret != 0)
		return ret;
	/* We listen ourselves: who comes when there is no descriptor is let in and out. */
	h->mhd = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, answer,
	                          d, MHD_OPTION_CONNECTION_LIMIT, WF_HTTP_CONNS,
	                          MHD_OPTION_CONNECTION_TIMEOUT, PATIENCE,
	                          MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)WF_HTTP_BYTES,
	                          MHD_OPTION_NOTIFY_CONNECTION, notice, h, MHD_OPTION_END);
	if (h->mhd == NULL)
		return -ENOMEM;
	info = MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	ret = wf_watch_add(d->epoll, info->epoll_fd, EPOLLIN, &h->moves);
	return ret != 0 ? ret : wf_watch_add(d->epoll, h->listener, EPOLLIN, &h->knocks);
}

void wf_http_close(struct wf_daemon *d)
{
	struct wf_http *h = d->http;

	if (h == NULL)
		return;
	if (h->mhd != NULL)
		MHD_stop_daemon(h->mhd);
	assert(h->n_conns == 0);
	if (h->listener >= 0)
		close(h->listener);
	free(h);
	d->http = NULL;
}
