/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch.c - what a switch does with a packet.
 *
 *	in --> lost? --> control? --> route --> wire free, nobody waits, may it go? --> out
 *	                                              | no
 *	                                              +--> room? --> mark? --> queue --> out
 *	                                                     | no
 *	                                                     +--> trim? --> queue ahead
 *
 * A packet that finds its port idle costs one event, one that waits costs two. A packet is in the
 * buffer from when it joins a queue until its transmission begins.
 */
#include "fabric/switch.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "fabric/aggregate.h"
#include "fabric/groups.h"
#include "fabric/hoq.h"
#include "fabric/multicast.h"
#include "fabric/receive.h"
#include "fabric/station.h"
#include "fabric/transmit.h"
#include "fabric/telemetry.h"
#include "fabric/watchdog.h"
#include "wire/ib.h"
#include "wire/opcode.h"
#include "wire/size.h"

#define RNG_SWITCH 2 /* domain of the draws for marking and spraying */
#define NO_PORT UINT32_MAX
#define REFUSED 0x80000000u /* with a port: that one does not take the packet */
#define MINE (NO_PORT - 1)  /* it is for the switch itself, which is managed or reduces */
#define MANY (NO_PORT - 2)  /* it is for a multicast group */

static struct wf_switch *to_switch(struct wf_device *dev)
{
	return wf_container_of(dev, struct wf_switch, dev);
}

/* What holds of a port between any two events of its switch. */
static void assert_port(const struct wf_switch *sw, const struct wf_port *port)
{
#ifndef NDEBUG
	uint32_t load = 0;

	for (unsigned q = 0; q < sw->dev.n_queues; q++) {
		const struct wf_lane *lane = wf_port_lane(port, q);

		assert((lane->head != NULL) == (port->nonempty >> q & 1));
		assert((lane->head != NULL) == (lane->bytes != 0));
		assert(lane->bytes <= lane->max_bytes);
		load += lane->bytes;
	}
	assert(load == sw->load[port->number]);
	/* Whoever is held back has something to send, and a port that is down holds nothing. */
	assert((port->blocked & ~port->nonempty) == 0);
	assert(port->up || port->nonempty == 0);
	/* Who could send has somebody to send it: no packet waits for ever. */
	assert((port->nonempty & ~port->blocked) == 0 ||
	       wf_timer_is_set(&sw->dev.node, port->number));
#endif
	(void)sw;
	(void)port;
}

/* The ports of a set that are up, when some of the switch's are not. */
static unsigned ports_up(const struct wf_switch *sw, const uint16_t *ports, unsigned n,
                         uint16_t *up)
{
	unsigned n_up = 0;

	for (unsigned i = 0; i < n; i++) {
		if (sw->dev.ports[ports[i]].up)
			up[n_up++] = ports[i];
	}
	return n_up;
}

/* The ports of a switch that lead to a host which has several of its own; how many. */
static unsigned ports_to(const struct wf_switch *sw, uint32_t host,
                         uint16_t ports[WF_TOPO_HOST_PORTS])
{
	const struct wf_route_link *links;
	uint32_t n_links;
	unsigned n = 0;

	links = wf_routes_links(sw->routes, host, &n_links);
	for (uint32_t i = 0; i < n_links; i++) {
		if (links[i].node == sw->dev.id)
			ports[n++] = links[i].port;
	}
	return n;
}

/* The port that a packet takes, where some may be down or hosts have several. */
static uint32_t choose(struct wf_switch *sw, const struct wf_packet *pkt, wf_time now)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	uint32_t leaf = sw->routes->leaf_of_host[pkt->dst];
	const struct wf_route_set *set;
	uint16_t up[WF_TOPO_MAX_PORTS], own[WF_TOPO_HOST_PORTS];
	uint32_t out = sw->routes->port_of_host[pkt->dst];
	unsigned n;

	if (sw->routes->links != NULL) {
		n = ports_to(sw, pkt->dst, own);
		if (n > 0) {
			n = ports_up(sw, own, n, up);
			return n == 0 ? NO_PORT : fabric->route->pick(sw, up, n, pkt, now);
		}
	} else if (leaf == sw->leaf) {
		return sw->dev.ports[out].up ? out : NO_PORT;
	}
	set = &sw->sets[sw->set_of_leaf[leaf]];
	if (sw->n_down == 0)
		return set->n == 0 ? NO_PORT
		                   : fabric->route->pick(sw, sw->set_ports + set->first, set->n,
		                                         pkt, now);
	n = ports_up(sw, sw->set_ports + set->first, set->n, up);
	return n == 0 ? NO_PORT : fabric->route->pick(sw, up, n, pkt, now);
}

/* Whether a queue of port out, or the port by which a packet came in, takes none of its kind. */
static bool is_shut(struct wf_switch *sw, uint32_t out, unsigned queue, const struct wf_packet *pkt,
                    wf_time now)
{
	if (sw->n_shut == 0)
		return false;
	if (sw->dev.fabric->flowctl->uses_credits)
		return wf_hoq_is_stalled(sw, wf_device_lane(&sw->dev, out, queue), now);
	return wf_watchdog_refuses(&sw->dev, pkt->input, pkt->vl, out, queue);
}

/* The same in a managed fabric, by DLID, as look_up() has found it. */
static uint32_t forward(const struct wf_switch *sw, unsigned queue, const struct wf_packet *pkt)
{
	uint32_t out = sw->dev.station->way;

	if (wf_station_takes(&sw->dev, pkt->input, pkt) != WF_STATION_YES)
		return pkt->input | REFUSED;
	if (wf_station_is_group(pkt->entropy))
		return MANY;
	if (out == WF_STATION_MINE)
		return pkt->type == WF_PACKET_GMP ? MINE : NO_PORT;
	if (out == WF_STATION_NOWHERE)
		return NO_PORT;
	if (!sw->dev.ports[out].up || sw->dev.setup->classes.queue[queue].exempt ||
	    wf_station_lets(&sw->dev, out, pkt) != WF_STATION_YES)
		return out | REFUSED;
	return out;
}

/* The same where some may not take it, either. */
static uint32_t route_carefully(struct wf_switch *sw, unsigned queue, const struct wf_packet *pkt,
                                wf_time now)
{
	bool managed = sw->dev.station != NULL;
	uint32_t out;

	if (pkt->type == WF_PACKET_AGG)
		return MINE;
	out = managed ? forward(sw, queue, pkt) : choose(sw, pkt, now);

	if (managed && out >= REFUSED)
		return out;
	if (out != NO_PORT && (wf_port_refuses(sw->dev.fabric, &sw->dev.ports[out], pkt) ||
	                       is_shut(sw, out, queue, pkt, now)))
		return out | REFUSED;
	return out;
}

static uint32_t route(struct wf_switch *sw, unsigned queue, const struct wf_packet *pkt,
                      wf_time now)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	const struct wf_routes *routes = fabric->routes;
	uint32_t leaf = routes->leaf_of_host[pkt->dst];
	const struct wf_route_set *set;

	if (wf_unlikely(sw->n_odd != 0))
		return route_carefully(sw, queue, pkt, now);
	if (leaf == sw->leaf)
		return routes->port_of_host[pkt->dst];
	set = &sw->sets[sw->set_of_leaf[leaf]];
	if (wf_unlikely(set->n == 0))
		return NO_PORT;
	return fabric->route->pick(sw, sw->set_ports + set->first, set->n, pkt, now);
}

/* The way that a packet would take does not take it. */
static void drop_refused(struct wf_switch *sw, struct wf_port *in, struct wf_port *out,
                         unsigned queue, const struct wf_packet *pkt, wf_time now)
{
	const struct wf_fabric *fabric = sw->dev.fabric;

	fabric->flowctl->pass(&sw->dev, in, pkt->vl, pkt->size, now);
	if (wf_port_refuses(fabric, out, pkt))
		wf_device_drop(&sw->dev, out, queue, pkt, WF_DROP_MTU, now);
	else if (fabric->flowctl->uses_credits)
		wf_device_drop(&sw->dev, out, queue, pkt, WF_DROP_LIFE, now);
	else
		wf_watchdog_drop(&sw->dev, in, out, queue, pkt, now);
}

/* A port that a packet for host would take if it were up; NULL: there is none. */
static struct wf_port *missing_port(const struct wf_switch *sw, uint32_t host)
{
	const struct wf_routes *routes = sw->routes;
	uint32_t leaf = routes->leaf_of_host[host];
	uint16_t own[WF_TOPO_HOST_PORTS];
	const struct wf_route_set *set;

	if (routes->links != NULL && ports_to(sw, host, own) > 0)
		return &sw->dev.ports[own[0]];
	if (leaf == sw->leaf)
		return &sw->dev.ports[routes->port_of_host[host]];
	set = &sw->sets[sw->set_of_leaf[leaf]];
	return set->n != 0 ? &sw->dev.ports[sw->set_ports[set->first]] : NULL;
}

/* The same in a managed fabric, or it is for the switch itself. */
static void drop_managed(struct wf_switch *sw, struct wf_port *in, uint32_t way, unsigned queue,
                         const struct wf_packet *pkt, wf_time now)
{
	struct wf_device *dev = &sw->dev;
	enum wf_station_no no = wf_station_takes(dev, in->number, pkt);
	struct wf_port *out = &dev->ports[way & ~REFUSED];

	if (way == MANY) {
		wf_multicast_forward(sw, in, pkt, now);
		return;
	}
	dev->fabric->flowctl->pass(dev, in, pkt->vl, pkt->size, now);
	if (no != WF_STATION_YES) {
		wf_station_refuse(dev, in->number, pkt, pkt->vl, no, true, now);
	} else if (way == MINE) {
		dev->shard->tally[pkt->cls].delivered++;
		wf_station_gmp(dev, in->number, pkt, now);
	} else if (way == NO_PORT || dev->setup->classes.queue[queue].exempt) {
		dev->station->port[in->number].relay_errors += way == NO_PORT;
		dev->station->port[in->number].vl_errors += way != NO_PORT;
		wf_device_drop(dev, in, pkt->vl, pkt, WF_DROP_ROUTE, now);
	} else if (!out->up) {
		wf_device_drop(dev, out, queue, pkt, WF_DROP_DOWN, now);
	} else if (wf_station_lets(dev, out->number, pkt) != WF_STATION_YES) {
		wf_station_refuse(dev, out->number, pkt, queue,
		                  wf_station_lets(dev, out->number, pkt), false, now);
	} else {
		wf_device_drop(dev, out, queue, pkt,
		               wf_port_refuses(dev->fabric, out, pkt) ? WF_DROP_MTU : WF_DROP_LIFE,
		               now);
	}
}

/*
 * There is no way for a packet, or it may not take it. It is lost to the link that it would have
 * taken, when that is one of this switch's and down, and is counted there; else where it came in.
 */
static WF_SELDOM void drop_unrouted(struct wf_switch *sw, struct wf_port *in, uint32_t way,
                                    unsigned queue, const struct wf_packet *pkt, wf_time now)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	struct wf_port *out;

	if (pkt->type == WF_PACKET_AGG &&
	    (sw->dev.station == NULL ||
	     wf_station_takes(&sw->dev, in->number, pkt) == WF_STATION_YES)) {
		wf_agg_take(sw, in, pkt, now);
		return;
	}
	if (sw->dev.station != NULL) {
		drop_managed(sw, in, way, queue, pkt, now);
		return;
	}
	if (way != NO_PORT) {
		drop_refused(sw, in, &sw->dev.ports[way & ~REFUSED], queue, pkt, now);
		return;
	}
	out = missing_port(sw, pkt->dst);
	assert(out == NULL || (!out->up && fabric->broken));
	fabric->flowctl->pass(&sw->dev, in, pkt->vl, pkt->size, now);
	if (out != NULL) {
		wf_device_drop(&sw->dev, out, queue, pkt, WF_DROP_DOWN, now);
		return;
	}
	wf_port_lane(in, pkt->vl)->rx_down += fabric->broken;
	wf_device_drop(&sw->dev, in, pkt->vl, pkt, fabric->broken ? WF_DROP_DOWN : WF_DROP_ROUTE,
	               now);
}

/* ECN: between kmin and kmax with growing probability, above always. */
static bool should_mark(struct wf_switch *sw, const struct wf_port *out, unsigned queue,
                        uint32_t queued)
{
	const struct wf_ecn *ecn = &sw->dev.setup->ecn[queue];
	uint64_t chance;

	if (wf_unlikely(sw->ecn_by_port))
		ecn = &out->ecn[queue];
	if (queued <= ecn->kmin)
		return false;
	if (queued > ecn->kmax)
		return true;
	chance = (queued - ecn->kmin) * ecn->pmax / (ecn->kmax - ecn->kmin);
	return (wf_rand64(sw->rng_key, sw->rng_count++) >> 32) < chance;
}

/*
 * InfiniBand: whether a packet of a queue leaves with FECN (annex A10). A queue above the threshold
 * that has credits is a root of congestion. One that lacks them is a victim of congestion further
 * on and leaves the marking to the root, unless its port is in the victim mask. Credits come back
 * in bursts of at most a buffer, so a queue has credits when it sent that much since it last
 * waited.
 */
static bool should_fecn(struct wf_switch *sw, const struct wf_port *out, const struct wf_lane *lane,
                        const struct wf_packet *pkt)
{
	const struct wf_fabric_cfg *cfg = &sw->dev.setup->cfg;

	if (lane->bytes <= sw->dev.setup->fecn_bytes || pkt->size < cfg->fecn_size * WF_IB_BLOCK)
		return false;
	if (lane->stops != 0 && lane->tx_bytes - lane->stop_bytes < cfg->vl_buffer && !out->victim)
		return false;
	return cfg->fecn_rate == 0 ||
	       wf_rand_below(wf_rand64(sw->rng_key, sw->rng_count++), cfg->fecn_rate + 1) == 0;
}

/* A packet leaves; it is in no queue any more. */
static void depart(struct wf_switch *sw, struct wf_port *out, struct wf_lane *lane, unsigned queue,
                   struct wf_packet *pkt, wf_time now)
{
	const struct wf_setup *setup = sw->dev.setup;

	if (setup->mark_late && sw->ecn >> queue & 1 && lane->bytes != 0 &&
	    !wf_packet_is_roce1(pkt) && should_mark(sw, out, queue, lane->bytes) &&
	    (pkt->type != WF_PACKET_TCP || (pkt->flags & WF_PACKET_ECT) != 0)) {
		pkt->flags |= WF_PACKET_CE;
		lane->ecn_marked++;
	}
	if (setup->fecn && !setup->classes.queue[queue].exempt && should_fecn(sw, out, lane, pkt)) {
		lane->ecn_marked += !(pkt->flags & WF_PACKET_CE);
		pkt->flags |= WF_PACKET_CE;
	}
	if (sw->dev.fabric->telemetry != WF_TELEMETRY_NONE)
		wf_int_stamp(sw, out, pkt, now);
}

/* Inline: every packet that has to wait comes here. */
static WF_ALWAYS_INLINE void enqueue(struct wf_switch *sw, struct wf_port *out,
                                     struct wf_lane *lane, unsigned queue,
                                     const struct wf_packet *pkt)
{
	struct wf_packet *p = wf_packet_get(sw->dev.shard);

	if (wf_unlikely(p == NULL))
		return; /* the run ends */
	*p = *pkt;
	p->next = NULL;
	if ((p->flags & WF_PACKET_ECT) && sw->ecn >> queue & 1 && !sw->dev.setup->mark_late &&
	    should_mark(sw, out, queue, lane->bytes)) {
		/* A packet that was marked before it came here is not counted again. */
		lane->ecn_marked += !(p->flags & WF_PACKET_CE);
		p->flags |= WF_PACKET_CE;
	}
	if (lane->head == NULL)
		lane->head = p;
	else
		lane->tail->next = p;
	lane->tail = p;
	lane->bytes += p->size;
	if (lane->bytes > lane->max_bytes)
		lane->max_bytes = lane->bytes;
	sw->load[out->number] += p->size;
	out->nonempty |= (uint16_t)(1u << queue);
#ifndef NDEBUG
	sw->dev.shard->tally[p->cls].queued++;
#endif
}

/* Takes the head of a queue out; the caller puts the packet's memory back. */
static struct wf_packet *dequeue(struct wf_switch *sw, struct wf_port *out, struct wf_lane *lane,
                                 unsigned queue, wf_time now)
{
	struct wf_packet *p = lane->head;
	struct wf_port *in = &sw->dev.ports[p->input];

	lane->head = p->next;
	__builtin_prefetch(lane->head); /* it is next, a packet's time from now */
	if (lane->head == NULL) {
		lane->tail = NULL;
		out->nonempty &= (uint16_t) ~(1u << queue);
	}
	assert(lane->bytes >= p->size && sw->load[out->number] >= p->size);
	lane->bytes -= p->size;
	sw->load[out->number] -= p->size;
	sw->dev.fabric->flowctl->release(sw, in, p, now);
	p->vl = queue & WF_PACKET_VL;
#ifndef NDEBUG
	sw->dev.shard->tally[p->cls].queued--;
#endif
	return p;
}

/*
 * There is no room for a packet in its queue. Where its class is lossy and packets are trimmed, its
 * payload is cut off and the rest goes on in the queue for that, ahead of the others. Returns that
 * queue, with its number in *queue_p, or NULL when the packet has to be dropped.
 */
static struct wf_lane *trim(struct wf_switch *sw, struct wf_port *in, const struct wf_port *out,
                            unsigned *queue_p, struct wf_packet *pkt, wf_time now)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	const struct wf_classes *classes = &sw->dev.setup->classes;
	struct wf_lane *lane = wf_device_lane(&sw->dev, out->number, classes->trim);
	struct wf_int_record *record;

	if (!classes->trims || classes->queue[*queue_p].lossless || pkt->type != WF_PACKET_RDMA ||
	    wf_op_is_atomic(pkt->opcode) || pkt->length == 0)
		return NULL;
	record = wf_int_detach(sw->dev.shard, pkt);
	if (record != NULL) {
		pkt->size = (uint16_t)(pkt->size - record->bytes);
		wf_int_put(sw->dev.shard, record);
	}
	if (fabric->lost != NULL)
		fabric->lost(fabric->lost_arg, sw->dev.shard, pkt, true);
	pkt->type = WF_PACKET_TRIMMED;
	pkt->size = (uint16_t)(pkt->size - (pkt->length + wf_size_pad(pkt->length)));
	if (pkt->size < WF_SIZE_ETH_MIN)
		pkt->size = WF_SIZE_ETH_MIN;
	pkt->length = 0;
	pkt->payload = 0;
	pkt->vl = classes->trim & WF_PACKET_VL;
	sw->dev.queues_used |= 1u << classes->trim;
	if (!fabric->flowctl->admit(sw, in, lane, pkt, now))
		return NULL;
	wf_device_lane(&sw->dev, out->number, *queue_p)->trimmed++;
	*queue_p = classes->trim;
	return lane;
}

/* A packet that goes straight through, where that has to be looked at. */
static void go_straight(struct wf_switch *sw, struct wf_port *in, struct wf_port *out,
                        struct wf_lane *lane, unsigned queue, struct wf_packet *pkt, wf_time now)
{
	const struct wf_flowctl_ops *flowctl = sw->dev.fabric->flowctl;

	if (flowctl->uses_credits)
		flowctl->pass(&sw->dev, in, pkt->vl, pkt->size, now);
	if (sw->dev.fabric->departs)
		depart(sw, out, lane, queue, pkt, now);
}

/*
 * The queue by which a packet goes on, where that depends on the device. On Ethernet it may be
 * buffered as one of another class than it came in.
 */
static unsigned look_up(struct wf_switch *sw, const struct wf_port *in, struct wf_packet *pkt,
                        wf_time now)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	const struct wf_setup *setup = in->setup;
	unsigned queue = pkt->vl;
	uint32_t way;

	if (sw->dev.station != NULL) {
		sw->dev.station->port[in->number].rx_packets++;
		sw->dev.station->port[in->number].rx_bytes += pkt->size;
		sw->dev.station->port[in->number].rx_groups += wf_station_is_group(pkt->entropy);
		way = sw->dev.station->groups != NULL
		              ? wf_port_groups_way(sw, pkt, now)
		              : wf_station_way(sw->dev.station, pkt->entropy);
		sw->dev.station->way = way;
		if (way < sw->dev.n_ports)
			queue = wf_station_queue(sw->dev.station, in->number, way, pkt);
		return queue;
	}
	if (fabric->maps && !fabric->flowctl->uses_credits) {
		if (pkt->type == WF_PACKET_TRIMMED && setup->classes.trims)
			pkt->vl = setup->classes.trim & WF_PACKET_VL;
		else
			pkt->vl = setup->group_of[wf_packet_key(pkt)] & WF_PACKET_VL;
		return pkt->type == WF_PACKET_TRIMMED && setup->classes.trims
		               ? setup->classes.trim
		               : setup->queue_of[wf_packet_key(pkt)];
	}
	if (fabric->maps) {
		queue = setup->queue_of[wf_packet_key(pkt)];
		if (pkt->vl >= fabric->vl_shift && fabric->vl_shift != 0 &&
		    !setup->classes.queue[queue].exempt)
			queue += fabric->vl_shift;
	}
	if (in->global && queue < fabric->vl_shift)
		queue += fabric->vl_shift;
	return queue;
}

static void switch_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct wf_switch *sw = to_switch(wf_device_of(node));
	struct wf_device *dev = &sw->dev;
	const struct wf_fabric *fabric = dev->fabric;
	struct wf_port *in = &dev->ports[input], *out;
	struct wf_packet *pkt = wf_port_receive(dev, in, cell, now);
	struct wf_lane *lane;
	unsigned queue;
	uint32_t port;

	if (wf_unlikely(pkt == NULL))
		return;
	queue = pkt->vl;
	if (wf_unlikely(in->maps))
		queue = look_up(sw, in, pkt, now);
	dev->queues_used |= 1u << queue;
	pkt->input = (uint16_t)input;
	port = route(sw, queue, pkt, now);
	if (wf_unlikely(port >= REFUSED)) {
		drop_unrouted(sw, in, port, queue, pkt, now);
		return;
	}
	out = &dev->ports[port];
	lane = wf_device_lane(dev, port, queue);
	if (out->free_at <= now && (out->nonempty | out->control) == 0 &&
	    wf_flowctl_ready(fabric->flowctl, out, lane, queue, pkt->size, now) <= now) {
		if (fabric->careful)
			go_straight(sw, in, out, lane, queue, pkt, now);
		pkt->vl = queue & WF_PACKET_VL;
		wf_port_transmit(dev, out, lane, pkt, now);
		/*
		 * When it turns back, its own credits wait behind it, not for now as they thought.
		 */
		if (wf_unlikely(out->control != 0))
			wf_timer_set(&dev->node, port, out->free_at);
		return;
	}
	if (!fabric->flowctl->admit(sw, in, lane, pkt, now)) {
		lane = trim(sw, in, out, &queue, pkt, now);
		if (lane == NULL) {
			wf_device_drop(dev, in, pkt->vl, pkt, WF_DROP_BUFFER, now);
			return;
		}
	}
	enqueue(sw, out, lane, queue, pkt);
	if (!(out->blocked >> queue & 1))
		wf_port_wake(dev, out, now);
	assert_port(sw, out);
}

/*
 * The queues of a port that may send now; *again_p becomes the earliest time at which another one
 * may. A head that has waited for longer than its life is dropped on the way.
 */
static uint32_t eligible(struct wf_switch *sw, struct wf_port *port, wf_time now, wf_time *again_p)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	wf_time life = port->hoq_life;
	uint32_t can = 0;

	for (uint32_t mask = port->nonempty; mask != 0; mask &= mask - 1) {
		unsigned q = (unsigned)__builtin_ctz(mask);
		struct wf_lane *lane = wf_device_lane(&sw->dev, port->number, q);
		wf_time at =
			wf_flowctl_ready(fabric->flowctl, port, lane, q, lane->head->size, now);

		if (at <= now) {
			can |= 1u << q;
			continue;
		}
		if (at == WF_TIME_NEVER)
			wf_lane_stop(lane, now);
		*again_p = wf_min_time(*again_p, at);
		if (at == WF_TIME_NEVER && life != WF_PARAM_AUTO)
			*again_p = wf_min_time(*again_p, lane->wait_since + life);
	}
	return can;
}

/* Sends the head of a queue that may send. */
static void send_head(struct wf_switch *sw, struct wf_port *port, unsigned q, wf_time now)
{
	struct wf_lane *lane = wf_device_lane(&sw->dev, port->number, q);
	struct wf_packet *p = dequeue(sw, port, lane, q, now);

	wf_lane_go(lane, now);
	if (wf_unlikely(sw->dev.fabric->departs))
		depart(sw, port, lane, q, p, now);
	wf_port_transmit(&sw->dev, port, lane, p, now);
	wf_packet_put(sw->dev.shard, p);
}

/*
 * The wire is free: sends what is next, if anything; there is a choice, or somebody is held back.
 */
static void send_chosen(struct wf_switch *sw, struct wf_port *port, wf_time now)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	wf_time again = WF_TIME_NEVER;
	uint32_t can;
	unsigned q;

	if (port->control != 0) {
		wf_port_transmit_control(&sw->dev, port, now);
		/* Who is blocked may have changed: look at everything again. */
		if ((port->nonempty | port->control) != 0)
			wf_port_wake(&sw->dev, port, now);
		return;
	}
	if (wf_unlikely(port->blocked != 0) && port->hoq_life != WF_PARAM_AUTO)
		wf_hoq_drop(sw, port, now);
	can = eligible(sw, port, now, &again);
	port->blocked = (uint16_t)(port->nonempty & ~can);
	if (can == 0) {
		if (again != WF_TIME_NEVER)
			wf_port_wake(&sw->dev, port, again);
		return;
	}
	if ((can & (can - 1)) == 0) {
		q = (unsigned)__builtin_ctz(can);
		fabric->sched->alone(port, q);
	} else {
		q = fabric->sched->pick(port->classes, port, can);
	}
	send_head(sw, port, q, now);
	if ((port->nonempty & ~port->blocked) != 0 || port->control != 0)
		wf_port_wake(&sw->dev, port, now);
	else if (again != WF_TIME_NEVER)
		wf_port_wake(&sw->dev, port, again);
}

/* The wire is free. Mostly there is one queue to send from, and it may. */
static void send_next(struct wf_switch *sw, struct wf_port *port, wf_time now)
{
	uint32_t queues = port->nonempty;
	const struct wf_lane *lane;
	unsigned q;

	if (wf_unlikely(queues == 0 || (queues & (queues - 1)) != 0 || port->control != 0)) {
		send_chosen(sw, port, now);
		return;
	}
	q = (unsigned)__builtin_ctz(queues);
	lane = wf_device_lane(&sw->dev, port->number, q);
	if (wf_flowctl_ready(sw->dev.fabric->flowctl, port, lane, q, lane->head->size, now) > now) {
		send_chosen(sw, port, now);
		return;
	}
	port->blocked = 0;
	send_head(sw, port, q, now);
	if ((port->nonempty | port->control) != 0)
		wf_timer_set(&sw->dev.node, port->number, port->free_at);
}

/* One of those that are not a port's. */
static void own_timer(struct wf_switch *sw, unsigned slot, wf_time now)
{
	if (sw->dev.station != NULL && slot == sw->dev.station->slot)
		wf_station_timer(&sw->dev, now);
	else if (sw->agg != NULL && slot == wf_agg_slot(sw->agg))
		wf_agg_timer(sw, now);
	else
		wf_watchdog_poll(&sw->dev, now);
}

static void switch_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct wf_switch *sw = to_switch(wf_device_of(node));
	struct wf_device *dev = &sw->dev;

	if (slot < dev->n_ports) {
		send_next(sw, &dev->ports[slot], now);
		assert_port(sw, &dev->ports[slot]);
	} else if (slot < 2 * dev->n_ports) {
		dev->fabric->flowctl->timer(dev, &dev->ports[slot - dev->n_ports], now);
	} else {
		own_timer(sw, slot, now);
	}
}

/* In a managed fabric, whose packets may be in a switch for so long. */
static void managed_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct wf_device *dev = wf_device_of(node);

	if (slot < dev->n_ports)
		wf_station_drop_old(dev, &dev->ports[slot], now);
	switch_timer(node, slot, now);
	if (slot < dev->n_ports)
		wf_station_wait_old(dev, &dev->ports[slot]);
}

/* Ports are used both ways: what comes in by one goes out by another that is warmed as well. */
static void switch_warm(const struct wf_node *node, unsigned input)
{
	const struct wf_device *dev = wf_container_of(node, const struct wf_device, node);
	const struct wf_lane *lane = wf_device_lane(dev, input, 0);

	__builtin_prefetch(&dev->ports[input]);
	for (uint32_t mask = dev->queues_used; mask != 0; mask &= mask - 1) {
		unsigned q = (unsigned)__builtin_ctz(mask);

		__builtin_prefetch(&lane[q]);
		__builtin_prefetch(&lane[q].used);
	}
}

static const struct wf_node_ops switch_ops = {
	.name = "switch",
	.rx = switch_rx,
	.timer = switch_timer,
	.warm = switch_warm,
};

static const struct wf_node_ops managed_ops = {
	.name = "managed switch",
	.rx = switch_rx,
	.timer = managed_timer,
	.warm = switch_warm,
};

void wf_switch_set_routes(struct wf_switch *sw, const struct wf_routes *routes)
{
	const struct wf_route_switch *r = &routes->switches[sw->dev.id];

	sw->routes = routes;
	sw->leaf = r->leaf;
	sw->set_of_leaf = r->set_of_leaf;
	sw->sets = r->sets;
	sw->set_ports = r->ports;
	sw->lft = r->lft;
}

/* The thresholds of a port whose setup has them by the rate. */
static int set_ecn_by_rate(struct wf_switch *sw, struct wf_port *port, struct wf_err *err)
{
	const struct wf_setup *s = port->setup;
	struct wf_ecn *own = wf_shard_alloc(sw->dev.node.shard, sw->dev.n_queues * sizeof(*own));
	unsigned k = 0;

	if (own == NULL)
		return -ENOMEM;
	while (k < s->n_ecn_rates && s->ecn_rates[k].rate != port->rate)
		k++;
	if (k == s->n_ecn_rates)
		return wf_err_say(
			err,
			"ecn.by_rate: nothing is said of ports of %llu bits/s; every rate of "
			"the topology is needed",
			(unsigned long long)port->rate);
	for (unsigned q = 0; q < sw->dev.n_queues; q++)
		own[q] = s->ecn_own >> q & 1 ? s->ecn[q] : s->ecn_rates[k].ecn;
	port->ecn = own;
	return 0;
}

/* The marking thresholds of each port. */
static int set_ecn(struct wf_switch *sw, struct wf_err *err)
{
	int ret = 0;

	for (unsigned i = 0; i < sw->dev.n_ports && ret == 0; i++) {
		struct wf_port *port = &sw->dev.ports[i];

		port->ecn = port->setup->ecn;
		if (port->setup->n_ecn_rates != 0)
			ret = set_ecn_by_rate(sw, port, err);
		sw->ecn_by_port |= port->ecn != sw->dev.setup->ecn;
		for (unsigned q = 0; q < sw->dev.n_queues; q++)
			sw->ecn |= (uint16_t)(port->setup->classes.queue[q].ecn << q);
	}
	return ret;
}

/* The victim mask: which ports mark although they wait for credits. */
static void set_victims(struct wf_switch *sw)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	const struct wf_topo *topo = fabric->topo;
	const char *mask = sw->dev.setup->cfg.fecn_victim_mask;

	for (unsigned i = 0; i < sw->dev.n_ports; i++) {
		uint32_t peer = topo->ports[topo->nodes[sw->dev.id].first_port + i].peer;
		bool host = topo->nodes[peer].kind == WF_TOPO_HOST;

		sw->dev.ports[i].victim =
			strcmp(mask, "all") == 0 || (host && strcmp(mask, "hosts") == 0);
	}
}

/* What choosing a port depends on besides the routes. */
static void set_up_routing(struct wf_switch *sw)
{
	sw->hash_key = sw->dev.setup->cfg.hash_seed;
	if (sw->hash_key == (uint64_t)WF_PARAM_AUTO)
		sw->hash_key = sw->rng_key;
	sw->n_odd = sw->n_down + sw->n_shut + (sw->routes->links != NULL) +
	            (sw->dev.station != NULL) + (sw->agg != NULL);
	for (unsigned i = 0; i < sw->dev.n_ports; i++)
		sw->n_odd += sw->dev.ports[i].setup->cfg.port_mtu != (uint64_t)WF_PARAM_AUTO;
}

/* It is set to something else: what start() had made of its setup is made anew. */
static void switch_changed(struct wf_device *dev, wf_time now)
{
	struct wf_switch *sw = to_switch(dev);
	struct wf_err err;

	sw->ecn = 0;
	sw->ecn_by_port = false;
	/* Rates are those that were accepted at the start; without memory the run ends. */
	if (set_ecn(sw, &err) == -ENOMEM)
		wf_shard_no_memory(dev->node.shard);
	set_up_routing(sw);
	wf_hoq_set(sw);
	wf_device_changed(dev, now);
}

static int switch_start(struct wf_device *dev, struct wf_err *err)
{
	struct wf_switch *sw = to_switch(dev);
	const struct wf_fabric *fabric = dev->fabric;

	int ret = set_ecn(sw, err);

	if (ret != 0)
		return ret;
	set_victims(sw);
	set_up_routing(sw);
	wf_hoq_set(sw);
	for (unsigned i = 0; i < sw->dev.n_ports; i++)
		fabric->flowctl->start(&sw->dev, &sw->dev.ports[i], 0);
	return fabric->flowctl->divide(sw, err);
}

void wf_switch_open_own(struct wf_switch *sw, uint32_t blocks)
{
	struct wf_device *dev = &sw->dev;
	struct wf_port *own = &dev->ports[dev->n_ports];

	own->number = (uint16_t)dev->n_ports;
	own->setup = dev->setup;
	own->classes = dev->classes;
	own->lanes = &dev->lanes[dev->n_ports * dev->n_queues];
	for (unsigned q = 0; q < dev->n_queues; q++) {
		own->lanes[q].capacity += blocks;
		own->lanes[q].wait_since = WF_TIME_NEVER;
	}
}

void wf_switch_send_own(struct wf_switch *sw, unsigned port, unsigned queue, struct wf_packet *pkt,
                        wf_time now)
{
	struct wf_device *dev = &sw->dev;
	struct wf_port *own = &dev->ports[dev->n_ports], *out = &dev->ports[port];
	struct wf_lane *lane = wf_device_lane(dev, port, queue), *used;

	pkt->vl = queue & WF_PACKET_VL;
	pkt->input = own->number;
	/* Nobody has to be told of its credits: it knows. */
	used = wf_port_lane(own, queue);
	used->granted = used->received + used->capacity - used->used;
	dev->queues_used |= 1u << queue;
	(void)!dev->fabric->flowctl->admit(sw, own, lane, pkt, now);
	enqueue(sw, out, lane, queue, pkt);
	if (!(out->blocked >> queue & 1))
		wf_port_wake(dev, out, now);
	assert_port(sw, out);
}

bool wf_switch_send_copy(struct wf_switch *sw, unsigned port, unsigned queue,
                         const struct wf_packet *pkt, wf_time now)
{
	struct wf_device *dev = &sw->dev;
	struct wf_port *out = &dev->ports[port];
	struct wf_lane *lane = wf_port_lane(out, queue);
	struct wf_packet copy = *pkt;

	dev->queues_used |= 1u << queue;
	if (out->free_at > now || (out->nonempty | out->control) != 0 ||
	    wf_flowctl_ready(dev->fabric->flowctl, out, lane, queue, pkt->size, now) > now) {
		enqueue(sw, out, lane, queue, pkt);
		if (!(out->blocked >> queue & 1))
			wf_port_wake(dev, out, now);
		assert_port(sw, out);
		return true;
	}
	if (dev->fabric->departs)
		depart(sw, out, lane, queue, &copy, now);
	copy.vl = queue & WF_PACKET_VL;
	wf_port_transmit(dev, out, lane, &copy, now);
	if (out->control != 0)
		wf_timer_set(&dev->node, port, out->free_at);
	return false;
}

void wf_switch_shut(struct wf_switch *sw, int more)
{
	sw->n_shut += (uint32_t)more;
	sw->n_odd += (uint32_t)more;
}

void wf_switch_drop_head(struct wf_switch *sw, struct wf_port *port, unsigned queue,
                         enum wf_drop why, wf_time now)
{
	struct wf_packet *p = dequeue(sw, port, wf_port_lane(port, queue), queue, now);

	wf_device_drop(&sw->dev, port, queue, p, why, now);
	wf_packet_put(sw->dev.shard, p);
}

void wf_switch_flush(struct wf_switch *sw, struct wf_port *port, unsigned queue, enum wf_drop why,
                     wf_time now)
{
	while (wf_port_lane(port, queue)->head != NULL)
		wf_switch_drop_head(sw, port, queue, why, now);
	port->blocked &= (uint16_t) ~(1u << queue);
	wf_lane_go(wf_port_lane(port, queue), now);
}

/* What waits for a port that is down is dropped. */
static void switch_set_up(struct wf_device *dev, struct wf_port *port, bool up, wf_time now)
{
	struct wf_switch *sw = to_switch(dev);

	if (port->up == up)
		return;
	sw->n_down += up ? -1u : 1u;
	sw->n_odd += up ? -1u : 1u;
	wf_port_set_up(&sw->dev, port, up, now);
	for (unsigned q = 0; q < sw->dev.fabric->classes.n && !up; q++)
		wf_switch_flush(sw, port, q, WF_DROP_DOWN, now);
}

static const struct wf_device_ops device_ops = {
	.start = switch_start,
	.set_up = switch_set_up,
	.changed = switch_changed,
	.fini = wf_device_fini_nothing,
};

struct wf_device *wf_switch_create(struct wf_shard *shard, const struct wf_fabric *fabric,
                                   uint32_t id)
{
	return wf_switch_create_as(shard, fabric, id, fabric->managed ? &managed_ops : &switch_ops,
	                           sizeof(struct wf_switch));
}

struct wf_device *wf_switch_create_as(struct wf_shard *shard, const struct wf_fabric *fabric,
                                      uint32_t id, const struct wf_node_ops *ops, size_t size)
{
	unsigned n_ports = fabric->topo->nodes[id].n_ports;
	struct wf_node *node = wf_engine_add_node(shard, ops, size, n_ports,
	                                          2 * n_ports + (fabric->watchdogs ? 1 : 0) +
	                                                  (fabric->sharp != NULL ? 1 : 0) +
	                                                  (fabric->managed ? 1 : 0));
	struct wf_switch *sw;

	assert(size >= sizeof(*sw));
	if (node == NULL)
		return NULL;
	sw = to_switch(wf_device_of(node));
	sw->load = wf_shard_alloc(shard, n_ports * sizeof(*sw->load));
	if (sw->load == NULL || wf_device_init(&sw->dev, &device_ops, fabric, id) != 0)
		return NULL;
	if (fabric->route == &wf_route_graded && wf_grades_create(sw, shard) != 0)
		return NULL;
	if (fabric->sharp != NULL && wf_agg_create(sw, 2 * n_ports + fabric->watchdogs) != 0)
		return NULL;
	wf_switch_set_routes(sw, fabric->routes);
	sw->rng_key = wf_rand_key(fabric->seed, RNG_SWITCH, id);
	return &sw->dev;
}

void wf_switch_count(const struct wf_switch *sw, uint64_t *per_class)
{
	for (unsigned i = 0; i < sw->dev.n_ports; i++) {
		for (unsigned q = 0; q < sw->dev.fabric->classes.n; q++) {
			const struct wf_packet *p = sw->dev.ports[i].lanes[q].head;

			for (; p != NULL; p = p->next)
				per_class[p->cls]++;
		}
	}
}
