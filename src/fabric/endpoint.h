/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint.h - a host's ports: what every kind of host does alike to send and to receive.
 *
 *	 host --> head[queue] --> flow control? --> scheduler --> wire
 *	 host <-- delivered, credits back <-- buffer (intake.h) <-- lost? for the link? <-- wire
 *
 * Each queue of the port has at most one packet at its head, or just that packet's size while
 * nothing but the size is known. Whether a head may leave is asked in one place, and of those that
 * may, the scheduler of the fabric picks: ETS or VL arbitration, as at a switch's port.
 *
 * A host is a node of the engine that begins with a struct wf_endpoint. There are two ways to send.
 * Who knows what it has in which queue (the windowed sender) says so, asks wf_endpoint_ready(),
 * picks, and makes the packet then. Who has to be asked for packets (the transport's adapter, a
 * gate) has wf_endpoint_pull() do it: what was pulled and may not leave waits at the head of its
 * queue, and no more is pulled of the classes that leave by that queue, so that a stopped class
 * does not stop the others.
 *
 * A host with several ports (a bond) is asked about one at a time: wf_endpoint_turn() says which,
 * and all else here is about the port at hand. What belongs to a port and not to the host is kept
 * for the others meanwhile. A host with one port never turns.
 */
#ifndef WF_FABRIC_ENDPOINT_H
#define WF_FABRIC_ENDPOINT_H

#include "fabric/fabric.h"
#include "fabric/intake.h"
#include "fabric/receive.h"
#include "fabric/transmit.h"

/*
 * Timers of a host's node: as many as it has ports for the wires, as many for flow control, and
 * behind those the receive buffer's and its own. With one port they are these.
 */
enum {
	WF_ENDPOINT_WIRE,
	WF_ENDPOINT_FLOWCTL,
	WF_ENDPOINT_INTAKE = 2 * WF_TOPO_HOST_PORTS,
	WF_ENDPOINT_TIMERS
};

/* What is kept of a port that is not at hand. */
struct wf_endpoint_kept {
	uint32_t waiting, held;
	uint32_t *owed;
	struct wf_packet *head;
};

struct wf_endpoint {
	struct wf_device dev; /* first: the engine's node */
	uint32_t host;        /* its number in the topology */
	bool odd;             /* what comes in has to be looked at: storm, or intake */
	bool storm;           /* it lets nobody send to it */
	bool marks; /* its packets need something: a DSCP that is not their class's, or a DLID */
	struct wf_intake *intake; /* NULL: its receive buffer never fills */
	/* Of the port at hand: */
	struct wf_port *port;
	struct wf_lane *lanes;         /* its queues */
	uint32_t waiting;              /* bit per queue with a pulled packet at its head */
	uint32_t held;                 /* bit per class that leaves by such a queue */
	uint32_t *owed;                /* by queue: bytes whose credits a storm keeps back */
	struct wf_packet *head;        /* by queue; meaningful of those that wait */
	struct wf_endpoint_kept *kept; /* by port; NULL: there is one */
};

static inline struct wf_endpoint *wf_endpoint_of(struct wf_node *node)
{
	return wf_container_of(wf_device_of(node), struct wf_endpoint, dev);
}

static inline struct wf_endpoint *wf_endpoint_of_device(struct wf_device *dev)
{
	return wf_container_of(dev, struct wf_endpoint, dev);
}

/*
 * Makes the ports of host number host, whose node is in a shard already and has a timer for each
 * and its flow control. The first is at hand. Returns 0 or -ENOMEM.
 */
int wf_endpoint_init(struct wf_endpoint *ep, const struct wf_device_ops *ops,
                     const struct wf_fabric *fabric, uint32_t host) WF_MUST_USE;

/* Ops of a host that has nothing to add: flow control alone, and the port alone. */
int wf_endpoint_start(struct wf_device *dev, struct wf_err *err);
void wf_endpoint_set_up(struct wf_device *dev, struct wf_port *port, bool up, wf_time now);
void wf_endpoint_changed(struct wf_device *dev, wf_time now);

static inline struct wf_port *wf_endpoint_port(const struct wf_endpoint *ep)
{
	return ep->port;
}

/* The ports that host number host has. */
static inline unsigned wf_endpoint_ports(const struct wf_fabric *fabric, uint32_t host)
{
	return fabric->topo->nodes[fabric->topo->host_node[host]].n_ports;
}

/* Takes another port in hand. */
void wf_endpoint_turn(struct wf_endpoint *ep, unsigned port);

/* The port's flow control timer is due. */
static inline void wf_endpoint_flowctl(struct wf_endpoint *ep, wf_time now)
{
	ep->dev.fabric->flowctl->timer(&ep->dev, wf_endpoint_port(ep), now);
}

/* ---- receiving ---- */

/* A packet came to a host that is odd. Returns it, or NULL when it waits or was dropped. */
struct wf_packet *wf_endpoint_receive_odd(struct wf_endpoint *ep, struct wf_packet *pkt,
                                          wf_time now);

/*
 * Takes in a cell: NULL when there is nothing left to do, else the packet, which is delivered and
 * whose credits are on their way back.
 */
static inline struct wf_packet *wf_endpoint_receive(struct wf_endpoint *ep, struct wf_cell *cell,
                                                    wf_time now)
{
	struct wf_port *port = wf_endpoint_port(ep);
	struct wf_packet *pkt = wf_port_receive(&ep->dev, port, cell, now);

	if (wf_unlikely(pkt == NULL))
		return NULL;
	if (wf_unlikely(ep->odd))
		return wf_endpoint_receive_odd(ep, pkt, now);
	ep->dev.shard->tally[pkt->cls].delivered++;
	ep->dev.fabric->flowctl->pass(&ep->dev, port, pkt->vl, pkt->size, now);
	return pkt;
}

/*
 * The timer WF_ENDPOINT_INTAKE is due: the next packet of the receive buffer, as above, into
 * *pkt_p; to be called until there is none, which is false.
 */
bool wf_endpoint_taken_in(struct wf_endpoint *ep, struct wf_packet *pkt_p, wf_time now);

/*
 * A fault has its adapter take in no more than rate bits/s, from now on; it pauses where its buffer
 * would be endless otherwise. 0: it is over. While no node runs. Returns 0 or -ENOMEM.
 */
int wf_endpoint_slow(struct wf_endpoint *ep, uint64_t rate, wf_time now) WF_MUST_USE;

/*
 * With on, lets nobody send to it: it pauses every lossless class for as long as it lasts, or gives
 * no credits. While no node runs, or from the host itself.
 */
void wf_endpoint_storm(struct wf_endpoint *ep, bool on, wf_time now);

/* ---- sending ---- */

/*
 * Whether a packet of size bytes may leave by queue now. If not, notes that the queue waits, and
 * lowers *again_p to the time at which to ask again, where that is known; else flow control wakes
 * the port.
 */
static inline bool wf_endpoint_may_send(struct wf_endpoint *ep, unsigned queue, uint32_t size,
                                        wf_time now, wf_time *again_p)
{
	struct wf_port *port = wf_endpoint_port(ep);
	struct wf_lane *lane = &ep->lanes[queue];
	wf_time at = wf_flowctl_ready(ep->dev.fabric->flowctl, port, lane, queue, size, now);

	if (wf_likely(at <= now)) {
		port->blocked &= (uint16_t) ~(1u << queue);
		wf_lane_go(lane, now);
		return true;
	}
	port->blocked |= (uint16_t)(1u << queue);
	if (at == WF_TIME_NEVER)
		wf_lane_stop(lane, now);
	*again_p = wf_min_time(*again_p, at);
	return false;
}

/* Of queues, whose heads' sizes are in head[], those that may send now; *again_p as above. */
static inline uint32_t wf_endpoint_ready(struct wf_endpoint *ep, uint32_t queues, wf_time now,
                                         wf_time *again_p)
{
	uint32_t can = 0;

	for (uint32_t mask = queues; mask != 0; mask &= mask - 1) {
		unsigned q = (unsigned)__builtin_ctz(mask);

		if (wf_endpoint_may_send(ep, q, ep->head[q].size, now, again_p))
			can |= 1u << q;
	}
	return can;
}

/* The queue of can (not 0) that sends next, by the scheduler; queues as above. */
unsigned wf_endpoint_pick(struct wf_endpoint *ep, uint32_t queues, uint32_t can);

/* Gives a packet the mark that the adapter is set to, or in a managed fabric its DLID. */
void wf_endpoint_mark(const struct wf_endpoint *ep, struct wf_packet *pkt);

/* Puts a packet of the host on the wire, which is free, by queue pkt->vl, which may send. */
static inline void wf_endpoint_send(struct wf_endpoint *ep, struct wf_packet *pkt, wf_time now)
{
	if (wf_unlikely(ep->marks))
		wf_endpoint_mark(ep, pkt);
	ep->dev.shard->tally[pkt->cls].sent++;
	wf_port_transmit(&ep->dev, wf_endpoint_port(ep), &ep->lanes[pkt->vl], pkt, now);
}

/* Who is asked for packets. Every function is set. */
struct wf_pull_ops {
	/*
	 * Gives the next packet that is of no class in ep->held, all but vl. Returns false when
	 * there is none now.
	 */
	bool (*next)(struct wf_endpoint *ep, wf_time now, struct wf_packet *pkt);
	/* Whether data of another class than those in ep->held may wait as well. */
	bool (*rivals)(const struct wf_endpoint *ep);
	/* ep->held has changed. */
	void (*hold)(struct wf_endpoint *ep);
	/* The packet is put on the wire now: the last chance to write into it. */
	void (*leave)(struct wf_endpoint *ep, struct wf_packet *pkt, wf_time now);
};

/*
 * Sends the next packet of whoever is asked, or one that waits. *again_p as above. Returns false
 * when none may leave now.
 *
 * What the host gives first leaves first, so acknowledgements stay ahead of data; only where data
 * of several classes waits is each class's next packet pulled, so that the scheduler can choose.
 */
bool wf_endpoint_pull(struct wf_endpoint *ep, const struct wf_pull_ops *ops, wf_time now,
                      wf_time *again_p);

/* Takes one of the packets that wait at their queue's head out again; false: none does. */
bool wf_endpoint_take_back(struct wf_endpoint *ep, const struct wf_pull_ops *ops,
                           struct wf_packet *pkt_p);

/*
 * After sending, or not: has the port look again as soon as its wire is free when there is more to
 * send, or when a link control packet waits, and else at again, if that is a time.
 */
static inline void wf_endpoint_again(struct wf_endpoint *ep, bool more, wf_time again, wf_time now)
{
	struct wf_port *port = wf_endpoint_port(ep);

	if (port->control != 0 || more)
		wf_port_wake(&ep->dev, port, now);
	else if (again != WF_TIME_NEVER)
		wf_port_wake(&ep->dev, port, again);
}

#endif
