/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.c - reading the state of queues and links off a simulation.
 */
#include "sim/look/state.h"

#include "fabric/endpoint.h"
#include "fabric/flowctl/headroom.h"
#include "fabric/retry.h"
#include "sim/sim_priv.h"
#include "wire/ib.h"

static const struct wf_topo_port *topo_port(const struct wf_topo *topo, uint32_t node,
                                            unsigned port)
{
	return &topo->ports[topo->nodes[node].first_port + port];
}

static const struct wf_lane *lane_at(const struct wf_sim *sim, uint32_t node, unsigned port,
                                     unsigned queue)
{
	return &sim->net.devices[node]->ports[port].lanes[queue];
}

static bool is_switch(const struct wf_sim *sim, uint32_t node)
{
	return sim->topo->nodes[node].kind == WF_TOPO_SWITCH;
}

static bool is_stopped(const struct wf_sim *sim, uint32_t node, unsigned port, unsigned queue)
{
	const struct wf_topo_port *tp = topo_port(sim->topo, node, port);

	if (sim->fabric.flowctl->uses_credits)
		return lane_at(sim, node, port, queue)->wait_since != WF_TIME_NEVER;
	return lane_at(sim, tp->peer, tp->peer_port, queue)->xoff;
}

/* Alone in the buffer, an input is stopped when it has alpha times what it leaves free. */
static uint64_t xoff_alone(const struct wf_buffer *b, uint64_t alpha)
{
	return b->reserved +
	       (uint64_t)((unsigned __int128)b->shared_size * alpha / (WF_RATIO_ONE + alpha));
}

/* Credits come back after the link's delay both ways and a packet each way on the wire. */
static uint64_t credit_need(const struct wf_fabric *fabric, const struct wf_port *port)
{
	wf_time loop = port->delay + port->in_delay;

	return wf_rate_bytes(port->per_byte, loop) + 2 * ((uint64_t)fabric->max_wire + fabric->gap);
}

/* The receive buffer of a host's adapter, where it can be full. */
static void look_at_intake(const struct wf_endpoint *ep, struct wf_sim_lane_state *state)
{
	const struct wf_intake *in = ep->intake;

	if (in == NULL || in->full == WF_INTAKE_ENDLESS)
		return;
	state->capacity = in->size - in->xoff;
	state->needed = in->needed;
	state->xoff = in->xoff;
}

bool wf_sim_lane_state(const struct wf_sim *sim, uint32_t node, unsigned port, unsigned queue,
                       struct wf_sim_lane_state *state)
{
	const struct wf_fabric *fabric = &sim->fabric;
	const struct wf_lane *lane;
	const struct wf_port *p;

	if (node >= sim->topo->n_nodes || port >= sim->net.devices[node]->n_ports ||
	    queue >= fabric->classes.n)
		return false;
	p = &sim->net.devices[node]->ports[port];
	lane = &p->lanes[queue];
	*state = (struct wf_sim_lane_state){
		.rate = p->rate,
		.waiting = lane->bytes,
		.stopped = is_stopped(sim, node, port, queue),
	};
	if (fabric->flowctl->uses_credits) {
		state->capacity = (uint64_t)lane->capacity * WF_IB_BLOCK;
		state->needed = credit_need(fabric, p);
	} else if (fabric->flowctl == &wf_flowctl_pfc && is_switch(sim, node)) {
		state->capacity = lane->capacity;
		state->needed = wf_pfc_headroom(sim->net.devices[node], p);
		state->xoff = xoff_alone(
			&wf_container_of(sim->net.devices[node], struct wf_switch, dev)->buffer,
			lane->alpha);
	} else if (fabric->flowctl == &wf_flowctl_pfc) {
		look_at_intake(wf_endpoint_of_device(sim->net.devices[node]), state);
	}
	return true;
}

bool wf_sim_intake_state(const struct wf_sim *sim, uint32_t host, struct wf_sim_intake_state *state)
{
	struct wf_device *dev = wf_network_host(&sim->net, host);
	const struct wf_intake *in = wf_endpoint_of_device(dev)->intake;

	if (in == NULL)
		return false;
	*state = (struct wf_sim_intake_state){
		.waited = wf_intake_waited(in, wf_sim_now(sim)),
		.bytes = in->bytes,
		.rate = in->rate,
		.drops = in->full == WF_INTAKE_DROP,
	};
	for (unsigned i = 0; i < dev->n_ports * dev->n_queues; i++)
		state->dropped += dev->lanes[i].drops[WF_DROP_BUFFER];
	return true;
}

bool wf_sim_link_state(const struct wf_sim *sim, uint32_t link, struct wf_sim_link_state *state)
{
	const struct wf_sim_outage *o;

	if (link >= sim->topo->n_links)
		return false;
	o = &sim->faults.outages[link];
	*state = (struct wf_sim_link_state){
		.down = sim->faults.down[link] != 0,
		.times = o->times,
		.time = o->before,
	};
	if (state->down)
		state->time += wf_max_time(wf_sim_now(sim) - o->since, 0);
	return true;
}

bool wf_sim_watchdog(const struct wf_sim *sim, uint32_t node, unsigned port, unsigned queue,
                     struct wf_sim_watchdog *state)
{
	const struct wf_watchdog_queue *w;
	const struct wf_watchdog_set *set;
	const struct wf_device *dev;
	const struct wf_port *p;

	if (node >= sim->topo->n_nodes || port >= sim->net.devices[node]->n_ports ||
	    queue >= sim->fabric.classes.n)
		return false;
	dev = sim->net.devices[node];
	p = &dev->ports[port];
	w = wf_watchdog_look(dev, port, queue);
	set = is_switch(sim, node) ? &p->setup->watchdog : &p->setup->adapter_watchdog;
	if (w == NULL || set->rules == NULL)
		return false;
	*state = (struct wf_sim_watchdog){
		.rules = set->rules->name,
		.action = set->action,
		.times = wf_watchdog_times(set, dev->n_ports),
		.acted = wf_watchdog_acted(w, wf_sim_now(sim)),
		.repeat =
			wf_port_time_long(p, (uint64_t)p->setup->cfg.pfc_quanta * WF_PFC_QUANTUM) /
			2,
	};
	return true;
}

bool wf_sim_port_link(const struct wf_sim *sim, uint32_t node, unsigned port,
                      struct wf_sim_port_link *link)
{
	const struct wf_topo_port *tp;
	const struct wf_retry *retry;
	const struct wf_port *p;
	struct wf_fec_sums fec;

	if (node >= sim->topo->n_nodes || port >= sim->net.devices[node]->n_ports)
		return false;
	p = &sim->net.devices[node]->ports[port];
	tp = topo_port(sim->topo, node, port);
	retry = sim->net.devices[tp->peer]->ports[tp->peer_port].retry;
	fec = wf_port_fec(p, wf_sim_now(sim));
	*link = (struct wf_sim_port_link){
		.ber = p->setup->cfg.link_ber,
		.loss = p->setup->cfg.link_loss + sim->topo->links[tp->link].loss,
		.raw_ber = fec.raw_ber,
		.limit = fec.code != NULL ? fec.code->limit : 0,
		.fec = fec.code != NULL ? fec.code->title : NULL,
		.again_time = retry != NULL ? retry->taken : 0,
	};
	for (unsigned q = 0; retry != NULL && q < sim->fabric.classes.n; q++)
		link->again += retry->again[q];
	return true;
}
