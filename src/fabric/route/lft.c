/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lft.c - InfiniBand's linear forwarding table: one port for each destination.
 *
 * The table is wf_routes_fill_lft()'s: d-mod-k, so that the hosts of a leaf come down to it by
 * different paths and by different ones of parallel links.
 */
#include "fabric/route/route.h"
#include "fabric/switch.h"

static unsigned lft_pick(struct wf_switch *sw, const uint16_t *ports, unsigned n,
                         const struct wf_packet *pkt, wf_time now)
{
	(void)now;
	/* With ports down the table still names one of those that are up. */
	if (wf_unlikely(sw->n_down != 0))
		return ports[pkt->dst % n];
	return sw->lft[pkt->dst];
}

const struct wf_route_ops wf_route_lft = {
	.name = "lft",
	.help = "linear forwarding table: one path per destination (InfiniBand, static)",
	.reorders = false,
	.pick = lft_pick,
};
