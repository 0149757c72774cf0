/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - ports, and what has ports: a switch or a host's adapter.
 *
 * A device is a node of the engine. Each of its ports is one end of a link; input i of the node is
 * what port i receives. Timer i of the node (i < n_ports) is port i's "wire is free, look what to
 * send next", timer n_ports + i is for port i's flow control.
 *
 * A lane is one queue of one port, seen from both sides: packets that wait to leave by the port
 * (egress), and buffer taken by packets that came in by it (ingress), wherever they wait now.
 */
#ifndef WF_FABRIC_DEVICE_H
#define WF_FABRIC_DEVICE_H

#include "base/rate.h"
#include "engine/cells.h"
#include "fabric/config.h"
#include "fabric/counter.h"
#include "topo/topo.h"
#include "wire/packet.h"

/*
 * Why a packet is lost. There are three kinds that are never added up: congestion (no room, or too
 * long at the head of a queue), errors on links, and links that are down; and what devices drop
 * because they are set to. Only congestion breaks the promise of a lossless class. A packet without
 * a route is lost to a link that is down as long as one is, or as routes are those from when one
 * was; else its destination has no route at all.
 */
enum wf_drop {
	WF_DROP_BUFFER,   /* congestion: no room */
	WF_DROP_LIFE,     /* congestion: too long at the head of a queue */
	WF_DROP_ERROR,    /* bit errors, or a link that loses packets at random */
	WF_DROP_DOWN,     /* on the link or queued for it when it went down; no way round */
	WF_DROP_ROUTE,    /* no port leads to the destination, though all links are up */
	WF_DROP_HOPS,     /* it circled until its hop limit: switches did not agree on the way */
	WF_DROP_MTU,      /* it is larger than a port passes */
	WF_DROP_WATCHDOG, /* the PFC watchdog drops it: its queue was stopped for too long */
	WF_DROP_PKEY,     /* a port that guards its partitions does not know its P_Key */
	WF_DROPS
};

struct wf_setup;
struct wf_classes;

struct wf_lane {
	/* egress */
	struct wf_packet *head, *tail;
	uint32_t bytes; /* waiting */
	uint32_t max_bytes;
	uint64_t tx_packets;
	uint64_t tx_bytes;
	union {
		struct {
			wf_time from, until; /* stopped in between */
		} pause;
		struct {
			uint32_t sent;  /* blocks, in total, modulo 2^32: FCTBS */
			uint32_t limit; /* blocks we may have sent in total: FCCL */
		} credit;
	};
	union {
		struct {
			wf_time from, until; /* pfc: the pause after that one, if known */
		} again;
		struct wf_hoq {
			wf_time until;  /* credit: all packets are dropped until then; 0: none is */
			uint32_t tx;    /* packets that had left at the last drop of a head */
			uint16_t drops; /* heads dropped since one left */
			uint16_t times; /* that it came to that */
		} hoq;
	};
	wf_time wait_since; /* the head waits for flow control since; WF_TIME_NEVER: it does not */

	/* ingress */
	uint32_t used; /* buffer taken: bytes in whole cells, or blocks (credits) */
	union {
		uint32_t headroom; /* pfc: bytes taken of the headroom, besides used */
		uint32_t low;      /* credit: with fewer blocks granted the peer may run short */
	};
	uint32_t max_used;  /* largest used + headroom */
	uint32_t received;  /* blocks, in total: ABR */
	uint32_t granted;   /* the last limit we sent */
	uint32_t capacity;  /* headroom bytes (pfc) or buffer blocks (credit) this lane has */
	uint32_t alpha;     /* units of 2^-16: lossless, what it may take of the free buffer */
	uint32_t out_alpha; /* the same, lossy, of the queue by which packets leave */
	bool xoff;          /* pfc: too full; the peer was told to stop, where frames are sent */
	bool lossless;      /* what comes in by it has headroom */
	bool off;           /* credit: no arbitration table that a manager has set serves it */

	/* counters; those of fabric/counter.h under the names that they have there */
	uint32_t drops[WF_DROPS];
	WF_LANE_COUNTERS
	uint32_t stops;      /* times the head had to wait for credits or a pause to end */
	uint64_t stopped_ps; /* how long the lane was paused, or its head waited for credits */
	uint64_t stop_bytes; /* tx_bytes when its head last had to wait */
} WF_ALIGNED(WF_CACHE_LINE);

#define WF_PORT_STORE UINT16_MAX /* cut: the whole packet */

/* Who sees what a port puts on its wire: bits of wf_port.hooked. */
#define WF_HOOK_TAP 1u    /* wf_fabric.tap */
#define WF_HOOK_DRIVER 2u /* wf_fabric.hooks */
#define WF_HOOK_RETRY 4u  /* wf_port.retry */

struct wf_retry;
struct wf_port_fec;

struct wf_port {
	/* what every packet needs: one cache line */
	struct wf_link link;
	wf_time free_at;         /* the wire is free from then on */
	wf_time delay;           /* propagation, PHY, and the peer's receive pipeline */
	wf_ps_per_byte per_byte; /* wf_port_set_rate() sets it */
	uint16_t cut;            /* bytes after which the peer can act on a packet */
	uint16_t nonempty;       /* bit per queue with packets */
	uint16_t blocked;        /* bit per queue whose head flow control holds back */
	uint16_t control;        /* bit per queue with a link control packet to send */
	uint16_t held; /* bit per queue for which flow control has to be asked before a packet */
	uint16_t number;
	bool up;
	bool lossy;     /* received packets may be lost: a link that went down, loss, ber */
	bool maps;      /* the queue of what comes in has to be looked up */
	uint8_t hooked; /* WF_HOOK_* that look at what is put on the wire */

	wf_time in_delay; /* delay of the link into this port */
	const struct wf_setup *setup;
	const struct wf_classes *classes; /* setup's, or what a manager has set (station.h) */
	uint64_t loss;                    /* units of 2^-32, per received packet */
	uint64_t more_loss; /* the driver's part of it, besides what topology and setup say */
	uint64_t corrupt;   /* units of 2^-32: the packet goes on with WF_PACKET_BAD */
	uint64_t rng_key;
	uint32_t rng_count;
	uint32_t control_packets;  /* sent */
	uint64_t rate;             /* bits/s; wf_port_set_rate() sets it */
	struct {                   /* VL arbitration */
		uint8_t high, low; /* entry whose turn it is */
		int16_t high_left, low_left;
		int32_t limit_left; /* bytes of high priority before a low packet */
	} arb;
	struct wf_lane *lanes; /* the queues */
	uint8_t cursor;        /* DWRR: queue whose turn it is */
	bool victim;           /* its bit in InfiniBand's Victim_Mask: marks without credits, too */
	int32_t deficit[WF_MAX_QUEUES]; /* DWRR, bytes */
	const struct wf_ecn *ecn;       /* by queue */
	bool global;                    /* between groups of a dragonfly */
	uint64_t use;                   /* pint: its utilisation, Q32 */
	wf_time last_left;              /* pint: when the last packet left */
	uint32_t last_bytes;            /* pint: and how many bytes it had */
	wf_time hoq_life;               /* InfiniBand: of a head; WF_PARAM_AUTO: for ever */
	uint32_t hoq_stall;             /* so many of them dropped one after another: all are */
	uint16_t cut_in;                /* bytes of a packet that are in when it is an event here */
	bool retried;                   /* the peer sends again what is lost on the way here */
	struct wf_retry *retry;         /* of what it sends; NULL: never switched on (retry.h) */
	struct wf_port_fec *fec;        /* of what it receives; NULL: no raw errors (errors.h) */
} WF_ALIGNED(WF_CACHE_LINE);

_Static_assert(offsetof(struct wf_port, in_delay) == WF_CACHE_LINE, "hot fields are one line");

struct wf_fabric;
struct wf_device;
struct wf_station;

/* What is asked of a device of any kind, switch or host (network.h). Every function is set. */
struct wf_device_ops {
	/*
	 * All its ports are connected and have their rates: sets up flow control, and whatever
	 * shall happen at time 0. Returns 0, -ENOMEM, or -EINVAL with err filled.
	 */
	int (*start)(struct wf_device *dev, struct wf_err *err);
	/* The link at port goes down or comes up, now, while no node runs. */
	void (*set_up)(struct wf_device *dev, struct wf_port *port, bool up, wf_time now);
	/* It, or a port of it, has another setup now, while no node runs. */
	void (*changed)(struct wf_device *dev, wf_time now);
	/* Gives back what is not the engine's memory. */
	void (*fini)(struct wf_device *dev);
};

struct wf_device {
	struct wf_node node; /* first: the engine's */
	const struct wf_device_ops *ops;
	const struct wf_fabric *fabric;
	const struct wf_setup *setup;     /* what it is set to; its ports may have others */
	const struct wf_classes *classes; /* a host's lanes: setup's, or its port's */
	struct wf_fabric_shard *shard;    /* its shard's pool and tallies */
	struct wf_port *ports;
	struct wf_lane *lanes;        /* lanes[port * n_queues + queue] */
	struct wf_watchdog *watchdog; /* NULL: the fabric has none */
	struct wf_station *station;   /* NULL: the fabric is not managed (station.h) */
	uint32_t n_queues;
	uint32_t queues_used; /* bit per queue that has seen a packet */
	uint32_t n_ports;
	uint32_t id; /* node id in the topology */
};

static inline struct wf_device *wf_device_of(struct wf_node *node)
{
	return wf_container_of(node, struct wf_device, node);
}

/* A queue of a port: for the packet path, where it saves reading the port's second line. */
static inline struct wf_lane *wf_device_lane(const struct wf_device *dev, unsigned port,
                                             unsigned queue)
{
	return &dev->lanes[port * dev->n_queues + queue];
}

static inline struct wf_lane *wf_port_lane(const struct wf_port *port, unsigned queue)
{
	return &port->lanes[queue];
}

/* Time the wire is taken by a packet of n bytes. */
static inline wf_time wf_port_time(const struct wf_port *port, uint32_t n)
{
	return wf_rate_time(port->per_byte, n);
}

/* The same for any number of bytes. */
static inline wf_time wf_port_time_long(const struct wf_port *port, uint64_t n)
{
	return wf_rate_time_long(port->per_byte, n);
}

/*
 * Gives a device its ports and lanes, from its shard's memory. The links are connected later.
 * Returns 0 or -ENOMEM.
 */
int wf_device_init(struct wf_device *dev, const struct wf_device_ops *ops,
                   const struct wf_fabric *fabric, uint32_t id) WF_MUST_USE;

/* What every device does when it is set to something else: its ports' losses and flow control. */
void wf_device_changed(struct wf_device *dev, wf_time now);

/* The op of a device that has nothing to give back. */
void wf_device_fini_nothing(struct wf_device *dev);

/* Sets the rate at which port sends, bits/s: between WF_RATE_MIN and WF_RATE_MAX. */
void wf_port_set_rate(struct wf_port *port, uint64_t rate);

/* Sends the link control packet that waits for port. The wire is free. */
void wf_port_transmit_control(struct wf_device *dev, struct wf_port *port, wf_time now);

/* Has the port look for something to send at at, or when its wire is free, whichever is later. */
static inline void wf_port_wake(struct wf_device *dev, struct wf_port *port, wf_time at)
{
	unsigned slot = port->number;

	at = wf_max_time(at, port->free_at);
	if (dev->node.timer[slot] > at)
		wf_timer_set(&dev->node, slot, at);
}

/* Asks for a link control packet about queue to be sent as soon as the wire is free. */
void wf_port_want_control(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time now);

/* Notes that the head of a lane waits for flow control, from now on. */
void wf_lane_stop(struct wf_lane *lane, wf_time now);

/* Notes that it no longer does. */
static inline void wf_lane_go(struct wf_lane *lane, wf_time now)
{
	if (wf_likely(lane->wait_since == WF_TIME_NEVER))
		return;
	assert(now >= lane->wait_since);
	lane->stopped_ps += (uint64_t)(now - lane->wait_since);
	lane->wait_since = WF_TIME_NEVER;
}

/*
 * What happens to a packet before a device sees it: true when it was lost on the link (and is
 * counted); it may come corrupted. Call only when port->lossy.
 */
bool wf_port_loses(struct wf_device *dev, struct wf_port *port, struct wf_packet *pkt, wf_time now);

/* Sets what is lost of what port receives, from topology, setup and port->more_loss. */
void wf_port_set_loss(const struct wf_fabric *fabric, uint32_t node, struct wf_port *port);

/* Whether a packet is larger than port passes, in or out: port.mtu. */
bool wf_port_refuses(const struct wf_fabric *fabric, const struct wf_port *port,
                     const struct wf_packet *pkt);

/* Counts a packet of queue that ends here, now, without being delivered. */
void wf_device_drop(struct wf_device *dev, struct wf_port *port, unsigned queue,
                    const struct wf_packet *pkt, enum wf_drop why, wf_time now);

/*
 * Takes the end of a link at port down or up, now, while no node runs. The caller does the same at
 * the other end. Queued packets of a switch are the switch's.
 */
void wf_port_set_up(struct wf_device *dev, struct wf_port *port, bool up, wf_time now);

/*
 * The link from port out into port in of dev goes down, while no node runs: what is on it is lost.
 * Each such packet is marked, and is counted when it would have come in. So it does not matter how
 * long the link stays down or whether its delay changes meanwhile: neither a packet nor word of
 * credits from before reaches flow control that began anew.
 */
void wf_port_cut(struct wf_device *dev, struct wf_port *in, const struct wf_port *out);

#endif
