/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ets.c - strict priorities, then deficit weighted round robin (IEEE 802.1Qaz).
 *
 * Strict queues go first, the higher priority first. Among the others each gets, in turn, a quantum
 * in proportion to its weight and sends while its deficit covers its head packet.
 */
#include <string.h>

#include "fabric/sched/sched.h"

#define QUANTUM_PER_WEIGHT 128 /* bytes */

static unsigned pick_strict(const struct wf_classes *classes, uint32_t eligible)
{
	for (unsigned q = classes->n; q-- > 0;) {
		if ((eligible >> q & 1) && classes->queue[q].strict)
			return q;
	}
	return WF_MAX_QUEUES;
}

static unsigned ets_pick(const struct wf_classes *classes, struct wf_port *port, uint32_t eligible)
{
	unsigned q = pick_strict(classes, eligible);

	assert(eligible != 0);
	if (q != WF_MAX_QUEUES)
		return q;

	/* Ends: every round adds a quantum to some eligible queue. */
	for (;;) {
		q = port->cursor;
		if ((eligible >> q & 1) && port->deficit[q] >= (int32_t)port->lanes[q].head->size)
			break;
		if (port->lanes[q].head == NULL)
			port->deficit[q] = 0; /* an empty queue saves nothing up */
		do
			q = q + 1 == classes->n ? 0 : q + 1;
		while (!(eligible >> q & 1));
		port->cursor = (uint8_t)q;
		port->deficit[q] += classes->queue[q].weight * QUANTUM_PER_WEIGHT;
	}
	port->deficit[q] -= (int32_t)port->lanes[q].head->size;
	return q;
}

/* A queue that is alone saves nothing up. */
static void ets_alone(struct wf_port *port, unsigned queue)
{
	port->deficit[queue] = 0;
}

const struct wf_sched_ops wf_sched_ets = {
	.name = "ets",
	.help = "strict priorities, then deficit weighted round robin",
	.pick = ets_pick,
	.alone = ets_alone,
};
