/* SPDX-License-Identifier: Apache-2.0 */
/*
 * station.c - MADs between devices, and what a subnet manager's settings do to data.
 *
 * VL15 is served as link control is: its queue asks for the wire with the bit of its own queue,
 * behind credits and ahead of data. So neither switches nor hosts of any kind have to know of it.
 */
#include "fabric/station.h"

#include <errno.h>
#include <string.h>

#include "fabric/endpoint.h"
#include "fabric/groups.h"
#include "fabric/switch.h"
#include "wire/ib_rate.h"
#include "wire/opcode.h"
#include "wire/transport.h"

/* Blocks of a switch's own port: more than the GMPs that it has room for take. */
#define OWN_BLOCKS 2048

static bool is_switch(const struct wf_device *dev)
{
	return dev->fabric->topo->nodes[dev->id].kind == WF_TOPO_SWITCH;
}

static unsigned vl15(const struct wf_fabric *fabric)
{
	return fabric->classes.n - 1;
}

/* What holds between any two calls. */
static void assert_port(const struct wf_station *st, unsigned port)
{
	const struct wf_station_port *p = &st->port[port];

	assert((p->head == NULL) == (p->waiting == 0) && p->waiting <= WF_STATION_VL15);
	assert(port == st->dev->n_ports || p->waiting == 0 ||
	       (st->dev->ports[port].up &&
	        st->dev->ports[port].control >> vl15(st->dev->fabric) & 1));
	(void)p;
}

void wf_station_forget(struct wf_device *dev, const struct wf_packet *pkt)
{
	wf_store_put(dev->station->mads, dev->shard->number, pkt->payload);
}

/* ---- VL15 ---- */

/* Puts an SMP into the queue of a port. Without room, or with the link down, it is lost. */
static bool queue_smp(struct wf_station *st, unsigned port, const struct wf_packet *pkt,
                      wf_time now)
{
	struct wf_station_port *p = &st->port[port];
	struct wf_port *link = &st->dev->ports[port];
	struct wf_packet *own;

	if (!link->up || p->waiting == WF_STATION_VL15) {
		p->vl15_dropped += link->up;
		wf_station_forget(st->dev, pkt);
		return false;
	}
	own = wf_packet_get(st->dev->shard);
	if (own == NULL) {
		wf_station_forget(st->dev, pkt);
		return false; /* the run ends */
	}
	*own = *pkt;
	own->next = NULL;
	own->vl = vl15(st->dev->fabric) & WF_PACKET_VL;
	if (p->head == NULL)
		p->head = own;
	else
		p->tail->next = own;
	p->tail = own;
	p->waiting++;
	wf_port_want_control(st->dev, link, vl15(st->dev->fabric), now);
	assert_port(st, port);
	return true;
}

/* Takes the first SMP out of the queue of a port. */
static void next_smp(struct wf_station *st, unsigned port, struct wf_packet *pkt)
{
	struct wf_station_port *p = &st->port[port];
	struct wf_packet *own = p->head;

	*pkt = *own;
	p->head = own->next;
	p->waiting--;
	wf_packet_put(st->dev->shard, own);
}

/* An SMP came in by port: it is for this device, or a switch forwards it by its DLID. */
static void take_smp(struct wf_station *st, unsigned port, const struct wf_packet *pkt, wf_time now)
{
	uint16_t dlid = pkt->entropy;
	uint32_t way = WF_STATION_MINE;

	st->port[port].vl15_received++;
	if (is_switch(st->dev) && dlid != WF_LID_PERMISSIVE)
		way = wf_station_way(st, dlid);
	if (way == WF_STATION_NOWHERE) {
		st->port[port].relay_errors++;
		wf_station_forget(st->dev, pkt);
	} else if (way != WF_STATION_MINE) {
		(void)queue_smp(st, way, pkt, now);
	} else {
		st->ops->rx(st, port, pkt, wf_station_mad(st, pkt)->bytes, now);
		wf_station_forget(st->dev, pkt);
	}
}

/* ---- the link layer of a managed fabric: InfiniBand's, and VL15 ---- */

static void managed_control(struct wf_device *dev, struct wf_port *port,
                            const struct wf_packet *pkt, wf_time now)
{
	if (pkt->type == WF_PACKET_SMP)
		take_smp(dev->station, port->number, pkt, now);
	else
		wf_flowctl_credit.control(dev, port, pkt, now);
}

static void managed_make_control(struct wf_device *dev, struct wf_port *port, struct wf_packet *pkt,
                                 wf_time now)
{
	unsigned queue = vl15(dev->fabric);
	struct wf_station *st = dev->station;
	struct wf_station_port *p;

	if ((port->control & ((1u << queue) - 1)) != 0) {
		wf_flowctl_credit.make_control(dev, port, pkt, now);
		return;
	}
	p = &st->port[port->number];
	next_smp(st, port->number, pkt);
	p->vl15_sent++;
	wf_port_lane(port, queue)->tx_packets++;
	wf_port_lane(port, queue)->tx_bytes += pkt->size;
	if (p->head == NULL)
		port->control &= (uint16_t) ~(1u << queue);
	assert_port(st, port->number);
}

static void managed_start(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	wf_flowctl_credit.start(dev, port, now);
	/* It speaks of VL15 as well, which has no credits. */
	port->control &= (uint16_t) ~(1u << vl15(dev->fabric));
	if (now != 0)
		dev->station->ops->link(dev->station, port->number, true, now);
}

/* What waits on VL15 is lost, and the port has to be set up anew. */
static void managed_down(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	struct wf_station *st = dev->station;
	struct wf_station_port *p = &st->port[port->number];
	struct wf_packet pkt;

	wf_flowctl_credit.down(dev, port, now);
	while (p->head != NULL) {
		next_smp(st, port->number, &pkt);
		wf_station_forget(dev, &pkt);
	}
	p->armed = p->active = false;
	st->ops->link(st, port->number, false, now);
}

/*
 * A packet is about to join a queue, in the memory that is next in the shard's pool: when it came
 * is written there. Without memory the run ends.
 */
static bool managed_admit(struct wf_switch *sw, struct wf_port *in, const struct wf_lane *out,
                          const struct wf_packet *pkt, wf_time now)
{
	struct wf_fabric_shard *shard = sw->dev.shard;

	if (shard->free == NULL) {
		struct wf_packet *next = wf_packet_get(shard);

		if (next != NULL)
			wf_packet_put(shard, next);
	}
	if (shard->free != NULL) {
		wf_packet_timed(shard->free)->since = now;
		wf_packet_timed(shard->free)->shared = NULL;
	}
	return wf_flowctl_credit.admit(sw, in, out, pkt, now);
}

/* Copies have given their buffer back when the last of them has. */
static void managed_release(struct wf_switch *sw, struct wf_port *in, const struct wf_packet *pkt,
                            wf_time now)
{
	struct wf_packet *shared = ((const struct wf_packet_timed *)(const void *)pkt)->shared;

	if (shared != NULL && --shared->qpn > 0)
		return;
	if (shared != NULL)
		wf_packet_put(sw->dev.shard, shared);
	wf_flowctl_credit.release(sw, in, pkt, now);
}

static wf_time managed_ready(const struct wf_lane *lane, uint32_t size, wf_time now)
{
	return lane->off ? WF_TIME_NEVER : wf_flowctl_credit.ready(lane, size, now);
}

void wf_station_manage(struct wf_fabric *fabric, struct wf_flowctl_ops *ops)
{
	assert(fabric->flowctl == &wf_flowctl_credit);
	*ops = wf_flowctl_credit;
	ops->control = managed_control;
	ops->make_control = managed_make_control;
	ops->start = managed_start;
	ops->down = managed_down;
	ops->admit = managed_admit;
	ops->release = managed_release;
	ops->ready = managed_ready;
	fabric->flowctl = ops;
	fabric->managed = true;
	fabric->vl_shift = 0; /* which VL is the manager's to say */
	wf_fabric_slow(fabric, wf_ib_rate(WF_WIDTH_1X, WF_SPEED_SDR)); /* and how fast links are */
}

/* ---- being there ---- */

int wf_station_make_store(struct wf_engine *engine, struct wf_store **mads_p)
{
	return wf_store_create(engine, sizeof(struct wf_station_mad), mads_p);
}

int wf_station_init(struct wf_station *st, struct wf_device *dev, struct wf_store *mads,
                    const struct wf_station_ops *ops)
{
	assert(dev->fabric->managed && dev->station == NULL);
	st->ops = ops;
	st->dev = dev;
	st->mads = mads;
	st->slot = dev->node.n_timers - 1;
	st->call_at = WF_TIME_NEVER;
	st->life = WF_TIME_NEVER;
	st->port = wf_shard_alloc(dev->node.shard, (dev->n_ports + 1) * sizeof(*st->port));
	if (st->port == NULL)
		return -ENOMEM;
	if (is_switch(dev))
		wf_switch_open_own(wf_container_of(dev, struct wf_switch, dev), OWN_BLOCKS);
	dev->station = st;
	return 0;
}

/* The node's timer of the station, not later than at. */
static void set_timer(struct wf_station *st, wf_time at)
{
	if (st->dev->node.timer[st->slot] > at)
		wf_timer_set(&st->dev->node, st->slot, at);
}

void wf_station_call_at(struct wf_station *st, wf_time at)
{
	st->call_at = wf_min_time(st->call_at, at);
	set_timer(st, at);
}

void wf_station_timer(struct wf_device *dev, wf_time now)
{
	struct wf_station *st = dev->station;

	if (st->call_at > now) { /* it was for something else */
		if (st->call_at != WF_TIME_NEVER)
			set_timer(st, st->call_at);
		return;
	}
	st->call_at = WF_TIME_NEVER;
	st->ops->timer(st, now);
}

bool wf_station_takes_timer(struct wf_device *dev, unsigned slot, wf_time now)
{
	struct wf_station *st = dev->station;
	struct wf_port *port;

	if (slot == st->slot) {
		for (unsigned i = 0; i < dev->n_ports; i++) {
			port = &dev->ports[i];
			if (st->port[i].gmps != NULL && port->up && st->port[i].active)
				wf_port_wake(dev, port, now);
		}
		wf_station_timer(dev, now);
		return true;
	}
	if (slot >= dev->n_ports || !dev->ports[slot].up || st->port[slot].active)
		return false;
	port = &dev->ports[slot];
	if (port->control != 0)
		wf_port_transmit_control(dev, port, now);
	if (port->control != 0)
		wf_port_wake(dev, port, now);
	return true;
}

void wf_station_look_again(struct wf_device *dev, wf_time now)
{
	for (unsigned i = 0; i < dev->n_ports; i++) {
		if (dev->station->port[i].gmps != NULL && dev->ports[i].free_at > now)
			wf_port_wake(dev, &dev->ports[i], now);
	}
}

void wf_station_set_state(struct wf_station *st, unsigned port, bool armed, bool active,
                          wf_time now)
{
	struct wf_station_port *p = &st->port[port];

	p->armed = armed;
	if (!p->active && active && !is_switch(st->dev) && st->dev->ports[port].up)
		wf_port_wake(st->dev, &st->dev->ports[port], now);
	p->active = active;
	if (st->groups != NULL)
		st->groups->stale = true;
}

/* ---- what is set of lanes and times ---- */

/* Whether a table gives a queue a weight. */
static bool is_served(const struct wf_vlarb_entry *table, unsigned n, unsigned queue)
{
	for (unsigned i = 0; i < n; i++) {
		if (table[i].queue == queue && table[i].weight != 0)
			return true;
	}
	return false;
}

/* A host's classes leave by the lanes of the port that is at hand. */
static void take_lanes(struct wf_device *host)
{
	host->classes = wf_endpoint_of_device(host)->port->classes;
}

void wf_station_set_classes(struct wf_station *st, unsigned port, const struct wf_classes *classes,
                            wf_time now)
{
	struct wf_port *p = &st->dev->ports[port];

	st->port[port].classes = classes;
	p->classes = classes != NULL ? classes : &p->setup->classes;
	if (!is_switch(st->dev))
		take_lanes(st->dev);
	memset(&p->arb, 0, sizeof(p->arb));
	for (unsigned q = 0; q < vl15(st->dev->fabric); q++)
		wf_port_lane(p, q)->off = classes != NULL &&
		                          !is_served(classes->high, classes->n_high, q) &&
		                          !is_served(classes->low, classes->n_low, q);
	if (p->blocked != 0 && p->up)
		wf_port_wake(st->dev, p, now);
}

void wf_station_lives(const struct wf_station *st, unsigned port)
{
	const struct wf_station_port *p = &st->port[port];

	if (!p->lives)
		return;
	st->dev->ports[port].hoq_life = p->hoq_life;
	st->dev->ports[port].hoq_stall = p->hoq_stall;
}

void wf_station_set_lives(struct wf_station *st, unsigned port, wf_time life, uint8_t stall,
                          wf_time now)
{
	struct wf_port *p = &st->dev->ports[port];

	assert(is_switch(st->dev));
	st->port[port].lives = true;
	st->port[port].hoq_life = life;
	st->port[port].hoq_stall = stall;
	wf_station_lives(st, port);
	if (p->blocked != 0 && p->up)
		wf_port_wake(st->dev, p, now);
}

void wf_station_set_life(struct wf_station *st, wf_time life, wf_time now)
{
	assert(is_switch(st->dev));
	st->life = life;
	for (unsigned i = 0; i < st->dev->n_ports; i++) {
		struct wf_port *p = &st->dev->ports[i];

		if (p->blocked != 0 && p->up)
			wf_port_wake(st->dev, p, now);
	}
}

void wf_station_changed(struct wf_device *dev)
{
	const struct wf_station *st = dev->station;

	for (unsigned i = 0; i < dev->n_ports; i++) {
		if (st->port[i].classes != NULL)
			dev->ports[i].classes = st->port[i].classes;
	}
	if (!is_switch(dev))
		take_lanes(dev);
}

/* A queue is first in, first out: who is there for too long is its head. */
void wf_station_drop_old(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	struct wf_switch *sw = wf_container_of(dev, struct wf_switch, dev);
	wf_time life = dev->station->life;

	for (uint32_t mask = life == WF_TIME_NEVER ? 0 : port->nonempty; mask != 0;
	     mask &= mask - 1) {
		unsigned q = (unsigned)__builtin_ctz(mask);
		struct wf_lane *lane = wf_port_lane(port, q);

		while (lane->head != NULL && now - wf_packet_timed(lane->head)->since >= life) {
			wf_lane_go(lane, now);
			wf_switch_drop_head(sw, port, q, WF_DROP_LIFE, now);
			dev->station->port[port->number].too_old++;
		}
		if (lane->head == NULL)
			port->blocked &= (uint16_t) ~(1u << q);
	}
}

void wf_station_wait_old(struct wf_device *dev, struct wf_port *port)
{
	wf_time life = dev->station->life;

	for (uint32_t mask = life == WF_TIME_NEVER ? 0 : port->blocked; mask != 0;
	     mask &= mask - 1) {
		struct wf_lane *lane = wf_port_lane(port, (unsigned)__builtin_ctz(mask));

		wf_port_wake(dev, port, wf_packet_timed(lane->head)->since + life);
	}
}

/* ---- sending ---- */

static bool make_packet(struct wf_station *st, enum wf_packet_type type,
                        const struct wf_station_to *to, const uint8_t mad[WF_MAD_LEN],
                        struct wf_packet *pkt)
{
	*pkt = (struct wf_packet){
		.src = to->slid,
		.size = WF_STATION_MAD_SIZE,
		.type = type & 15u,
		.cls = to->sl & WF_PACKET_CLASS,
		.opcode = WF_OP_UD_SEND_ONLY,
		.entropy = to->dlid,
		.pkey = to->pkey,
		.length = WF_MAD_LEN,
		.qpn = to->dst_qpn,
		.payload = wf_store_get(st->mads, st->dev->shard->number),
		.u.deth = { .qkey = to->qkey, .src_qpn = to->src_qpn },
	};
	if (pkt->payload == 0)
		return false; /* the run ends */
	memcpy(wf_station_mad(st, pkt)->bytes, mad, WF_MAD_LEN);
	return true;
}

bool wf_station_send_smp(struct wf_station *st, unsigned port, const struct wf_station_to *to,
                         const uint8_t mad[WF_MAD_LEN], wf_time now)
{
	struct wf_packet pkt;

	return make_packet(st, WF_PACKET_SMP, to, mad, &pkt) && queue_smp(st, port, &pkt, now);
}

bool wf_station_route_smp(struct wf_station *st, unsigned port, const struct wf_station_to *to,
                          const uint8_t mad[WF_MAD_LEN], wf_time now)
{
	uint32_t way = port;

	if (is_switch(st->dev))
		way = wf_station_way(st, to->dlid);
	if (way >= st->dev->n_ports)
		return false;
	return wf_station_send_smp(st, way, to, mad, now);
}

/* A host keeps its GMPs until the port may send and their class is not held. */
static bool queue_gmp(struct wf_station *st, unsigned port, const struct wf_packet *pkt,
                      wf_time now)
{
	struct wf_station_port *p = &st->port[port];
	struct wf_packet *own;

	if (st->pull == NULL || p->n_gmps == WF_STATION_VL15) {
		st->gmps_dropped++;
		wf_station_forget(st->dev, pkt);
		return false;
	}
	own = wf_packet_get(st->dev->shard);
	if (own == NULL) {
		wf_station_forget(st->dev, pkt);
		return false; /* the run ends */
	}
	*own = *pkt;
	own->next = NULL;
	if (p->gmps == NULL)
		p->gmps = own;
	else
		p->gmps_tail->next = own;
	p->gmps_tail = own;
	p->n_gmps++;
	if (st->dev->ports[port].up && p->active)
		wf_port_wake(st->dev, &st->dev->ports[port], now);
	return true;
}

/* Whether a switch's own port has room for another. */
static bool has_room(const struct wf_device *dev)
{
	uint32_t used = 0;

	for (unsigned q = 0; q < dev->n_queues; q++)
		used += wf_device_lane(dev, dev->n_ports, q)->used;
	return used + wf_ib_blocks(WF_STATION_MAD_SIZE) <=
	       WF_STATION_VL15 * wf_ib_blocks(WF_STATION_MAD_SIZE);
}

/* What a switch sends itself. */
static bool switch_gmp(struct wf_station *st, struct wf_packet *pkt, wf_time now)
{
	struct wf_device *dev = st->dev;
	uint32_t way = wf_station_way(st, pkt->entropy);
	unsigned queue;

	if (way >= dev->n_ports || !dev->ports[way].up || !st->port[way].active || !has_room(dev)) {
		st->gmps_dropped++;
		wf_station_forget(dev, pkt);
		return false;
	}
	queue = wf_station_queue(st, dev->n_ports, way, pkt);
	dev->shard->tally[pkt->cls].sent++;
	wf_switch_send_own(wf_container_of(dev, struct wf_switch, dev), way, queue, pkt, now);
	return true;
}

bool wf_station_send_gmp(struct wf_station *st, unsigned port, const struct wf_station_to *to,
                         const uint8_t mad[WF_MAD_LEN], wf_time now)
{
	struct wf_packet pkt;

	if (!make_packet(st, WF_PACKET_GMP, to, mad, &pkt))
		return false;
	return is_switch(st->dev) ? switch_gmp(st, &pkt, now) : queue_gmp(st, port, &pkt, now);
}

/* ---- a host's packets: those of its station, and all others ---- */

static bool pull_next(struct wf_endpoint *ep, wf_time now, struct wf_packet *pkt)
{
	struct wf_station *st = ep->dev.station;
	struct wf_station_port *p = &st->port[ep->port->number];
	struct wf_packet *own = p->gmps;

	if (own == NULL || ep->held >> own->cls & 1)
		return st->pull->next(ep, now, pkt);
	*pkt = *own;
	p->gmps = own->next;
	p->n_gmps--;
	wf_packet_put(ep->dev.shard, own);
	return true;
}

static bool pull_rivals(const struct wf_endpoint *ep)
{
	return ep->dev.station->pull->rivals(ep);
}

static void pull_hold(struct wf_endpoint *ep)
{
	ep->dev.station->pull->hold(ep);
}

static void pull_leave(struct wf_endpoint *ep, struct wf_packet *pkt, wf_time now)
{
	struct wf_station *st = ep->dev.station;

	if (pkt->type != WF_PACKET_GMP)
		st->pull->leave(ep, pkt, now);
	/* Nobody else asks the port for the next one. */
	else if (st->port[ep->port->number].gmps != NULL)
		set_timer(st, now);
}

const struct wf_pull_ops wf_station_pull = {
	.next = pull_next,
	.rivals = pull_rivals,
	.hold = pull_hold,
	.leave = pull_leave,
};

/* ---- what a manager's settings do to data ---- */

/* The P_Key that a host has of a partition, full member's or limited; 0: it is not in it. */
static uint16_t own_pkey(const struct wf_station_port *p, uint16_t pkey)
{
	for (unsigned i = 0; i < p->n_pkeys; i++) {
		if (((p->pkeys[i] ^ pkey) & 0x7fff) == 0)
			return p->pkeys[i];
	}
	return 0;
}

void wf_station_address(const struct wf_station *st, unsigned port, struct wf_packet *pkt)
{
	struct wf_station_port *p = &st->port[port];
	bool group = pkt->type == WF_PACKET_RDMA && pkt->qpn == WF_QPN_MULTICAST &&
	             wf_station_is_group(pkt->dst);

	if (pkt->type == WF_PACKET_RDMA && p->n_pkeys > 0)
		pkt->pkey = own_pkey(p, pkt->pkey);
	if (group) {
		pkt->entropy = (uint16_t)pkt->dst;
		pkt->dst = pkt->src;
		p->tx_groups++;
	} else if (pkt->type != WF_PACKET_GMP && st->dlid_of != NULL)
		pkt->entropy = st->dlid_of[pkt->dst];
	if (p->path_sl != NULL)
		pkt->mark = pkt->entropy < st->n_path_sl ? p->path_sl[pkt->entropy] & 15u : 0;
}

void wf_station_gmp(struct wf_device *dev, unsigned port, const struct wf_packet *pkt, wf_time now)
{
	struct wf_station *st = dev->station;

	st->ops->rx(st, port, pkt, wf_station_mad(st, pkt)->bytes, now);
	wf_station_forget(dev, pkt);
}

/* What has none in its header (the windowed sender's, TCP's) is of the default partition. */
static uint16_t pkey_of(const struct wf_packet *pkt)
{
	return pkt->type == WF_PACKET_RDMA || pkt->type == WF_PACKET_GMP ? pkt->pkey
	                                                                 : WF_PKEY_DEFAULT;
}

/* P_Keys match when their lower 15 bits do, and one of them is a full member's. */
static bool knows(const struct wf_station_port *p, uint16_t pkey)
{
	for (unsigned i = 0; i < p->n_pkeys; i++) {
		if (((p->pkeys[i] ^ pkey) & 0x7fff) == 0 && (pkey & 0x7fff) != 0 &&
		    ((p->pkeys[i] | pkey) & 0x8000) != 0)
			return true;
	}
	return false;
}

/* Whether a packet is too large for the port's neighbour. Those without payload never are. */
static bool is_too_long(const struct wf_station_port *p, const struct wf_packet *pkt)
{
	if (p->mtu == 0)
		return false;
	return (pkt->type == WF_PACKET_DATA || pkt->type == WF_PACKET_TCP ||
	        (pkt->type == WF_PACKET_RDMA && !wf_op_is_atomic(pkt->opcode))) &&
	       pkt->length > p->mtu;
}

enum wf_station_no wf_station_takes(const struct wf_device *dev, unsigned port,
                                    const struct wf_packet *pkt)
{
	const struct wf_station_port *p = &dev->station->port[port];

	if (!p->armed)
		return WF_STATION_INACTIVE;
	if (pkt->vl == vl15(dev->fabric))
		return WF_STATION_LANE;
	/* Results of reductions come by their tree, and have no LID here. */
	if (!is_switch(dev) && pkt->type != WF_PACKET_AGG && !wf_station_is_group(pkt->entropy) &&
	    (p->lid == 0 || pkt->entropy >> p->lmc != p->lid >> p->lmc))
		return WF_STATION_LID;
	if (is_too_long(p, pkt))
		return WF_STATION_MTU;
	return p->guard_in && !knows(p, pkey_of(pkt)) ? WF_STATION_PKEY : WF_STATION_YES;
}

enum wf_station_no wf_station_lets(const struct wf_device *dev, unsigned port,
                                   const struct wf_packet *pkt)
{
	const struct wf_station_port *p = &dev->station->port[port];

	if (!p->active)
		return WF_STATION_INACTIVE;
	if (is_too_long(p, pkt))
		return WF_STATION_MTU;
	return p->guard_out && !knows(p, pkey_of(pkt)) ? WF_STATION_PKEY : WF_STATION_YES;
}

void wf_station_refuse(struct wf_device *dev, unsigned port, const struct wf_packet *pkt,
                       unsigned queue, enum wf_station_no no, bool in, wf_time now)
{
	static const enum wf_drop why[] = {
		[WF_STATION_INACTIVE] = WF_DROP_DOWN, [WF_STATION_LANE] = WF_DROP_ROUTE,
		[WF_STATION_LID] = WF_DROP_ROUTE,     [WF_STATION_MTU] = WF_DROP_MTU,
		[WF_STATION_PKEY] = WF_DROP_PKEY,
	};
	struct wf_station *st = dev->station;
	struct wf_station_port *p = &st->port[port];

	assert(no != WF_STATION_YES);
	p->inactive += no == WF_STATION_INACTIVE;
	p->relay_errors += no == WF_STATION_LID;
	p->vl_errors += no == WF_STATION_LANE;
	p->too_long += in && no == WF_STATION_MTU;
	if (no == WF_STATION_PKEY) {
		p->pkey_in += in;
		p->pkey_out += !in;
		st->ops->pkey(st, port, pkt, now);
	}
	wf_port_lane(&dev->ports[port], queue)->rx_down += in && no == WF_STATION_INACTIVE;
	wf_device_drop(dev, &dev->ports[port], queue, pkt, why[no], now);
}

unsigned wf_station_queue(const struct wf_station *st, unsigned in, unsigned out,
                          const struct wf_packet *pkt)
{
	const struct wf_fabric *fabric = st->dev->fabric;
	const uint8_t *table = st->port[out].sl2vl;
	unsigned sl = st->path_sl != NULL ? pkt->mark : pkt->cls, vl;

	/* A switch's own port is input 0 of the table. */
	if (table != NULL)
		vl = table[(in == st->dev->n_ports ? 0 : in + 1) * WF_MAX_CLASSES + sl];
	else
		vl = st->dev->setup->classes.of[sl];
	if (st->port[out].vls != 0 && vl >= st->port[out].vls)
		return vl15(fabric);
	return vl < vl15(fabric) ? vl : vl15(fabric);
}
