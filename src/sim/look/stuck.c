/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stuck.c - which queues of switches stand still, and who waits for whom among them.
 */
#include "sim/look/stuck.h"

#include <errno.h>
#include <string.h>

#include "fabric/flowctl/headroom.h"
#include "fabric/receive.h"
#include "fabric/retry.h"
#include "wire/ib.h"

static bool is_switch(const struct wf_sim *sim, uint32_t node)
{
	return sim->topo->nodes[node].kind == WF_TOPO_SWITCH;
}

static const struct wf_switch *switch_of(const struct wf_sim *sim, uint32_t node)
{
	return wf_container_of(sim->net.devices[node], const struct wf_switch, dev);
}

static const struct wf_port *port_at(const struct wf_sim *sim, uint32_t node, unsigned port)
{
	return &sim->net.devices[node]->ports[port];
}

/* ---- what stops a queue ---- */

/* The priorities whose pause frames stop a queue of port out, as a mask. */
static uint32_t priorities_of(const struct wf_port *out, unsigned queue)
{
	uint32_t mask = 0;

	for (unsigned p = 0; p < WF_PRIORITIES; p++)
		mask |= (uint32_t)(out->setup->pause_queue[p] == queue) << p;
	return mask;
}

/* Whether some packet that comes in by a port would be put into a group. */
static bool can_fill(const struct wf_sim *sim, const struct wf_port *in, unsigned group)
{
	unsigned key = 0;

	while (sim->fabric.maps && key < WF_ARRAY_SIZE(in->setup->group_of) &&
	       in->setup->group_of[key] != group)
		key++;
	return key < WF_ARRAY_SIZE(in->setup->group_of);
}

uint32_t wf_stuck_stoppers(const struct wf_sim *sim, uint32_t node, unsigned port, unsigned queue)
{
	const struct wf_topo_port *tp = wf_stuck_peer(sim, node, port);
	const struct wf_port *in = port_at(sim, tp->peer, tp->peer_port);
	uint32_t priorities, mask = 0;

	if (sim->fabric.flowctl->uses_credits)
		return 1u << queue;
	priorities = priorities_of(port_at(sim, node, port), queue);
	for (unsigned g = 0; g < sim->fabric.classes.n; g++) {
		/* One that is empty and stays so never says anything. */
		if (in->setup->classes.queue[g].lossless &&
		    (in->setup->pause_of[g] & priorities) != 0 &&
		    (in->lanes[g].used != 0 || in->lanes[g].xoff || can_fill(sim, in, g)))
			mask |= 1u << g;
	}
	return mask;
}

struct frames {
	uint32_t priorities;
	bool go; /* one says go to one of them */
};

static void look_at_frame(void *arg, struct wf_cell *cell)
{
	const struct wf_packet *pkt = wf_packet_of(cell);
	struct frames *f = arg;
	unsigned n = 0;

	if (pkt->type != WF_PACKET_PAUSE)
		return;
	for (uint32_t mask = pkt->u.pause.mask; mask != 0; mask &= mask - 1)
		f->go |= pkt->u.pause.quanta[n++] == 0 && (f->priorities & mask & -mask) != 0;
}

/*
 * Whether a queue that is paused stays so as long as its peer says so. A frame is said again after
 * half of its time, when the wire is free: what is on it then, and what the link sends again, must
 * not take longer than the other half. A frame that said go has come when the pause ends within the
 * reaction time, or another follows.
 */
static bool pause_lasts(const struct wf_sim *sim, uint32_t node, unsigned port, unsigned queue)
{
	const struct wf_topo_port *tp = wf_stuck_peer(sim, node, port);
	const struct wf_device *dev = sim->net.devices[node], *peer = sim->net.devices[tp->peer];
	const struct wf_port *out = &dev->ports[port], *in = &peer->ports[tp->peer_port];
	const struct wf_lane *lane = &out->lanes[queue];
	wf_time now = wf_sim_now(sim);
	uint64_t bytes = (uint64_t)in->setup->cfg.pfc_quanta * WF_PFC_QUANTUM;
	wf_time said_again = wf_port_time_long(in, bytes) / 2 +
	                     wf_port_time(in, sim->fabric.largest + sim->fabric.gap);
	struct frames f = { .priorities = priorities_of(out, queue) };

	if ((in->hooked & WF_HOOK_RETRY) != 0)
		said_again += sim->fabric.retry_time + in->retry->round;
	if (lane->again.until != 0 || wf_port_time_long(out, bytes) <= said_again ||
	    lane->pause.until <=
	            now + wf_pfc_reaction(&out->setup->cfg, out->rate, &sim->topo->nodes[node]))
		return false;
	wf_link_walk(&in->link, &dev->node.in[port], now, look_at_frame, &f);
	return !f.go;
}

/* Since when a queue with packets has been stopped; WF_TIME_NEVER: it is not. */
static wf_time stopped_since(const struct wf_stuck *s, uint32_t node, unsigned port, unsigned queue)
{
	const struct wf_port *out = port_at(s->sim, node, port);
	const struct wf_lane *lane = &out->lanes[queue];
	wf_time now = wf_sim_now(s->sim);

	if ((out->held >> queue & 1) == 0)
		return WF_TIME_NEVER;
	if (s->sim->fabric.flowctl->uses_credits)
		return lane->wait_since;
	if (now < lane->pause.from || now >= lane->pause.until ||
	    (s->kind == WF_STUCK_FOR_GOOD && !pause_lasts(s->sim, node, port, queue)))
		return WF_TIME_NEVER;
	return lane->pause.from;
}

/* ---- the queues ---- */

/*
 * Calls for each queue of a switch that has been stopped for so long; with list NULL just counts.
 */
static uint32_t list_queues(const struct wf_stuck *s, wf_time wait, struct wf_stuck_queue *list)
{
	const struct wf_sim *sim = s->sim;
	wf_time before = wf_sim_now(sim) - wait;
	uint32_t n = 0;

	for (uint32_t node = 0; node < sim->topo->n_nodes; node++) {
		const struct wf_device *dev = sim->net.devices[node];

		for (unsigned i = 0; is_switch(sim, node) && i < dev->n_ports; i++) {
			const struct wf_port *port = &dev->ports[i];

			for (uint32_t m = port->blocked & port->nonempty; m != 0; m &= m - 1) {
				unsigned q = (unsigned)__builtin_ctz(m);
				wf_time since = stopped_since(s, node, i, q);

				if (since == WF_TIME_NEVER || since > before)
					continue;
				if (list != NULL)
					list[n] =
						(struct wf_stuck_queue){ node, (uint16_t)i,
						                         (uint8_t)q, true, since };
				n++;
			}
		}
	}
	return n;
}

static uint32_t cost_of(const struct wf_sim *sim, uint32_t node, const struct wf_packet *p)
{
	if (sim->fabric.flowctl->uses_credits)
		return wf_ib_blocks(p->size);
	return wf_buffer_cost(&switch_of(sim, node)->buffer, p->size);
}

static const struct wf_packet *head_of(const struct wf_stuck *s, const struct wf_stuck_queue *q)
{
	return wf_stuck_lane_at(s->sim, q->node, q->port, q->queue)->head;
}

/* Adds what the packets in a queue hold, or with back takes it away again. */
static void hold(struct wf_stuck *s, const struct wf_stuck_queue *q, bool back)
{
	for (const struct wf_packet *p = head_of(s, q); p != NULL; p = p->next) {
		uint64_t *held = &s->held[wf_stuck_lane(s, q->node, p->input, p->vl)];
		uint32_t cost = cost_of(s->sim, q->node, p);

		if (wf_stuck_is_own(s->sim, q->node, p))
			continue;
		assert(!back || *held >= cost);
		*held = back ? *held - cost : *held + cost;
	}
}

/* What packets that never move take at least of each switch's shared buffer. */
static void sum_shared(struct wf_stuck *s)
{
	unsigned n = s->sim->fabric.classes.n;

	for (uint32_t i = 0; i < s->n; i++)
		s->shared[s->queue[i].node] = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t node = s->queue[i].node;
		const struct wf_device *dev = s->sim->net.devices[node];
		uint32_t reserved = switch_of(s->sim, node)->buffer.reserved;
		uint64_t sum = 0;

		/* The queues of a switch are one behind the other: the first stands for it. */
		if (i > 0 && s->queue[i - 1].node == node)
			continue;
		for (unsigned k = 0; k < dev->n_ports * n; k++) {
			uint64_t used = wf_min_u64(dev->lanes[k].used,
			                           s->held[wf_stuck_lane(s, node, 0, k)]);

			sum += used > reserved ? used - reserved : 0;
		}
		s->shared[node] = sum;
	}
}

/* ---- what may yet move ---- */

/* PFC: whether a group is low when all has left that may. */
static bool low_at_best(const struct wf_stuck *s, uint32_t node, unsigned port, unsigned group)
{
	struct wf_lane lane = *wf_stuck_lane_at(s->sim, node, port, group);
	struct wf_buffer buffer = switch_of(s->sim, node)->buffer;
	uint64_t held = s->held[wf_stuck_lane(s, node, port, group)];

	assert(held <= (uint64_t)lane.used + lane.headroom);
	buffer.shared_used = s->shared[node];
	if (held > lane.used) {
		lane.headroom = (uint32_t)(held - lane.used);
	} else {
		lane.headroom = 0;
		lane.used = (uint32_t)held;
	}
	return wf_buffer_is_low(&buffer, &lane);
}

/* The queues of a port whose packets the peer may put into a group: a mask. */
static uint32_t feeders(const struct wf_sim *sim, uint32_t node, unsigned port, unsigned group)
{
	const struct wf_topo_port *tp = wf_stuck_peer(sim, node, port);
	const struct wf_setup *there = port_at(sim, tp->peer, tp->peer_port)->setup;
	const struct wf_device *dev = sim->net.devices[node];
	uint32_t mask = 0;

	if (!sim->fabric.maps)
		return 1u << group;
	for (unsigned key = 0; key < WF_ARRAY_SIZE(there->group_of); key++) {
		for (unsigned i = 0; there->group_of[key] == group && i < dev->n_ports; i++) {
			if (dev->ports[i].setup->queue_of[key] < sim->fabric.classes.n)
				mask |= 1u << dev->ports[i].setup->queue_of[key];
		}
	}
	return mask;
}

struct coming {
	const struct wf_fabric *fabric;
	const struct wf_setup *setup;
	unsigned group;
	bool any;
};

static void look_at_packet(void *arg, struct wf_cell *cell)
{
	const struct wf_packet *pkt = wf_packet_of(cell);
	struct coming *c = arg;

	if (!wf_packet_is_control(pkt->type))
		c->any |= (c->fabric->maps ? c->setup->group_of[wf_packet_key(pkt)] : pkt->vl) ==
		          c->group;
}

/*
 * PFC: whether no packet that may leave is in a group, or can come to it, from the port at the
 * other end; of that port, which belongs to node, queue does not move.
 */
static bool is_closed(const struct wf_stuck *s, uint32_t node, unsigned port, unsigned queue,
                      unsigned group)
{
	const struct wf_topo_port *tp = wf_stuck_peer(s->sim, node, port);
	const struct wf_device *dev = s->sim->net.devices[tp->peer];
	const struct wf_lane *lane = &dev->ports[tp->peer_port].lanes[group];
	struct coming c = { &s->sim->fabric, dev->ports[tp->peer_port].setup, group, false };
	uint32_t others = feeders(s->sim, node, port, group) & ~(1u << queue);

	if (s->held[wf_stuck_lane(s, tp->peer, tp->peer_port, group)] !=
	    (uint64_t)lane->used + lane->headroom)
		return false;
	for (; others != 0; others &= others - 1) {
		unsigned q = (unsigned)__builtin_ctz(others);
		uint32_t i = s->of_lane[wf_stuck_lane(s, node, port, q)];

		if (i == 0 || !s->queue[i - 1].left)
			return false;
	}
	wf_link_walk(&port_at(s->sim, node, port)->link, &dev->node.in[tp->peer_port],
	             wf_sim_now(s->sim), look_at_packet, &c);
	return !c.any;
}

/* Whether a queue never moves, as long as all others that are left do not. */
static bool stays(const struct wf_stuck *s, const struct wf_stuck_queue *q)
{
	const struct wf_topo_port *tp = wf_stuck_peer(s->sim, q->node, q->port);
	uint32_t stoppers = wf_stuck_stoppers(s->sim, q->node, q->port, q->queue);
	size_t there = wf_stuck_lane(s, tp->peer, tp->peer_port, 0);

	if (!is_switch(s->sim, tp->peer) || stoppers == 0)
		return false;
	if (s->sim->fabric.flowctl->uses_credits) {
		const struct wf_lane *in =
			wf_stuck_lane_at(s->sim, tp->peer, tp->peer_port, q->queue);

		return wf_ib_blocks(head_of(s, q)->size) + s->held[there + q->queue] > in->capacity;
	}
	/* Any group that speaks for its priority may let it go. */
	for (; stoppers != 0; stoppers &= stoppers - 1) {
		unsigned g = (unsigned)__builtin_ctz(stoppers);

		if (!wf_stuck_lane_at(s->sim, tp->peer, tp->peer_port, g)->xoff ||
		    s->held[there + g] == 0 ||
		    (low_at_best(s, tp->peer, tp->peer_port, g) &&
		     !is_closed(s, q->node, q->port, q->queue, g)))
			return false;
	}
	return true;
}

/* Takes away what may move, until nothing more does. */
static void take_away(struct wf_stuck *s)
{
	bool again = true;

	while (again) {
		again = false;
		if (!s->sim->fabric.flowctl->uses_credits)
			sum_shared(s);
		for (uint32_t i = 0; i < s->n; i++) {
			struct wf_stuck_queue *q = &s->queue[i];

			if (!q->left || stays(s, q))
				continue;
			q->left = false;
			hold(s, q, true);
			again = true;
		}
	}
}

/* Only those that are left are there from now on. */
static void close_up(struct wf_stuck *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct wf_stuck_queue q = s->queue[i];

		s->of_lane[wf_stuck_lane(s, q.node, q.port, q.queue)] = q.left ? n + 1 : 0;
		if (q.left)
			s->queue[n++] = q;
	}
	s->n = n;
}

/* ---- who waits for whom ---- */

/* Those that wait for queue b: seen has a mark of its own for each b. Fills at, or just counts. */
static void list_edges(struct wf_stuck *s, uint32_t b, uint32_t *seen, uint32_t *at, bool back)
{
	const struct wf_sim *sim = s->sim;
	const struct wf_stuck_queue *q = &s->queue[b];

	for (const struct wf_packet *p = head_of(s, q); p != NULL; p = p->next) {
		const struct wf_topo_port *tp = wf_stuck_peer(sim, q->node, p->input);
		size_t lane = wf_stuck_lane(s, q->node, p->input, p->vl);

		if (wf_stuck_is_own(sim, q->node, p) || seen[lane] == b + 1)
			continue;
		seen[lane] = b + 1;
		if (!sim->fabric.flowctl->uses_credits &&
		    !wf_stuck_lane_at(sim, q->node, p->input, p->vl)->xoff)
			continue;
		for (unsigned i = 0; i < sim->fabric.classes.n; i++) {
			uint32_t a = s->of_lane[wf_stuck_lane(s, tp->peer, tp->peer_port, i)];

			if (a == 0 ||
			    (wf_stuck_stoppers(sim, tp->peer, tp->peer_port, i) >> p->vl & 1) == 0)
				continue;
			if (at == NULL)
				s->first[a]++;
			else if (!back)
				s->to[at[a - 1]++] = b;
			if (at == NULL)
				s->first_back[b + 1]++;
			else if (back)
				s->back[at[b]++] = a - 1;
		}
	}
}

static void each_edge(struct wf_stuck *s, uint32_t *seen, uint32_t *at, bool back)
{
	memset(seen, 0, (size_t)s->sim->topo->n_ports * s->sim->fabric.classes.n * sizeof(*seen));
	for (uint32_t b = 0; b < s->n; b++)
		list_edges(s, b, seen, at, back);
}

static int find_edges(struct wf_stuck *s)
{
	struct wf_mem *mem = s->mem;
	size_t lanes = (size_t)s->sim->topo->n_ports * s->sim->fabric.classes.n;
	uint32_t *seen = mem->alloc(mem, lanes * sizeof(*seen));
	uint32_t *at = mem->alloc(mem, ((size_t)s->n + 1) * sizeof(*at));
	int ret = -ENOMEM;

	s->first = mem->alloc(mem, ((size_t)s->n + 1) * sizeof(*s->first));
	s->first_back = mem->alloc(mem, ((size_t)s->n + 1) * sizeof(*s->first_back));
	if (seen == NULL || at == NULL || s->first == NULL || s->first_back == NULL)
		goto out;
	each_edge(s, seen, NULL, false);
	for (uint32_t i = 0; i < s->n; i++) {
		s->first[i + 1] += s->first[i];
		s->first_back[i + 1] += s->first_back[i];
	}
	s->n_edges = s->first[s->n];
	s->to = mem->alloc(mem, ((size_t)s->n_edges + 1) * sizeof(*s->to));
	s->back = mem->alloc(mem, ((size_t)s->n_edges + 1) * sizeof(*s->back));
	if (s->to == NULL || s->back == NULL)
		goto out;
	memcpy(at, s->first, s->n * sizeof(*at));
	each_edge(s, seen, at, false);
	memcpy(at, s->first_back, s->n * sizeof(*at));
	each_edge(s, seen, at, true);
	ret = 0;
out:
	mem->free(mem, seen);
	mem->free(mem, at);
	return ret;
}

int wf_stuck_find(struct wf_stuck *s, const struct wf_sim *sim, enum wf_stuck_kind kind,
                  wf_time wait)
{
	struct wf_mem *mem = sim->mem;
	size_t lanes = (size_t)sim->topo->n_ports * sim->fabric.classes.n;

	*s = (struct wf_stuck){ .sim = sim, .mem = mem, .kind = kind };
	/* Without flow control nobody stops anybody. */
	if (sim->fabric.flowctl == &wf_flowctl_none)
		return 0;
	s->n = list_queues(s, wait, NULL);
	if (s->n == 0)
		return 0;
	s->queue = mem->alloc(mem, s->n * sizeof(*s->queue));
	s->of_lane = mem->alloc(mem, lanes * sizeof(*s->of_lane));
	s->held = mem->alloc(mem, lanes * sizeof(*s->held));
	s->shared = mem->alloc(mem, sim->topo->n_nodes * sizeof(*s->shared));
	if (s->queue == NULL || s->of_lane == NULL || s->held == NULL || s->shared == NULL)
		goto fail;
	(void)list_queues(s, wait, s->queue);
	close_up(s);
	for (uint32_t i = 0; i < s->n; i++)
		hold(s, &s->queue[i], false);
	if (kind == WF_STUCK_FOR_GOOD) {
		take_away(s);
		close_up(s);
	}
	if (s->n == 0 || find_edges(s) == 0)
		return 0;
fail:
	wf_stuck_fini(s);
	return -ENOMEM;
}

void wf_stuck_fini(struct wf_stuck *s)
{
	struct wf_mem *mem = s->mem;

	mem->free(mem, s->queue);
	mem->free(mem, s->of_lane);
	mem->free(mem, s->held);
	mem->free(mem, s->shared);
	mem->free(mem, s->first);
	mem->free(mem, s->to);
	mem->free(mem, s->first_back);
	mem->free(mem, s->back);
	*s = (struct wf_stuck){ .sim = s->sim, .mem = mem };
}
