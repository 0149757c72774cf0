/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stuck.h - which queues of switches stand still, for how long, and which of them for good.
 *
 * A lane of a switch is a queue by which packets leave, and a buffer of those that came in:
 *
 *	  switch S                          switch T
 *	 +---------+                       +---------------------------------+
 *	 | queue a |======================>| the buffer that a's packets get |
 *	 +---------+   pause, or no        | is held by those in queue b     |=====> ...
 *	               credits             +---------------------------------+
 *
 * What is proved. Of all queues that are stopped we take away, again and again, each that may yet
 * move if all others that are left never do. What remains moves never, as long as nothing happens
 * from outside (a fault, a setting that changes, a watchdog, a packet that is dropped for its age):
 * the first of them to move would need another of them to have moved before. So there are no false
 * positives; and as each that remains waits for another that remains, there is a circle.
 *
 * Credits: T grants no more than the blocks that a has sent plus the buffer that is free. So of a
 * buffer of C blocks, of which packets in queues that never move hold R, a never has more than C -
 * R to spend. It may move if its first packet takes no more than that, whatever else T's buffer has
 * now, or is on the wire.
 *
 * PFC: T says go when a packet of the group leaves its buffer and the group is low then. At best
 * all but what never moves has left the switch: of the group itself, R bytes remain, and of the
 * shared buffer, what such packets of all groups take at least. (The headroom empties first, so a
 * group of which more than its other part stays has headroom in use, and is not low.) If the group
 * is not low even then, it never says go. Nor does it where no packet is left that could leave,
 * because all that it holds never moves and nothing more can come to it: groups whose share of the
 * buffer shrank because of others' packets are stopped by these, and stay stopped when those are
 * gone, since nobody asks again. Its pause lasts: frames are repeated in time, none that says go is
 * on the wire, and no other group speaks for the same priority.
 *
 * Hosts take in whatever comes, some time. A queue that leads to one may always move: if its
 * adapter pauses without end, that is no deadlock.
 */
#ifndef WF_SIM_LOOK_STUCK_H
#define WF_SIM_LOOK_STUCK_H

#include "sim/sim_priv.h"

enum wf_stuck_kind {
	WF_STUCK_FOR_GOOD, /* those that can never move */
	WF_STUCK_NOW,      /* all that are stopped, whatever becomes of them */
};

/* A queue of a switch with packets, which is stopped. */
struct wf_stuck_queue {
	uint32_t node;
	uint16_t port;
	uint8_t queue;
	bool left; /* it has not been taken away */
	wf_time since;
};

struct wf_stuck {
	const struct wf_sim *sim;
	struct wf_mem *mem;
	enum wf_stuck_kind kind;
	struct wf_stuck_queue *queue; /* in the order of nodes, ports and queues */
	uint32_t n;
	uint32_t *of_lane; /* by lane of the fabric: its place in queue, plus 1; 0: it has none */
	/*
	 * By lane, as a buffer: what packets in these queues take of it, in bytes of cells or
	 * blocks.
	 */
	uint64_t *held;
	uint64_t *shared; /* by node: bytes of the shared buffer that they take at least */
	/* Who waits for whom: from queue i to to[first[i] .. first[i + 1]); and back. */
	uint32_t *first, *to;
	uint32_t *first_back, *back;
	uint32_t n_edges;
};

/*
 * Finds the queues that have been stopped for wait or longer, of that kind, with who waits for
 * whom among them. s is the caller's, who gives it to wf_stuck_fini() when it is done. Returns 0
 * or -ENOMEM.
 */
int wf_stuck_find(struct wf_stuck *s, const struct wf_sim *sim, enum wf_stuck_kind kind,
                  wf_time wait) WF_MUST_USE;
void wf_stuck_fini(struct wf_stuck *s);

/* The place of a lane of the fabric, and of a queue, in arrays by lane. */
static inline size_t wf_stuck_lane(const struct wf_stuck *s, uint32_t node, unsigned port,
                                   unsigned queue)
{
	return (size_t)(s->sim->topo->nodes[node].first_port + port) * s->sim->fabric.classes.n +
	       queue;
}

static inline const struct wf_lane *wf_stuck_lane_at(const struct wf_sim *sim, uint32_t node,
                                                     unsigned port, unsigned queue)
{
	return &sim->net.devices[node]->ports[port].lanes[queue];
}

/* The other end of a port's link. */
static inline const struct wf_topo_port *wf_stuck_peer(const struct wf_sim *sim, uint32_t node,
                                                       unsigned port)
{
	return &sim->topo->ports[sim->topo->nodes[node].first_port + port];
}

/* Whether a switch sent a packet itself: it is in no buffer that a link could be stopped for. */
static inline bool wf_stuck_is_own(const struct wf_sim *sim, uint32_t node,
                                   const struct wf_packet *p)
{
	return p->input >= sim->topo->nodes[node].n_ports;
}

/*
 * The buffers at the other end of the port's link that stop a queue, or let it go on: a mask of
 * queues' numbers. On Ethernet maps and priorities decide.
 */
uint32_t wf_stuck_stoppers(const struct wf_sim *sim, uint32_t node, unsigned port, unsigned queue);

#endif
