/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hoq.h - InfiniBand's answer to receivers that take nothing: the lifetime limit at the head of a
 * queue, and virtual lanes that stall (IBTA vol. 1, 18.2.5.4; PortInfo HOQLife and VLStallCount).
 *
 *	         a head waits for credits longer than its life: it is dropped
 *	serving ------------------------------------------------------------> serving
 *	        vl.stall_count of them, and none left in between
 *	serving --------------------------------------------------> stalled: what waits is dropped,
 *	        <--------------------------------------------------          and what comes
 *	                       8 times the life later
 */
#ifndef WF_FABRIC_HOQ_H
#define WF_FABRIC_HOQ_H

#include "fabric/switch.h"

/* Sets what a switch's ports are set to. */
void wf_hoq_set(struct wf_switch *sw);

/* Drops the heads of port that have waited for credits for too long. */
void wf_hoq_drop(struct wf_switch *sw, struct wf_port *port, wf_time now);

/* Whether a queue is stalled: what comes to it is dropped. */
bool wf_hoq_is_stalled(struct wf_switch *sw, struct wf_lane *lane, wf_time now);

#endif
