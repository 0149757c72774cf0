/* SPDX-License-Identifier: Apache-2.0 */
/* http.c - the states of http.h. Everything that comes in is somebody's claim. */
#define _GNU_SOURCE
#include "live/http.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live/wire.h"

#define PATIENCE 10000   /* ms without a byte */
#define REQUEST_MAX 8192 /* bytes of a request */
#define CHUNK_HEAD 8     /* "3fff\r\n", with room */
#define CHUNK_TAIL 2     /* "\r\n" */
#define CHUNK_LAST "0\r\n\r\n"

static void assert_conn(const struct wf_http_conn *c)
{
	assert(c->state <= WF_HTTP_WRITES);
	assert((c->state == WF_HTTP_FREE) == (c->fd < 0));
	assert(c->done <= c->have && c->have <= sizeof(c->text));
	assert(c->state != WF_HTTP_READS || c->done == 0);
	(void)c;
}

static void close_conn(struct wf_http_conn *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->state = WF_HTTP_FREE;
	c->have = c->done = 0;
}

/* ---- the page ---- */

/* Puts the next piece into text, which is empty. */
static void make_piece(struct wf_daemon *d, struct wf_http_conn *c)
{
	size_t head = c->chunked ? CHUNK_HEAD : 0, n;
	char size[CHUNK_HEAD + 1];

	assert(c->done == c->have && !c->last);
	c->done = 0;
	n = wf_metrics_write(d, &c->at, c->text + head, sizeof(c->text) - head - CHUNK_TAIL);
	c->have = (uint32_t)n;
	c->last = n == 0;
	if (!c->chunked)
		return;
	if (n == 0) {
		c->have = sizeof(CHUNK_LAST) - 1;
		memcpy(c->text, CHUNK_LAST, c->have);
		return;
	}
	/* The size is as long as the room before the text: zeros lead. */
	snprintf(size, sizeof(size), "%06zx\r\n", n);
	memcpy(c->text, size, CHUNK_HEAD);
	memcpy(c->text + CHUNK_HEAD + n, "\r\n", CHUNK_TAIL);
	c->have = (uint32_t)(CHUNK_HEAD + n + CHUNK_TAIL);
}

/* A head without a page, which is all that is sent; the words are the status. */
static void say(struct wf_http_conn *c, const char *words)
{
	int n = snprintf(c->text, sizeof(c->text),
	                 "HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", words);

	assert(n > 0 && (size_t)n < sizeof(c->text));
	c->have = (uint32_t)n;
	c->last = true;
}

/* The request is in text: "GET /metrics HTTP/1.1", and lines that nobody looks at. */
static void read_request(struct wf_http_conn *c)
{
	char method[8] = "", path[128] = "", version[16] = "";
	bool get, head;

	c->text[c->have < sizeof(c->text) ? c->have : sizeof(c->text) - 1] = '\0';
	c->state = WF_HTTP_WRITES;
	c->done = 0;
	c->at = (struct wf_metrics_at){ 0 };
	c->last = false;
	if (sscanf(c->text, "%7[A-Z] %127s %15s", method, path, version) != 3 ||
	    strncmp(version, "HTTP/1.", 7) != 0) {
		say(c, "400 Bad Request");
		return;
	}
	get = strcmp(method, "GET") == 0;
	head = strcmp(method, "HEAD") == 0;
	path[strcspn(path, "?#")] = '\0';
	if (!get && !head) {
		say(c, "405 Method Not Allowed");
		return;
	}
	if (strcmp(path, "/metrics") != 0 && strcmp(path, "/") != 0) {
		say(c, "404 Not Found");
		return;
	}
	c->chunked = get && strcmp(version, "HTTP/1.0") != 0;
	c->have = (uint32_t)snprintf(c->text, sizeof(c->text),
	                             "HTTP/1.1 200 OK\r\n"
	                             "Content-Type: text/plain; version=0.0.4\r\n"
	                             "%sConnection: close\r\n\r\n",
	                             c->chunked ? "Transfer-Encoding: chunked\r\n" : "");
	c->last = head;
}

/* ---- the connection ---- */

static void take_in(struct wf_daemon *d, struct wf_http_conn *c)
{
	ssize_t n = recv(c->fd, c->text + c->have, REQUEST_MAX - c->have, MSG_DONTWAIT);

	_Static_assert(REQUEST_MAX < sizeof(c->text), "with its end, it fits");
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close_conn(c);
		return;
	}
	c->have += (uint32_t)n;
	c->since = wf_daemon_now();
	if (memmem(c->text, c->have, "\r\n\r\n", 4) != NULL ||
	    memmem(c->text, c->have, "\n\n", 2) != NULL) {
		read_request(c);
	} else if (c->have == REQUEST_MAX) {
		c->state = WF_HTTP_WRITES;
		say(c, "431 Request Header Fields Too Large");
	}
	if (c->state == WF_HTTP_WRITES &&
	    wf_watch_change(d->epoll, c->fd, EPOLLOUT, &c->watch) != 0)
		close_conn(c);
}

/* One piece, or as much of it as the reader takes. */
static void give_out(struct wf_daemon *d, struct wf_http_conn *c)
{
	ssize_t n;

	if (c->done == c->have && !c->last)
		make_piece(d, c);
	assert(c->done < c->have || c->last);
	n = send(c->fd, c->text + c->done, c->have - c->done, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n >= 0) {
		c->done += (uint32_t)n;
		c->since = wf_daemon_now();
	}
	if (n < 0 || (c->done == c->have && c->last))
		close_conn(c);
}

static void conn_ready(struct wf_daemon *d, struct wf_watch *w, uint32_t events)
{
	struct wf_http_conn *c = wf_container_of(w, struct wf_http_conn, watch);

	(void)events;
	assert_conn(c);
	if (c->state == WF_HTTP_READS)
		take_in(d, c);
	else if (c->state == WF_HTTP_WRITES)
		give_out(d, c);
	assert_conn(c);
}

/* A place for one more. */
static struct wf_http_conn *find_place(struct wf_http *h)
{
	struct wf_http_conn *oldest = &h->conn[0];

	for (unsigned i = 0; i < WF_HTTP_CONNS; i++) {
		if (h->conn[i].state == WF_HTTP_FREE)
			return &h->conn[i];
		if (h->conn[i].since < oldest->since)
			oldest = &h->conn[i];
	}
	close_conn(oldest);
	return oldest;
}

int wf_http_take(struct wf_daemon *d, int fd)
{
	struct wf_http_conn *c = find_place(d->http);
	int ret = wf_watch_add(d->epoll, fd, EPOLLIN, &c->watch);

	assert(c->state == WF_HTTP_FREE && c->have == 0);
	if (ret != 0) {
		close(fd);
		return ret;
	}
	c->fd = fd;
	c->state = WF_HTTP_READS;
	c->since = wf_daemon_now();
	assert_conn(c);
	return 0;
}

static void let_in(struct wf_daemon *d, struct wf_watch *w, uint32_t events)
{
	int fd = accept4(d->http->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)w;
	(void)events;
	if (fd >= 0)
		(void)!wf_http_take(d, fd);
	else if (errno == EMFILE || errno == ENFILE)
		wf_daemon_turn_away(d, d->http->listener);
}

void wf_http_age(struct wf_daemon *d)
{
	uint64_t now = wf_daemon_now();

	for (unsigned i = 0; d->http != NULL && i < WF_HTTP_CONNS; i++) {
		struct wf_http_conn *c = &d->http->conn[i];

		if (c->state != WF_HTTP_FREE && now - c->since >= PATIENCE)
			close_conn(c);
	}
}

int wf_http_rest(const struct wf_daemon *d)
{
	for (unsigned i = 0; d->http != NULL && i < WF_HTTP_CONNS; i++) {
		if (d->http->conn[i].state != WF_HTTP_FREE)
			return PATIENCE / 2;
	}
	return -1;
}

int wf_http_open(struct wf_daemon *d, uint32_t ipv4, uint16_t port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_port = htons(port),
		                  .sin_addr = { htonl(ipv4) } };
	struct wf_http *h = calloc(1, sizeof(*h));
	int on = 1;

	if (h == NULL)
		return -ENOMEM;
	d->http = h;
	h->watch.ready = let_in;
	for (unsigned i = 0; i < WF_HTTP_CONNS; i++) {
		h->conn[i].watch.ready = conn_ready;
		h->conn[i].fd = -1;
	}
	h->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->listener < 0)
		return -errno;
	(void)setsockopt(h->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(h->listener, (struct sockaddr *)&at, sizeof(at)) != 0 ||
	    listen(h->listener, WF_HTTP_CONNS) != 0)
		return -errno;
	return wf_watch_add(d->epoll, h->listener, EPOLLIN, &h->watch);
}

void wf_http_close(struct wf_daemon *d)
{
	struct wf_http *h = d->http;

	if (h == NULL)
		return;
	for (unsigned i = 0; i < WF_HTTP_CONNS; i++)
		close_conn(&h->conn[i]);
	if (h->listener >= 0)
		close(h->listener);
	free(h);
	d->http = NULL;
}
