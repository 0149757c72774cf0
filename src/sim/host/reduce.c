/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.c - cuts what a host contributes into packets, and puts results together again.
 */
#include "sim/host/reduce.h"

#include <errno.h>

#include "base/rng.h"
#include "fabric/aggregate.h"
#include "sim/host/adapter_priv.h"
#include "wire/transport.h"

#define NO_PAIR UINT32_MAX

/* What a program posted. */
struct request {
	uint64_t bytes;
	uint64_t sent; /* or all of it, when one packet without data has left */
	uint64_t came;
	uint64_t handle;
	wf_time ready; /* the adapter knows of it, and has the data */
	uint8_t cls;
};

/* A group and a kind of tree, as this host has it. */
struct flow {
	struct request ring[WF_REDUCE_REQUESTS];
	uint32_t posted, filled, over; /* requests: in all, sent whole, answered */
	uint32_t sent, came;           /* packets */
	uint32_t window;
	uint32_t payload; /* bytes of a packet's data */
	uint32_t group;
	wf_time next_at; /* software posts the next operation then */
};

/* A request that is over as soon as PCIe has brought the last of its result. */
struct done {
	uint64_t handle;
	wf_time at;
};

struct wf_reducer {
	const struct wf_pull_ops *pull; /* behind it */
	const bool *shut;               /* there are no trees yet */
	struct flow *flow;              /* in pairs, one of each kind */
	uint32_t n_flows;
	uint32_t *of_group; /* number of a group's pair; NO_PAIR */
	uint64_t *all;      /* by pair: what all members put in where this one puts 1 */
	uint32_t turn;      /* the flow that is asked first */
	bool mine_last;     /* it gave the last packet */
	unsigned timer;
	struct done *done; /* a ring */
	uint32_t n_done, first_done;
	uint32_t classes; /* of what has been posted */
};

/* ---- what stands for data ---- */

/* Of host index i the weight is i + 1, so that a sum says who is in it. */
static uint64_t worth(const struct flow *f, unsigned kind, uint32_t psn)
{
	return wf_mix64((uint64_t)f->group << 33 | (uint64_t)kind << 32 | psn);
}

/* ---- posting ---- */

static struct flow *flow_of(struct wf_reducer *r, uint32_t group, enum wf_sharp_kind kind)
{
	assert(r->of_group[group] != NO_PAIR);
	return &r->flow[r->of_group[group] * WF_SHARP_KINDS + kind];
}

void wf_adapter_reduce(struct wf_adapter *a, uint32_t group, uint64_t bytes, uint8_t cls,
                       uint64_t handle, wf_time now)
{
	const struct wf_sharp *sharp = a->ep.dev.fabric->sharp;
	const struct wf_fabric_cfg *cfg = &a->ep.dev.setup->cfg;
	struct wf_reducer *r = a->reducer;
	struct flow *f = flow_of(r, group, wf_sharp_kind_of(sharp, &sharp->group[group], bytes));
	struct request *q = &f->ring[f->posted % WF_REDUCE_REQUESTS];
	wf_time ready = now;

	assert(f->posted - f->over < WF_REDUCE_REQUESTS && wf_adapter_runs(a));
	/* What is behind work that waits, the adapter knows and has in time. */
	if (f->filled == f->posted) {
		ready += cfg->nic_doorbell + cfg->nic_tx;
		ready += bytes > cfg->nic_inline ? cfg->nic_fetch : 0;
	}
	*q = (struct request){ .bytes = bytes, .handle = handle, .ready = ready, .cls = cls };
	r->classes |= 1u << cls;
	f->posted++;
}

/* ---- sending ---- */

/* When the flow's next packet may be made; WF_TIME_NEVER: not before something comes. */
static wf_time flow_time(const struct flow *f)
{
	if (f->filled == f->posted || f->sent - f->came >= f->window)
		return WF_TIME_NEVER;
	return wf_max_time(f->ring[f->filled % WF_REDUCE_REQUESTS].ready, f->next_at);
}

static void make_packet(struct wf_adapter *a, struct flow *f, struct wf_packet *pkt, wf_time now)
{
	struct wf_reducer *r = a->reducer;
	unsigned kind = (unsigned)(f - r->flow) % WF_SHARP_KINDS;
	struct request *q = &f->ring[f->filled % WF_REDUCE_REQUESTS];
	uint32_t length = (uint32_t)wf_min_u64(f->payload, q->bytes - q->sent);

	*pkt = (struct wf_packet){
		.src = a->ep.host,
		.dst = a->ep.host, /* the result comes back */
		.size = wf_agg_size(a->ep.dev.fabric, length),
		.type = WF_PACKET_AGG & 15u,
		.cls = q->cls & WF_PACKET_CLASS,
		.opcode = wf_agg_opcode((enum wf_sharp_kind)kind, false),
		.pkey = WF_PKEY_DEFAULT,
		.length = (uint16_t)length,
		.qpn = f->group,
		.psn = f->sent,
		.u = { .agg = { .sum = (a->ep.host + UINT64_C(1)) * worth(f, kind, f->sent) } },
	};
	q->sent += length;
	f->filled += q->sent == q->bytes;
	f->sent++;
	if (kind == WF_SHARP_LOW)
		f->next_at = now + a->ep.dev.setup->cfg.sharp.fragment;
}

/* The next packet of a flow that may send; the flows take turns. */
static bool next_own(struct wf_adapter *a, wf_time now, struct wf_packet *pkt)
{
	struct wf_reducer *r = a->reducer;

	if (*r->shut)
		return false;
	for (uint32_t i = 0; i < r->n_flows; i++) {
		uint32_t at = (r->turn + i) % r->n_flows;
		struct flow *f = &r->flow[at];

		if (flow_time(f) > now ||
		    (a->ep.held >> f->ring[f->filled % WF_REDUCE_REQUESTS].cls & 1) != 0)
			continue;
		make_packet(a, f, pkt, now);
		r->turn = at + 1;
		return true;
	}
	return false;
}

static bool reducer_next(struct wf_endpoint *ep, wf_time now, struct wf_packet *pkt)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(ep);
	struct wf_reducer *r = a->reducer;

	if (!r->mine_last && next_own(a, now, pkt)) {
		r->mine_last = true;
		return true;
	}
	if (r->pull->next(ep, now, pkt)) {
		r->mine_last = false;
		return true;
	}
	return r->mine_last && next_own(a, now, pkt);
}

/* When some flow may send; WF_TIME_NEVER: not before something comes. */
static wf_time tx_time(const struct wf_reducer *r, uint32_t held)
{
	wf_time at = WF_TIME_NEVER;

	if (*r->shut)
		return at;
	for (uint32_t i = 0; i < r->n_flows; i++) {
		const struct flow *f = &r->flow[i];
		wf_time t = flow_time(f);

		if (t < at && (held >> f->ring[f->filled % WF_REDUCE_REQUESTS].cls & 1) == 0)
			at = t;
	}
	return at;
}

/* Where reductions are of a class that nothing else is of, both may wait. */
static bool reducer_rivals(const struct wf_endpoint *ep)
{
	const struct wf_adapter *a = wf_container_of(ep, const struct wf_adapter, ep);
	const struct wf_reducer *r = a->reducer;
	uint32_t classes = wf_hca_classes(a->hca);

	if (r->pull->rivals(ep))
		return true;
	if (tx_time(r, ep->held) == WF_TIME_NEVER)
		return false;
	classes |= r->classes;
	return (classes & (classes - 1)) != 0 && (classes & ~ep->held) != 0;
}

static void reducer_hold(struct wf_endpoint *ep)
{
	wf_adapter_of_endpoint(ep)->reducer->pull->hold(ep);
}

static void reducer_leave(struct wf_endpoint *ep, struct wf_packet *pkt, wf_time now)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(ep);

	if (pkt->type != WF_PACKET_AGG)
		a->reducer->pull->leave(ep, pkt, now);
	else if (pkt->length != 0)
		wf_adapter_charge(a, pkt, now);
}

const struct wf_pull_ops wf_reducer_pull = {
	.next = reducer_next,
	.rivals = reducer_rivals,
	.hold = reducer_hold,
	.leave = reducer_leave,
};

/* ---- receiving ---- */

/* The oldest request that is not over is answered: the program is told when it is in memory. */
static void finish(struct wf_reducer *r, struct flow *f, wf_time at)
{
	uint32_t room = r->n_flows * WF_REDUCE_REQUESTS;

	assert(r->n_done < room);
	r->done[(r->first_done + r->n_done++) % room] =
		(struct done){ .handle = f->ring[f->over % WF_REDUCE_REQUESTS].handle, .at = at };
	f->over++;
}

static void take_result(struct wf_adapter *a, const struct wf_packet *pkt, wf_time now)
{
	struct wf_reducer *r = a->reducer;
	unsigned kind = wf_agg_kind(pkt);
	uint32_t pair = r->of_group[pkt->qpn];
	struct flow *f = flow_of(r, pkt->qpn, (enum wf_sharp_kind)kind);
	struct request *q = &f->ring[f->over % WF_REDUCE_REQUESTS];

	if (a->ep.intake != NULL)
		a->pcie_rx = wf_max_time(a->pcie_rx, a->ep.intake->seen);
	else
		a->pcie_rx = wf_max_time(a->pcie_rx, now) + wf_rate_time(a->pcie, pkt->length);
	/* One before it was lost with a link: nothing more comes of this tree. */
	if (pkt->psn != f->came)
		return;
	/* Everybody is in it, once, with the same part. */
	assert(pkt->u.agg.sum == r->all[pair] * worth(f, kind, pkt->psn));
	f->came++;
	q->came += pkt->length;
	assert(q->came <= q->bytes);
	if (q->came == q->bytes)
		finish(r, f, wf_max_time(now, a->pcie_rx));
	(void)pair;
}

/* Tells the program of what is in memory by now. */
static void tell(struct wf_adapter *a, wf_time now)
{
	struct wf_reducer *r = a->reducer;
	uint32_t room = r->n_flows * WF_REDUCE_REQUESTS;

	wf_hca_set_now(a->hca, now);
	while (r->n_done > 0 && r->done[r->first_done].at <= now) {
		uint64_t handle = r->done[r->first_done].handle;

		r->first_done = (r->first_done + 1) % room;
		r->n_done--;
		for (unsigned i = 0; i < a->n_programs; i++) {
			if (a->program[i].ops->reduced != NULL)
				a->program[i].ops->reduced(a->program[i].arg, a, handle, now);
		}
	}
	wf_adapter_settle(a, now);
}

/* After anything that may have changed what it wants. */
static void settle(struct wf_adapter *a, wf_time now)
{
	const struct wf_reducer *r = a->reducer;
	struct wf_node *node = &a->ep.dev.node;
	struct wf_port *port = wf_endpoint_port(&a->ep);
	wf_time at = tx_time(r, a->ep.held);

	if (at != WF_TIME_NEVER && port->up)
		wf_port_wake(&a->ep.dev, port, wf_max_time(wf_max_time(at, a->pcie_tx), now));
	if (r->n_done == 0)
		wf_timer_clear(node, r->timer);
	else if (node->timer[r->timer] != r->done[r->first_done].at)
		wf_timer_set(node, r->timer, wf_max_time(r->done[r->first_done].at, now));
}

static void give(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(wf_endpoint_of(node));
	struct wf_packet *pkt = wf_packet_of(cell);

	if (input == WF_ADAPTER_SIDE || pkt->type != WF_PACKET_AGG) {
		a->inner->rx(node, input, cell, now);
		return;
	}
	if (input != WF_ADAPTER_TAKEN)
		pkt = wf_endpoint_receive(&a->ep, cell, now);
	if (pkt != NULL)
		take_result(a, pkt, now);
}

static void reducer_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	give(node, input, cell, now);
	settle(wf_adapter_of_endpoint(wf_endpoint_of(node)), now);
}

static void reducer_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(wf_endpoint_of(node));
	struct wf_cell cell;

	if (slot == a->reducer->timer)
		tell(a, now);
	else if (slot != WF_ENDPOINT_INTAKE)
		a->inner->timer(node, slot, now);
	else
		while (wf_endpoint_taken_in(&a->ep, wf_packet_of(&cell), now))
			give(node, WF_ADAPTER_TAKEN, &cell, now);
	settle(a, now);
}

static void reducer_warm(const struct wf_node *node, unsigned input)
{
	const struct wf_device *dev = wf_container_of(node, const struct wf_device, node);

	(void)input;
	__builtin_prefetch(&dev->ports[0]);
	__builtin_prefetch(wf_device_lane(dev, 0, 0));
}

const struct wf_node_ops wf_reducer_node = {
	.name = "adapter",
	.late = true,
	.rx = reducer_rx,
	.timer = reducer_timer,
	.warm = reducer_warm,
};

/* ---- what a manager does ---- */

void wf_adapter_reduce_open(struct wf_adapter *a, wf_time now)
{
	settle(a, now);
}

void wf_adapter_reduce_lost(struct wf_adapter *a, uint32_t group, wf_time now)
{
	if (a->reducer->of_group[group] == NO_PAIR)
		return;
	for (unsigned i = 0; i < a->n_programs; i++) {
		if (a->program[i].ops->reduce_lost != NULL)
			a->program[i].ops->reduce_lost(a->program[i].arg, group, now);
	}
}

/* ---- setting up ---- */

static bool is_member(const struct wf_sharp_group *g, uint32_t host)
{
	for (uint32_t i = 0; i < g->n_hosts; i++) {
		if (g->hosts[i] == host)
			return true;
	}
	return false;
}

static void add_group(struct wf_reducer *r, const struct wf_sharp *sharp, uint32_t group,
                      uint32_t pair)
{
	const struct wf_sharp_group *g = &sharp->group[group];

	r->of_group[group] = pair;
	for (uint32_t i = 0; i < g->n_hosts; i++)
		r->all[pair] += g->hosts[i] + UINT64_C(1);
	for (unsigned k = 0; k < WF_SHARP_KINDS; k++) {
		struct flow *f = &r->flow[pair * WF_SHARP_KINDS + k];

		f->group = group;
		f->window = wf_sharp_window(&sharp->cfg, (enum wf_sharp_kind)k, sharp->mtu);
		f->payload =
			k == WF_SHARP_STREAM ? sharp->mtu : (uint32_t)wf_sharp_payload(&sharp->cfg);
	}
}

int wf_reducer_create(struct wf_adapter *a, const struct wf_pull_ops *pull, unsigned slot,
                      struct wf_reducer **reducer_p)
{
	const struct wf_sharp *sharp = a->ep.dev.fabric->sharp;
	struct wf_shard *shard = a->ep.dev.node.shard;
	struct wf_reducer *r = wf_shard_alloc(shard, sizeof(*r));
	uint32_t pairs = 0;

	if (r == NULL)
		return -ENOMEM;
	r->pull = pull;
	r->shut = &a->ep.dev.fabric->sharp_shut;
	r->timer = slot;
	for (uint32_t i = 0; i < sharp->n_groups; i++)
		pairs += is_member(&sharp->group[i], a->ep.host);
	r->n_flows = pairs * WF_SHARP_KINDS;
	r->of_group = wf_shard_alloc(shard, (sharp->n_groups + 1) * sizeof(*r->of_group));
	r->flow = wf_shard_alloc(shard, (r->n_flows + 1) * sizeof(*r->flow));
	r->all = wf_shard_alloc(shard, (pairs + 1) * sizeof(*r->all));
	r->done = wf_shard_alloc(shard, (r->n_flows * WF_REDUCE_REQUESTS + 1) * sizeof(*r->done));
	if (r->of_group == NULL || r->flow == NULL || r->all == NULL || r->done == NULL)
		return -ENOMEM;
	pairs = 0;
	for (uint32_t i = 0; i < sharp->n_groups; i++) {
		r->of_group[i] = NO_PAIR;
		if (is_member(&sharp->group[i], a->ep.host))
			add_group(r, sharp, i, pairs++);
	}
	*reducer_p = r;
	return 0;
}
