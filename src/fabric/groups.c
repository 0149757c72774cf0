/* SPDX-License-Identifier: Apache-2.0 */
/* groups.c - the groups of ports that a manager has set, and the port that a packet takes. */
#include "fabric/groups.h"

#include <errno.h>

#include "fabric/route/route.h"
#include "fabric/switch.h"

int wf_port_groups_create(struct wf_station *st)
{
	assert(st->groups == NULL);
	st->groups = wf_shard_alloc(st->dev->node.shard, sizeof(*st->groups));
	return st->groups == NULL ? -ENOMEM : 0;
}

void wf_port_groups_set(struct wf_station *st, const struct wf_port_groups *set)
{
	struct wf_port_groups *g = st->groups;

	assert(set->n <= WF_PORT_GROUPS);
	g->on = false;
	g->of = set->of;
	g->n_of = set->n_of;
	g->ports = set->ports;
	g->n = set->n;
	for (unsigned i = 0; i < g->n; i++) {
		uint64_t any = 0;

		for (unsigned w = 0; w < WF_STATION_WORDS; w++)
			any |= g->ports[i][w];
		if (any == 0 || g->open[i] != NULL)
			continue;
		g->open[i] =
			wf_shard_alloc(st->dev->node.shard, st->dev->n_ports * sizeof(*g->open[i]));
		if (g->open[i] == NULL) {
			wf_shard_no_memory(st->dev->node.shard);
			return;
		}
	}
	g->on = set->on;
	g->stale = true;
}

static void find_open(const struct wf_station *st, struct wf_port_groups *g)
{
	for (unsigned i = 0; i < g->n; i++) {
		g->n_open[i] = 0;
		for (unsigned p = 0; g->open[i] != NULL && p < st->dev->n_ports; p++) {
			if ((g->ports[i][(p + 1) / 64] >> (p + 1) % 64 & 1) != 0 &&
			    st->port[p].active)
				g->open[i][g->n_open[i]++] = (uint16_t)p;
		}
	}
	g->stale = false;
}

uint32_t wf_port_groups_way(struct wf_switch *sw, const struct wf_packet *pkt, wf_time now)
{
	const struct wf_station *st = sw->dev.station;
	struct wf_port_groups *g = st->groups;
	uint32_t way = wf_station_way(st, pkt->entropy);
	unsigned group;

	if (way >= sw->dev.n_ports || !g->on || pkt->type == WF_PACKET_GMP ||
	    pkt->entropy >= g->n_of || g->of[pkt->entropy] == 0)
		return way;
	if (g->stale)
		find_open(st, g);
	group = g->of[pkt->entropy] - 1u;
	if (group >= g->n || g->n_open[group] == 0)
		return way;
	return sw->dev.fabric->route->pick(sw, g->open[group], g->n_open[group], pkt, now);
}
