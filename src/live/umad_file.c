/* SPDX-License-Identifier: Apache-2.0 */
/* umad_file.c - the files of management programs: what they ask, and what waits to be read. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live/sock.h"
#include "live/umad_priv.h"

/* ---- what waits to be read ---- */

/* Puts parts of the first MAD into the socket. Returns false when that has no more room. */
static bool put_parts(struct wf_dumad *f, struct wf_umad_mad *w)
{
	struct wf_umad_part part = { .total = w->total };

	while (w->sent < w->total) {
		uint32_t n = w->total - w->sent;

		n = n < WF_UMAD_PART ? n : WF_UMAD_PART;
		part.at = w->sent;
		memcpy(part.data, w->data + w->sent, n);
		if (wf_sock_send(f->sock, &part, WF_UMAD_PART_BYTES + n, NULL, 0, false) != 0)
			return false;
		w->sent += n;
	}
	return true;
}

static void flush(struct wf_dumad *f)
{
	while (f->mads != NULL && put_parts(f, f->mads)) {
		struct wf_umad_mad *w = f->mads;

		f->mads = w->next;
		f->queued -= w->total;
		free(w);
	}
	if (f->mads == NULL)
		f->tail = &f->mads;
}

/* Where more waits than before, or no more: the loop is to say when there is room. */
static void watch(struct wf_daemon *d, struct wf_dumad *f, bool waited)
{
	if (waited != (f->mads != NULL))
		(void)wf_watch_change(d->epoll, f->sock, f->mads != NULL ? EPOLLOUT : 0, &f->room);
}

void wf_umad_queue(struct wf_dumad *f, const uint8_t hdr[WF_UMAD_HDR], const uint8_t *mad,
                   size_t length, bool came)
{
	uint32_t total = (uint32_t)(WF_UMAD_HDR + length);
	bool waited = f->mads != NULL;
	struct wf_umad_mad *w;

	assert(length <= UINT32_MAX / 2);
	/* What a program has sent and hears of again is bounded by what it may send. */
	if (came && f->queued > WF_UMAD_QUEUE) {
		f->dropped++;
		return;
	}
	w = malloc(sizeof(*w) + total);
	if (w == NULL) {
		f->dropped++;
		return;
	}
	w->next = NULL;
	w->total = total;
	w->sent = 0;
	memcpy(w->data, hdr, WF_UMAD_HDR);
	memcpy(w->data + WF_UMAD_HDR, mad, length);
	*f->tail = w;
	f->tail = &w->next;
	f->queued += total;
	if (!waited) {
		flush(f);
		watch(f->daemon, f, false);
	}
}

static void has_room(struct wf_daemon *d, struct wf_watch *w, uint32_t events)
{
	struct wf_dumad *f = wf_container_of(w, struct wf_dumad, room);

	/* Nobody reads any more, whoever is at the other socket. */
	if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
		f->client->doomed = true;
		return;
	}
	flush(f);
	watch(d, f, true);
}

/* ---- what is asked ---- */

/* A part of what a program writes. Returns 0 or -errno; the whole is in f->parts. */
static int add_part(struct wf_dumad *f, const struct wf_umad_ask *ask)
{
	uint8_t *more;

	if (f->n_parts + ask->length > WF_UMAD_MAX)
		return -EINVAL;
	more = realloc(f->parts, f->n_parts + ask->length);
	if (more == NULL)
		return -ENOMEM;
	memcpy(more + f->n_parts, ask->data, ask->length);
	f->parts = more;
	f->n_parts += ask->length;
	return 0;
}

static void drop_parts(struct wf_dumad *f)
{
	free(f->parts);
	f->parts = NULL;
	f->n_parts = 0;
}

static int send_it(struct wf_dumad *f, const struct wf_umad_ask *ask)
{
	int ret;

	if (f->parts == NULL)
		return wf_umad_send(f, ask->data, ask->length);
	ret = add_part(f, ask);
	if (ret == 0)
		ret = wf_umad_send(f, f->parts, f->n_parts);
	drop_parts(f);
	return ret;
}

/* Does what is asked. Returns false where that has no answer. */
static bool serve(struct wf_daemon *d, struct wf_dumad *f, const struct wf_umad_ask *ask,
                  struct wf_umad_reply *reply)
{
	switch (ask->op) {
	case WF_UMAD_REGISTER:
		reply->error = wf_umad_register(d, f, ask, &reply->id);
		return true;
	case WF_UMAD_UNREGISTER:
		reply->error = wf_umad_unregister(f, ask->agent.id);
		return true;
	case WF_UMAD_SEND:
		reply->error = send_it(f, ask);
		return true;
	case WF_UMAD_CANCEL:
		drop_parts(f);
		return true;
	default:
		/* Who sends more than is allowed, or than there is memory for, is let go of. */
		if (ask->length == 0 || add_part(f, ask) != 0)
			f->client->doomed = true;
		return false;
	}
}

/* Whether len bytes are a question. */
static bool is_question(const struct wf_umad_ask *ask, int len)
{
	bool has_data = ask->op == WF_UMAD_SEND || ask->op == WF_UMAD_SEND_MORE;

	return len >= (int)WF_UMAD_ASK_BYTES && ask->op >= WF_UMAD_REGISTER &&
	       ask->op <= WF_UMAD_CANCEL && ask->length <= WF_UMAD_PART &&
	       (has_data || ask->length == 0) && len == (int)(WF_UMAD_ASK_BYTES + ask->length);
}

static void answer(struct wf_daemon *d, struct wf_watch *w, uint32_t events)
{
	struct wf_dclient *c = wf_container_of(w, struct wf_dclient, asks);
	struct wf_umad_reply reply = { .error = 0 };
	int got[WF_LIVE_MAX_FDS];
	struct wf_umad_ask ask;
	unsigned n;
	int len;

	(void)events;
	if (c->doomed)
		return;
	len = wf_sock_recv(c->sock, &ask, sizeof(ask), got, &n, false);
	while (n > 0)
		close(got[--n]); /* nobody has any to give */
	if (len == -EAGAIN)
		return;
	if (!is_question(&ask, len) || d->model == NULL)
		c->doomed = true;
	else if (serve(d, c->umad, &ask, &reply) &&
	         wf_sock_send(c->sock, &reply, sizeof(reply), NULL, 0, false) != 0)
		c->doomed = true;
}

/* ---- opening and closing ---- */

int wf_umad_open(struct wf_daemon *d, struct wf_dclient *c, uint32_t host,
                 struct wf_live_reply *reply, int fds[WF_LIVE_MAX_FDS])
{
	struct wf_dumad *f;
	int pair[2];

	if (d->umads == NULL)
		return -ENODEV;
	f = calloc(1, sizeof(*f));
	if (f == NULL)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
		free(f);
		return -errno;
	}
	f->room.ready = has_room;
	if (wf_watch_add(d->epoll, pair[0], 0, &f->room) != 0) {
		close(pair[0]);
		close(pair[1]);
		free(f);
		return -ENOMEM;
	}
	f->daemon = d;
	f->client = c;
	f->host = c->host = host;
	f->sock = pair[0];
	f->tail = &f->mads;
	c->umad = f;
	c->asks.ready = answer;
	fds[0] = pair[1];
	reply->n_fds = 1;
	return 0;
}

static void close_file(struct wf_dumad *f)
{
	for (uint32_t id = 0; id < WF_UMAD_AGENTS; id++)
		(void)!wf_umad_unregister(f, id); /* those that there are */
	while (f->mads != NULL) {
		struct wf_umad_mad *w = f->mads;

		f->mads = w->next;
		free(w);
	}
	drop_parts(f);
	close(f->sock);
	free(f);
}

/* ---- the manager of a host ---- */

static void set_sm(struct wf_daemon *d, struct wf_dclient *c, bool is)
{
	d->umads->host[c->host].sm = is ? c : NULL;
	c->is_sm = is;
	c->awaits_sm = false;
	if (d->model != NULL)
		wf_managed_set_is_sm(d->model->managed, c->host, is, wf_sim_now(d->model->sim));
}

/* Who has issm open has nothing to say but that it goes. */
static void goes(struct wf_daemon *d, struct wf_watch *w, uint32_t events)
{
	struct wf_dclient *c = wf_container_of(w, struct wf_dclient, asks);

	(void)d;
	(void)events;
	c->doomed = true;
}

int wf_umad_open_issm(struct wf_daemon *d, struct wf_dclient *c, uint32_t host, bool waits,
                      struct wf_live_reply *reply)
{
	if (d->umads == NULL)
		return -ENODEV;
	if (d->umads->host[host].sm != NULL && !waits)
		return -EAGAIN;
	c->host = host;
	c->asks.ready = goes;
	c->awaits_sm = d->umads->host[host].sm != NULL;
	reply->mads.waits = c->awaits_sm;
	if (!c->awaits_sm)
		set_sm(d, c, true);
	return 0;
}

/* The next that waits to be the manager of a host is it. */
static void pass_on(struct wf_daemon *d, uint32_t host)
{
	const struct wf_umad_reply reply = { .error = 0 };
	struct wf_dclient *next = NULL;

	for (struct wf_dclient *c = d->clients; c != NULL; c = c->next) {
		if (c->awaits_sm && c->host == host && !c->doomed)
			next = c; /* the last in the list has come first */
	}
	if (next == NULL)
		return;
	if (wf_sock_send(next->sock, &reply, sizeof(reply), NULL, 0, false) == 0)
		set_sm(d, next, true);
	else
		next->doomed = true;
}

void wf_umad_leave(struct wf_daemon *d, struct wf_dclient *c)
{
	if (c->umad != NULL)
		close_file(c->umad);
	c->umad = NULL;
	if (c->is_sm) {
		set_sm(d, c, false);
		pass_on(d, c->host);
	}
}
