/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.c - reading the state of queues off a simulation.
 *
 * A circle: a queue is stopped because the buffer it leads to is full, and that is full of packets
 * in queues that are stopped themselves. The search walks from a stopped queue to the queues it
 * holds up: those at the other ends of the links by which the packets in it came.
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
	for (unsigned q = 0; q < dev->n_queues; q++)
		state->dropped += wf_device_lane(dev, 0, q)->drops[WF_DROP_BUFFER];
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

/* ---- circles ---- */

enum colour { WHITE, GREY, BLACK };

struct step {
	struct wf_sim_lane_id lane;
	uint32_t next; /* input of the switch to look at next */
};

struct search {
	const struct wf_sim *sim;
	uint8_t *colour; /* by port of the topology and queue */
	struct step *stack;
	size_t depth;
};

static uint8_t *colour_of(const struct search *s, const struct wf_sim_lane_id *id)
{
	size_t port = s->sim->topo->nodes[id->node].first_port + id->port;

	return &s->colour[port * s->sim->fabric.classes.n + id->queue];
}

static bool is_stuck(const struct wf_sim *sim, const struct wf_sim_lane_id *id)
{
	return is_switch(sim, id->node) &&
	       lane_at(sim, id->node, id->port, id->queue)->head != NULL &&
	       is_stopped(sim, id->node, id->port, id->queue);
}

/* Whether a packet that came by input waits in the queue. */
static bool holds_from(const struct wf_sim *sim, const struct wf_sim_lane_id *id, unsigned input)
{
	const struct wf_packet *p = lane_at(sim, id->node, id->port, id->queue)->head;

	for (; p != NULL; p = p->next) {
		if (p->input == input)
			return true;
	}
	return false;
}

static void push(struct search *s, const struct wf_sim_lane_id *id)
{
	*colour_of(s, id) = GREY;
	s->stack[s->depth++] = (struct step){ .lane = *id };
}

/* The circle that ends where id is on the stack again. */
static unsigned take_ring(const struct search *s, const struct wf_sim_lane_id *id,
                          struct wf_sim_lane_id *ring, unsigned max)
{
	unsigned n = 0;

	for (size_t i = s->depth; i-- > 0;) {
		const struct wf_sim_lane_id *l = &s->stack[i].lane;

		if (n < max)
			ring[n] = *l;
		n++;
		if (l->node == id->node && l->port == id->port && l->queue == id->queue)
			break;
	}
	return n;
}

/* From the queue on top of the stack on; returns the size of a circle that was found, or 0. */
static unsigned walk(struct search *s, struct wf_sim_lane_id *ring, unsigned max)
{
	while (s->depth > 0) {
		struct step *top = &s->stack[s->depth - 1];
		const struct wf_topo_port *tp;
		struct wf_sim_lane_id up;
		unsigned input = top->next++;

		if (input >= s->sim->topo->nodes[top->lane.node].n_ports) {
			*colour_of(s, &top->lane) = BLACK;
			s->depth--;
			continue;
		}
		tp = topo_port(s->sim->topo, top->lane.node, input);
		up = (struct wf_sim_lane_id){ tp->peer, tp->peer_port, top->lane.queue };
		if (!is_stuck(s->sim, &up) || *colour_of(s, &up) == BLACK ||
		    !holds_from(s->sim, &top->lane, input))
			continue;
		if (*colour_of(s, &up) == GREY)
			return take_ring(s, &up, ring, max);
		push(s, &up);
	}
	return 0;
}

unsigned wf_sim_find_circle(const struct wf_sim *sim, struct wf_sim_lane_id *ring, unsigned max)
{
	size_t lanes = (size_t)sim->topo->n_ports * sim->fabric.classes.n;
	struct wf_mem *mem = sim->mem;
	struct search s = {
		.sim = sim,
		.colour = mem->alloc(mem, lanes),
		.stack = mem->alloc(mem, lanes * sizeof(*s.stack)),
	};
	unsigned n = 0;

	for (uint32_t node = 0;
	     s.colour != NULL && s.stack != NULL && n == 0 && node < sim->topo->n_nodes; node++) {
		for (unsigned i = 0; n == 0 && i < sim->topo->nodes[node].n_ports; i++) {
			for (unsigned q = 0; n == 0 && q < sim->fabric.classes.n; q++) {
				struct wf_sim_lane_id id = { node, i, q };

				if (*colour_of(&s, &id) != WHITE || !is_stuck(sim, &id))
					continue;
				push(&s, &id);
				n = walk(&s, ring, max);
			}
		}
	}
	mem->free(mem, s.colour);
	mem->free(mem, s.stack);
	return n;
}
