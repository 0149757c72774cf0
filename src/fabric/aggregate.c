/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aggregate.c - adding up in switches.
 */
#include "fabric/aggregate.h"

#include <errno.h>

#include "fabric/station.h"
#include "fabric/switch.h"
#include "wire/ib.h"
#include "wire/transport.h"

#define NO_FLOW UINT32_MAX

/* One number of a group in a tree: what has come of it. */
struct slot {
	uint64_t sum;
	wf_time at; /* the unit has taken in the last of it */
	uint32_t psn;
	uint32_t src, dst; /* of the first that came, for those who look at packets */
	uint16_t came;     /* contributions; 0: the slot is free */
	uint16_t length;
	uint8_t cls;
};

/* A group and a kind of tree, as this switch has it. */
struct flow {
	struct slot *slot; /* NULL: it is not in that tree */
	const struct wf_reduce_node *node;
	const uint16_t *down; /* its ports to its children */
	uint32_t group;
	uint32_t window; /* slots */
	bool on;         /* the switch knows of it */
};

/* A result that is ready to leave at a time. */
struct ready {
	wf_time at;
	uint64_t order; /* first ready, first sent */
	struct flow *flow;
	struct slot *slot;
};

struct wf_agg {
	struct flow *flow;  /* in pairs, one of each kind */
	uint32_t *of_group; /* number of a group's pair; NO_FLOW */
	struct ready *heap;
	uint32_t n_ready, room;
	uint32_t copies; /* packets of its own that may wait to leave */
	uint64_t made;   /* results */
	wf_time free_at; /* the unit has taken in what came */
	unsigned timer;
};

unsigned wf_agg_slot(const struct wf_agg *agg)
{
	return agg->timer;
}

/* ---- results that wait for their time ---- */

static bool before(const struct ready *a, const struct ready *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void push(struct wf_agg *agg, const struct ready *r)
{
	uint32_t i = agg->n_ready++;

	assert(i < agg->room); /* there is room for every slot */
	for (; i > 0 && before(r, &agg->heap[(i - 1) / 2]); i = (i - 1) / 2)
		agg->heap[i] = agg->heap[(i - 1) / 2];
	agg->heap[i] = *r;
}

static struct ready pop(struct wf_agg *agg)
{
	struct ready first = agg->heap[0], last = agg->heap[--agg->n_ready];
	uint32_t i = 0;

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= agg->n_ready)
			break;
		if (child + 1 < agg->n_ready && before(&agg->heap[child + 1], &agg->heap[child]))
			child++;
		if (!before(&agg->heap[child], &last))
			break;
		agg->heap[i] = agg->heap[child];
		i = child;
	}
	agg->heap[i] = last;
	return first;
}

static void plan(struct wf_switch *sw)
{
	const struct wf_agg *agg = sw->agg;

	if (agg->n_ready == 0)
		wf_timer_clear(&sw->dev.node, agg->timer);
	else if (sw->dev.node.timer[agg->timer] != agg->heap[0].at)
		wf_timer_set(&sw->dev.node, agg->timer, agg->heap[0].at);
}

/* ---- sending ---- */

static void send(struct wf_switch *sw, unsigned port, struct wf_packet *pkt, wf_time now)
{
	struct wf_device *dev = &sw->dev;
	unsigned queue;

	if (dev->station != NULL)
		queue = wf_station_queue(dev->station, dev->n_ports, port, pkt);
	else if (dev->fabric->maps)
		queue = dev->setup->queue_of[wf_packet_key(pkt)];
	else
		queue = wf_fabric_queue(dev, pkt->cls);
	dev->shard->tally[pkt->cls].sent++;
	if (dev->ports[port].up)
		wf_switch_send_own(sw, port, queue, pkt, now);
	else
		wf_device_drop(dev, &dev->ports[port], queue, pkt, WF_DROP_DOWN, now);
}

static void send_down(struct wf_switch *sw, const struct flow *f, const struct wf_packet *pkt,
                      wf_time now)
{
	for (unsigned i = 0; i < f->node->n_down; i++) {
		struct wf_packet copy = *pkt;

		send(sw, f->down[i], &copy, now);
	}
}

/* All of a number has come: it goes on. */
static void send_on(struct wf_switch *sw, const struct flow *f, struct slot *slot, wf_time now)
{
	enum wf_sharp_kind kind = (enum wf_sharp_kind)((f - sw->agg->flow) % WF_SHARP_KINDS);
	bool root = f->node->parent == WF_TOPO_NONE;
	struct wf_packet pkt = {
		.src = slot->src,
		.dst = slot->dst,
		.size = wf_agg_size(sw->dev.fabric, slot->length),
		.type = WF_PACKET_AGG & 15u,
		.cls = slot->cls & WF_PACKET_CLASS,
		.opcode = wf_agg_opcode(kind, root),
		.pkey = WF_PKEY_DEFAULT,
		.length = slot->length,
		.qpn = f->group,
		.psn = slot->psn,
		.u = { .agg = { .sum = slot->sum } },
	};

	slot->came = 0;
	if (root)
		send_down(sw, f, &pkt, now);
	else
		send(sw, f->node->up, &pkt, now);
}

void wf_agg_timer(struct wf_switch *sw, wf_time now)
{
	while (sw->agg->n_ready > 0 && sw->agg->heap[0].at <= now) {
		struct ready r = pop(sw->agg);

		send_on(sw, r.flow, r.slot, now);
	}
	plan(sw);
}

/* ---- taking in ---- */

/* When the last bit of a packet is in, of which the first are: its sender may have cut through. */
static wf_time last_bit(const struct wf_switch *sw, const struct wf_port *in,
                        const struct wf_packet *pkt, wf_time now)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	uint32_t bytes = pkt->size + fabric->gap;
	bool cut = in->setup->cfg.switch_cut && in->cut_in != WF_PORT_STORE;

	if (!cut || bytes <= in->cut_in)
		return now;
	return now + wf_port_time(in, bytes) - wf_port_time(in, in->cut_in);
}

static void add(struct wf_switch *sw, struct flow *f, const struct wf_packet *pkt, wf_time at)
{
	struct slot *slot = &f->slot[pkt->psn % f->window];

	if (slot->came == 0) {
		*slot = (struct slot){ .psn = pkt->psn,
			               .src = wf_packet_src(pkt),
			               .dst = pkt->dst,
			               .length = pkt->length,
			               .cls = pkt->cls };
	}
	assert(slot->psn == pkt->psn && slot->length == pkt->length);
	slot->came++;
	slot->sum += pkt->u.agg.sum;
	slot->at = wf_max_time(slot->at, at);
	if (slot->came == f->node->n_down)
		push(sw->agg, &(struct ready){ .at = slot->at + sw->dev.setup->cfg.sharp.latency,
		                               .order = sw->agg->made++,
		                               .flow = f,
		                               .slot = slot });
}

void wf_agg_take(struct wf_switch *sw, struct wf_port *in, const struct wf_packet *pkt, wf_time now)
{
	struct wf_device *dev = &sw->dev;
	struct wf_agg *agg = sw->agg;
	struct flow *f = &agg->flow[agg->of_group[pkt->qpn] * WF_SHARP_KINDS + wf_agg_kind(pkt)];
	uint64_t rate = dev->setup->cfg.sharp.rate;
	wf_time at;

	assert(f->slot != NULL);
	dev->fabric->flowctl->pass(dev, in, pkt->vl, pkt->size, now);
	if (wf_unlikely(!f->on)) {
		wf_device_drop(dev, in, pkt->vl, pkt, WF_DROP_ROUTE, now);
		return;
	}
	dev->shard->tally[pkt->cls].delivered++;
	if (wf_agg_is_down(pkt)) {
		send_down(sw, f, pkt, now);
		return;
	}
	at = last_bit(sw, in, pkt, now);
	if (rate != (uint64_t)WF_PARAM_AUTO) {
		at = wf_max_time(at, agg->free_at) +
		     wf_rate_time(wf_rate_per_byte(rate), pkt->length);
		agg->free_at = at;
	}
	add(sw, f, pkt, at);
	plan(sw);
}

/* ---- setting up ---- */

static bool is_planned(const struct flow *f, unsigned up, const uint8_t *down)
{
	unsigned n = 0;

	for (unsigned port = 1; port < 256; port++)
		n += down[port / 8] >> port % 8 & 1;
	if (n != f->node->n_down || up != (f->node->parent == WF_TOPO_NONE ? 0 : f->node->up + 1u))
		return false;
	for (unsigned i = 0; i < n; i++) {
		unsigned port = f->down[i] + 1u;

		if ((down[port / 8] >> port % 8 & 1) == 0)
			return false;
	}
	return true;
}

void wf_agg_set_tree(struct wf_switch *sw, uint16_t tree, bool on, unsigned up,
                     const uint8_t down[32])
{
	const struct wf_agg *agg = sw->agg;
	uint32_t group = tree / WF_SHARP_KINDS;
	struct flow *f;

	if (group >= sw->dev.fabric->sharp->n_groups || agg->of_group[group] == NO_FLOW)
		return;
	f = &agg->flow[agg->of_group[group] * WF_SHARP_KINDS + tree % WF_SHARP_KINDS];
	if (f->slot != NULL)
		f->on = on && is_planned(f, up, down);
}

/* The switch's place in a tree; NULL: it has none. */
static const struct wf_reduce_node *place_in(const struct wf_reduce_tree *tree, uint32_t id)
{
	for (uint32_t i = 0; tree != NULL && i < tree->n_nodes; i++) {
		if (tree->nodes[i].id == id)
			return &tree->nodes[i];
	}
	return NULL;
}

static bool is_in(const struct wf_sharp_group *g, uint32_t id)
{
	for (unsigned k = 0; k < WF_SHARP_KINDS; k++) {
		if (place_in(g->tree[k], id) != NULL)
			return true;
	}
	return false;
}

/* Its part in a group's trees. */
static int add_flows(struct wf_switch *sw, uint32_t group, uint32_t pair)
{
	const struct wf_sharp *sharp = sw->dev.fabric->sharp;
	const struct wf_sharp_group *g = &sharp->group[group];
	struct wf_agg *agg = sw->agg;

	agg->of_group[group] = pair;
	for (unsigned k = 0; k < WF_SHARP_KINDS; k++) {
		const struct wf_reduce_node *node = place_in(g->tree[k], sw->dev.id);
		struct flow *f = &agg->flow[pair * WF_SHARP_KINDS + k];

		if (node == NULL)
			continue;
		f->node = node;
		f->down = g->tree[k]->down + node->first_down;
		f->group = group;
		f->on = !sw->dev.fabric->managed;
		f->window = wf_sharp_window(&sharp->cfg, (enum wf_sharp_kind)k, sharp->mtu);
		f->slot = wf_shard_alloc(sw->dev.node.shard, f->window * sizeof(*f->slot));
		if (f->slot == NULL)
			return -ENOMEM;
		agg->room += f->window;
		agg->copies += f->window * (node->n_down + 1u);
	}
	return 0;
}

int wf_agg_create(struct wf_switch *sw, unsigned slot)
{
	const struct wf_sharp *sharp = sw->dev.fabric->sharp;
	struct wf_shard *shard = sw->dev.node.shard;
	struct wf_agg *agg = wf_shard_alloc(shard, sizeof(*agg));
	uint32_t pairs = 0, pair = 0;
	int ret = 0;

	if (agg == NULL)
		return -ENOMEM;
	sw->agg = agg;
	agg->timer = slot;
	for (uint32_t i = 0; i < sharp->n_groups; i++)
		pairs += is_in(&sharp->group[i], sw->dev.id);
	agg->of_group = wf_shard_alloc(shard, (sharp->n_groups + 1) * sizeof(*agg->of_group));
	agg->flow = wf_shard_alloc(shard, (pairs + 1) * WF_SHARP_KINDS * sizeof(*agg->flow));
	if (agg->of_group == NULL || agg->flow == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < sharp->n_groups && ret == 0; i++) {
		agg->of_group[i] = NO_FLOW;
		if (is_in(&sharp->group[i], sw->dev.id))
			ret = add_flows(sw, i, pair++);
	}
	if (ret != 0)
		return ret;
	agg->heap = wf_shard_alloc(shard, (agg->room + 1) * sizeof(*agg->heap));
	if (agg->heap == NULL)
		return -ENOMEM;
	/* Every child of every slot may wait for a copy, and the slot's own packet to leave. */
	wf_switch_open_own(sw, agg->copies * wf_ib_blocks(sw->dev.fabric->largest));
	return 0;
}
