/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.c - queues take turns, packet by packet, whatever their sizes: as the HPCC simulator's do.
 */
#include "fabric/sched.h"

static unsigned turns_pick(const struct wf_classes *classes, struct wf_port *port,
                           uint32_t eligible)
{
	unsigned q = port->last;

	assert(eligible != 0);
	do
		q = q + 1 >= classes->n ? 0 : q + 1;
	while (!(eligible >> q & 1));
	return q;
}

/* Who sent last is noted of every packet. */
static void turns_alone(struct wf_port *port, unsigned queue)
{
	(void)port;
	(void)queue;
}

const struct wf_sched_ops wf_sched_turns = {
	.name = "turns",
	.help = "queues take turns, packet by packet",
	.pick = turns_pick,
	.alone = turns_alone,
};
