/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_serve.c - what programs may ask of the daemon. Everything in a request is somebody's
 * claim: who asks is known from its connection alone.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live/daemon_priv.h"
#include "live/join.h"
#include "live/pipe.h"
#include "live/model.h"
#include "live/sock.h"
#include "live/umad.h"
#include "live/wire.h"

static struct wf_dclient *find(struct wf_daemon *d, uint32_t host, uint32_t slot)
{
	struct wf_dclient *c = d->clients;

	while (c != NULL && (!c->attached || c->host != host || c->slot != slot))
		c = c->next;
	return c;
}

void wf_daemon_tell(struct wf_dclient *c, const struct wf_live_event *event, const int *fds)
{
	if (c->doomed || c->events < 0)
		return;
	/* It has room for hundreds. A program that does not look at them has stopped for good. */
	if (wf_sock_send(c->events, event, wf_live_event_bytes(event), fds, event->n_fds, false) !=
	    0)
		c->doomed = true;
}

/* The next slot of a host that nobody has; 0 when all are taken. */
static uint32_t take_slot(struct wf_daemon *d, uint32_t host)
{
	assert(host < d->table->n_hosts);
	for (uint32_t i = 0; i < WF_LIVE_SLOTS; i++) {
		uint32_t slot = ++d->next_slot[host] % WF_LIVE_SLOTS;

		if (slot != 0 && find(d, host, slot) == NULL)
			return slot;
	}
	return 0;
}

static int find_host(const struct wf_daemon *d, const char name[WF_LIVE_NAME])
{
	if (memchr(name, '\0', WF_LIVE_NAME) == NULL)
		return -1;
	if (name[0] == '\0')
		return 0;
	for (uint32_t i = 0; i < d->table->n_hosts; i++) {
		if (strcmp(d->table->host[i].name, name) == 0)
			return (int)i;
	}
	return -1;
}

/*
 * Memory that a program writes and we read; sealed, so that it cannot pull it away from under us.
 */
static int make_stats(struct wf_dclient *c)
{
	int fd = memfd_create("weft-stats", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *at;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)sizeof(*c->stats)) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		goto fail;
	at = mmap(NULL, sizeof(*c->stats), PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		goto fail;
	c->stats = at;
	return fd;

fail:
	close(fd);
	return -ENOMEM;
}

static int attach(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req,
                  struct wf_live_reply *reply, int fds[WF_LIVE_MAX_FDS])
{
	int host = find_host(d, req->attach.host);
	int pair[2], stats;
	uint32_t slot;

	if (c->attached || c->capture != NULL)
		return -EALREADY;
	if (host < 0)
		return -ENOENT;
	if ((d->table->host[host].down & WF_LIVE_DOWN_DEAD) != 0)
		return -EHOSTDOWN;
	slot = take_slot(d, (uint32_t)host);
	if (slot == 0)
		return -EUSERS;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return -errno;
	c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	stats = c->wake < 0 ? -1 : make_stats(c);
	if (stats < 0) {
		close(pair[0]);
		close(pair[1]);
		c->doomed = true;
		return -EMFILE;
	}
	c->events = pair[0];
	fds[0] = pair[1];
	fds[1] = fcntl(c->wake, F_DUPFD_CLOEXEC, 0);
	fds[2] = fcntl(d->table_fd, F_DUPFD_CLOEXEC, 0);
	fds[3] = stats;
	if (fds[1] < 0 || fds[2] < 0 ||
	    wf_watch_add(d->epoll, c->events, EPOLLIN, &c->murmurs) != 0) {
		for (unsigned i = 0; i < 4; i++) {
			if (fds[i] >= 0)
				close(fds[i]);
		}
		c->doomed = true;
		return -ENOMEM;
	}
	assert(find(d, (uint32_t)host, slot) == NULL);
	c->host = (uint32_t)host;
	c->slot = slot;
	memcpy(c->program, req->attach.program, sizeof(c->program));
	c->program[sizeof(c->program) - 1] = '\0';
	c->attached = true;
	wf_daemon_tap(d, c);
	reply->attach.host = c->host;
	reply->attach.slot = slot;
	reply->n_fds = 4;
	return 0;
}

static bool are_linked(const struct wf_dclient *a, const struct wf_dclient *b)
{
	for (const struct wf_dlink *l = a->links; l != NULL; l = l->next) {
		if (l->other == b)
			return true;
	}
	return false;
}

static int add_link(struct wf_dclient *a, struct wf_dclient *b)
{
	struct wf_dlink *l = malloc(sizeof(*l));

	assert(a != b && a->attached && b->attached && !are_linked(a, b));
	if (l == NULL)
		return -ENOMEM;
	*l = (struct wf_dlink){ .next = a->links, .other = b };
	a->links = l;
	return 0;
}

static void drop_link(struct wf_dclient *a, const struct wf_dclient *b)
{
	for (struct wf_dlink **at = &a->links; *at != NULL; at = &(*at)->next) {
		struct wf_dlink *l = *at;

		if (l->other == b) {
			*at = l->next;
			free(l);
			return;
		}
	}
}

static int connect_to(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req,
                      struct wf_live_reply *reply, int fds[WF_LIVE_MAX_FDS])
{
	struct wf_dclient *o = find(d, req->connect.host, req->connect.slot);
	struct wf_live_event event = { .type = WF_LIVE_EV_LINK, .n_fds = 2 };
	int memory, wake, give[2];
	bool modelled;

	if (o == NULL || o == c || o->doomed)
		return -ENOENT;
	if (are_linked(c, o))
		return -EALREADY; /* an event with it is on its way */
	/* Through the model they need no memory of their own; they hear of each other's end. */
	modelled = d->model != NULL && o->host != c->host;
	memory = modelled ? -1 : wf_pipe_memory();
	if (memory < 0 && !modelled)
		return memory;
	/* There is a link only where both can have what belongs to it. */
	wake = modelled ? -1 : fcntl(o->wake, F_DUPFD_CLOEXEC, 0);
	if ((wake < 0 && !modelled) || add_link(c, o) != 0 || add_link(o, c) != 0) {
		drop_link(c, o);
		if (wake >= 0)
			close(wake);
		if (memory >= 0)
			close(memory);
		return -ENOMEM;
	}
	if (modelled)
		return 0;
	event.link.host = c->host;
	event.link.slot = c->slot;
	event.link.side = 1;
	give[0] = memory;
	give[1] = c->wake;
	wf_daemon_tell(o, &event, give);
	reply->connect.side = 0;
	reply->n_fds = 2;
	fds[0] = memory;
	fds[1] = wake;
	return 0;
}

static struct wf_dgroup *find_group(struct wf_daemon *d, const uint8_t gid[16], bool make)
{
	struct wf_dgroup *g = d->groups;

	while (g != NULL && memcmp(g->gid, gid, sizeof(g->gid)) != 0)
		g = g->next;
	if (g != NULL || !make)
		return g;
	g = calloc(1, sizeof(*g));
	if (g == NULL)
		return NULL;
	memcpy(g->gid, gid, sizeof(g->gid));
	g->number = WF_LIVE_GROUP | d->n_groups++;
	g->next = d->groups;
	d->groups = g;
	return g;
}

static struct wf_dport *find_port(struct wf_dgroup *g, struct wf_dclient *c, bool make)
{
	struct wf_dport *p = g->ports;

	while (p != NULL && p->client != c)
		p = p->next;
	if (p != NULL || !make)
		return p;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->client = c;
	p->next = g->ports;
	g->ports = p;
	return p;
}

/* Those of the group's members that are on host, or all of them. */
static void list_group(const struct wf_dgroup *g, uint32_t host, struct wf_live_event *event)
{
	uint32_t n = 0;

	*event = (struct wf_live_event){ .type = WF_LIVE_EV_GROUP };
	for (const struct wf_dport *p = g->ports; p != NULL; p = p->next) {
		if (!p->member || n == WF_LIVE_GROUP_PORTS ||
		    (host != WF_LIVE_ALL && p->client->host != host))
			continue;
		event->group.port[n].host = p->client->host;
		event->group.port[n++].slot = p->client->slot;
	}
	assert(n <= WF_LIVE_GROUP_PORTS);
	event->group.group = g->number;
	event->group.n = n;
}

/*
 * Who is in the group; to is told, or everybody who sends to it. Where ports are managed, switches
 * know where the others are, and a sender has to know of its own host.
 */
static void tell_group(const struct wf_daemon *d, struct wf_dgroup *g, struct wf_dclient *to)
{
	bool managed = d->table->managed != 0;
	struct wf_live_event event;

	list_group(g, WF_LIVE_ALL, &event);
	for (const struct wf_dport *p = g->ports; p != NULL; p = p->next) {
		if (!p->sender || (to != NULL && to != p->client))
			continue;
		if (managed)
			list_group(g, p->client->host, &event);
		wf_daemon_tell(p->client, &event, NULL);
	}
}

#define MAX_GROUPS 4096

static int group(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req,
                 struct wf_live_reply *reply)
{
	struct wf_dgroup *g;
	struct wf_dport *p;
	bool make = req->op != WF_LIVE_GROUP_LEAVE;

	if (!c->attached || !wf_live_is_group(req->group.gid))
		return -EINVAL;
	g = find_group(d, req->group.gid, make && d->n_groups < MAX_GROUPS);
	p = g == NULL ? NULL : find_port(g, c, make);
	if (p == NULL)
		return make ? -ENOMEM : -EINVAL;
	reply->group.group = g->number;
	if (req->op == WF_LIVE_GROUP_SEND) {
		p->sender = true;
		tell_group(d, g, c);
	} else {
		p->member = make;
		tell_group(d, g, NULL);
		wf_wire_groups(d);
	}
	return 0;
}

static void add_counts(uint64_t to[WF_LIVE_COUNTS], struct wf_live_stats *s)
{
	for (uint32_t i = 0; i < WF_LIVE_COUNTS; i++)
		to[i] += s->count[i];
}

/* Fills all, which has a place for each host and behind them one for each program. */
static uint32_t list_status(struct wf_daemon *d, struct wf_live_status *all)
{
	struct wf_live_status *s = all + d->table->n_hosts;

	for (uint32_t h = 0; h < d->table->n_hosts; h++) {
		wf_daemon_counts(d, h, all[h].count);
		all[h].host = h;
	}
	for (const struct wf_dclient *c = d->clients; c != NULL; c = c->next) {
		if (!c->attached || c->doomed)
			continue;
		add_counts(s->count, c->stats);
		s->host = c->host;
		s->slot = c->slot;
		s->pid = c->pid;
		s->qps = c->stats->qps;
		s->listens = wf_daemon_count_services(d, c);
		memcpy(s->program, c->program, sizeof(s->program));
		all[c->host].qps += s->qps;
		all[c->host].listens += s->listens;
		s++;
	}
	return (uint32_t)(s - all);
}

/* The file that tells of all hosts and programs. */
static int status(struct wf_daemon *d, struct wf_live_reply *reply, int fds[WF_LIVE_MAX_FDS])
{
	int fd = memfd_create("weft-status", MFD_CLOEXEC);
	uint32_t n = d->table->n_hosts;
	struct wf_live_status *all;
	ssize_t size, done = -1;

	if (fd < 0)
		return -errno;
	for (const struct wf_dclient *c = d->clients; c != NULL; c = c->next)
		n++;
	all = calloc(n, sizeof(*all));
	if (all != NULL) {
		reply->status.n = list_status(d, all);
		size = (ssize_t)(reply->status.n * sizeof(*all));
		done = write(fd, all, (size_t)size) == size ? 0 : -1;
	}
	free(all);
	if (done != 0) {
		close(fd);
		return -ENOMEM;
	}
	fds[0] = fd;
	fds[1] = fcntl(d->table_fd, F_DUPFD_CLOEXEC, 0);
	reply->n_fds = 2;
	return 0;
}

/* What the programs of a host have counted, those that have ended included. */
void wf_daemon_counts(const struct wf_daemon *d, uint32_t host, uint64_t count[WF_LIVE_COUNTS])
{
	memcpy(count, d->gone[host].count, sizeof(d->gone[host].count));
	for (const struct wf_dclient *c = d->clients; c != NULL; c = c->next) {
		if (c->attached && c->host == host)
			add_counts(count, c->stats);
	}
	wf_wire_counts(d, host, count);
	if (d->model != NULL)
		count[WF_LIVE_LOST] += wf_model_host_errors(d, host);
}

static int counters(struct wf_daemon *d, const struct wf_live_req *req, struct wf_live_reply *reply,
                    int fds[WF_LIVE_MAX_FDS])
{
	int host = find_host(d, req->attach.host);
	uint64_t count[WF_LIVE_COUNTS];
	int fd;

	if (host < 0)
		return -ENOENT;
	wf_daemon_counts(d, (uint32_t)host, count);
	fd = memfd_create("weft-counters", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, count, sizeof(count)) != (ssize_t)sizeof(count)) {
		close(fd);
		return -ENOSPC;
	}
	reply->attach.host = (uint32_t)host;
	fds[0] = fd;
	fds[1] = fcntl(d->table_fd, F_DUPFD_CLOEXEC, 0);
	reply->n_fds = 2;
	return 0;
}

static int ports(const struct wf_daemon *d, struct wf_live_reply *reply, int fds[WF_LIVE_MAX_FDS])
{
	fds[0] = d->model != NULL ? wf_model_ports(d) : -ENOENT;
	reply->n_fds = fds[0] >= 0;
	return fds[0] < 0 ? fds[0] : 0;
}

/* A file of management programs. */
static int mads(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req,
                struct wf_live_reply *reply, int fds[WF_LIVE_MAX_FDS])
{
	int host = find_host(d, req->mads.host);

	if (c->attached || c->capture != NULL)
		return -EALREADY;
	if (host < 0)
		return -ENOENT;
	if ((d->table->host[host].down & WF_LIVE_DOWN_DEAD) != 0)
		return -EHOSTDOWN;
	if (req->op == WF_LIVE_UMAD_OPEN)
		return wf_umad_open(d, c, (uint32_t)host, reply, fds);
	return wf_umad_open_issm(d, c, (uint32_t)host, req->mads.waits != 0, reply);
}

void wf_daemon_serve(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req,
                     struct wf_live_reply *reply, int fds[WF_LIVE_MAX_FDS])
{
	switch (req->op) {
	case WF_LIVE_ATTACH:
		reply->error = attach(d, c, req, reply, fds);
		break;
	case WF_LIVE_CONNECT:
		if (!c->attached)
			reply->error = -EINVAL;
		else if (req->connect.host == WF_LIVE_REMOTE)
			reply->error = wf_wire_connect(d, c, reply, fds);
		else if (req->connect.host == WF_LIVE_MODEL)
			reply->error = wf_model_connect(d, c, reply, fds);
		else
			reply->error = connect_to(d, c, req, reply, fds);
		break;
	case WF_LIVE_GROUP_JOIN:
	case WF_LIVE_GROUP_LEAVE:
	case WF_LIVE_GROUP_SEND:
		reply->error = group(d, c, req, reply);
		break;
	case WF_LIVE_JOIN:
		reply->error = wf_join_begin(d, c, req);
		break;
	case WF_LIVE_JOIN_END:
		reply->error = wf_join_end(d, c, req->join.cookie);
		break;
	case WF_LIVE_SERVICE_BIND:
	case WF_LIVE_SERVICE_LISTEN:
	case WF_LIVE_SERVICE_FREE:
	case WF_LIVE_SERVICE_FIND:
	case WF_LIVE_SERVICE_SEEK:
		reply->error = c->attached ? wf_daemon_service(d, c, req, reply) : -EINVAL;
		break;
	case WF_LIVE_REMOTE_NUMBER:
	case WF_LIVE_REMOTE_GID:
		reply->error = c->attached ? wf_wire_remote_of(d, c, req, reply) : -EINVAL;
		break;
	case WF_LIVE_STATUS:
		reply->error = status(d, reply, fds);
		break;
	case WF_LIVE_COUNTERS:
		reply->error = counters(d, req, reply, fds);
		break;
	case WF_LIVE_FAULT:
		reply->error = wf_daemon_fault(d, req);
		break;
	case WF_LIVE_WORDS:
	case WF_LIVE_WORDS_CLEAR:
	case WF_LIVE_WORDS_LIST:
		reply->error = wf_daemon_words(d, req, reply, fds);
		break;
	case WF_LIVE_CAPTURE:
		reply->error = wf_daemon_capture(d, c, req, reply, fds);
		break;
	case WF_LIVE_PORTS:
		reply->error = ports(d, reply, fds);
		break;
	case WF_LIVE_UMAD_OPEN:
	case WF_LIVE_ISSM_OPEN:
		reply->error = mads(d, c, req, reply, fds);
		break;
	case WF_LIVE_STOP:
		d->stop = true;
		break;
	default:
		reply->error = -EINVAL;
		break;
	}
	assert(reply->n_fds <= WF_LIVE_MAX_FDS);
	for (unsigned i = 0; i < reply->n_fds; i++) {
		if (fds[i] < 0)
			reply->error = -EMFILE;
	}
	if (reply->error != 0) {
		for (unsigned i = 0; i < reply->n_fds; i++) {
			if (fds[i] >= 0)
				close(fds[i]);
		}
		reply->n_fds = 0;
	}
}

/* Whether the link to the other program is made, or will never be: what an event tells. */
static void hear_connect(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req)
{
	struct wf_live_event event = { .type = WF_LIVE_EV_LINK };
	struct wf_live_reply reply = { .error = 0 };
	int fds[WF_LIVE_MAX_FDS] = { -1, -1, -1, -1 };

	wf_daemon_serve(d, c, req, &reply, fds);
	/* An event with it is on its way; or they need no link, through the model. */
	if (reply.error == -EALREADY || (reply.error == 0 && reply.n_fds == 0))
		return;
	if (reply.error != 0)
		event.type = WF_LIVE_EV_NO_LINK;
	event.n_fds = reply.n_fds;
	event.link.host = req->connect.host;
	event.link.slot = req->connect.slot;
	event.link.side = reply.connect.side;
	wf_daemon_tell(c, &event, fds);
	for (unsigned i = 0; i < reply.n_fds; i++)
		close(fds[i]);
}

static void hear_find(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req)
{
	struct wf_live_event event = { .type = WF_LIVE_EV_SERVICE };
	struct wf_live_reply reply = { .error = 0 };
	int fds[WF_LIVE_MAX_FDS] = { -1, -1, -1, -1 };

	wf_daemon_serve(d, c, req, &reply, fds);
	assert(reply.n_fds == 0);
	event.service.id = req->service.id;
	event.service.host = req->service.host;
	if (reply.error == 0)
		event.service.slot = reply.service.slot;
	else if (wf_daemon_may_listen(d, req->service.host, req->service.id))
		event.service.slot = WF_LIVE_BOUND;
	wf_daemon_tell(c, &event, NULL);
}

/* The program has not got what belongs to a link: it may be asked for anew, by either. */
static void hear_unlink(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req)
{
	struct wf_live_event event = { .type = WF_LIVE_EV_UNLINK };
	struct wf_dclient *o = find(d, req->connect.host, req->connect.slot);

	if (!c->attached || o == NULL || !are_linked(c, o))
		return;
	drop_link(c, o);
	drop_link(o, c);
	event.link.host = c->host;
	event.link.slot = c->slot;
	wf_daemon_tell(o, &event, NULL);
}

void wf_daemon_hear(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req)
{
	if (req->op == WF_LIVE_CONNECT)
		hear_connect(d, c, req);
	else if (req->op == WF_LIVE_SERVICE_FIND)
		hear_find(d, c, req);
	else if (req->op == WF_LIVE_UNLINK)
		hear_unlink(d, c, req);
	else
		c->doomed = true;
}

void wf_daemon_forget(struct wf_daemon *d, struct wf_dclient *c)
{
	struct wf_live_event event = { .type = WF_LIVE_EV_GONE };

	assert(find(d, c->host, c->slot) != c); /* nobody can find it any more */
	if (c->attached)
		add_counts(d->gone[c->host].count, c->stats);
	event.gone.host = c->host;
	event.gone.slot = c->slot;
	wf_daemon_free_services(d, c);
	wf_daemon_untap(d, c, &event);
	while (c->links != NULL) {
		struct wf_dclient *o = c->links->other;

		drop_link(o, c);
		drop_link(c, o);
		wf_daemon_tell(o, &event, NULL);
	}
	for (struct wf_dgroup *g = d->groups; g != NULL; g = g->next) {
		for (struct wf_dport **at = &g->ports; *at != NULL; at = &(*at)->next) {
			struct wf_dport *p = *at;

			if (p->client == c) {
				bool member = p->member;

				*at = p->next;
				free(p);
				if (member)
					tell_group(d, g, NULL);
				break;
			}
		}
	}
	wf_join_forget(d, c);
	wf_wire_groups(d);
}
