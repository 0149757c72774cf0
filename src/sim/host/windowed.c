/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windowed.c - a host with a simple windowed sender and receiver.
 */
#include "sim/host/windowed.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "fabric/station.h"
#include "sim/host/bond.h"
#include "wire/transport.h"

/* Timers of a host's node, after its port's. */
enum {
	TIMER_START = WF_ENDPOINT_TIMERS,
	TIMER_RESEND,
	HOST_TIMERS,
	TIMER_BOND = HOST_TIMERS, /* of those with several ports */
	BONDED_TIMERS
};

/* A ring of flows: a list whose last member's ring leads to the first. */
struct ring {
	uint32_t last; /* WF_FLOW_NONE: empty */
};

/* Several ports: the bond, and what is kept of a port that is not at hand. */
struct bonded {
	struct wf_bond bond;
	struct side {
		uint32_t owes_first, owes_last;
		uint32_t can_send;
		struct ring ring[WF_MAX_QUEUES];
	} side[WF_TOPO_HOST_PORTS];
};

struct wf_host {
	struct wf_endpoint ep;
	const struct wf_host_env *env;
	struct wf_host_counts *counts;
	uint32_t first_tx, n_tx;
	uint32_t next_start;            /* of first_tx .. + n_tx: the next one to start */
	struct bonded *bonded;          /* NULL: it has one port */
	unsigned at;                    /* of several, what follows is of this one: */
	uint32_t owes_first, owes_last; /* list of flows that owe an answer */
	uint32_t can_send;              /* bit per queue with a flow in its ring */
	uint8_t last;                   /* queue that sent data last: it is fetched ahead */
	struct ring ring[WF_MAX_QUEUES];
};

static struct wf_host *to_host(struct wf_node *node)
{
	return wf_container_of(wf_endpoint_of(node), struct wf_host, ep);
}

static unsigned queue_of(const struct wf_host *h, uint8_t cls)
{
	return wf_fabric_queue(&h->ep.dev, cls);
}

/* Takes another port in hand. */
static void turn(struct wf_host *h, unsigned port)
{
	struct side *side = &h->bonded->side[h->at];

	wf_endpoint_turn(&h->ep, port);
	if (h->at == port)
		return;
	side->owes_first = h->owes_first;
	side->owes_last = h->owes_last;
	side->can_send = h->can_send;
	memcpy(side->ring, h->ring, sizeof(h->ring));
	side = &h->bonded->side[port];
	h->at = port;
	h->owes_first = side->owes_first;
	h->owes_last = side->owes_last;
	h->can_send = side->can_send;
	memcpy(h->ring, side->ring, sizeof(h->ring));
}

/* Takes the port in hand by which a flow to or from peer leaves. */
static void turn_for(struct wf_host *h, uint32_t peer, uint16_t entropy)
{
	turn(h, wf_bond_port(&h->bonded->bond, h->ep.host, peer, entropy, h->ep.dev.n_ports));
}

/* Takes the port in hand by which the flow of a packet leaves that came in. */
static void turn_to(struct wf_host *h, const struct wf_packet *pkt)
{
	const struct wf_flow_rx *rx = &h->env->rx[pkt->qpn];
	const struct wf_flow_tx *tx = &h->env->tx[pkt->qpn];

	if (pkt->type == WF_PACKET_DATA)
		turn_for(h, rx->src, rx->entropy);
	else
		turn_for(h, tx->dst, tx->entropy);
}

static void ring_add(struct wf_host *h, uint32_t i)
{
	struct wf_flow_tx *flows = h->env->tx;
	unsigned q = queue_of(h, flows[i].cls);
	struct ring *ring = &h->ring[q];

	assert(!flows[i].in_ring);
	if (ring->last == WF_FLOW_NONE) {
		flows[i].ring = i;
		h->can_send |= 1u << q;
	} else {
		flows[i].ring = flows[ring->last].ring;
		flows[ring->last].ring = i;
	}
	ring->last = i;
	flows[i].in_ring = true;
}

static uint32_t ring_take(struct wf_host *h, unsigned q)
{
	struct wf_flow_tx *flows = h->env->tx;
	struct ring *ring = &h->ring[q];
	uint32_t first = flows[ring->last].ring;

	if (first == ring->last) {
		ring->last = WF_FLOW_NONE;
		h->can_send &= ~(1u << q);
	} else {
		flows[ring->last].ring = flows[first].ring;
	}
	flows[first].in_ring = false;
	return first;
}

static bool flow_can_send(const struct wf_host *h, const struct wf_flow_tx *f)
{
	return f->next < f->n_packets && f->next - f->acked < h->env->window;
}

static void flow_go(struct wf_host *h, uint32_t i, wf_time now)
{
	if (h->env->tx[i].in_ring || !flow_can_send(h, &h->env->tx[i]))
		return;
	ring_add(h, i);
	wf_port_wake(&h->ep.dev, wf_endpoint_port(&h->ep), now);
}

static void arm_resend(struct wf_host *h, wf_time at)
{
	if (h->ep.dev.node.timer[TIMER_RESEND] > at)
		wf_timer_set(&h->ep.dev.node, TIMER_RESEND, at);
}

static uint16_t packet_length(const struct wf_host *h, const struct wf_flow_tx *f, uint32_t psn)
{
	uint64_t mtu = h->ep.dev.fabric->cfg.mtu;
	uint64_t left = f->bytes - psn * mtu;

	return (uint16_t)(left < mtu ? left : mtu);
}

static void transmit(struct wf_host *h, struct wf_packet *pkt, wf_time now)
{
	pkt->vl = queue_of(h, pkt->cls) & WF_PACKET_VL;
	wf_endpoint_send(&h->ep, pkt, now);
}

/* Counts a packet that is sent again. */
static void note_resent(struct wf_host *h, uint32_t dst, wf_time now)
{
	const struct wf_incident note = {
		.at = now,
		.node = h->ep.dev.id,
		.src = h->ep.host,
		.dst = dst,
		.queue = WF_INCIDENT_NO_QUEUE,
		.kind = WF_INCIDENT_RETRANSMIT,
	};

	h->counts->resent++;
	if (h->ep.dev.fabric->incidents != 0)
		wf_incident_add(h->ep.dev.fabric, h->ep.dev.shard, &note);
}

/* Sends the next packet of flow i. */
static void send_data(struct wf_host *h, uint32_t i, wf_time now)
{
	struct wf_flow_tx *f = &h->env->tx[i];
	struct wf_packet pkt = {
		.src = h->ep.host,
		.dst = f->dst,
		.type = WF_PACKET_DATA,
		.cls = f->cls & WF_PACKET_CLASS,
		.flags = h->ep.dev.fabric->roce1 ? 0 : WF_PACKET_ECT,
		.entropy = f->entropy,
		.length = packet_length(h, f, f->next),
		.qpn = f->rx,
		.psn = f->next,
		.u.born = now,
	};

	pkt.size = (uint16_t)(pkt.length + h->ep.dev.fabric->header);
	if (f->next < f->highest)
		note_resent(h, f->dst, now);
	else
		f->highest = f->next + 1;
	if (f->next == f->acked) {
		f->deadline = now + h->env->timeout;
		arm_resend(h, f->deadline);
	}
	f->next++;
	transmit(h, &pkt, now);
	if (flow_can_send(h, f))
		ring_add(h, i);
}

/* Sends the answer that flow i owes. */
static void send_answer(struct wf_host *h, uint32_t i, wf_time now)
{
	struct wf_flow_rx *f = &h->env->rx[i];
	struct wf_packet pkt = {
		.src = h->ep.host,
		.dst = f->src,
		.size = (uint16_t)(h->ep.dev.fabric->header + WF_AETH_LEN),
		.type = f->owes_nak ? WF_PACKET_NAK : WF_PACKET_ACK,
		.cls = f->cls & WF_PACKET_CLASS,
		.entropy = f->entropy,
		.qpn = f->tx,
		.psn = f->expected,
		.u.born = now,
	};

	f->owes_ack = false;
	f->owes_nak = false;
	f->answered = f->expected;
	transmit(h, &pkt, now);
}

static WF_ALWAYS_INLINE void owe(struct wf_host *h, uint32_t i, bool nak, wf_time now)
{
	struct wf_flow_rx *flows = h->env->rx;

	flows[i].owes_nak |= nak;
	if (flows[i].owes_ack)
		return;
	flows[i].owes_ack = true;
	flows[i].ack_next = WF_FLOW_NONE;
	if (h->owes_first == WF_FLOW_NONE)
		h->owes_first = i;
	else
		flows[h->owes_last].ack_next = i;
	h->owes_last = i;
	wf_port_wake(&h->ep.dev, wf_endpoint_port(&h->ep), now);
}

static bool try_answer(struct wf_host *h, wf_time now, wf_time *again_p)
{
	uint32_t i = h->owes_first;

	if (i == WF_FLOW_NONE ||
	    !wf_endpoint_may_send(&h->ep, queue_of(h, h->env->rx[i].cls),
	                          h->ep.dev.fabric->header + WF_AETH_LEN, now, again_p))
		return false;
	h->owes_first = h->env->rx[i].ack_next;
	send_answer(h, i, now);
	return true;
}

/* The flow of a queue whose turn it is; flows that an answer left with nothing to send go. */
static uint32_t ring_first(struct wf_host *h, unsigned q)
{
	while (h->can_send >> q & 1) {
		uint32_t first = h->env->tx[h->ring[q].last].ring;

		if (flow_can_send(h, &h->env->tx[first]))
			return first;
		(void)ring_take(h, q);
	}
	return WF_FLOW_NONE;
}

/* The bytes of the next packet of flow f. */
static uint32_t next_size(const struct wf_host *h, const struct wf_flow_tx *f)
{
	return packet_length(h, f, f->next) + h->ep.dev.fabric->header;
}

/* The queues that have data, and the sizes of the packets that are next in them. */
static uint32_t look_at_queues(struct wf_host *h)
{
	uint32_t queues = 0;

	for (uint32_t mask = h->can_send; mask != 0; mask &= mask - 1) {
		unsigned q = (unsigned)__builtin_ctz(mask);
		uint32_t first = ring_first(h, q);

		if (first == WF_FLOW_NONE)
			continue;
		h->ep.head[q].size = (uint16_t)next_size(h, &h->env->tx[first]);
		queues |= 1u << q;
	}
	return queues;
}

static bool try_data(struct wf_host *h, wf_time now, wf_time *again_p)
{
	uint32_t queues = look_at_queues(h);
	uint32_t can = wf_endpoint_ready(&h->ep, queues, now, again_p);

	if (can == 0)
		return false;
	h->last = (uint8_t)wf_endpoint_pick(&h->ep, queues, can);
	send_data(h, ring_take(h, h->last), now);
	return true;
}

static void host_tx(struct wf_host *h, wf_time now)
{
	struct wf_port *port = wf_endpoint_port(&h->ep);
	wf_time again = WF_TIME_NEVER;
	bool sent = true;

	if (!port->up)
		return;
	if (port->control != 0)
		wf_port_transmit_control(&h->ep.dev, port, now);
	else
		sent = try_answer(h, now, &again) || try_data(h, now, &again);
	wf_endpoint_again(&h->ep, sent && (h->owes_first != WF_FLOW_NONE || h->can_send != 0),
	                  again, now);
}

/* Starts every flow whose time has come. */
static void host_start_flows(struct wf_host *h, wf_time now)
{
	while (h->next_start < h->n_tx) {
		struct wf_flow_tx *f = &h->env->tx[h->first_tx + h->next_start];

		if (f->start > now) {
			wf_timer_set(&h->ep.dev.node, TIMER_START, f->start);
			return;
		}
		if (wf_unlikely(h->bonded != NULL))
			turn_for(h, f->dst, f->entropy);
		flow_go(h, h->first_tx + h->next_start, now);
		h->next_start++;
	}
}

/* Goes back to what is not acknowledged where that took too long. */
static void host_resend(struct wf_host *h, wf_time now)
{
	for (uint32_t k = 0; k < h->next_start; k++) {
		uint32_t i = h->first_tx + k;
		struct wf_flow_tx *f = &h->env->tx[i];

		if (f->acked == f->next)
			continue;
		if (f->deadline <= now) {
			f->next = f->acked;
			f->deadline = now + h->env->timeout;
			if (wf_unlikely(h->bonded != NULL))
				turn_for(h, f->dst, f->entropy);
			flow_go(h, i, now);
		}
		arm_resend(h, f->deadline);
	}
}

/* Moves expected over what has come early. */
static void take_early(struct wf_host *h, struct wf_flow_rx *f)
{
	uint32_t mask = h->env->early_bits - 1;

	while (f->early[(f->expected & mask) / 64] >> (f->expected % 64) & 1) {
		f->early[(f->expected & mask) / 64] &= ~(UINT64_C(1) << (f->expected % 64));
		f->expected++;
	}
}

/* Takes packet psn; returns true when it is new. */
static WF_ALWAYS_INLINE bool place(struct wf_host *h, uint32_t i, uint32_t psn, wf_time now)
{
	struct wf_flow_rx *f = &h->env->rx[i];
	uint32_t mask = h->env->early_bits - 1;
	uint64_t bit = UINT64_C(1) << (psn % 64);

	if (psn < f->expected) {
		owe(h, i, false, now); /* a repeat: the acknowledgement was lost */
		return false;
	}
	if (psn == f->expected) {
		f->expected++;
		f->nak_sent = false;
		if (h->env->early_bits != 0)
			take_early(h, f);
		return true;
	}
	if (h->env->early_bits == 0) {
		if (!f->nak_sent)
			owe(h, i, true, now);
		f->nak_sent = true;
		return false;
	}
	assert(psn - f->expected < h->env->early_bits);
	if (f->early[(psn & mask) / 64] & bit)
		return false;
	f->early[(psn & mask) / 64] |= bit;
	return true;
}

static WF_ALWAYS_INLINE void rx_data(struct wf_host *h, const struct wf_packet *pkt, wf_time now)
{
	struct wf_flow_rx *f = &h->env->rx[pkt->qpn];
	struct wf_host_counts *c = h->counts;

	wf_hist_add(&c->packet_latency, (uint64_t)(now - pkt->u.born));
	if (!place(h, pkt->qpn, pkt->psn, now))
		return;
	c->bytes_delivered += pkt->length;
	c->last_delivery = wf_max_time(c->last_delivery, now);
	if (f->expected == f->n_packets && f->done == WF_TIME_NEVER) {
		f->done = now;
		wf_hist_add(&c->flow_time, (uint64_t)(now - f->posted));
		owe(h, pkt->qpn, false, now);
	} else if (f->expected - f->answered >= h->env->ack_every) {
		owe(h, pkt->qpn, false, now);
	}
}

static WF_ALWAYS_INLINE void rx_answer(struct wf_host *h, const struct wf_packet *pkt, wf_time now)
{
	struct wf_flow_tx *f = &h->env->tx[pkt->qpn];

	if (pkt->psn > f->acked) {
		f->acked = pkt->psn;
		if (f->next < f->acked)
			f->next = f->acked;
		f->deadline = now + h->env->timeout;
		if (f->acked == f->n_packets)
			h->counts->flows_done++;
	}
	if (pkt->type == WF_PACKET_NAK && pkt->psn == f->acked)
		f->next = f->acked;
	flow_go(h, pkt->qpn, now);
}

static WF_ALWAYS_INLINE void take(struct wf_host *h, const struct wf_packet *pkt, wf_time now)
{
	assert(pkt->dst == h->ep.host);
	if (pkt->type == WF_PACKET_DATA)
		rx_data(h, pkt, now);
	else
		rx_answer(h, pkt, now);
}

static void host_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct wf_host *h = to_host(node);
	const struct wf_packet *pkt = wf_endpoint_receive(&h->ep, cell, now);

	(void)input;
	if (pkt != NULL)
		take(h, pkt, now);
}

/* What is in memory by now, out of a receive buffer. */
static WF_SELDOM void host_take_in(struct wf_host *h, wf_time now)
{
	struct wf_packet pkt;

	while (wf_endpoint_taken_in(&h->ep, &pkt, now)) {
		if (h->bonded != NULL)
			turn_to(h, &pkt);
		take(h, &pkt, now);
	}
}

static void host_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct wf_host *h = to_host(node);

	switch (slot) {
	case WF_ENDPOINT_WIRE:
		host_tx(h, now);
		break;
	case WF_ENDPOINT_FLOWCTL:
		wf_endpoint_flowctl(&h->ep, now);
		break;
	case TIMER_START:
		host_start_flows(h, now);
		break;
	case TIMER_RESEND:
		host_resend(h, now);
		break;
	default:
		assert(slot == WF_ENDPOINT_INTAKE);
		host_take_in(h, now);
	}
}

static void host_warm(const struct wf_node *node, unsigned input)
{
	const struct wf_device *dev = wf_container_of(node, const struct wf_device, node);
	const struct wf_endpoint *ep = wf_container_of(dev, const struct wf_endpoint, dev);
	const struct wf_host *h = wf_container_of(ep, const struct wf_host, ep);

	__builtin_prefetch(&dev->ports[input]);
	__builtin_prefetch(wf_device_lane(dev, 0, h->last));
	__builtin_prefetch(&h->env->tx[h->first_tx]);
}

static const struct wf_node_ops host_ops = {
	.name = "host",
	.late = true,
	.rx = host_rx,
	.timer = host_timer,
	.warm = host_warm,
};

/* ---- in a managed fabric ---- */

static void managed_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	if (!wf_station_takes_timer(wf_device_of(node), slot, now))
		host_timer(node, slot, now);
}

static const struct wf_node_ops managed_ops = {
	.name = "host",
	.late = true,
	.rx = host_rx,
	.timer = managed_timer,
	.warm = host_warm,
};

/* ---- several ports ---- */

/* Takes all flows that can send out of the rings; returns a chain of them by their ring. */
static uint32_t take_rings(struct wf_host *h)
{
	uint32_t chain = WF_FLOW_NONE;

	for (unsigned p = 0; p < h->ep.dev.n_ports; p++) {
		turn(h, p);
		while (h->can_send != 0) {
			uint32_t i = ring_take(h, (unsigned)__builtin_ctz(h->can_send));

			h->env->tx[i].ring = chain;
			chain = i;
		}
	}
	return chain;
}

/* The same of those that owe an answer, by their ack_next. */
static uint32_t take_owed(struct wf_host *h)
{
	uint32_t chain = WF_FLOW_NONE;

	for (unsigned p = 0; p < h->ep.dev.n_ports; p++) {
		turn(h, p);
		while (h->owes_first != WF_FLOW_NONE) {
			uint32_t i = h->owes_first;

			h->owes_first = h->env->rx[i].ack_next;
			h->env->rx[i].ack_next = chain;
			chain = i;
		}
	}
	return chain;
}

/* A link has been down, or up, for long enough: flows move to other ports. */
static void bond_follow(struct wf_host *h, wf_time now)
{
	uint32_t can = take_rings(h), owing = take_owed(h);

	(void)wf_bond_follow(&h->bonded->bond, now);
	while (can != WF_FLOW_NONE) {
		struct wf_flow_tx *f = &h->env->tx[can];
		uint32_t i = can;

		can = f->ring;
		turn_for(h, f->dst, f->entropy);
		flow_go(h, i, now);
	}
	while (owing != WF_FLOW_NONE) {
		struct wf_flow_rx *f = &h->env->rx[owing];
		uint32_t i = owing;

		owing = f->ack_next;
		f->owes_ack = false;
		turn_for(h, f->src, f->entropy);
		owe(h, i, false, now);
	}
}

static void plan_bond(struct wf_host *h)
{
	wf_time at = wf_bond_next(&h->bonded->bond);

	if (at == WF_TIME_NEVER)
		wf_timer_clear(&h->ep.dev.node, TIMER_BOND);
	else
		wf_timer_set(&h->ep.dev.node, TIMER_BOND, at);
}

static void bond_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct wf_host *h = to_host(node);
	unsigned n = h->ep.dev.n_ports;

	if (slot == TIMER_BOND) {
		bond_follow(h, now);
		plan_bond(h);
		return;
	}
	if (slot < 2 * n) {
		turn(h, slot % n);
		slot = slot < n ? WF_ENDPOINT_WIRE : WF_ENDPOINT_FLOWCTL;
	}
	host_timer(node, slot, now);
}

static void bond_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct wf_host *h = to_host(node);
	struct wf_packet *pkt;

	turn(h, input);
	pkt = wf_endpoint_receive(&h->ep, cell, now);
	if (pkt == NULL)
		return;
	turn_to(h, pkt);
	take(h, pkt, now);
}

static void bond_set_up(struct wf_device *dev, struct wf_port *port, bool up, wf_time now)
{
	struct wf_host *h = to_host(&dev->node);

	turn(h, port->number);
	wf_endpoint_set_up(dev, port, up, now);
	wf_bond_link(&h->bonded->bond, port->number, up, now);
	plan_bond(h);
}

static const struct wf_node_ops bonded_ops = {
	.name = "bonded host",
	.late = true,
	.rx = bond_rx,
	.timer = bond_timer,
	.warm = host_warm,
};

static int host_start(struct wf_device *dev, struct wf_err *err)
{
	struct wf_host *h = to_host(&dev->node);

	if (h->n_tx > 0)
		wf_timer_set(&dev->node, TIMER_START, h->env->tx[h->first_tx].start);
	return wf_endpoint_start(dev, err);
}

static const struct wf_device_ops device_ops = {
	.start = host_start,
	.set_up = wf_endpoint_set_up,
	.changed = wf_endpoint_changed,
	.fini = wf_device_fini_nothing,
};

static const struct wf_device_ops bonded_device_ops = {
	.start = host_start,
	.set_up = bond_set_up,
	.changed = wf_endpoint_changed,
	.fini = wf_device_fini_nothing,
};

/* Nobody sends or owes anything on the port at hand. */
static void clear_port(struct wf_host *h)
{
	h->owes_first = WF_FLOW_NONE;
	h->can_send = 0;
	for (unsigned q = 0; q < WF_MAX_QUEUES; q++)
		h->ring[q].last = WF_FLOW_NONE;
}

static int make_bond(struct wf_host *h, struct wf_shard *shard)
{
	h->bonded = wf_shard_alloc(shard, sizeof(*h->bonded));
	if (h->bonded == NULL)
		return -ENOMEM;
	wf_bond_init(&h->bonded->bond, h->env->fabric, &h->ep.dev.setup->cfg, h->ep.dev.n_ports);
	for (unsigned p = h->ep.dev.n_ports; p-- > 0;) {
		turn(h, p);
		clear_port(h);
	}
	return 0;
}

struct wf_device *wf_host_create(struct wf_shard *shard, const struct wf_host_env *env,
                                 uint32_t host, uint32_t first_tx, uint32_t n_tx)
{
	unsigned n_ports = wf_endpoint_ports(env->fabric, host);
	bool bonded = n_ports > 1;
	struct wf_node *node =
		wf_engine_add_node(shard,
	                           bonded                 ? &bonded_ops
	                           : env->fabric->managed ? &managed_ops
	                                                  : &host_ops,
	                           sizeof(struct wf_host), n_ports,
	                           (bonded ? BONDED_TIMERS : HOST_TIMERS) + env->fabric->managed);
	struct wf_fabric_shard *fs = wf_shard_user(shard);
	struct wf_host *h;

	if (node == NULL)
		return NULL;
	h = to_host(node);
	if (wf_endpoint_init(&h->ep, bonded ? &bonded_device_ops : &device_ops, env->fabric,
	                     host) != 0)
		return NULL;
	h->env = env;
	h->counts = fs->user;
	h->first_tx = first_tx;
	h->n_tx = n_tx;
	clear_port(h);
	if (bonded && make_bond(h, shard) != 0)
		return NULL;
	return &h->ep.dev;
}
