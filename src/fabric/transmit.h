/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transmit.h - putting a packet on a wire: inline, since every packet does it at every hop.
 */
#ifndef WF_FABRIC_TRANSMIT_H
#define WF_FABRIC_TRANSMIT_H

#include <string.h>

#include "fabric/fabric.h"

/* Puts pkt, whose cell is written, on the wire where more is to be done: WF_HOOK_*. */
void wf_port_put_hooked(struct wf_device *dev, struct wf_port *port, const struct wf_packet *pkt,
                        wf_time now);

/* Puts pkt on the wire, which is free, now. */
static inline void wf_port_put(struct wf_device *dev, struct wf_port *port,
                               const struct wf_packet *pkt, wf_time now)
{
	struct wf_cell *cell = wf_link_slot(&port->link, dev->node.shard);
	uint32_t bytes = pkt->size + dev->fabric->gap;
	uint32_t head = bytes < port->cut ? bytes : port->cut;

	assert(port->free_at <= now && port->up && pkt->input != WF_PACKET_GONE);
	assert(bytes <= WF_PORT_STORE && pkt->size <= dev->fabric->largest);
	memcpy(cell->body, (const char *)pkt + sizeof(wf_time), sizeof(cell->body));
	dev->shard->hops++;
	if (wf_unlikely(port->hooked)) {
		wf_port_put_hooked(dev, port, pkt, now);
		return;
	}
	port->free_at = now + wf_port_time(port, bytes);
	wf_link_commit(&port->link, dev->node.shard, now + wf_port_time(port, head) + port->delay);
}

/*
 * Sends pkt from a queue of port now: the wire is free, and flow control allows it. pkt is copied.
 */
static inline void wf_port_transmit(struct wf_device *dev, struct wf_port *port,
                                    struct wf_lane *lane, const struct wf_packet *pkt, wf_time now)
{
	lane->tx_packets++;
	lane->tx_bytes += pkt->size;
	if (port->held != 0) /* where nobody is held back, nobody counts */
		dev->fabric->flowctl->sent(lane, pkt->size);
#ifndef NDEBUG
	dev->shard->tally[pkt->cls].on_links++;
#endif
	wf_port_put(dev, port, pkt, now);
}

#endif
