/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result.c - reading counters off a simulation, and checking what must hold.
 */
#include <errno.h>
#include <string.h>

#include "fabric/endpoint.h"
#include "sim/sim_priv.h"
#include "wire/ib.h"

static bool is_tcp(const struct wf_sim *sim, size_t i)
{
	return sim->tcp != NULL && wf_tcp_flows_has(sim->tcp, i);
}

wf_time wf_sim_flow_start(const struct wf_sim *sim, size_t i)
{
	if (is_tcp(sim, i))
		return wf_tcp_flow_start(sim->tcp, i);
	return sim->rc != NULL ? wf_rc_flow_start(sim->rc, i)
	                       : sim->windowed.env.rx[sim->windowed.rx_of_spec[i]].posted;
}

wf_time wf_sim_flow_end(const struct wf_sim *sim, size_t i)
{
	if (is_tcp(sim, i))
		return wf_tcp_flow_end(sim->tcp, i);
	return sim->rc != NULL ? wf_rc_flow_end(sim->rc, i)
	                       : sim->windowed.env.rx[sim->windowed.rx_of_spec[i]].done;
}

void wf_sim_flow_state(const struct wf_sim *sim, size_t i, struct wf_sim_flow_state *state)
{
	uint64_t mtu = sim->fabric.cfg.mtu;
	const struct wf_flow_tx *tx;

	if (is_tcp(sim, i)) {
		wf_tcp_flow_state(sim->tcp, i, state);
		return;
	}
	if (sim->rc != NULL) {
		wf_rc_flow_state(sim->rc, i, mtu, state);
		return;
	}
	tx = &sim->windowed.env.tx[sim->windowed.env.rx[sim->windowed.rx_of_spec[i]].tx];
	*state = (struct wf_sim_flow_state){
		.acked = wf_min_u64(tx->acked * mtu, tx->bytes),
		.window = sim->windowed.env.window * mtu,
	};
}

size_t wf_sim_flows(const struct wf_sim *sim)
{
	return sim->n_flows;
}

void wf_sim_storage_result(const struct wf_sim *sim, size_t i, struct wf_storage_result *result)
{
	wf_storage_result(sim->storage, i, result);
}

static const struct wf_switch *switch_of(const struct wf_sim *sim, uint32_t id)
{
	return wf_container_of(sim->net.devices[id], struct wf_switch, dev);
}

static void add_devices(const struct wf_sim *sim, struct wf_sim_result *r)
{
	for (uint32_t id = 0; id < sim->topo->n_nodes; id++) {
		const struct wf_device *dev = sim->net.devices[id];
		struct wf_sim_counts c;

		for (unsigned p = 0; p < dev->n_ports; p++) {
			for (unsigned q = 0; wf_sim_port_counts(sim, id, p, q, &c); q++)
				wf_counts_add(&r->queue[q], &c);
			wf_sim_port_whole(sim, id, p, &c);
			wf_counts_add(&r->whole, &c);
		}
		if (sim->topo->nodes[id].kind == WF_TOPO_SWITCH)
			r->max_switch_bytes = wf_max_u64(r->max_switch_bytes,
			                                 switch_of(sim, id)->buffer.max_used);
	}
}

/* What the hosts' TCP counted, and how much it worked. */
static void add_tcp(const struct wf_sim *sim, struct wf_sim_tcp *t)
{
	for (uint32_t i = 0; sim->adapter_env.tcp && i < sim->topo->n_hosts; i++) {
		const struct wf_tcp_stack *stack = wf_adapter_tcp(sim->adapters[i]);
		uint32_t cores = wf_adapter_device(sim->adapters[i])->setup->cfg.tcp.cores;
		uint64_t most, busy = wf_tcp_stack_busy(stack, &most);

		if (wf_tcp_stack_next(stack) == 0)
			continue;
		t->hosts++;
		t->busy += busy;
		t->cores += cores;
		t->core_busy = wf_max_u64(t->core_busy, most);
		if (busy >= t->host_busy) {
			t->host_busy = busy;
			t->host_cores = cores;
		}
		for (enum wf_tcp_counter k = 0; k < WF_TCP_CTRS; k++)
			t->counter[k] += wf_tcp_stack_counter(stack, k);
	}
}

void wf_sim_result(const struct wf_sim *sim, struct wf_sim_result *r)
{
	memset(r, 0, sizeof(*r));
	r->end = wf_sim_now(sim);
	r->flows = sim->n_flows;
	r->n_queues = sim->fabric.classes.n;
	for (unsigned q = 0; q < r->n_queues; q++)
		r->queue_id[q] = sim->fabric.classes.queue[q].id;
	for (unsigned i = 0; i < sim->n_shards; i++) {
		const struct wf_fabric_shard *fs = sim->net.shards[i];
		const struct wf_host_counts *c = fs->user;

		for (unsigned k = 0; k < WF_MAX_CLASSES; k++) {
			r->packets_sent += fs->tally[k].sent;
			r->packets_delivered += fs->tally[k].delivered;
			r->packets_dropped += fs->tally[k].dropped;
		}
		r->hops += fs->hops;
		r->bytes_delivered += c->bytes_delivered;
		r->resent += c->resent;
		r->flows_done += c->flows_done;
		r->flows_failed += c->flows_failed;
		r->last_delivery = wf_max_time(r->last_delivery, c->last_delivery);
		wf_hist_merge(&r->packet_latency, &c->packet_latency);
		wf_hist_merge(&r->flow_time, &c->flow_time);
	}
	for (uint32_t i = 0; sim->has_app && i < sim->topo->n_hosts; i++) {
		for (enum wf_counter k = 0; k < WF_COUNTERS; k++)
			r->adapters[k] += wf_hca_counter(wf_adapter_hca(sim->adapters[i]), k);
	}
	add_tcp(sim, &r->tcp);
	r->resent += r->adapters[WF_CTR_TX_RETRANSMITS] + r->tcp.counter[WF_TCP_CTR_RETRANS_SEGS];
	r->packets_inside = r->packets_sent - r->packets_delivered - r->packets_dropped;
	r->finished = r->flows_done + r->flows_failed == r->flows && sim->app_done;
	r->windows = wf_engine_windows(sim->engine);
	r->memory = wf_engine_memory(sim->engine);
	add_devices(sim, r);
}

/* What is inside the fabric, by class. */
struct inside {
	uint64_t packets[WF_MAX_CLASSES];
	uint64_t control;
};

static void count_cell(void *arg, struct wf_cell *cell)
{
	const struct wf_packet *p = (const struct wf_packet *)(const void *)cell;
	struct inside *in = arg;

	if (wf_packet_is_control(p->type))
		in->control++;
	else
		in->packets[p->cls]++;
}

static void count_links(const struct wf_sim *sim, struct inside *inside)
{
	for (uint32_t i = 0; i < sim->topo->n_links; i++) {
		const struct wf_topo_link *l = &sim->topo->links[i];
		const struct wf_device *a = sim->net.devices[l->a], *b = sim->net.devices[l->b];

		wf_link_walk(&a->ports[l->a_port].link, &b->node.in[l->b_port], wf_sim_now(sim),
		             count_cell, inside);
		wf_link_walk(&b->ports[l->b_port].link, &a->node.in[l->a_port], wf_sim_now(sim),
		             count_cell, inside);
	}
}

/* Credits are for no more than there is, and an adapter's receive buffer has what is in it. */
static int check_host(const struct wf_sim *sim, uint32_t id, struct inside *inside,
                      struct wf_err *err)
{
	struct wf_endpoint *ep = wf_endpoint_of_device(sim->net.devices[id]);
	uint64_t used = 0, bytes = 0;

	if (ep->intake == NULL)
		return 0;
	wf_intake_count(ep->intake, inside->packets);
	for (const struct wf_packet *p = ep->intake->head; p != NULL; p = p->next)
		bytes += sim->fabric.flowctl->uses_credits ? wf_ib_blocks(p->size) : p->size;
	for (unsigned i = 0; i < ep->dev.n_ports * sim->fabric.classes.n; i++) {
		const struct wf_lane *lane = &ep->dev.lanes[i];

		used += lane->used;
		bytes += sim->fabric.flowctl->uses_credits ? ep->owed[i] / WF_IB_BLOCK : 0;
		if (sim->fabric.flowctl->uses_credits && lane->max_used > lane->capacity)
			return wf_err_say(err, "%s: %u blocks used of %u",
			                  sim->topo->nodes[id].name, lane->max_used,
			                  lane->capacity);
	}
	if (used != bytes)
		return wf_err_say(err, "%s: %llu of the receive buffer used, %llu counted",
		                  sim->topo->nodes[id].name, (unsigned long long)used,
		                  (unsigned long long)bytes);
	return 0;
}

static int check_buffers(const struct wf_sim *sim, uint32_t id, struct wf_err *err)
{
	const struct wf_switch *sw = switch_of(sim, id);
	uint64_t used = 0;

	for (unsigned p = 0; p < sw->dev.n_ports; p++) {
		for (unsigned q = 0; q < sim->fabric.classes.n; q++) {
			const struct wf_lane *lane = &sw->dev.ports[p].lanes[q];

			if (!sim->fabric.flowctl->uses_credits)
				used += (uint64_t)lane->used + lane->headroom;
			else if (lane->max_used > lane->capacity)
				return wf_err_say(err, "%s port %u: %u blocks used of %u",
				                  sim->topo->nodes[id].name, p, lane->max_used,
				                  lane->capacity);
		}
	}
	if (sim->fabric.flowctl->uses_credits)
		return 0;
	if (used != sw->buffer.used || sw->buffer.max_used > sw->buffer.size)
		return wf_err_say(err, "%s: %llu bytes used, %llu counted, %llu at most, of %llu",
		                  sim->topo->nodes[id].name, (unsigned long long)sw->buffer.used,
		                  (unsigned long long)used, (unsigned long long)sw->buffer.max_used,
		                  (unsigned long long)sw->buffer.size);
	return 0;
}

/* On an empty fabric each end of a link knows the same of the other. */
static int check_credits(const struct wf_sim *sim, const struct wf_topo_link *l, bool from_a,
                         struct wf_err *err)
{
	const struct wf_device *src = sim->net.devices[from_a ? l->a : l->b];
	const struct wf_device *dst = sim->net.devices[from_a ? l->b : l->a];
	const struct wf_port *out = &src->ports[from_a ? l->a_port : l->b_port];
	const struct wf_port *in = &dst->ports[from_a ? l->b_port : l->a_port];

	for (unsigned q = 0; q < sim->fabric.classes.n; q++) {
		const struct wf_lane *tx = &out->lanes[q], *rx = &in->lanes[q];

		if (sim->fabric.classes.queue[q].exempt)
			continue;
		if (rx->used != 0 || tx->credit.sent != rx->received ||
		    tx->credit.limit != rx->granted)
			return wf_err_say(
				err,
				"%s port %u to %s port %u, VL %u: credits are not home: sent "
				"%u received %u limit %u granted %u used %u",
				sim->topo->nodes[src->id].name, out->number,
				sim->topo->nodes[dst->id].name, in->number,
				sim->fabric.classes.queue[q].id, tx->credit.sent, rx->received,
				tx->credit.limit, rx->granted, rx->used);
	}
	return 0;
}

/* On an empty fabric a switch's buffer is empty, too, and the switch keeps nobody stopped. */
static int check_stops(const struct wf_sim *sim, uint32_t id, struct wf_err *err)
{
	const struct wf_device *dev = sim->net.devices[id];

	for (unsigned p = 0; p < dev->n_ports; p++) {
		for (unsigned q = 0; q < sim->fabric.classes.n; q++) {
			const struct wf_lane *lane = &dev->ports[p].lanes[q];

			if (lane->used != 0 || lane->headroom != 0 || lane->xoff)
				return wf_err_say(err,
				                  "%s port %u, class %u: %u bytes used, %u of them "
				                  "headroom%s, though nothing is inside",
				                  sim->topo->nodes[id].name, p,
				                  sim->fabric.classes.queue[q].id,
				                  lane->used + lane->headroom, lane->headroom,
				                  lane->xoff ? ", and its peer is stopped" : "");
		}
	}
	return 0;
}

static int check_empty(const struct wf_sim *sim, struct wf_err *err)
{
	for (uint32_t id = 0; id < sim->topo->n_nodes && !sim->fabric.flowctl->uses_credits; id++) {
		if (sim->topo->nodes[id].kind == WF_TOPO_SWITCH && check_stops(sim, id, err) != 0)
			return -EINVAL;
	}
	for (uint32_t i = 0; i < sim->topo->n_links && sim->fabric.flowctl->uses_credits; i++) {
		/* The ends of a link that is down begin anew when it comes up. */
		int ret = sim->faults.down[i] ? 0
		                              : check_credits(sim, &sim->topo->links[i], true, err);

		if (ret == 0 && !sim->faults.down[i])
			ret = check_credits(sim, &sim->topo->links[i], false, err);
		if (ret != 0)
			return ret;
	}
	return 0;
}

int wf_sim_check(const struct wf_sim *sim, struct wf_err *err)
{
	struct inside inside = { 0 };
	uint64_t packets = 0;

	count_links(sim, &inside);
	for (uint32_t id = 0; id < sim->topo->n_nodes; id++) {
		if (sim->topo->nodes[id].kind == WF_TOPO_HOST) {
			if (check_host(sim, id, &inside, err) != 0)
				return -EINVAL;
			continue;
		}
		wf_switch_count(switch_of(sim, id), inside.packets);
		if (check_buffers(sim, id, err) != 0)
			return -EINVAL;
	}
	for (unsigned c = 0; c < WF_MAX_CLASSES; c++) {
		uint64_t sent = 0, ended = 0;

		for (unsigned i = 0; i < sim->n_shards; i++) {
			sent += sim->net.shards[i]->tally[c].sent;
			ended += sim->net.shards[i]->tally[c].delivered +
			         sim->net.shards[i]->tally[c].dropped;
		}
		if (sent != ended + inside.packets[c])
			return wf_err_say(
				err, "class %u: %llu sent, %llu delivered or dropped, %llu inside",
				c, (unsigned long long)sent, (unsigned long long)ended,
				(unsigned long long)inside.packets[c]);
		packets += inside.packets[c];
	}
	return packets == 0 && inside.control == 0 ? check_empty(sim, err) : 0;
}
