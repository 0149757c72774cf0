/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch.c - what a switch of the HPCC simulator (ns-3) does with a packet.
 *
 *	in --> lost? --> pause frame? --> route --> buffer? --> port idle? --> mark? --> out
 *	                                                           | no
 *	                                                           +--> queue --> its turn --+
 *	                                                                out <-- mark? <------+
 *
 * What one event causes at once happens at once, before the next event, and that the wire is free
 * is always an event: as in simulators with one queue of events. Every packet takes buffer, if
 * only for an instant. A packet is marked by the queue that it leaves behind.
 */
#include "fabric/receive.h"
#include "fabric/transmit.h"
#include "fabric/telemetry.h"
#include "ns3/ns3_priv.h"

#define NO_PORT UINT32_MAX

static struct wf_switch *to_switch(struct wf_node *node)
{
	return wf_container_of(wf_device_of(node), struct wf_switch, dev);
}

unsigned wf_ns3_turn(unsigned n, unsigned last, uint32_t eligible)
{
	unsigned q = last;

	assert(eligible != 0 && eligible >> n == 0);
	do
		q = q + 1 >= n ? 0 : q + 1;
	while (!(eligible >> q & 1));
	return q;
}

/* The port by which the path of a packet's flow leaves a switch; NO_PORT: it is not on the path. */
static uint32_t port_on_path(const struct wf_switch *sw, const struct wf_packet *pkt)
{
	const struct wf_ns3_paths *paths = wf_ns3_shared(&sw->dev)->paths;
	const struct wf_ns3_path *path;

	if (paths == NULL || pkt->qpn >= paths->n_flows)
		return NO_PORT;
	path = &paths->path[2 * (size_t)pkt->qpn + (pkt->type != WF_PACKET_DATA)];
	for (unsigned i = 0; i < WF_NS3_HOPS; i++) {
		if (path->hop[i].node == sw->dev.id)
			return path->hop[i].port;
	}
	return NO_PORT;
}

/* A packet that is not where its path leads goes by the first of the minimal ports. */
static uint32_t route(struct wf_switch *sw, const struct wf_packet *pkt, wf_time now)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	const struct wf_routes *routes = fabric->routes;
	uint32_t leaf = routes->leaf_of_host[pkt->dst], port;
	const struct wf_route_set *set;
	const uint16_t *ports;

	if (leaf == sw->leaf)
		return routes->port_of_host[pkt->dst];
	set = &sw->sets[sw->set_of_leaf[leaf]];
	ports = sw->set_ports + set->first;
	if (set->n == 0)
		return NO_PORT;
	if (wf_ns3_shared(&sw->dev)->paths == NULL)
		return fabric->route->pick(sw, ports, set->n, pkt, now);
	port = port_on_path(sw, pkt);
	assert(port == NO_PORT || port < sw->dev.n_ports);
	return port != NO_PORT ? port : ports[0];
}

/* Between kmin and kmax with growing probability, above always. */
static bool should_mark(struct wf_switch *sw, const struct wf_port *out, unsigned queue,
                        uint32_t queued)
{
	const struct wf_ecn *ecn = &out->ecn[queue];
	uint64_t chance;

	if (queued <= ecn->kmin)
		return false;
	if (queued > ecn->kmax)
		return true;
	chance = (queued - ecn->kmin) * ecn->pmax / (ecn->kmax - ecn->kmin);
	return wf_mrg_row_next(&wf_ns3_shared(&sw->dev)->coins) < chance;
}

/* Sends a packet, which is in no queue and no buffer any more. */
static void send(struct wf_switch *sw, struct wf_port *out, struct wf_lane *lane,
                 struct wf_packet *pkt, wf_time now)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	struct wf_ns3_shared *shared = wf_ns3_shared(&sw->dev);

	assert(!wf_ns3_is_busy(&sw->dev, out) && pkt->vl < fabric->classes.n);
	if (fabric->classes.queue[pkt->vl].ecn && lane->bytes != 0 &&
	    should_mark(sw, out, pkt->vl, lane->bytes)) {
		pkt->flags |= WF_PACKET_CE;
		lane->ecn_marked++;
	}
	for (; shared->coins_owed != 0; shared->coins_owed--)
		(void)wf_mrg_row_next(&shared->coins);
	if (fabric->telemetry != WF_TELEMETRY_NONE)
		wf_int_stamp(sw, out, pkt, now);
	wf_ns3_switch_of(sw)->port[out->number].last = pkt->vl;
	wf_port_transmit(&sw->dev, out, lane, pkt, now);
}

static void enqueue(struct wf_switch *sw, struct wf_port *out, struct wf_lane *lane,
                    const struct wf_packet *pkt)
{
	struct wf_packet *p = wf_packet_get(sw->dev.shard);

	if (p == NULL)
		return;
	*p = *pkt;
	p->next = NULL;
	if (lane->head == NULL)
		lane->head = p;
	else
		lane->tail->next = p;
	lane->tail = p;
	lane->bytes += p->size;
	if (lane->bytes > lane->max_bytes)
		lane->max_bytes = lane->bytes;
	sw->load[out->number] += p->size;
	out->nonempty |= (uint16_t)(1u << p->vl);
#ifndef NDEBUG
	sw->dev.shard->tally[p->cls].queued++;
#endif
}

/* Takes the head of a queue out; the caller puts the packet's memory back. */
static struct wf_packet *dequeue(struct wf_switch *sw, struct wf_port *out, struct wf_lane *lane,
                                 wf_time now)
{
	struct wf_packet *p = lane->head;

	assert(p != NULL && out->nonempty >> p->vl & 1);
	lane->head = p->next;
	if (lane->head == NULL) {
		lane->tail = NULL;
		out->nonempty &= (uint16_t) ~(1u << p->vl);
	}
	assert(lane->bytes >= p->size && sw->load[out->number] >= p->size);
	lane->bytes -= p->size;
	sw->load[out->number] -= p->size;
	sw->dev.fabric->flowctl->release(sw, &sw->dev.ports[p->input], p, now);
#ifndef NDEBUG
	sw->dev.shard->tally[p->cls].queued--;
#endif
	return p;
}

/* Sends what is next, if the wire is free and anything may be sent. */
static void send_next(struct wf_switch *sw, struct wf_port *port, wf_time now)
{
	unsigned last = wf_ns3_switch_of(sw)->port[port->number].last;
	uint32_t can = port->nonempty & ~(uint32_t)port->held;
	struct wf_packet *p;
	struct wf_lane *lane;

	if (wf_ns3_is_busy(&sw->dev, port))
		return;
	if (port->control != 0) {
		wf_port_transmit_control(&sw->dev, port, now);
		return;
	}
	if (can == 0)
		return;
	lane = wf_port_lane(port, wf_ns3_turn(sw->dev.n_queues, last, can));
	p = dequeue(sw, port, lane, now);
	send(sw, port, lane, p, now);
	wf_packet_put(sw->dev.shard, p);
}

/* A packet that was admitted goes straight through when its port is idle; else it waits. */
static void pass(struct wf_switch *sw, struct wf_port *in, struct wf_port *out,
                 struct wf_packet *pkt, wf_time now)
{
	struct wf_lane *lane = wf_port_lane(out, pkt->vl);

	if (wf_ns3_is_busy(&sw->dev, out) || (out->nonempty | out->control) != 0 ||
	    out->held >> pkt->vl & 1) {
		enqueue(sw, out, lane, pkt);
		send_next(sw, out, now);
		return;
	}
	assert(lane->bytes == 0);
	sw->dev.fabric->flowctl->release(sw, in, pkt, now);
	send(sw, out, lane, pkt, now);
}

static void switch_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct wf_switch *sw = to_switch(node);
	struct wf_device *dev = &sw->dev;
	const struct wf_flowctl_ops *flowctl = dev->fabric->flowctl;
	struct wf_port *in = &dev->ports[input];
	struct wf_packet *pkt = wf_port_receive(dev, in, cell, now);
	uint32_t port;

	if (pkt == NULL)
		return;
	pkt->input = (uint16_t)input;
	port = route(sw, pkt, now);
	if (wf_unlikely(port == NO_PORT))
		wf_device_drop(dev, in, pkt->vl, pkt, WF_DROP_ROUTE, now);
	else if (flowctl->admit(sw, in, wf_device_lane(dev, port, pkt->vl), pkt, now))
		pass(sw, in, &dev->ports[port], pkt, now);
	else
		wf_device_drop(dev, in, pkt->vl, pkt, WF_DROP_BUFFER, now);
}

/* The wire of a port is free, or its pause is over. */
static void switch_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct wf_switch *sw = to_switch(node);

	assert(slot < sw->dev.n_ports);
	send_next(sw, &sw->dev.ports[slot], now);
}

static const struct wf_node_ops switch_ops = {
	.name = "ns3 switch",
	.rx = switch_rx,
	.timer = switch_timer,
	.warm = wf_ns3_no_warm,
};

struct wf_device *wf_ns3_switch_create(struct wf_shard *shard, const struct wf_fabric *fabric,
                                       uint32_t id)
{
	struct wf_device *dev =
		wf_switch_create_as(shard, fabric, id, &switch_ops, sizeof(struct wf_ns3_switch));
	struct wf_ns3_switch *own;

	if (dev == NULL)
		return NULL;
	own = wf_ns3_switch_of(wf_container_of(dev, struct wf_switch, dev));
	own->port = wf_shard_alloc(shard, dev->n_ports * sizeof(*own->port));
	return own->port != NULL ? dev : NULL;
}
