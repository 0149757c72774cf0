/* SPDX-License-Identifier: Apache-2.0 */
/* daemon_service.c - which program of a host has which service of communication management. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "live/daemon_priv.h"

#define MAX_SERVICES 65536 /* of a fabric */
#define FIRST_PORT 32768   /* of those for who wants any, as Linux has it */
#define LAST_PORT 60999

/* The service of a program on a host; NULL: none. client NULL: of any. */
static struct wf_dservice *find(struct wf_daemon *d, uint32_t host, uint64_t id,
                                const struct wf_dclient *client)
{
	struct wf_dservice *s = d->services;

	while (s != NULL &&
	       (s->id != id || s->client->host != host || (client != NULL && s->client != client)))
		s = s->next;
	return s;
}

static struct wf_dservice *find_listener(struct wf_daemon *d, uint32_t host, uint64_t id)
{
	struct wf_dservice *s = d->services;

	while (s != NULL && (s->id != id || s->client->host != host || !s->listens))
		s = s->next;
	return s;
}

struct wf_dclient *wf_daemon_listener(struct wf_daemon *d, uint32_t host, uint64_t id)
{
	struct wf_dservice *s = find_listener(d, host, id);

	return s != NULL ? s->client : NULL;
}

/* Whether somebody on the host has it in a way that keeps others out. */
static bool is_taken(struct wf_daemon *d, uint32_t host, uint64_t id, bool reuse)
{
	for (const struct wf_dservice *s = d->services; s != NULL; s = s->next) {
		if (s->id == id && s->client->host == host && !(reuse && s->reuse && !s->listens))
			return true;
	}
	return false;
}

static uint64_t free_port(struct wf_daemon *d, uint32_t host, uint64_t space)
{
	uint32_t ports = LAST_PORT - FIRST_PORT + 1;

	for (uint32_t i = 0; i < ports; i++) {
		uint64_t id = space | (FIRST_PORT + d->next_port++ % ports);

		assert((id & 0xffff) >= FIRST_PORT && (id & 0xffff) <= LAST_PORT);
		if (find(d, host, id, NULL) == NULL)
			return id;
	}
	return 0;
}

bool wf_daemon_may_listen(const struct wf_daemon *d, uint32_t host, uint64_t id)
{
	for (const struct wf_dservice *s = d->services; s != NULL; s = s->next) {
		if (s->id == id && s->client->host == host && !s->active)
			return true;
	}
	return false;
}

static int bind_service(struct wf_daemon *d, struct wf_dclient *c, uint64_t id, uint32_t flags,
                        struct wf_live_reply *reply)
{
	bool reuse = (flags & WF_LIVE_BIND_REUSE) != 0;
	struct wf_dservice *s;

	if ((id & 0xffff) == 0)
		id = free_port(d, c->host, id);
	else if (is_taken(d, c->host, id, reuse))
		return -EADDRINUSE;
	if (id == 0 || d->n_services == MAX_SERVICES)
		return -EADDRNOTAVAIL;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	s->client = c;
	s->id = id;
	s->reuse = reuse;
	s->active = (flags & WF_LIVE_BIND_ACTIVE) != 0;
	s->next = d->services;
	d->services = s;
	d->n_services++;
	reply->service.id = id;
	return 0;
}

static int listen_service(struct wf_daemon *d, struct wf_dclient *c, uint64_t id)
{
	struct wf_dservice *s = find(d, c->host, id, c);

	if (s == NULL)
		return -EINVAL;
	if (find_listener(d, c->host, id) != NULL)
		return -EADDRINUSE;
	s->listens = true;
	return 0;
}

static void drop(struct wf_daemon *d, struct wf_dservice **at)
{
	struct wf_dservice *s = *at;

	assert(s != NULL && d->n_services > 0);
	*at = s->next;
	free(s);
	d->n_services--;
}

/* Of several that it has by that name, one that does not listen goes first. */
static int free_service(struct wf_daemon *d, const struct wf_dclient *c, uint64_t id, bool listens)
{
	for (struct wf_dservice **at = &d->services; *at != NULL; at = &(*at)->next) {
		if ((*at)->client == c && (*at)->id == id && (*at)->listens == listens) {
			drop(d, at);
			return 0;
		}
	}
	return -EINVAL;
}

static int found(const struct wf_dservice *s, struct wf_live_reply *reply)
{
	if (s == NULL)
		return -ECONNREFUSED;
	reply->service.id = s->id;
	reply->service.host = s->client->host;
	reply->service.slot = s->client->slot;
	return 0;
}

int wf_daemon_service(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req,
                      struct wf_live_reply *reply)
{
	uint64_t id = req->service.id;
	struct wf_dservice *s;

	assert(c->attached && c->host < d->table->n_hosts);
	reply->service.id = id;
	switch (req->op) {
	case WF_LIVE_SERVICE_BIND:
		return bind_service(d, c, id, req->service.flag, reply);
	case WF_LIVE_SERVICE_LISTEN:
		return listen_service(d, c, id);
	case WF_LIVE_SERVICE_FREE:
		return free_service(d, c, id, req->service.flag != 0);
	case WF_LIVE_SERVICE_FIND:
		return found(find_listener(d, req->service.host, id), reply);
	case WF_LIVE_SERVICE_SEEK:
		s = find_listener(d, c->host, id);
		for (uint32_t h = 0; s == NULL && h < d->table->n_hosts; h++)
			s = find_listener(d, h, id);
		return found(s, reply);
	default:
		return -EINVAL;
	}
}

void wf_daemon_free_services(struct wf_daemon *d, const struct wf_dclient *c)
{
	struct wf_dservice **at = &d->services;

	while (*at != NULL) {
		if (c == NULL || (*at)->client == c)
			drop(d, at);
		else
			at = &(*at)->next;
	}
	assert(c != NULL || d->n_services == 0);
}

uint32_t wf_daemon_count_services(const struct wf_daemon *d, const struct wf_dclient *c)
{
	uint32_t n = 0;

	for (const struct wf_dservice *s = d->services; s != NULL; s = s->next)
		n += s->client == c && s->listens;
	return n;
}
