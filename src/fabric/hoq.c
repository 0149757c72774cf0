/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hoq.c - drops packets that wait for credits for too long.
 */
#include "fabric/hoq.h"

#include "fabric/station.h"

#define STALL_LIVES 8 /* a stall lasts as long as so many lives of a head */

void wf_hoq_set(struct wf_switch *sw)
{
	const struct wf_topo *topo = sw->dev.fabric->topo;

	for (unsigned i = 0; i < sw->dev.n_ports; i++) {
		struct wf_port *port = &sw->dev.ports[i];
		const struct wf_fabric_cfg *cfg = &port->setup->cfg;
		uint32_t peer = topo->ports[topo->nodes[sw->dev.id].first_port + i].peer;
		bool leaf = topo->nodes[peer].kind == WF_TOPO_HOST;

		port->hoq_life = cfg->vl_hoq_life;
		port->hoq_stall = cfg->vl_stall;
		if (leaf && cfg->vl_leaf_life != WF_PARAM_AUTO)
			port->hoq_life = cfg->vl_leaf_life;
		if (leaf && cfg->vl_leaf_stall != (uint64_t)WF_PARAM_AUTO)
			port->hoq_stall = wf_narrow_u32(cfg->vl_leaf_stall);
		if (sw->dev.station != NULL)
			wf_station_lives(sw->dev.station, i);
	}
}

static void stall(struct wf_switch *sw, struct wf_port *port, unsigned queue, wf_time now)
{
	struct wf_lane *lane = wf_port_lane(port, queue);

	assert(lane->hoq.until == 0);
	lane->hoq.until = now + STALL_LIVES * port->hoq_life;
	lane->hoq.drops = 0;
	lane->hoq.times++;
	wf_switch_shut(sw, 1);
	wf_switch_flush(sw, port, queue, WF_DROP_LIFE, now);
}

void wf_hoq_drop(struct wf_switch *sw, struct wf_port *port, wf_time now)
{
	for (uint32_t mask = port->nonempty & port->blocked; mask != 0; mask &= mask - 1) {
		unsigned q = (unsigned)__builtin_ctz(mask);
		struct wf_lane *lane = wf_port_lane(port, q);
		struct wf_hoq *hoq = &lane->hoq;

		if (lane->wait_since == WF_TIME_NEVER || now - lane->wait_since < port->hoq_life)
			continue;
		wf_lane_go(lane, now);
		wf_switch_drop_head(sw, port, q, WF_DROP_LIFE, now);
		hoq->drops = (uint16_t)(hoq->tx == (uint32_t)lane->tx_packets ? hoq->drops + 1 : 1);
		hoq->tx = (uint32_t)lane->tx_packets;
		if (port->hoq_stall != 0 && hoq->drops >= port->hoq_stall &&
		    !wf_hoq_is_stalled(sw, lane, now))
			stall(sw, port, q, now);
	}
}

bool wf_hoq_is_stalled(struct wf_switch *sw, struct wf_lane *lane, wf_time now)
{
	if (lane->hoq.until == 0)
		return false;
	if (now < lane->hoq.until)
		return true;
	lane->hoq.until = 0;
	wf_switch_shut(sw, -1);
	return false;
}
