/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adaptive.c - every packet takes the minimal port that has least to send.
 *
 * A port with nothing waiting and a free wire is taken at once. The search starts at a random port,
 * so that equally loaded ports share the traffic.
 */
#include "base/rng.h"
#include "fabric/route/route.h"
#include "fabric/switch.h"

static unsigned adaptive_pick(struct wf_switch *sw, const uint16_t *ports, unsigned n,
                              const struct wf_packet *pkt, wf_time now)
{
	unsigned start = wf_rand_below(wf_rand64(sw->rng_key, sw->rng_count++), n);
	uint32_t least = UINT32_MAX;
	unsigned best = ports[start];

	(void)pkt;
	for (unsigned i = 0, k = start; i < n; i++, k = k + 1 == n ? 0 : k + 1) {
		uint32_t load = sw->load[ports[k]];

		if (load >= least)
			continue;
		if (load == 0) {
			if (sw->dev.ports[ports[k]].free_at <= now)
				return ports[k];
			load = 1;
			if (load >= least)
				continue;
		}
		least = load;
		best = ports[k];
	}
	return best;
}

const struct wf_route_ops wf_route_adaptive = {
	.name = "adaptive",
	.help = "every packet takes the least loaded minimal path",
	.reorders = true,
	.any_ports = true,
	.pick = adaptive_pick,
};
