/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive.h - what every device does first with what comes in by a port, switch or host.
 */
#ifndef WF_FABRIC_RECEIVE_H
#define WF_FABRIC_RECEIVE_H

#include "fabric/fabric.h"

/*
 * The packet that a cell of the engine is. Both begin with the time of the event, and struct
 * wf_cell may alias anything, so the two may be read and written through either type.
 */
static inline struct wf_packet *wf_packet_of(struct wf_cell *cell)
{
	return (struct wf_packet *)(void *)cell;
}

_Static_assert(sizeof(struct wf_packet) == sizeof(struct wf_cell), "a cell is a packet");
_Static_assert(offsetof(struct wf_packet, at) == offsetof(struct wf_cell, at), "times are one");

/*
 * Takes a cell in by port: NULL when there is nothing left to do, because the packet was lost on
 * the link or was for the link itself. Else the packet, which has neither buffer nor its credits
 * back yet.
 */
static inline struct wf_packet *wf_port_receive(struct wf_device *dev, struct wf_port *port,
                                                struct wf_cell *cell, wf_time now)
{
	struct wf_packet *pkt = wf_packet_of(cell);

#ifndef NDEBUG
	if (!wf_packet_is_control(pkt->type))
		dev->shard->tally[pkt->cls].on_links--;
#endif
	if (wf_unlikely(port->lossy) && wf_port_loses(dev, port, pkt, now))
		return NULL;
	if (wf_unlikely(wf_packet_is_control(pkt->type))) {
		dev->fabric->flowctl->control(dev, port, pkt, now);
		return NULL;
	}
	return pkt;
}

#endif
