/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multicast.h - a switch of a managed fabric copies a packet to the ports of its group.
 *
 *	in --> row of the multicast table --> all its ports but the one that it came in by
 *	                                        each: active? lane? MTU? P_Key? --> out, or waits
 *
 * Copies that wait have the one buffer that the packet came into, whose credits go back when the
 * last of them has left: so a switch copies as much as comes in, and loses nothing of it. Each has
 * a payload of its own. A copy that may not leave is dropped and counted where it was to leave;
 * the others go on.
 */
#ifndef WF_FABRIC_MULTICAST_H
#define WF_FABRIC_MULTICAST_H

#include "fabric/switch.h"

/* A packet for a group came in by in, and is its device's now. */
void wf_multicast_forward(struct wf_switch *sw, struct wf_port *in, const struct wf_packet *pkt,
                          wf_time now);

#endif
