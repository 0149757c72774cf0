/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pinned.c - every flow takes the path that was written down for it.
 */
#include "fabric/route/pinned.h"
#include "fabric/route/route.h"
#include "fabric/switch.h"

/* A packet that is not where its path leads goes by the first of the minimal ports. */
static unsigned pinned_pick(struct wf_switch *sw, const uint16_t *ports, unsigned n,
                            const struct wf_packet *pkt, wf_time now)
{
	const struct wf_pins *pins = sw->dev.fabric->pins;
	const struct wf_pin_path *path;

	(void)n;
	(void)now;
	if (wf_unlikely(pins == NULL || pkt->qpn >= pins->n_flows))
		return ports[0];
	path = &pins->path[2 * (size_t)pkt->qpn + (pkt->type != WF_PACKET_DATA)];
	for (unsigned i = 0; i < WF_PIN_HOPS; i++) {
		if (path->hop[i].node == sw->dev.id)
			return path->hop[i].port;
	}
	return ports[0];
}

const struct wf_route_ops wf_route_pinned = {
	.name = "pinned",
	.help = "the path written down for each flow (weft run --hpcc --paths)",
	.reorders = false,
	.pick = pinned_pick,
};
