/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ecmp.c - equal-cost multipath: a hash of the flow decides, differently in each switch.
 */
#include "base/rng.h"
#include "fabric/route/route.h"
#include "fabric/switch.h"

static unsigned ecmp_pick(struct wf_switch *sw, const uint16_t *ports, unsigned n,
                          const struct wf_packet *pkt, wf_time now)
{
	uint64_t flow = (uint64_t)wf_packet_src(pkt) << 32 | pkt->dst;

	(void)now;
	flow ^= (uint64_t)pkt->entropy * UINT64_C(0x9e3779b97f4a7c15);
	return ports[wf_rand_below(wf_mix64(flow ^ sw->hash_key), n)];
}

static unsigned hashed_pick(struct wf_switch *sw, const uint16_t *ports, unsigned n,
                            const struct wf_packet *pkt, wf_time now)
{
	unsigned fields = sw->dev.setup->hash_fields;
	struct wf_packet of = *pkt;

	of.src = fields & WF_HASH_SRC ? pkt->src : 0;
	of.dst = fields & WF_HASH_DST ? pkt->dst : 0;
	of.entropy = fields & WF_HASH_SPORT ? pkt->entropy : 0;
	return ecmp_pick(sw, ports, n, &of, now);
}

const struct wf_route_ops wf_route_ecmp = {
	.name = "ecmp",
	.help = "equal-cost multipath by hash of the flow",
	.reorders = false,
	.any_ports = true,
	.pick = ecmp_pick,
};

const struct wf_route_ops wf_route_hashed = {
	.name = "ecmp",
	.help = "equal-cost multipath by hash of the flow",
	.reorders = false,
	.any_ports = true,
	.pick = hashed_pick,
};
