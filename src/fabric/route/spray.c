/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spray.c - every packet takes a random minimal port, whatever flow it is of.
 */
#include "base/rng.h"
#include "fabric/route/route.h"
#include "fabric/switch.h"

static unsigned spray_pick(struct wf_switch *sw, const uint16_t *ports, unsigned n,
                           const struct wf_packet *pkt, wf_time now)
{
	(void)pkt;
	(void)now;
	return ports[wf_rand_below(wf_rand64(sw->rng_key, sw->rng_count++), n)];
}

const struct wf_route_ops wf_route_spray = {
	.name = "spray",
	.help = "every packet takes a random minimal path",
	.reorders = true,
	.any_ports = true,
	.pick = spray_pick,
};
