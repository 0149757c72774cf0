/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_live_http.c - whatever may be said to the daemon's HTTP port, in pieces, by several at once
 * who read or do not. It must not crash, wait, or forget to let go of a connection.
 *
 * libmicrohttpd parses; how its connections live in the daemon's loop, and which of them have to go
 * when too many come, is ours.
 *
 * Input: commands of a byte: which connection (4 bits), what (2 bits: open, send, read, close), for
 * an open from where (2 bits), and for a send a byte with the length of what follows.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live/http.h"

#define CONNS 16
#define HOSTS 40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool what)
{
	if (!what)
		abort();
}

static void step(struct wf_daemon *d)
{
	struct epoll_event events[16];
	int n = epoll_wait(d->epoll, events, 16, 0);

	for (int i = 0; i < n; i++) {
		struct wf_watch *w = events[i].data.ptr;

		w->ready(d, w, events[i].events);
	}
	wf_http_serve(d);
	must(d->http->n_conns <= WF_HTTP_CONNS);
}

/* Does a command, whose first byte is data[0]. Returns how many bytes it was. */
static size_t command(struct wf_daemon *d, int fd[CONNS], const uint8_t *data, size_t size)
{
	const struct sockaddr_in from = { .sin_family = AF_INET,
		                          .sin_addr = { htonl(0x0a000000u + (data[0] >> 6)) } };
	unsigned i = data[0] & (CONNS - 1);
	char text[4096];
	size_t n = 0;
	int pair[2];

	switch (data[0] >> 4 & 3) {
	case 0:
		if (fd[i] >= 0)
			break;
		must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
		fd[i] = pair[0];
		must(wf_http_take(d, pair[1], (const void *)&from, sizeof(from)) == 0);
		break;
	case 1:
		if (size < 2)
			break;
		n = data[1] < size - 2 ? data[1] : size - 2;
		if (fd[i] >= 0)
			(void)!send(fd[i], data + 2, n, MSG_NOSIGNAL);
		return 2 + n;
	case 2:
		if (fd[i] >= 0)
			(void)!read(fd[i], text, sizeof(text));
		break;
	default:
		if (fd[i] >= 0)
			close(fd[i]);
		fd[i] = -1;
		break;
	}
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wf_daemon d = { .spare = -1 };
	const struct sockaddr_in at = { .sin_family = AF_INET,
		                        .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_storage any = { 0 };
	int fd[CONNS], lowest = dup(0);

	close(lowest);
	d.epoll = epoll_create1(EPOLL_CLOEXEC);
	memcpy(&any, &at, sizeof(at)); /* at any port: nobody calls there */
	d.table = calloc(1, wf_live_table_bytes(HOSTS));
	d.gone = calloc(HOSTS, sizeof(*d.gone));
	must(d.epoll >= 0 && d.table != NULL && d.gone != NULL);
	d.table->n_hosts = HOSTS;
	must(wf_http_open(&d, &any) == 0);
	for (unsigned i = 0; i < CONNS; i++)
		fd[i] = -1;
	while (size > 0) {
		size_t n = command(&d, fd, data, size);

		data += n;
		size -= n;
		step(&d);
	}
	for (unsigned i = 0; i < CONNS; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
	}
	/* All have gone, and so do their connections: what is not sent is not sent. */
	for (int i = 0; i < 100 && d.http->n_conns != 0; i++)
		step(&d);
	must(d.http->n_conns == 0 && wf_http_rest(&d) < 0);
	wf_http_close(&d);
	close(d.epoll);
	free(d.table);
	free(d.gone);
	must(dup(0) == lowest);
	close(lowest);
	return 0;
}
