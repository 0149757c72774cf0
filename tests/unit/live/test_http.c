/* SPDX-License-Identifier: Apache-2.0 */
/* test_http.c - the daemon's answers to HTTP: right ones, and to those who do not behave. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "live/http.h"

#define HOSTS 500

struct rig {
	struct wf_daemon d;
	struct wf_dgone gone[HOSTS];
};

static int set_up(void **state)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
		                        .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct rig *r = calloc(1, sizeof(*r));
	struct sockaddr_storage any = { 0 };

	assert_non_null(r);
	memcpy(&any, &at, sizeof(at)); /* at any port */
	r->d.epoll = epoll_create1(EPOLL_CLOEXEC);
	r->d.spare = -1;
	r->d.table = calloc(1, wf_live_table_bytes(HOSTS));
	assert_non_null(r->d.table);
	r->d.table->n_hosts = HOSTS;
	r->d.gone = (void *)r->gone;
	for (uint32_t i = 0; i < HOSTS; i++) {
		snprintf(r->d.table->host[i].name, WF_LIVE_NAME, "host%u", i);
		r->gone[i].count[WF_CTR_TX_PACKETS] = i;
	}
	assert_int_equal(wf_http_open(&r->d, &any), 0);
	*state = r;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *r = *state;

	wf_http_close(&r->d);
	close(r->d.epoll);
	free(r->d.table);
	free(r);
	return 0;
}

/* Somebody who has connected from 10.0.0.0 + number: the near end of it. */
static int connect_from(struct rig *r, uint32_t number)
{
	const struct sockaddr_in from = { .sin_family = AF_INET,
		                          .sin_addr = { htonl(0x0a000000 + number) } };
	int pair[2], little = 8192;

	/*
	 * The daemon's end has room for less than a piece, and would wait for more, if it did not
	 * say each time that it will not.
	 */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(fcntl(pair[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &little, sizeof(little)), 0);
	assert_int_equal(wf_http_take(&r->d, pair[1], (const void *)&from, sizeof(from)), 0);
	return pair[0];
}

static int connect_to(struct rig *r)
{
	return connect_from(r, 1);
}

/* A round of the loop. Returns how many were ready. */
static int step(struct rig *r)
{
	struct epoll_event events[64];
	int n = epoll_wait(r->d.epoll, events, 64, 0);

	for (int i = 0; i < n; i++) {
		struct wf_watch *w = events[i].data.ptr;

		w->ready(&r->d, w, events[i].events);
	}
	wf_http_serve(&r->d);
	return n;
}

/* Sends a request, and reads all that comes; the caller frees it. */
static char *ask(struct rig *r, uint32_t from, const char *request, size_t bytes)
{
	int fd = connect_from(r, from);
	size_t size = 0, room = 1 << 22;
	char *text = calloc(1, room);
	ssize_t n = -1;

	assert_non_null(text);
	assert_int_equal(write(fd, request, bytes), bytes);
	for (int i = 0; i < 1000000 && n != 0; i++) {
		(void)step(r);
		n = read(fd, text + size, room - 1 - size);
		if (n > 0)
			size += (size_t)n;
		else if (n < 0)
			assert_true(errno == EAGAIN || errno == ECONNRESET);
		if (n < 0 && errno == ECONNRESET)
			n = 0;
	}
	assert_int_equal(n, 0);
	close(fd);
	return text;
}

static char *ask_from(struct rig *r, uint32_t from, const char *request)
{
	return ask(r, from, request, strlen(request));
}

static char *ask_text(struct rig *r, const char *request)
{
	return ask_from(r, 1, request);
}

/* Puts the chunks of a body together, in place. */
static void join_chunks(char *body)
{
	char *to = body, *from = body;
	unsigned long n;

	for (;;) {
		char *end;

		n = strtoul(from, &end, 16);
		assert_true(end != from && end[0] == '\r' && end[1] == '\n');
		if (n == 0)
			break;
		memmove(to, end + 2, n);
		to += n;
		from = end + 2 + n;
		assert_memory_equal(from, "\r\n", 2);
		from += 2;
	}
	assert_string_equal(from, "0\r\n\r\n");
	*to = '\0';
}

static void test_page(void **state)
{
	struct rig *r = *state;
	char *old = ask_text(r, "GET /metrics HTTP/1.0\r\n\r\n");
	char *new = ask_text(r, "GET / HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n");
	char *head = ask_text(r, "HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
	char *body = strstr(new, "\r\n\r\n") + 4;
	unsigned lines = 0;

	assert_memory_equal(old, "HTTP/1.1 200 OK\r\n", 17);
	assert_non_null(strstr(new, "Transfer-Encoding: chunked\r\n"));
	join_chunks(body);
	assert_string_equal(body, strstr(old, "\r\n\r\n") + 4);
	for (const char *at = body; (at = strstr(at, "\nnode_infiniband_port_packets_t")) != NULL;
	     at++)
		lines++;
	assert_int_equal(lines, HOSTS);
	assert_non_null(strstr(body, "\nnode_infiniband_port_packets_transmitted_total{"
	                             "host=\"host77\",device=\"weft0\",port=\"1\"} 77\n"));
	assert_null(strstr(body, "weft_switch_port")); /* there is no model */
	assert_memory_equal(head, "HTTP/1.1 200 OK\r\n", 17);
	assert_string_equal(strstr(head, "\r\n\r\n"), "\r\n\r\n");
	free(old);
	free(new);
	free(head);
}

static void test_refused(void **state)
{
	static const struct {
		const char *request, *status, *also;
	} cases[] = {
		{ "GET /other HTTP/1.1\r\n\r\n", "404", "\r\n\r\n" },
		{ "GET /metrics/.. HTTP/1.1\r\n\r\n", "404", "\r\n\r\n" },
		{ "POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "405",
		  "Allow: GET, HEAD\r\n" },
		{ "DELETE /metrics HTTP/1.1\r\n\r\n", "405", "Allow: GET, HEAD\r\n" },
		{ "GET /metrics RTSP/1.0\r\n\r\n", "400", "\r\n\r\n" },
		{ "GET /metrics HTTP/2.0\r\n\r\n", "505", "\r\n\r\n" },
		{ "get /metrics HTTP/1.1\r\n\r\n", "405", "\r\n\r\n" },
		{ "GET /metrics?a=b HTTP/1.1\r\n\r\n", "200",
		  "Content-Type: text/plain; version=0.0.4\r\n" },
	};
	char noise[3 * WF_HTTP_BYTES];
	char *text;

	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		text = ask_text(*state, cases[i].request);
		if (memcmp(text, "HTTP/1.", 7) != 0 || memcmp(text + 9, cases[i].status, 3) != 0 ||
		    strstr(text, cases[i].also) == NULL)
			fail_msg("case %zu: %.200s", i, text);
		free(text);
	}
	/* Longer than a request may be: its line, or what is behind it. */
	memset(noise, 'x', sizeof(noise));
	memcpy(noise, "GET /", 5);
	text = ask(*state, 1, noise, sizeof(noise));
	assert_memory_equal(text, "HTTP/1.1 414", 12);
	free(text);
	memcpy(noise, "GET / HTTP/1.1\r\n", 16);
	text = ask(*state, 1, noise, sizeof(noise));
	assert_memory_equal(text, "HTTP/1.1 431", 12);
	free(text);
}

/* A reader that takes nothing costs a round no more than a piece, and then nothing at all. */
static void test_slow_reader(void **state)
{
	struct rig *r = *state;
	int fd = connect_to(r);
	char byte;

	assert_int_equal(write(fd, "GET / HTTP/1.1\r\n\r\n", 18), 18);
	for (int i = 0; i < 1000; i++)
		(void)step(r);
	assert_int_equal(step(r), 0);         /* nobody is ready: its buffer is full */
	assert_true(wf_http_rest(&r->d) > 0); /* and the loop does not go round in vain */
	assert_int_equal(read(fd, &byte, 1), 1);
	/* Others are served meanwhile. */
	free(ask_text(r, "GET / HTTP/1.1\r\n\r\n"));
	close(fd);
}

/* Whether the connection is still there, of whom nothing is read. */
static bool is_there(int fd)
{
	char byte;
	ssize_t n = read(fd, &byte, 1);

	assert_true(n == 0 || (n < 0 && (errno == EAGAIN || errno == ECONNRESET)));
	return n < 0 && errno == EAGAIN;
}

/*
 * All places are taken: he goes who has been given nothing for longest, and only he. The first of
 * them was, as he reads a page.
 */
static void test_no_place(void **state)
{
	struct rig *r = *state;
	int fd[WF_HTTP_CONNS];
	char text[4096];
	ssize_t n;

	for (unsigned i = 0; i < WF_HTTP_CONNS; i++) {
		fd[i] = connect_from(r, i);
		(void)step(r);
	}
	assert_int_equal(r->d.http->n_conns, WF_HTTP_CONNS);
	assert_int_equal(write(fd[0], "GET / HTTP/1.1\r\n\r\n", 18), 18);
	while (step(r) != 0)
		;
	free(ask_from(r, 1000, "GET / HTTP/1.1\r\n\r\n"));
	for (unsigned i = 1; i < WF_HTTP_CONNS; i++) {
		assert_int_equal(is_there(fd[i]), i != 1);
		close(fd[i]);
	}
	do {
		n = read(fd[0], text, sizeof(text));
	} while (n > 0);
	assert_true(n < 0 && errno == EAGAIN); /* there is more to come */
	close(fd[0]);
}

/* One address does not take everybody's places: beyond its share, its own go. */
static void test_one_address(void **state)
{
	struct rig *r = *state;
	int fd[WF_HTTP_PER_IP + 2], other = connect_from(r, 1);

	for (unsigned i = 0; i < WF_ARRAY_SIZE(fd); i++) {
		fd[i] = connect_from(r, 2);
		(void)step(r);
	}
	assert_int_equal(r->d.http->n_conns, WF_HTTP_PER_IP + 1);
	assert_true(is_there(other));
	for (unsigned i = 0; i < WF_ARRAY_SIZE(fd); i++) {
		assert_int_equal(is_there(fd[i]), i >= 2);
		close(fd[i]);
	}
	close(other);
	while (r->d.http->n_conns != 0)
		(void)step(r);
}

/* Who does nothing is let go by and by: the daemon wakes up for it by itself. */
static void test_idle(void **state)
{
	struct rig *r = *state;
	int fd = connect_to(r), rest;
	struct epoll_event event;

	(void)step(r);
	assert_true(is_there(fd));
	/* time: a second of stillness is what ends it here. */
	assert_int_equal(MHD_set_connection_option(r->d.http->conn[0].mhd,
	                                           MHD_CONNECTION_OPTION_TIMEOUT, 1u),
	                 MHD_YES);
	while (r->d.http->n_conns != 0) {
		rest = wf_http_rest(&r->d);
		assert_in_range(rest, 0, 2000);
		(void)!epoll_wait(r->d.epoll, &event, 1, rest);
		(void)step(r);
	}
	assert_false(is_there(fd));
	assert_int_equal(wf_http_rest(&r->d), -1);
	close(fd);
}

/* By TCP, at the port that the system chose. */
static void test_listens(void **state)
{
	struct rig *r = *state;
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	char text[16];
	ssize_t n;
	int fd;

	assert_int_equal(getsockname(r->d.http->listener, (void *)&at, &len), 0);
	fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (void *)&at, len), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(write(fd, "HEAD / HTTP/1.1\r\n\r\n", 19), 19);
	do {
		(void)step(r);
		n = read(fd, text, sizeof(text));
	} while (n < 0 && errno == EAGAIN);
	assert_int_equal(n, sizeof(text));
	assert_memory_equal(text, "HTTP/1.1 200 OK\r", 16);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_page, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_slow_reader, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_place, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_address, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_idle, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_listens, set_up, tear_down),
	};

	(void)alarm(300); /* one that waits for a reader waits for ever */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
