/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vlarb.c - InfiniBand's VL arbitration (IBTA vol. 1, 7.6.9).
 *
 * VL15 goes before everything. The high-priority table is served as long as it has something to
 * send and its limit lets it; then the low-priority table sends one packet and the limit starts
 * anew. In a table each entry names a VL and a weight in units of 64 bytes; the entry whose turn it
 * is sends until its weight is used up (the last packet may exceed it) or has nothing to send.
 */
#include "fabric/sched/sched.h"
#include "wire/ib.h"

#define LIMIT_UNIT 4096
#define NO_LIMIT 255

static uint32_t head_size(const struct wf_port *port, unsigned q)
{
	return port->lanes[q].head->size;
}

/*
 * The queue a table sends from next, or WF_MAX_QUEUES when none of its entries can send. at and
 * left are the entry whose turn it is and what it has left.
 */
static unsigned table_pick(const struct wf_vlarb_entry *table, unsigned n, struct wf_port *port,
                           uint32_t eligible, uint8_t *at, int16_t *left)
{
	for (unsigned i = 0; i <= n && n > 0; i++) {
		const struct wf_vlarb_entry *e = &table[*at];

		if ((eligible >> e->queue & 1) && *left > 0) {
			*left = (int16_t)(*left - (int)wf_ib_blocks(head_size(port, e->queue)));
			return e->queue;
		}
		*at = (uint8_t)(*at + 1u == n ? 0 : *at + 1u);
		*left = table[*at].weight;
	}
	return WF_MAX_QUEUES;
}

static unsigned vlarb_pick(const struct wf_classes *classes, struct wf_port *port,
                           uint32_t eligible)
{
	unsigned q;

	assert(eligible != 0);
	/* VL15 is the last queue. */
	if (eligible >> (classes->n - 1) & 1)
		return classes->n - 1;

	if (classes->high_limit == NO_LIMIT || port->arb.limit_left >= 0) {
		q = table_pick(classes->high, classes->n_high, port, eligible, &port->arb.high,
		               &port->arb.high_left);
		if (q != WF_MAX_QUEUES) {
			port->arb.limit_left -= (int32_t)head_size(port, q);
			return q;
		}
	}
	port->arb.limit_left = (int32_t)classes->high_limit * LIMIT_UNIT;
	q = table_pick(classes->low, classes->n_low, port, eligible, &port->arb.low,
	               &port->arb.low_left);
	if (q != WF_MAX_QUEUES)
		return q;
	/* Nothing for the low table: the high one goes on after all. */
	q = table_pick(classes->high, classes->n_high, port, eligible, &port->arb.high,
	               &port->arb.high_left);
	/*
	 * Every VL is in a table (wf_classes_parse), but maybe with weight 0: send it all the same.
	 */
	return q != WF_MAX_QUEUES ? q : (unsigned)__builtin_ctz(eligible);
}

static void vlarb_alone(struct wf_port *port, unsigned queue)
{
	(void)port;
	(void)queue;
}

const struct wf_sched_ops wf_sched_vlarb = {
	.name = "vlarb",
	.help = "InfiniBand's two-table VL arbitration",
	.pick = vlarb_pick,
	.alone = vlarb_alone,
};
