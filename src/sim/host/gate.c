/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.c - between a port of the fabric and who is outside.
 */
#include "sim/host/gate.h"

#include "wire/ib.h"

/* Timers of the node: 0 the port's wire, 1 its flow control. */
#define GATE_TIMERS 2

struct wf_gate {
	struct wf_device dev;
	const struct wf_gate_env *env;
	uint32_t host;
	bool storm;
	uint32_t staged_queues;       /* bit per queue with a packet that flow control stops */
	uint32_t held;                /* bit per class that these queues are for */
	uint32_t owed[WF_MAX_QUEUES]; /* bytes whose credits a storm keeps back */
	struct wf_packet staged[WF_MAX_QUEUES];
};

static struct wf_gate *to_gate(struct wf_node *node)
{
	return wf_container_of(wf_device_of(node), struct wf_gate, dev);
}

struct wf_device *wf_gate_device(struct wf_gate *g)
{
	return &g->dev;
}

static void set_staged(struct wf_gate *g, uint32_t queues)
{
	g->staged_queues = queues;
	g->held = 0;
	for (uint8_t c = 0; c < WF_MAX_CLASSES && queues != 0; c++) {
		if (queues >> wf_fabric_queue(g->dev.fabric, c) & 1)
			g->held |= 1u << c;
	}
}

/* Whether a packet may leave by its queue now; if not, notes the wait and when to ask again. */
static bool may_send(struct wf_gate *g, const struct wf_packet *pkt, wf_time now, wf_time *again_p)
{
	struct wf_port *port = &g->dev.ports[0];
	struct wf_lane *lane = wf_device_lane(&g->dev, 0, pkt->vl);
	wf_time at = wf_flowctl_ready(g->dev.fabric->flowctl, port, lane, pkt->vl, pkt->size, now);

	if (at <= now) {
		port->blocked &= (uint16_t) ~(1u << pkt->vl);
		wf_lane_go(lane, now);
		return true;
	}
	port->blocked |= (uint16_t)(1u << pkt->vl);
	if (at == WF_TIME_NEVER)
		wf_lane_stop(lane, now);
	*again_p = wf_min_time(*again_p, at);
	return false;
}

static void send(struct wf_gate *g, const struct wf_packet *pkt, wf_time now)
{
	g->dev.shard->tally[pkt->cls].sent++;
	wf_port_transmit(&g->dev, &g->dev.ports[0], wf_device_lane(&g->dev, 0, pkt->vl), pkt, now);
}

static bool send_staged(struct wf_gate *g, wf_time now, wf_time *again_p)
{
	for (uint32_t mask = g->staged_queues; mask != 0; mask &= mask - 1) {
		unsigned q = (unsigned)__builtin_ctz(mask);

		if (!may_send(g, &g->staged[q], now, again_p))
			continue;
		set_staged(g, g->staged_queues & ~(1u << q));
		send(g, &g->staged[q], now);
		return true;
	}
	return false;
}

/* Asks for packets until one can be sent. */
static void send_new(struct wf_gate *g, wf_time now, wf_time *again_p)
{
	struct wf_packet pkt;

	while (g->env->ops->next(g->env->arg, g->host, g->held, now, &pkt, again_p)) {
		assert(pkt.cls < WF_MAX_CLASSES && !(g->held >> pkt.cls & 1));
		pkt.src = g->host;
		pkt.vl = wf_fabric_queue(g->dev.fabric, pkt.cls) & WF_PACKET_VL;
		if (may_send(g, &pkt, now, again_p)) {
			send(g, &pkt, now);
			return;
		}
		g->staged[pkt.vl] = pkt;
		set_staged(g, g->staged_queues | 1u << pkt.vl);
	}
}

static void gate_tx(struct wf_gate *g, wf_time now)
{
	struct wf_port *port = &g->dev.ports[0];
	wf_time again = WF_TIME_NEVER;

	if (!port->up)
		return;
	if (port->control != 0)
		wf_port_transmit_control(&g->dev, port, now);
	else if (!send_staged(g, now, &again))
		send_new(g, now, &again);
	if (port->free_at > now)
		wf_port_wake(&g->dev, port, now); /* when the wire is free, that is */
	else if (again != WF_TIME_NEVER)
		wf_port_wake(&g->dev, port, again);
}

static void gate_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct wf_gate *g = to_gate(node);

	if (slot == 0)
		gate_tx(g, now);
	else
		g->dev.fabric->flowctl->timer(&g->dev, &g->dev.ports[0], now);
}

static void gate_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct wf_gate *g = to_gate(node);
	struct wf_packet *pkt = (struct wf_packet *)(void *)cell;
	struct wf_port *port = &g->dev.ports[input];
	const struct wf_flowctl_ops *flowctl = g->dev.fabric->flowctl;

#ifndef NDEBUG
	if (!wf_packet_is_control(pkt->type))
		g->dev.shard->tally[pkt->cls].on_links--;
#endif
	if (wf_unlikely(port->lossy) && wf_port_loses(&g->dev, port, pkt, now))
		return;
	if (wf_packet_is_control(pkt->type)) {
		flowctl->control(&g->dev, port, pkt, now);
		return;
	}
	g->dev.shard->tally[pkt->cls].delivered++;
	if (wf_unlikely(g->storm) && flowctl->uses_credits)
		g->owed[pkt->vl] += wf_ib_blocks(pkt->size) * WF_IB_BLOCK;
	else
		flowctl->pass(&g->dev, port, pkt->vl, pkt->size, now);
	g->env->ops->deliver(g->env->arg, g->host, pkt, now);
}

static void gate_warm(const struct wf_node *node, unsigned input)
{
	const struct wf_device *dev = wf_container_of(node, const struct wf_device, node);

	(void)input;
	__builtin_prefetch(&dev->ports[0]);
}

static const struct wf_node_ops gate_ops = {
	.name = "gate",
	.late = true,
	.rx = gate_rx,
	.timer = gate_timer,
	.warm = gate_warm,
};

struct wf_gate *wf_gate_create(struct wf_shard *shard, const struct wf_gate_env *env, uint32_t host)
{
	struct wf_node *node =
		wf_engine_add_node(shard, &gate_ops, sizeof(struct wf_gate), 1, GATE_TIMERS);
	struct wf_gate *g;

	if (node == NULL)
		return NULL;
	g = to_gate(node);
	if (wf_device_init(&g->dev, env->fabric, env->fabric->topo->host_node[host]) != 0)
		return NULL;
	g->env = env;
	g->host = host;
	return g;
}

void wf_gate_start(struct wf_gate *g)
{
	g->dev.fabric->flowctl->start(&g->dev, &g->dev.ports[0], 0);
}

void wf_gate_wake(struct wf_gate *g, wf_time at)
{
	if (g->dev.ports[0].up)
		wf_port_wake(&g->dev, &g->dev.ports[0], at);
}

void wf_gate_set_up(struct wf_gate *g, bool up, wf_time now)
{
	wf_port_set_up(&g->dev, &g->dev.ports[0], up, now);
	for (uint32_t mask = up ? 0 : g->staged_queues; mask != 0; mask &= mask - 1)
		g->env->ops->lost(g->env->arg, &g->staged[__builtin_ctz(mask)]);
	if (!up)
		set_staged(g, 0);
	/* Flow control begins anew: there is nothing to give back. */
	for (unsigned q = 0; q < WF_MAX_QUEUES; q++)
		g->owed[q] = 0;
}

/* What was kept back is given, for one queue. */
static void settle(struct wf_gate *g, unsigned q, wf_time now)
{
	uint32_t owed = g->owed[q];

	g->owed[q] = 0;
	if (owed != 0)
		g->dev.fabric->flowctl->pass(&g->dev, &g->dev.ports[0], q, owed, now);
}

void wf_gate_storm(struct wf_gate *g, bool on, wf_time now)
{
	const struct wf_fabric *fabric = g->dev.fabric;

	if (g->storm == on)
		return;
	g->storm = on;
	for (unsigned q = 0; q < fabric->classes.n; q++) {
		if (fabric->flowctl->uses_credits) {
			settle(g, q, now);
		} else if (fabric->classes.queue[q].lossless) {
			wf_port_lane(&g->dev.ports[0], q)->xoff = on;
			wf_port_want_control(&g->dev, &g->dev.ports[0], q, now);
		}
	}
}

void wf_gate_lost(void *arg, struct wf_fabric_shard *shard, const struct wf_packet *pkt,
                  bool trimmed)
{
	const struct wf_gate_env *env = arg;

	(void)shard;
	if (!trimmed)
		env->ops->lost(env->arg, pkt);
}
