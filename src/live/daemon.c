/* SPDX-License-Identifier: Apache-2.0 */
/* daemon.c - the daemon's life: its table, its socket, its loop. */
#define _GNU_SOURCE
#include "live/daemon.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "live/claim.h"
#include "live/daemon_priv.h"
#include "live/http.h"
#include "live/join.h"
#include "live/model.h"
#include "live/cpus.h"
#include "live/sock.h"
#include "live/sysfs.h"
#include "live/umad.h"
#include "live/wire.h"
#include "wire/addr.h"
#include "wire/byte.h"

#define MAX_CLIENTS_WAITING 64
#define MAX_EVENTS 64

static void fill_host(struct wf_live_table *t, uint32_t i, const char *name, const char *peer)
{
	struct wf_live_host *h = &t->host[i];

	if (name != NULL)
		snprintf(h->name, sizeof(h->name), "%s", name);
	else
		snprintf(h->name, sizeof(h->name), "h%u", i + 1);
	snprintf(h->peer, sizeof(h->peer), "%s", peer != NULL ? peer : "s1");
	/* A locally administered address, and the EUI-64 made from it, with bit 1 turned. */
	h->mac[0] = 0x02;
	h->mac[1] = 0xc0;
	h->mac[2] = 0xde;
	h->mac[3] = 0;
	h->mac[4] = (uint8_t)((i + 1) >> 8);
	h->mac[5] = (uint8_t)(i + 1);
	h->guid = wf_wire_guid_host(i);
	wf_be64_put(h->link_local, t->prefix);
	wf_be64_put(h->link_local + 8, h->guid);
	if (t->layer == WF_LIVE_IB)
		h->lid = (uint16_t)(i + 2);
	/* In the loopback network, so that programs' own sockets reach it, too. */
	h->ipv4 = UINT32_C(0x7f4d0000) + i + 1;
}

/* Memory that we write and whoever gets table_fd can only read. */
static int make_table(struct wf_daemon *d, const struct wf_daemon_cfg *cfg)
{
	size_t size = wf_live_table_bytes(cfg->n_hosts);
	struct wf_live_table *t;

	d->table_fd = memfd_create("weft-table", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (d->table_fd < 0)
		return -errno;
	if (ftruncate(d->table_fd, (off_t)size) != 0)
		return -errno;
	t = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, d->table_fd, 0);
	if (t == MAP_FAILED)
		return -errno;
	d->table = t;
	if (fcntl(d->table_fd, F_ADD_SEALS,
	          F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0)
		return -errno;
	t->version = WF_LIVE_VERSION;
	t->n_hosts = cfg->n_hosts;
	t->layer = cfg->layer;
	t->rate = cfg->rate;
	t->mtu = cfg->mtu;
	t->prefix = UINT64_C(0xfe80000000000000);
	t->managed = cfg->managed != NULL;
	snprintf(t->fabric, sizeof(t->fabric), "%s", cfg->fabric);
	for (uint32_t i = 0; i < cfg->n_hosts; i++)
		fill_host(t, i, cfg->names != NULL ? cfg->names[i] : NULL,
		          cfg->peers != NULL ? cfg->peers[i] : NULL);
	return 0;
}

/*
 * The path is ours alone by now: what is there was left behind by a daemon that was killed. One of
 * an older weft, which claimed nothing, still answers.
 */
static int clear_path(const char *path)
{
	int sock = wf_sock_connect(path, 0);

	if (sock >= 0) {
		close(sock);
		return -EEXIST;
	}
	wf_sysfs_remove(path);
	if (sock == -ECONNREFUSED && unlink(path) != 0)
		return -errno;
	return sock == -ECONNREFUSED || sock == -ENOENT ? 0 : sock;
}

static int start_listening(struct wf_daemon *d)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	mode_t mask;
	int ret;

	d->claim = wf_claim_take(d->path);
	if (d->claim < 0)
		return d->claim;
	ret = clear_path(d->path);
	if (ret != 0)
		return ret;
	memcpy(addr.sun_path, d->path, strlen(d->path));
	d->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->listener < 0)
		return -errno;
	mask = umask(0077);
	ret = bind(d->listener, (struct sockaddr *)&addr, sizeof(addr)) != 0 ? -errno : 0;
	umask(mask);
	d->bound = ret == 0;
	if (ret == 0 && listen(d->listener, MAX_CLIENTS_WAITING) != 0)
		ret = -errno;
	return ret;
}

/* Three descriptors a program: as many as the system lets us have. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t wf_daemon_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Only this user (and root, who can do anything anyway) is let in. */
static bool may_enter(int sock, pid_t *pid_p)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0)
		return false;
	*pid_p = cred.pid;
	return cred.uid == geteuid() || cred.uid == 0;
}

/* Whoever is not let in is told why, if that can be done without waiting. */
static void send_away(int sock, int error)
{
	struct wf_live_reply reply = { .error = error };

	(void)!wf_sock_send(sock, &reply, WF_LIVE_REPLY_SHORT, NULL, 0, false);
	close(sock);
}

void wf_daemon_turn_away(struct wf_daemon *d, int listener)
{
	int sock;

	if (d->spare >= 0)
		close(d->spare);
	sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (sock >= 0 && listener == d->listener)
		send_away(sock, -EMFILE);
	else if (sock >= 0)
		close(sock);
	d->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Whether len bytes are a question; a text in it ends. */
static bool is_question(const struct wf_live_req *req, int len)
{
	return len >= WF_LIVE_REQ_SHORT && req->version == WF_LIVE_VERSION &&
	       len == (int)wf_live_req_bytes(req) &&
	       (!wf_live_has_text(req->op) || memchr(req->text, '\0', WF_LIVE_TEXT) != NULL);
}

/* One question and its answer. */
static void answer(struct wf_daemon *d, struct wf_watch *w, uint32_t events)
{
	struct wf_dclient *c = wf_container_of(w, struct wf_dclient, asks);
	struct wf_live_reply reply = { .error = 0 };
	struct wf_live_req req;
	int fds[WF_LIVE_MAX_FDS], got[WF_LIVE_MAX_FDS];
	size_t bytes;
	unsigned n;
	int len;

	(void)events;
	if (c->doomed)
		return;
	len = wf_sock_recv(c->sock, &req, sizeof(req), got, &n, false);
	while (n > 0)
		close(got[--n]); /* nobody has any to give */
	if (len == -EAGAIN)
		return;
	if (len <= 0) {
		c->doomed = true;
		return;
	}
	for (unsigned i = 0; i < WF_LIVE_MAX_FDS; i++)
		fds[i] = -1;
	if (is_question(&req, len))
		wf_daemon_serve(d, c, &req, &reply, fds);
	else
		reply.error = len >= WF_LIVE_REQ_SHORT && req.version != WF_LIVE_VERSION ? -EPROTO
		                                                                         : -EINVAL;
	assert(reply.error <= 0 && (reply.error == 0 || reply.n_fds == 0));
	bytes = is_question(&req, len) ? wf_live_reply_bytes(req.op) : WF_LIVE_REPLY_SHORT;
	if (wf_sock_send(c->sock, &reply, bytes, fds, reply.n_fds, false) != 0)
		c->doomed = true;
	for (unsigned i = 0; i < reply.n_fds; i++)
		close(fds[i]);
}

/* A question that is answered by an event. */
static void overhear(struct wf_daemon *d, struct wf_watch *w, uint32_t events)
{
	struct wf_dclient *c = wf_container_of(w, struct wf_dclient, murmurs);
	struct wf_live_req req;
	int got[WF_LIVE_MAX_FDS];
	unsigned n;
	int len;

	(void)events;
	if (c->doomed)
		return;
	len = wf_sock_recv(c->events, &req, sizeof(req), got, &n, false);
	while (n > 0)
		close(got[--n]);
	if (len == -EAGAIN)
		return;
	if (is_question(&req, len))
		wf_daemon_hear(d, c, &req);
	else
		c->doomed = true;
}

static void let_in(struct wf_daemon *d, struct wf_watch *w, uint32_t events)
{
	int sock = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct wf_dclient *c;
	pid_t pid;

	(void)w;
	(void)events;
	if (sock < 0) {
		if (errno == EMFILE || errno == ENFILE)
			wf_daemon_turn_away(d, d->listener);
		return;
	}
	if (!may_enter(sock, &pid)) {
		send_away(sock, -EPERM);
		return;
	}
	c = calloc(1, sizeof(*c));
	if (c == NULL || wf_watch_add(d->epoll, sock, EPOLLIN, &c->asks) != 0) {
		free(c);
		send_away(sock, -ENOMEM);
		return;
	}
	c->asks.ready = answer;
	c->murmurs.ready = overhear;
	c->sock = sock;
	c->events = c->wake = -1;
	c->pid = pid;
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	c->next = d->clients;
	d->clients = c;
}

#ifndef NDEBUG
static bool is_linked(const struct wf_dclient *a, const struct wf_dclient *b)
{
	const struct wf_dlink *l = a->links;

	while (l != NULL && l->other != b)
		l = l->next;
	return l != NULL;
}

/* Sockets, memory and names come and go together. */
static void assert_client(const struct wf_daemon *d, const struct wf_dclient *c)
{
	assert(c->sock >= 0 || c->doomed);
	assert(c->attached == (c->slot != 0));
	assert(!c->attached || (c->host < d->table->n_hosts && c->slot < WF_LIVE_SLOTS));
	assert(!c->attached || (c->stats != NULL && c->events >= 0 && c->wake >= 0));
	assert(c->attached || (c->links == NULL && c->taps == 0));
	assert(!c->on_wire || (c->attached && c->own != NULL && d->wires != NULL));
	assert(!c->on_model || (c->attached && d->model != NULL));
	assert(c->capture == NULL || (!c->attached && c->events >= 0));
	assert(c->capture == NULL || d->captures[c->capture->number] == c);
	for (const struct wf_dlink *l = c->links; l != NULL; l = l->next)
		assert(l->other != c && l->other->attached && is_linked(l->other, c));
	for (uint32_t i = 0; i < WF_LIVE_CAPTURES; i++)
		assert((c->taps >> i & 1) == 0 || d->captures[i] != NULL);
}
#endif

void wf_daemon_assert(const struct wf_daemon *d)
{
#ifndef NDEBUG
	uint32_t captures = 0, services = 0;

	for (const struct wf_dclient *c = d->clients; c != NULL; c = c->next) {
		assert_client(d, c);
		captures += c->capture != NULL;
	}
	for (uint32_t i = 0; i < WF_LIVE_CAPTURES; i++)
		captures -= d->captures[i] != NULL;
	assert(captures == 0);
	for (const struct wf_dservice *s = d->services; s != NULL; s = s->next) {
		assert(s->client->attached && (s->id & 0xffff) != 0);
		services++;
	}
	assert(services == d->n_services);
	for (const struct wf_dgroup *g = d->groups; g != NULL; g = g->next)
		assert((g->number & ~WF_LIVE_GROUP) < d->n_groups);
#else
	(void)d;
#endif
}

static bool has_programs(const struct wf_daemon *d)
{
	const struct wf_dclient *c = d->clients;

	while (c != NULL && !c->attached && c->umad == NULL)
		c = c->next;
	return c != NULL;
}

/* What was to end the daemon has come. */
static void end(struct wf_daemon *d, struct wf_watch *w, uint32_t events)
{
	(void)w;
	(void)events;
	if (d->tied)
		d->tied = false;
	else
		d->stop = true;
}

int wf_daemon_create(const struct wf_daemon_cfg *cfg, struct wf_daemon **daemon_p)
{
	struct wf_daemon *d;
	int ret;

	if (cfg->n_hosts == 0 || cfg->n_hosts > WF_LIVE_MAX_HOSTS ||
	    strlen(cfg->path) >= sizeof(d->path))
		return -EINVAL;
	d = calloc(1, sizeof(*d));
	if (d == NULL)
		return -ENOMEM;
	d->listener = d->epoll = d->table_fd = d->claim = -1;
	d->knocks.ready = let_in;
	d->ends.ready = end;
	raise_limit();
	d->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	d->next_slot = calloc(cfg->n_hosts, sizeof(*d->next_slot));
	d->gone = calloc(cfg->n_hosts, sizeof(*d->gone));
	ret = d->next_slot == NULL || d->gone == NULL ? -ENOMEM : make_table(d, cfg);
	if (ret != 0)
		goto fail;
	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (d->epoll < 0) {
		ret = -errno;
		goto fail;
	}
	snprintf(d->path, sizeof(d->path), "%s", cfg->path);
	d->say = cfg->say;
	d->say_arg = cfg->say_arg;
	ret = start_listening(d);
	if (ret == 0)
		ret = wf_watch_add(d->epoll, d->listener, EPOLLIN, &d->knocks);
	if (ret == 0)
		ret = wf_wire_open(d, cfg);
	if (ret == 0)
		ret = wf_model_open(d, cfg);
	if (ret == 0 && cfg->metrics.ss_family != AF_UNSPEC)
		ret = wf_http_open(d, &cfg->metrics);
	if (ret != 0)
		goto fail;
	*daemon_p = d;
	return 0;

fail:
	wf_daemon_destroy(d);
	return ret;
}

static void remove_client(struct wf_daemon *d, struct wf_dclient *c)
{
	struct wf_dclient **at = &d->clients;

	while (*at != c) {
		assert(*at != NULL); /* it is one of them */
		at = &(*at)->next;
	}
	*at = c->next;
	wf_daemon_forget(d, c);
	assert(c->links == NULL && c->capture == NULL);
	if (c->stats != NULL)
		munmap(c->stats, sizeof(*c->stats));
	if (c->events >= 0)
		close(c->events);
	if (c->wake >= 0)
		close(c->wake);
	if (c->pidfd >= 0)
		close(c->pidfd);
	wf_umad_leave(d, c);
	wf_wire_leave(d, c);
	if (c->on_model)
		wf_model_leave(d, c);
	if (c->sock >= 0)
		close(c->sock);
	free(c);
}

/*
 * Nobody is at the other end of it any more. What it has sent may still be under way in a modelled
 * fabric: its peers hear of its end when that has arrived.
 */
static bool may_remove(struct wf_daemon *d, struct wf_dclient *c)
{
	assert(c->doomed);
	if (c->sock >= 0) {
		close(c->sock);
		c->sock = -1;
		wf_daemon_free_services(d, c);
	}
	return wf_model_is_done(d, c);
}

/* Ends the connections of those that are to go; telling the others may doom more. */
static void sweep(struct wf_daemon *d)
{
	struct wf_dclient *c = d->clients;

	while (c != NULL) {
		if (c->doomed && may_remove(d, c)) {
			remove_client(d, c);
			c = d->clients;
		} else {
			c = c->next;
		}
	}
}

/* The shorter of two times to wait; -1 is for ever. */
static int sooner(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

int wf_daemon_step(struct wf_daemon *d, int timeout)
{
	struct epoll_event events[MAX_EVENTS];
	int n = epoll_wait(d->epoll, events, MAX_EVENTS, timeout);

	if (n < 0 && errno != EINTR)
		return -errno;
	for (int i = 0; i < n && !d->stop; i++) {
		struct wf_watch *w = events[i].data.ptr;

		if (w->ready != NULL)
			w->ready(d, w, events[i].events);
	}
	wf_wire_serve(d);
	wf_model_serve(d);
	wf_http_serve(d);
	sweep(d);
	wf_daemon_assert(d);
	return n > 0 ? n : 0;
}

/* How long the loop may wait, if nobody comes. */
static int rest(struct wf_daemon *d)
{
	return sooner(sooner(wf_wire_rest(d), wf_model_rest(d)), wf_http_rest(d));
}

int wf_daemon_run(struct wf_daemon *d, int stop_fd)
{
	int ret = wf_watch_add(d->epoll, stop_fd, EPOLLIN, &d->ends);

	if (d->model != NULL)
		wf_ask_for_short_turns();
	while (!d->stop && ret >= 0)
		ret = wf_daemon_step(d, rest(d));
	return ret < 0 ? ret : 0;
}

int wf_daemon_run_for(struct wf_daemon *d, int process)
{
	int ret = wf_watch_add(d->epoll, process, EPOLLIN | EPOLLONESHOT, &d->ends);

	d->tied = true;
	if (d->model != NULL)
		wf_ask_for_short_turns();
	while (!d->stop && ret >= 0 && (d->tied || has_programs(d)))
		ret = wf_daemon_step(d, rest(d));
	return ret < 0 ? ret : 0;
}

void wf_daemon_leave(struct wf_daemon *d)
{
	d->bound = false;
	if (d->claim >= 0)
		close(d->claim);
	d->claim = -1;
	wf_daemon_destroy(d);
}

void wf_daemon_destroy(struct wf_daemon *d)
{
	wf_model_close(d);
	while (d->clients != NULL)
		remove_client(d, d->clients);
	if (d->listener >= 0)
		close(d->listener);
	if (d->bound) {
		wf_sysfs_remove(d->path);
		unlink(d->path);
	}
	if (d->claim >= 0)
		wf_claim_end(d->path, d->claim);
	if (d->spare >= 0)
		close(d->spare);
	wf_join_close(d);
	wf_umad_close(d);
	wf_wire_close(d);
	wf_http_close(d);
	if (d->epoll >= 0)
		close(d->epoll);
	if (d->table != NULL)
		munmap(d->table, wf_live_table_bytes(d->table->n_hosts));
	if (d->table_fd >= 0)
		close(d->table_fd);
	wf_daemon_free_services(d, NULL);
	while (d->groups != NULL) {
		struct wf_dgroup *g = d->groups;

		d->groups = g->next;
		free(g);
	}
	free(d->next_slot);
	free(d->gone);
	free(d);
}
