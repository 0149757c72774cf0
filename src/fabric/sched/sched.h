/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched.h - which queue of a port sends next.
 */
#ifndef WF_FABRIC_SCHED_SCHED_H
#define WF_FABRIC_SCHED_SCHED_H

#include "fabric/classes.h"
#include "fabric/device.h"

struct wf_sched_ops {
	const char *name; /* "ets", "vlarb" */
	const char *help;
	/*
	 * Picks one of the queues in eligible (not 0): they have a packet and may send it. Called
	 * only when there is a choice.
	 */
	unsigned (*pick)(const struct wf_classes *classes, struct wf_port *port, uint32_t eligible);
	/* A packet left queue without pick being asked: it was the only one. */
	void (*alone)(struct wf_port *port, unsigned queue);
};

extern const struct wf_sched_ops wf_sched_ets;
extern const struct wf_sched_ops wf_sched_vlarb;

#endif
