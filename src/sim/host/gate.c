/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.c - between a port of the fabric and who is outside.
 */
#include "sim/host/gate.h"

#include "fabric/station.h"
#include "wire/opcode.h"

struct wf_gate {
	struct wf_endpoint ep;
	const struct wf_gate_env *env;
	const struct wf_pull_ops *pull; /* whom it asks for packets */
	uint32_t classes;               /* bit per class of which data has come */
	wf_time again; /* who is outside will have something then; WF_TIME_NEVER: unknown */
};

static struct wf_gate *to_gate(struct wf_endpoint *ep)
{
	return wf_container_of(ep, struct wf_gate, ep);
}

static const struct wf_gate *to_gate_const(const struct wf_endpoint *ep)
{
	return wf_container_of(ep, const struct wf_gate, ep);
}

static bool gate_next(struct wf_endpoint *ep, wf_time now, struct wf_packet *pkt)
{
	struct wf_gate *g = to_gate(ep);

	if (!g->env->ops->next(g->env->arg, ep->host, ep->held, now, pkt, &g->again))
		return false;
	assert(pkt->cls < WF_MAX_CLASSES && !(ep->held >> pkt->cls & 1));
	pkt->src = ep->host;
	if (ep->dev.station != NULL && wf_station_is_group(pkt->entropy))
		ep->dev.station->port[ep->port->number].tx_groups++;
	if (!wf_op_is_ack(pkt->opcode) && !wf_op_is_cnp(pkt->opcode))
		g->classes |= 1u << pkt->cls;
	return true;
}

static bool gate_rivals(const struct wf_endpoint *ep)
{
	uint32_t classes = to_gate_const(ep)->classes;

	return (classes & (classes - 1)) != 0 && (classes & ~ep->held) != 0;
}

/* It is told with every question. */
static void gate_hold(struct wf_endpoint *ep)
{
	(void)ep;
}

static void gate_leave(struct wf_endpoint *ep, struct wf_packet *pkt, wf_time now)
{
	(void)ep;
	(void)pkt;
	(void)now;
}

static const struct wf_pull_ops pull_ops = {
	.next = gate_next,
	.rivals = gate_rivals,
	.hold = gate_hold,
	.leave = gate_leave,
};

static void gate_tx(struct wf_gate *g, wf_time now)
{
	struct wf_port *port = wf_endpoint_port(&g->ep);
	wf_time again = WF_TIME_NEVER;

	if (!port->up)
		return;
	g->again = WF_TIME_NEVER;
	if (port->control != 0)
		wf_port_transmit_control(&g->ep.dev, port, now);
	else
		(void)wf_endpoint_pull(&g->ep, g->pull, now, &again);
	wf_endpoint_again(&g->ep, port->free_at > now, wf_min_time(again, g->again), now);
}

static void gate_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct wf_gate *g = to_gate(wf_endpoint_of(node));
	struct wf_packet pkt;

	switch (slot) {
	case WF_ENDPOINT_WIRE:
		gate_tx(g, now);
		break;
	case WF_ENDPOINT_FLOWCTL:
		wf_endpoint_flowctl(&g->ep, now);
		break;
	case WF_ENDPOINT_INTAKE:
		while (wf_endpoint_taken_in(&g->ep, &pkt, now))
			g->env->ops->deliver(g->env->arg, g->ep.host, &pkt, now);
		break;
	default:
		assert(0);
	}
}

static void gate_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct wf_gate *g = to_gate(wf_endpoint_of(node));
	const struct wf_packet *pkt = wf_endpoint_receive(&g->ep, cell, now);

	(void)input;
	if (pkt != NULL)
		g->env->ops->deliver(g->env->arg, g->ep.host, pkt, now);
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

static void managed_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	if (wf_station_takes_timer(wf_device_of(node), slot, now))
		return;
	gate_timer(node, slot, now);
	wf_station_look_again(wf_device_of(node), now);
}

static const struct wf_node_ops managed_ops = {
	.name = "gate",
	.late = true,
	.rx = gate_rx,
	.timer = managed_timer,
	.warm = gate_warm,
};

/* What waits to leave by a link that goes down never will: it was sent, and is lost. */
static void gate_set_up(struct wf_device *dev, struct wf_port *port, bool up, wf_time now)
{
	struct wf_gate *g = to_gate(wf_endpoint_of_device(dev));
	struct wf_packet pkt;

	wf_endpoint_set_up(dev, port, up, now);
	while (!up && wf_endpoint_take_back(&g->ep, g->pull, &pkt)) {
		dev->shard->tally[pkt.cls].sent++;
		wf_device_drop(dev, port, pkt.vl, &pkt, WF_DROP_DOWN, now);
	}
}

static const struct wf_device_ops device_ops = {
	.start = wf_endpoint_start,
	.set_up = gate_set_up,
	.changed = wf_endpoint_changed,
	.fini = wf_device_fini_nothing,
};

struct wf_device *wf_gate_create(struct wf_shard *shard, const struct wf_gate_env *env,
                                 uint32_t host)
{
	bool managed = env->fabric->managed;
	struct wf_node *node =
		wf_engine_add_node(shard, managed ? &managed_ops : &gate_ops,
	                           sizeof(struct wf_gate), 1, WF_ENDPOINT_TIMERS + managed);
	struct wf_gate *g;

	if (node == NULL)
		return NULL;
	g = to_gate(wf_endpoint_of(node));
	if (wf_endpoint_init(&g->ep, &device_ops, env->fabric, host) != 0)
		return NULL;
	g->env = env;
	g->pull = managed ? &wf_station_pull : &pull_ops;
	return &g->ep.dev;
}

const struct wf_pull_ops *wf_gate_pull(void)
{
	return &pull_ops;
}

void wf_gate_lost(void *arg, struct wf_fabric_shard *shard, const struct wf_packet *pkt,
                  bool trimmed)
{
	const struct wf_gate_env *env = arg;

	(void)shard;
	if (!trimmed)
		env->ops->lost(env->arg, pkt);
}

bool wf_gate_copied(void *arg, struct wf_fabric_shard *shard, struct wf_packet *copy)
{
	const struct wf_gate_env *env = arg;

	(void)shard;
	env->ops->copied(env->arg, copy);
	return true;
}
