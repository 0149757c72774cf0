/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_mcast.c - multicast groups on the wire: a group's GID is an IP multicast address. A socket
 * for each group that programs of a host have joined, at the group's address; whoever sends sends
 * once for the wire.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "live/wire_priv.h"

static void drop(struct wf_dmc **at)
{
	struct wf_dmc *g = *at;

	assert(g->rx >= 0);
	*at = g->next;
	close(g->rx);
	free(g);
}

void wf_wire_close_groups(struct wf_dend *e)
{
	while (e->groups != NULL)
		drop(&e->groups);
}

static int join(const struct wf_dend *e, int fd, const uint8_t gid[16])
{
	struct ipv6_mreq req6 = { .ipv6mr_interface = e->interface };
	struct ip_mreqn req = { .imr_ifindex = (int)e->interface };

	if (wf_dend_is_v6(e)) {
		memcpy(&req6.ipv6mr_multiaddr, gid, 16);
		return setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &req6, sizeof(req6));
	}
	memcpy(&req.imr_multiaddr, gid + 12, 4);
	return setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &req, sizeof(req));
}

/* One that cannot be joined is not: its members hear those within the fabric. */
static void add(struct wf_dwire *w, struct wf_dend *e, const struct wf_dgroup *of)
{
	struct epoll_event event = { .events = EPOLLIN, .data = { .ptr = w } };
	struct wf_dmc *g = calloc(1, sizeof(*g));
	int fd = g == NULL ? -1 : wf_wire_socket(e, of->gid, WF_UDP_PORT_ROCE);

	assert(e->is_open && (of->number & WF_LIVE_GROUP) != 0);
	if (fd < 0 || join(e, fd, of->gid) != 0 ||
	    epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
		if (fd >= 0)
			close(fd);
		free(g);
		return;
	}
	g->number = of->number;
	g->rx = fd;
	g->keep = true;
	g->next = e->groups;
	e->groups = g;
}

static bool has_members(const struct wf_dgroup *g, uint32_t host)
{
	for (const struct wf_dport *p = g->ports; p != NULL; p = p->next) {
		if (p->member && p->client->host == host)
			return true;
	}
	return false;
}

static void update(struct wf_daemon *d, struct wf_dwire *w)
{
	for (const struct wf_dgroup *g = d->groups; g != NULL; g = g->next) {
		struct wf_dend *e = &w->end[wf_live_source(g->gid)];
		struct wf_dmc *of = e->groups;

		while (of != NULL && of->number != g->number)
			of = of->next;
		if (!e->is_open || !has_members(g, w->host))
			continue;
		if (of != NULL)
			of->keep = true;
		else
			add(w, e, g);
	}
}

void wf_wire_groups(struct wf_daemon *d)
{
	for (uint32_t i = 0; d->wires != NULL && i < d->wires->n; i++) {
		struct wf_dwire *w = &d->wires->wire[i];

		update(d, w);
		for (unsigned k = 0; k < WF_LIVE_GIDS; k++) {
			struct wf_dmc **at = &w->end[k].groups;

			assert(*at == NULL || w->end[k].is_open);
			while (*at != NULL) {
				if (!(*at)->keep) {
					drop(at);
					continue;
				}
				(*at)->keep = false;
				at = &(*at)->next;
			}
		}
	}
}
