/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks.c - time on the wire, and chance, as that simulator has them: struct wf_fabric_hooks.
 */
#include "ns3/ns3_priv.h"

#define BIT_NS_PER_BYTE (UINT64_C(8) * 1000000000)

/*
 * What is more than the last whole ns that lies before the exact time is cut off: that simulator
 * computes times in seconds, in binary, and a whole number of ns comes out as a little less.
 */
wf_time wf_ns3_time(uint64_t rate, uint32_t bytes)
{
	assert(rate > 0 && bytes > 0);
	return (wf_time)((bytes * BIT_NS_PER_BYTE - 1) / rate) * WF_NS;
}

/* That the wire is free is always an event, and it is asked for before that the packet arrives. */
static wf_time wire_free(struct wf_device *dev, const struct wf_port *port, uint32_t bytes,
                         wf_time now)
{
	wf_time at = now + wf_ns3_time(port->rate, bytes);

	assert(now % WF_NS == 0 && !wf_ns3_is_busy(dev, port));
	wf_timer_set(&dev->node, port->number, at);
	return at;
}

/* Draws in the order of events: for all links together, or for one with a loss of its own. */
static bool loses(struct wf_device *dev, const struct wf_port *port, const struct wf_packet *pkt)
{
	const struct wf_topo *topo = dev->fabric->topo;
	uint32_t link = topo->ports[topo->nodes[dev->id].first_port + port->number].link;
	struct wf_mrg *streams = wf_ns3_shared(dev)->streams;

	(void)pkt;
	assert(streams != NULL && port->loss != 0);
	return wf_mrg_next(&streams[topo->links[link].loss != 0 ? link + 1 : 0]) < port->loss;
}

void wf_ns3_no_warm(const struct wf_node *node, unsigned input)
{
	(void)node;
	(void)input;
}

const struct wf_fabric_hooks wf_ns3_hooks = {
	.wire_free = wire_free,
	.loses = loses,
};
