/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint.c - a host's ports: taking one in hand, pulling packets, choosing among queues, and
 * storms.
 */
#include "fabric/endpoint.h"

#include <errno.h>

#include "fabric/station.h"
#include "fabric/watchdog.h"
#include "wire/ib.h"
#include "wire/opcode.h"

/* What holds between any two calls. */
static void assert_endpoint(const struct wf_endpoint *ep)
{
#ifndef NDEBUG
	uint32_t held = 0;

	assert(ep->waiting >> ep->dev.n_queues == 0);
	for (uint8_t c = 0; c < WF_MAX_CLASSES; c++)
		held |= (ep->waiting >> wf_fabric_queue(&ep->dev, c) & 1u) << c;
	assert(ep->held == held);
	for (uint32_t mask = ep->waiting; mask != 0; mask &= mask - 1) {
		unsigned q = (unsigned)__builtin_ctz(mask);

		assert(ep->head[q].size != 0 && ep->head[q].vl == q);
		assert(ep->held >> ep->head[q].cls & 1);
	}
#endif
	(void)ep;
}

/* What there is of the ports besides the first. */
static int make_kept(struct wf_endpoint *ep)
{
	struct wf_shard *shard = ep->dev.node.shard;

	ep->kept = wf_shard_alloc(shard, ep->dev.n_ports * sizeof(*ep->kept));
	if (ep->kept == NULL)
		return -ENOMEM;
	for (unsigned i = 1; i < ep->dev.n_ports; i++) {
		struct wf_endpoint_kept *kept = &ep->kept[i];

		kept->head = wf_shard_alloc(shard, ep->dev.n_queues * sizeof(*kept->head));
		kept->owed = wf_shard_alloc(shard, ep->dev.n_queues * sizeof(*kept->owed));
		if (kept->head == NULL || kept->owed == NULL)
			return -ENOMEM;
	}
	return 0;
}

int wf_endpoint_init(struct wf_endpoint *ep, const struct wf_device_ops *ops,
                     const struct wf_fabric *fabric, uint32_t host)
{
	struct wf_shard *shard = ep->dev.node.shard;
	int ret = wf_device_init(&ep->dev, ops, fabric, fabric->topo->host_node[host]);

	if (ret != 0)
		return ret;
	assert(ep->dev.n_ports >= 1 && ep->dev.n_ports <= WF_TOPO_HOST_PORTS);
	ep->head = wf_shard_alloc(shard, ep->dev.n_queues * sizeof(*ep->head));
	ep->owed = wf_shard_alloc(shard, ep->dev.n_queues * sizeof(*ep->owed));
	if (ep->head == NULL || ep->owed == NULL)
		return -ENOMEM;
	ep->port = &ep->dev.ports[0];
	ep->lanes = ep->port->lanes;
	ep->host = host;
	ep->marks = ep->dev.setup->maps.marks || fabric->managed;
	return ep->dev.n_ports == 1 ? 0 : make_kept(ep);
}

void wf_endpoint_turn(struct wf_endpoint *ep, unsigned port)
{
	struct wf_endpoint_kept *kept;

	assert(port < ep->dev.n_ports);
	if (ep->port->number == port)
		return;
	kept = &ep->kept[ep->port->number];
	*kept = (struct wf_endpoint_kept){ ep->waiting, ep->held, ep->owed, ep->head };
	kept = &ep->kept[port];
	ep->port = &ep->dev.ports[port];
	ep->lanes = ep->port->lanes;
	if (ep->dev.station != NULL) /* a manager may have given it lanes of its own */
		ep->dev.classes = ep->port->classes;
	ep->waiting = kept->waiting;
	ep->held = kept->held;
	ep->owed = kept->owed;
	ep->head = kept->head;
}

void wf_endpoint_mark(const struct wf_endpoint *ep, struct wf_packet *pkt)
{
	const struct wf_setup *s = ep->dev.setup;
	bool cnp;

	if (ep->dev.station != NULL) {
		wf_station_address(ep->dev.station, ep->port->number, pkt);
		return;
	}
	cnp = pkt->type == WF_PACKET_RDMA && pkt->opcode == WF_OP_CNP && s->cnp_mark != 0;

	pkt->mark = (cnp ? s->cnp_mark : s->mark_of[pkt->cls % WF_PRIORITIES]) & 15u;
}

/* ---- receiving ---- */

static void set_odd(struct wf_endpoint *ep)
{
	ep->odd = ep->storm || ep->intake != NULL || ep->dev.station != NULL;
}

/* Gives it a receive buffer. From now on a storm keeps back what counts as being there. */
static int add_intake(struct wf_endpoint *ep, wf_time now)
{
	const struct wf_flowctl_ops *flowctl = ep->dev.fabric->flowctl;
	int ret = wf_intake_create(ep);

	for (unsigned q = 0; ret == 0 && q < ep->dev.n_queues; q++) {
		if (ep->owed[q] != 0)
			flowctl->keep(&ep->dev, wf_endpoint_port(ep), q, ep->owed[q], now);
	}
	set_odd(ep);
	return ret;
}

/* Sets its receive buffer up, which it gets with the first setting that needs one. */
static int set_intake(struct wf_endpoint *ep, wf_time now)
{
	int ret = 0;

	set_odd(ep);
	if (ep->intake == NULL && wf_intake_is_wanted(&ep->dev.setup->cfg))
		ret = add_intake(ep, now);
	if (ep->intake != NULL)
		wf_intake_set(ep, now);
	return ret;
}

int wf_endpoint_start(struct wf_device *dev, struct wf_err *err)
{
	struct wf_endpoint *ep = wf_endpoint_of_device(dev);
	int ret = set_intake(ep, 0);

	for (unsigned i = 0; i < dev->n_ports; i++)
		dev->fabric->flowctl->start(dev, &dev->ports[i], 0);
	if (ret == 0 && ep->intake != NULL)
		ret = wf_intake_check(ep, err);
	return ret;
}

void wf_endpoint_set_up(struct wf_device *dev, struct wf_port *port, bool up, wf_time now)
{
	struct wf_endpoint *ep = wf_endpoint_of_device(dev);

	wf_endpoint_turn(ep, port->number);
	wf_port_set_up(dev, port, up, now);
	/* Flow control begins anew: there is nothing to give back, but what is in a buffer. */
	for (unsigned q = 0; q < dev->n_queues && ep->intake == NULL; q++)
		ep->owed[q] = 0;
}

void wf_endpoint_changed(struct wf_device *dev, wf_time now)
{
	struct wf_endpoint *ep = wf_endpoint_of_device(dev);

	ep->marks = dev->setup->maps.marks || dev->station != NULL;
	wf_device_changed(dev, now);
	if (set_intake(ep, now) != 0)
		wf_shard_no_memory(dev->node.shard);
}

int wf_endpoint_slow(struct wf_endpoint *ep, uint64_t rate, wf_time now)
{
	if (ep->intake == NULL && add_intake(ep, now) != 0)
		return -ENOMEM;
	ep->intake->slow = rate;
	wf_intake_set(ep, now);
	return 0;
}

/* A packet that took no buffer is delivered. A storm keeps its credits back. */
static void deliver(struct wf_endpoint *ep, const struct wf_packet *pkt, wf_time now)
{
	const struct wf_flowctl_ops *flowctl = ep->dev.fabric->flowctl;

	ep->dev.shard->tally[pkt->cls].delivered++;
	if (!ep->storm || !flowctl->uses_credits) {
		flowctl->pass(&ep->dev, wf_endpoint_port(ep), pkt->vl, pkt->size, now);
		return;
	}
	ep->owed[pkt->vl] += wf_ib_blocks(pkt->size) * WF_IB_BLOCK;
	if (ep->intake != NULL)
		flowctl->keep(&ep->dev, wf_endpoint_port(ep), pkt->vl, pkt->size, now);
}

/* What comes to a managed host. NULL: it was for its station, or is not for this host. */
static struct wf_packet *receive_managed(struct wf_endpoint *ep, struct wf_packet *pkt, wf_time now)
{
	unsigned port = ep->port->number;
	enum wf_station_no no = wf_station_takes(&ep->dev, port, pkt);

	ep->dev.station->port[port].rx_packets++;
	ep->dev.station->port[port].rx_bytes += pkt->size;
	if (no == WF_STATION_YES && pkt->type != WF_PACKET_GMP) {
		if (wf_station_is_group(pkt->entropy)) {
			pkt->dst = pkt->entropy;
			ep->dev.station->port[port].rx_groups++;
		}
		return pkt;
	}
	if (no == WF_STATION_YES) {
		deliver(ep, pkt, now);
		wf_station_gmp(&ep->dev, port, pkt, now);
		return NULL;
	}
	ep->dev.fabric->flowctl->pass(&ep->dev, ep->port, pkt->vl, pkt->size, now);
	wf_station_refuse(&ep->dev, port, pkt, pkt->vl, no, true, now);
	return NULL;
}

struct wf_packet *wf_endpoint_receive_odd(struct wf_endpoint *ep, struct wf_packet *pkt,
                                          wf_time now)
{
	if (ep->dev.station != NULL && receive_managed(ep, pkt, now) == NULL)
		return NULL;
	if (ep->intake != NULL && !wf_intake_take(ep, pkt, now))
		return NULL;
	deliver(ep, pkt, now);
	return pkt;
}

bool wf_endpoint_taken_in(struct wf_endpoint *ep, struct wf_packet *pkt_p, wf_time now)
{
	if (!wf_intake_next(ep, pkt_p, now))
		return false;
	ep->dev.shard->tally[pkt_p->cls].delivered++;
	if (ep->storm && ep->dev.fabric->flowctl->uses_credits)
		ep->owed[pkt_p->vl] += wf_ib_blocks(pkt_p->size) * WF_IB_BLOCK;
	else
		ep->dev.fabric->flowctl->give(&ep->dev, wf_endpoint_port(ep), pkt_p->vl,
		                              pkt_p->size, now);
	return true;
}

/* Gives what was kept back of one queue. */
static void give_back(struct wf_endpoint *ep, unsigned q, wf_time now)
{
	const struct wf_flowctl_ops *flowctl = ep->dev.fabric->flowctl;
	uint32_t owed = ep->owed[q];

	ep->owed[q] = 0;
	if (owed != 0)
		(ep->intake != NULL ? flowctl->give : flowctl->pass)(&ep->dev, wf_endpoint_port(ep),
		                                                     q, owed, now);
}

/* Tells the peer of the port at hand. */
static void storm_port(struct wf_endpoint *ep, bool on, wf_time now)
{
	const struct wf_fabric *fabric = ep->dev.fabric;
	struct wf_port *port = wf_endpoint_port(ep);

	for (unsigned q = 0; q < fabric->classes.n; q++) {
		bool full = ep->intake != NULL && (ep->intake->stopped[port->number] >> q & 1) != 0;

		if (fabric->flowctl->uses_credits) {
			give_back(ep, q, now);
		} else if (port->setup->classes.queue[q].lossless) {
			wf_port_lane(port, q)->xoff = on || full;
			if (port->setup->pause_of[q] != 0 &&
			    !wf_watchdog_is_mute(&ep->dev, port, q))
				wf_port_want_control(&ep->dev, port, q, now);
		}
	}
}

void wf_endpoint_storm(struct wf_endpoint *ep, bool on, wf_time now)
{
	if (ep->storm == on)
		return;
	ep->storm = on;
	set_odd(ep);
	for (unsigned i = 0; i < ep->dev.n_ports; i++) {
		wf_endpoint_turn(ep, i);
		storm_port(ep, on, now);
	}
}

/* ---- sending ---- */

unsigned wf_endpoint_pick(struct wf_endpoint *ep, uint32_t queues, uint32_t can)
{
	const struct wf_fabric *fabric = ep->dev.fabric;
	struct wf_port *port = wf_endpoint_port(ep);
	unsigned q = (unsigned)__builtin_ctz(can);

	assert(can != 0 && (can & ~queues) == 0);
	if (wf_likely((can & (can - 1)) == 0)) {
		fabric->sched->alone(port, q);
		return q;
	}
	/* The scheduler looks at the heads of queues, as it does in a switch. */
	for (uint32_t mask = queues; mask != 0; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctz(mask);

		wf_port_lane(port, i)->head = &ep->head[i];
	}
	q = fabric->sched->pick(port->classes, port, can);
	for (uint32_t mask = queues; mask != 0; mask &= mask - 1)
		wf_port_lane(port, (unsigned)__builtin_ctz(mask))->head = NULL;
	assert(can >> q & 1);
	return q;
}

/* Which queues have a head changes: so do the classes of which no more is pulled. */
static void set_waiting(struct wf_endpoint *ep, const struct wf_pull_ops *ops, uint32_t queues)
{
	ep->waiting = queues;
	ep->held = 0;
	for (uint8_t c = 0; c < WF_MAX_CLASSES && queues != 0; c++) {
		if (queues >> wf_fabric_queue(&ep->dev, c) & 1)
			ep->held |= 1u << c;
	}
	assert_endpoint(ep);
	ops->hold(ep);
}

static void leave(struct wf_endpoint *ep, const struct wf_pull_ops *ops, struct wf_packet *pkt,
                  wf_time now)
{
	ops->leave(ep, pkt, now);
	wf_endpoint_send(ep, pkt, now);
}

bool wf_endpoint_pull(struct wf_endpoint *ep, const struct wf_pull_ops *ops, wf_time now,
                      wf_time *again_p)
{
	uint32_t can = wf_endpoint_ready(ep, ep->waiting, now, again_p);
	struct wf_packet pkt;
	unsigned q;

	while ((can == 0 || ops->rivals(ep)) && ops->next(ep, now, &pkt)) {
		q = wf_fabric_queue(&ep->dev, pkt.cls);
		pkt.vl = q & WF_PACKET_VL;
		assert(!(ep->waiting >> q & 1));
		if (wf_endpoint_may_send(ep, q, pkt.size, now, again_p)) {
			/* Nobody else to choose from: it need not wait at its queue's head. */
			if (can == 0 && !ops->rivals(ep)) {
				leave(ep, ops, &pkt, now);
				return true;
			}
			can |= 1u << q;
		}
		ep->head[q] = pkt;
		set_waiting(ep, ops, ep->waiting | 1u << q);
	}
	if (can == 0)
		return false;
	q = wf_endpoint_pick(ep, ep->waiting, can);
	set_waiting(ep, ops, ep->waiting & ~(1u << q));
	leave(ep, ops, &ep->head[q], now);
	return true;
}

bool wf_endpoint_take_back(struct wf_endpoint *ep, const struct wf_pull_ops *ops,
                           struct wf_packet *pkt_p)
{
	unsigned q;

	if (ep->waiting == 0)
		return false;
	q = (unsigned)__builtin_ctz(ep->waiting);
	*pkt_p = ep->head[q];
	set_waiting(ep, ops, ep->waiting & ~(1u << q));
	return true;
}
