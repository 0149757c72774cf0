/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c - the wire's life: hosts, links to programs, and whose turn it is. */
#define _GNU_SOURCE
#include "live/wire.h"

#include <errno.h>
#include <assert.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "live/cpus.h"
#include "live/wire_priv.h"

struct wf_dwire *wf_wire_find(struct wf_daemon *d, uint32_t host)
{
	for (uint32_t i = 0; d->wires != NULL && i < d->wires->n; i++) {
		if (d->wires->wire[i].host == host)
			return &d->wires->wire[i];
	}
	return NULL;
}

/* The host's place among those on the wire; NULL: it could not be made. */
static struct wf_dwire *open_host(struct wf_daemon *d, uint32_t host)
{
	struct wf_dwire *w = wf_wire_find(d, host);

	assert(host < d->table->n_hosts);
	if (w == NULL) {
		w = &d->wires->wire[d->wires->n++];
		w->host = host;
		w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		w->epoll = epoll_create1(EPOLL_CLOEXEC);
		if (w->wake < 0 || w->epoll < 0 ||
		    wf_watch_add(d->epoll, w->wake, EPOLLIN, &w->watch) != 0 ||
		    wf_watch_add(d->epoll, w->epoll, EPOLLIN, &w->watch) != 0)
			return NULL;
	}
	return w;
}

/* Refused whatever it is: nobody listens here. */
static int on_event(void *arg, const struct wf_cm_event *event)
{
	(void)arg;
	(void)event;
	return -ECONNREFUSED;
}

static int make_wires(struct wf_daemon *d, uint32_t n)
{
	struct wf_cm_cfg nobody = { .event = on_event };
	struct wf_dwires *ws = calloc(1, sizeof(*ws));
	uint8_t key[WF_SIPHASH_KEY];
	int ret;

	if (ws == NULL)
		return -ENOMEM;
	d->wires = ws;
	ws->next = -1;
	ws->wire = calloc(n, sizeof(*ws->wire));
	ws->tx.msg = calloc(WF_WIRE_BATCH, sizeof(*ws->tx.msg));
	ws->rx.msg = calloc(WF_WIRE_BATCH, sizeof(*ws->rx.msg));
	if (ws->wire == NULL || ws->tx.msg == NULL || ws->rx.msg == NULL)
		return -ENOMEM;
	if (getrandom(key, sizeof(key), 0) != (ssize_t)sizeof(key))
		return -EIO;
	ret = wf_wire_remotes_init(&ws->remotes, key);
	if (ret != 0)
		return ret;
	wf_wire_conf_init(&ws->conf[0], WF_ENCAP_ROCE2_IPV4);
	wf_wire_conf_init(&ws->conf[1], WF_ENCAP_ROCE2_IPV6);
	return wf_cm_create(&nobody, wf_mem_heap(), &ws->nobody);
}

int wf_wire_open(struct wf_daemon *d, const struct wf_daemon_cfg *cfg)
{
	int ret = cfg->n_wires == 0 ? 0 : make_wires(d, cfg->n_wires);

	for (uint32_t i = 0; i < cfg->n_wires && ret == 0; i++) {
		struct wf_dwire *w = open_host(d, cfg->wires[i].host);

		ret = w == NULL ? -ENFILE : wf_wire_open_end(d, w, &cfg->wires[i]);
	}
	if (cfg->n_wires != 0)
		wf_ask_for_short_turns();
	return ret;
}

static void close_end(struct wf_dend *e)
{
	if (!e->is_open)
		return;
	wf_wire_close_groups(e);
	for (unsigned k = 0; k < WF_WIRE_TX_PORTS; k++) {
		if (e->tx[k].fd >= 0)
			close(e->tx[k].fd);
	}
	close(e->rx);
}

void wf_wire_close(struct wf_daemon *d)
{
	struct wf_dwires *ws = d->wires;

	if (ws == NULL)
		return;
	for (uint32_t i = 0; i < ws->n; i++) {
		for (unsigned k = 0; k < WF_LIVE_GIDS; k++)
			close_end(&ws->wire[i].end[k]);
		if (ws->wire[i].wake >= 0)
			close(ws->wire[i].wake);
		if (ws->wire[i].epoll >= 0)
			close(ws->wire[i].epoll);
	}
	wf_wire_drop_ghosts(ws);
	wf_cm_destroy(ws->nobody);
	wf_wire_remotes_fini(&ws->remotes);
	free(ws->wire);
	free(ws->tx.msg);
	free(ws->rx.msg);
	free(ws);
	d->wires = NULL;
}

/* What the wire keeps of a program, from the first time that it has to do with it. */
static int make_own(struct wf_dclient *c)
{
	assert(c->attached);
	if (c->own == NULL)
		c->own = calloc(1, sizeof(*c->own));
	return c->own == NULL ? -ENOMEM : 0;
}

/* Makes the link: our side is c->wire, *memory_p the caller's. */
static int make_link(struct wf_dclient *c, int *memory_p)
{
	int memory = wf_pipe_memory(), wake, ret;

	assert(!c->on_wire);
	if (memory < 0)
		return memory;
	ret = make_own(c);
	if (ret != 0) {
		close(memory);
		return ret;
	}
	wake = fcntl(c->wake, F_DUPFD_CLOEXEC, 0);
	ret = wake < 0 ? -EMFILE : wf_pipe_open(&c->wire, memory, 1, wake);
	if (ret != 0) {
		if (wake >= 0)
			close(wake);
		close(memory);
		return ret;
	}
	c->on_wire = true;
	*memory_p = memory;
	return 0;
}

int wf_wire_connect(struct wf_daemon *d, struct wf_dclient *c, struct wf_live_reply *reply,
                    int fds[WF_LIVE_MAX_FDS])
{
	struct wf_dwire *w = wf_wire_find(d, c->host);
	int ret;

	if (w == NULL)
		return -ENOENT;
	if (c->on_wire)
		return -EALREADY; /* an event with it is on its way */
	fds[1] = fcntl(w->wake, F_DUPFD_CLOEXEC, 0);
	if (fds[1] < 0)
		return -EMFILE;
	ret = make_link(c, &fds[0]);
	if (ret != 0) {
		close(fds[1]);
		return ret;
	}
	reply->connect.side = 0;
	reply->n_fds = 2;
	return 0;
}

int wf_wire_link(struct wf_daemon *d, struct wf_dclient *c)
{
	struct wf_live_event event = { .type = WF_LIVE_EV_LINK, .n_fds = 2 };
	int give[2], ret;

	if (c->on_wire)
		return 0;
	assert(wf_wire_find(d, c->host) != NULL); /* something has come for it */
	ret = make_link(c, &give[0]);
	if (ret != 0)
		return ret;
	event.link.host = WF_LIVE_REMOTE;
	give[1] = wf_wire_find(d, c->host)->wake;
	wf_daemon_tell(c, &event, give);
	close(give[0]);
	return 0;
}

int wf_wire_remote_of(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req,
                      struct wf_live_reply *reply)
{
	const struct wf_wire_remote *r;
	int ret;

	if (d->wires == NULL)
		return -ENOENT;
	if (req->op == WF_LIVE_REMOTE_NUMBER) {
		memcpy(reply->remote.gid, req->remote.gid, sizeof(reply->remote.gid));
		ret = make_own(c);
		return ret != 0 ? ret
		                : wf_wire_remotes_hold(&d->wires->remotes, &c->own->held,
		                                       req->remote.gid, &reply->remote.number);
	}
	r = wf_wire_remotes_get(&d->wires->remotes, req->remote.number);
	if (r == NULL)
		return -ENOENT;
	memcpy(reply->remote.gid, r->gid, sizeof(reply->remote.gid));
	reply->remote.number = req->remote.number;
	return 0;
}

/* What it had sent goes out. */
static void send_last(struct wf_daemon *d, struct wf_dclient *c)
{
	/* No more than fits: whoever still holds the memory might go on writing. */
	for (unsigned i = 0; i < WF_RING_BYTES / WF_CACHE_LINE / WF_WIRE_BATCH; i++) {
		if (c->wire.rx.broken || !wf_ring_ready(&c->wire.rx) || d->wires->waits)
			break;
		wf_wire_send(d, c);
		wf_wire_flush(d);
	}
	c->on_wire = false;
	wf_pipe_close(&c->wire);
}

void wf_wire_leave(struct wf_daemon *d, struct wf_dclient *c)
{
	if (c->on_wire)
		send_last(d, c);
	if (c->own == NULL)
		return;
	assert(d->wires != NULL && c->attached);
	wf_wire_drop_waiting(c->own);
	wf_wire_bury(d, c);
	wf_wire_remotes_release(&d->wires->remotes, &c->own->held);
	wf_wire_conns_clear(&c->own->conns);
	free(c->own);
	c->own = NULL;
}

static void receive_all(struct wf_daemon *d, struct wf_dwire *w)
{
	for (unsigned k = 0; k < WF_LIVE_GIDS; k++) {
		struct wf_dend *e = &w->end[k];

		if (!e->is_open)
			continue;
		/* What one batch leaves waiting is known before the next is read. */
		wf_wire_pause(d, w);
		if (!w->paused)
			wf_wire_receive(d, w, e, NULL);
		for (const struct wf_dmc *g = e->groups; g != NULL; g = g->next) {
			wf_wire_pause(d, w);
			if (!w->paused)
				wf_wire_receive(d, w, e, g);
		}
	}
	wf_wire_pause(d, w);
}

/* The shorter of two times to wait; -1 is for ever. */
static int sooner(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

void wf_wire_serve(struct wf_daemon *d)
{
	struct wf_dwires *ws = d->wires;
	uint64_t count;

	if (ws == NULL)
		return;
	assert(ws->tx.next <= ws->tx.n && ws->tx.n <= WF_WIRE_BATCH);
	ws->waits = ws->more = false;
	ws->now = wf_daemon_now();
	for (struct wf_dclient *c = d->clients; c != NULL; c = c->next) {
		if (!c->on_wire)
			continue;
		wf_pipe_set_asleep(&c->wire, false);
		wf_wire_drain(d, c);
	}
	for (uint32_t i = 0; i < ws->n; i++) {
		ssize_t got = read(ws->wire[i].wake, &count, sizeof(count));

		(void)got; /* none: nobody wrote */
		receive_all(d, &ws->wire[i]);
	}
	ws->next = sooner(wf_wire_waits(d), wf_wire_haunt(d));
	wf_wire_flush(d);
	for (struct wf_dclient *c = d->clients; c != NULL; c = c->next) {
		if (!c->on_wire || c->doomed)
			continue;
		if (!ws->waits)
			wf_wire_send(d, c);
		if (!c->wire_touched)
			continue;
		c->wire_touched = false;
		wf_pipe_fence();
		(void)wf_pipe_wake(&c->wire);
	}
	wf_wire_flush(d);
}

int wf_wire_rest(struct wf_daemon *d)
{
	struct wf_dwires *ws = d->wires;
	bool ready;

	if (ws == NULL)
		return -1;
	ready = ws->more || ws->waits;
	for (struct wf_dclient *c = d->clients; c != NULL; c = c->next) {
		if (c->on_wire)
			wf_pipe_set_asleep(&c->wire, true);
	}
	wf_pipe_fence();
	for (struct wf_dclient *c = d->clients; c != NULL; c = c->next)
		ready = ready || (c->on_wire && !c->doomed &&
		                  (wf_ring_ready(&c->wire.rx) || wf_wire_has_room(c)));
	if (!ready)
		return sooner(ws->next, wf_wire_patience(d));
	return ws->waits ? 1 : 0;
}

/* Datagrams that found a socket's buffer full. */
static uint64_t overflow(int fd)
{
	uint32_t info[SK_MEMINFO_VARS];
	socklen_t len = sizeof(info);

	return getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len) == 0 &&
	                       len > SK_MEMINFO_DROPS * sizeof(info[0])
	               ? info[SK_MEMINFO_DROPS]
	               : 0;
}

void wf_wire_counts(const struct wf_daemon *d, uint32_t host, uint64_t count[WF_LIVE_COUNTS])
{
	for (uint32_t i = 0; d->wires != NULL && i < d->wires->n; i++) {
		const struct wf_dwire *w = &d->wires->wire[i];

		for (unsigned k = 0; k < WF_LIVE_GIDS && w->host == host; k++) {
			if (w->end[k].is_open)
				count[WF_LIVE_WIRE_RX_OVERFLOW] += overflow(w->end[k].rx);
		}
	}
}
