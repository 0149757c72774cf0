/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - source routing: one path for each pair of hosts, as in Myrinet.
 *
 * A pair's path is a number drawn from the seed, the same in every switch. Its digits say which of
 * the n minimal ports a switch takes: at a leaf the lowest, above it the next.
 */
#include "base/rng.h"
#include "fabric/route/route.h"
#include "fabric/switch.h"

static unsigned source_pick(struct wf_switch *sw, const uint16_t *ports, unsigned n,
                            const struct wf_packet *pkt, wf_time now)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	uint64_t pair = (uint64_t)wf_packet_src(pkt) << 32 | pkt->dst;
	uint32_t digit = (uint32_t)(wf_mix64(fabric->seed ^ wf_mix64(pair)) >> 32);

	(void)now;
	for (unsigned tier = fabric->topo->nodes[sw->dev.id].tier; tier > 1; tier--)
		digit /= n;
	return ports[digit % n];
}

const struct wf_route_ops wf_route_source = {
	.name = "source",
	.help = "one random path for each pair of hosts (source routing, static)",
	.reorders = false,
	.pick = source_pick,
};
