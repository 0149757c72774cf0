/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.h - what all devices of one fabric share, and what each shard counts.
 */
#ifndef WF_FABRIC_FABRIC_H
#define WF_FABRIC_FABRIC_H

#include "fabric/config.h"
#include "fabric/device.h"
#include "fabric/flowctl/flowctl.h"
#include "fabric/incident.h"
#include "fabric/route/route.h"
#include "fabric/sched/sched.h"
#include "fabric/setup.h"
#include "topo/routes.h"
#include "wire/size.h"

/* Packet counts of one class. What is inside is counted on its own, to check the rest against. */
struct wf_tally {
	uint64_t sent;      /* by adapters */
	uint64_t delivered; /* to adapters */
	uint64_t dropped;
	int64_t queued; /* in switches; may be negative in one shard, not in the sum */
	int64_t on_links;
};

/* What the devices of one shard share: the user pointer of the engine's shard. */
struct wf_fabric_shard {
	struct wf_packet *free;   /* packets for queues */
	struct wf_store *records; /* of all shards: telemetry.h; NULL: there is none */
	struct wf_shard *shard;
	unsigned number; /* of the shard */
	bool timed;      /* packets in queues have their time: wf_packet_timed() */
	uint64_t hops;   /* packets put on links, control included */
	struct wf_tally tally[WF_MAX_CLASSES];
	void *user; /* the driver's */
	struct wf_incident_chunk *first_incident, *last_incident, *free_incidents;
};

struct wf_sharp;

enum wf_telemetry { WF_TELEMETRY_NONE, WF_TELEMETRY_INT, WF_TELEMETRY_PINT };

/* The codes of PINT, for telemetry.h. */
struct wf_pint {
	uint64_t *value; /* of a code, in 1/512, Q32 */
	uint32_t codes;
	uint64_t rtt; /* ps */
};

/*
 * What a driver may do in its own way, where all other ways are the fabric's. It may also put
 * tables of its own in the place of wf_fabric.flowctl, route and sched.
 */
struct wf_fabric_hooks {
	/*
	 * A packet of bytes leaves by port now: when is its wire free again? The packet arrives the
	 * port's delay after that.
	 */
	wf_time (*wire_free)(struct wf_device *dev, const struct wf_port *port, uint32_t bytes,
	                     wf_time now);
	/*
	 * Whether a packet, link control too, was lost on the link by which it came; port->lossy.
	 */
	bool (*loses)(struct wf_device *dev, const struct wf_port *port,
	              const struct wf_packet *pkt);
};

struct wf_fabric {
	struct wf_setup *setups; /* what devices are set to; 0: where nothing else is said */
	unsigned n_setups;
	struct wf_fabric_cfg cfg;  /* of setup 0, and of the fabric as a whole */
	struct wf_classes classes; /* of setup 0 */
	uint16_t *setup_of_node;   /* numbers of setups; NULL: all have setup 0 */
	uint16_t *setup_of_port;
	uint8_t dscp[WF_MARKS]; /* of packets with a mark */
	bool maps;              /* the queue of a packet depends on the device */
	bool hops_count;        /* packets may circle: those that took too many hops are dropped */
	bool watchdogs;     /* devices may have a PFC watchdog, now or later; the driver's, too */
	uint64_t narrowest; /* least link.width of any, at some time */
	wf_time retry_time; /* for which links that send again may hold packets up at the most */
	uint64_t slowest;   /* bits/s that a link may have at some time; or auto: the topology's */
	const uint64_t *trained; /* by link: bits/s at the most; 0: any; NULL: all; the driver's */
	const struct wf_flowctl_ops *flowctl;
	const struct wf_route_ops *route;
	const struct wf_sched_ops *sched;
	const struct wf_topo *topo;
	struct wf_mem *mem; /* for what is the fabric's, and its driver's, but no node's */
	struct wf_routes *routes;
	uint64_t seed;
	uint32_t gap;          /* bytes between packets */
	uint32_t header;       /* bytes around the payload of a data packet */
	uint32_t max_wire;     /* bytes of a full packet that has no extended headers */
	uint32_t largest;      /* bytes that no packet exceeds: a full one with all it can have */
	uint32_t control_size; /* bytes of a link control packet */
	bool by_port;          /* InfiniBand: hosts' ports have addresses (topo/routes.h) */
	bool managed;          /* a subnet manager sets forwarding; the driver's (station.h) */
	/* Who reduces in switches, and by which trees; the driver's, before devices are made. */
	const struct wf_sharp *sharp; /* NULL: nobody does (aggregate.h) */
	bool sharp_shut; /* a manager sets trees up first: hosts wait; changed while no node runs */
	bool roce1;      /* no IP: hosts' packets cannot be marked and have no entropy */
	/*
	 * Dragonfly with credits: packets that have passed a global link go on in the upper half of
	 * the VLs, vl_shift further up, so that buffers never wait for one another in a circle. 0:
	 * all VLs are alike.
	 */
	uint8_t vl_shift;
	/*
	 * Told of every packet that is dropped, by the device that drops it, and of one that is
	 * trimmed and goes on, while it still has its payload; NULL: nobody is.
	 */
	void (*lost)(void *arg, struct wf_fabric_shard *shard, const struct wf_packet *pkt,
	             bool trimmed);
	void *lost_arg;
	/*
	 * A switch has made a copy of a packet, whose payload is to be its own; false: there is no
	 * more memory, and the run ends. NULL: packets have none. arg is lost_arg.
	 */
	bool (*copied)(void *arg, struct wf_fabric_shard *shard, struct wf_packet *copy);
	/*
	 * Told of every packet that a tapped port puts on its wire, link control too, when its
	 * first bit leaves, on the thread of the device's shard. NULL: no port is tapped.
	 */
	void (*tap)(void *arg, const struct wf_device *dev, const struct wf_port *port,
	            const struct wf_packet *pkt, wf_time now);
	void *tap_arg;

	uint8_t born_step;           /* of a packet's birth, 2^n ps: wf_packet_set_born() */
	enum wf_telemetry telemetry; /* switch.telemetry; auto is none here */
	struct wf_pint pint;
	uint8_t int_bytes;  /* that telemetry takes in a packet, and in its acknowledgement */
	uint32_t incidents; /* bit per enum wf_incident_kind that is noted; the driver's */
	bool broken;        /* a link is down, or was when the routes were found; the driver's */
	bool careful;       /* packets that go straight through a switch have to be looked at */
	bool departs;       /* something happens when a packet leaves: telemetry, or marking then */
	const struct wf_fabric_hooks *hooks; /* the driver's, before devices are made; or NULL */
};

/* The setup of a node, and of a port of one, by its number in the topology. */
static inline const struct wf_setup *wf_fabric_setup(const struct wf_fabric *fabric, uint32_t node)
{
	return &fabric->setups[fabric->setup_of_node != NULL ? fabric->setup_of_node[node] : 0];
}

static inline const struct wf_setup *wf_fabric_port_setup(const struct wf_fabric *fabric,
                                                          uint32_t node, unsigned port)
{
	uint32_t i = fabric->topo->nodes[node].first_port + port;

	return &fabric->setups[fabric->setup_of_port != NULL ? fabric->setup_of_port[i] : 0];
}

/* The same of the other end of a port's link. */
static inline const struct wf_setup *wf_fabric_peer_setup(const struct wf_fabric *fabric,
                                                          uint32_t node, unsigned port)
{
	const struct wf_topo_port *p =
		&fabric->topo->ports[fabric->topo->nodes[node].first_port + port];

	return wf_fabric_port_setup(fabric, p->peer, p->peer_port);
}

/* The queue in which a packet of class cls leaves a host. */
static inline uint8_t wf_fabric_queue(const struct wf_device *host, uint8_t cls)
{
	const struct wf_classes *classes = host->classes;
	uint8_t queue = classes->of[cls];

	if (host->fabric->vl_shift == 0 || classes->queue[queue].exempt)
		return queue;
	return queue % host->fabric->vl_shift;
}

/* The host that has an address: itself, unless its ports have one each. */
static inline uint32_t wf_fabric_host(const struct wf_fabric *fabric, uint32_t address)
{
	return fabric->by_port ? address % fabric->topo->n_hosts : address;
}

/* What maps tell a packet by: wf_setup.queue_of. */
static inline unsigned wf_packet_key(const struct wf_packet *pkt)
{
	return pkt->cls | (unsigned)pkt->mark << 4;
}

/*
 * Compiles a configuration, and those of devices that have another one (NULL: none has). topo,
 * devices and mem are borrowed for the life of the fabric. Returns 0, -ENOMEM, or -EINVAL with err
 * filled.
 */
int wf_fabric_init(struct wf_fabric *fabric, const struct wf_fabric_cfg *cfg,
                   const struct wf_devices *devices, const struct wf_topo *topo, uint64_t seed,
                   struct wf_mem *mem, struct wf_err *err) WF_MUST_USE;

/*
 * Computes the fabric's routes over the links for which down[link] is 0 (NULL: over all), with the
 * forwarding tables if its routing uses them. On success *routes_p is owned by the caller. Returns
 * what wf_routes_create() does.
 */
int wf_fabric_find_routes(const struct wf_fabric *fabric, const uint8_t *down,
                          struct wf_routes **routes_p) WF_MUST_USE;

/*
 * While the fabric runs, and no node does: devices has more configurations than before, behind
 * those that there were, which are the same. Nothing is set to them yet. The setups of before are
 * *old_p, the caller's to free when no device has them any more. Returns as init does; then nothing
 * has changed.
 */
int wf_fabric_more_setups(struct wf_fabric *fabric, const struct wf_devices *devices,
                          struct wf_setup **old_p, struct wf_err *err) WF_MUST_USE;

/* Frees what init took. */
void wf_fabric_fini(struct wf_fabric *fabric);

/*
 * The receive pipeline of a node: nic.rx of a host; of a switch what the topology's file says of
 * it, or else switch.latency.
 */
wf_time wf_fabric_pipeline(const struct wf_fabric_cfg *cfg, const struct wf_topo_node *node);

/*
 * Delay of a link, towards its end a or b: propagation, PHY, and the receive pipeline. The smallest
 * over all links into switches is the engine's window.
 */
wf_time wf_fabric_delay(const struct wf_fabric *fabric, const struct wf_topo_link *link, bool to_a);

/* The part of a rate that a link of a width has, units of 2^-16. */
static inline uint64_t wf_fabric_part(uint64_t rate, uint64_t width)
{
	return wf_max_u64((uint64_t)((unsigned __int128)rate * width >> 16), (uint64_t)WF_RATE_MIN);
}

/* The longest that a packet of any size takes on a link at any time, however slow it is then. */
wf_time wf_fabric_slowest_packet(const struct wf_fabric *fabric, const struct wf_topo_link *link);

/* Bits/s of a link: what the topology says, or less where it came up with less. */
uint64_t wf_fabric_rate(const struct wf_fabric *fabric, const struct wf_topo_link *link);

/*
 * How hosts' packets are wrapped where the configuration's header is name: "rocev2", "rocev1",
 * "ib"; "roce": as rocev2, but packets of rocev1, which are larger, may come from outside as well.
 */
enum wf_encap wf_header_encap(const char *name);

/* A packet's memory for a queue; the caller copies into it. NULL: no more memory; the run ends. */
struct wf_packet *wf_packet_get(struct wf_fabric_shard *shard);

/* A packet of a queue, where shards are timed. */
struct wf_packet_timed {
	struct wf_packet pkt;
	wf_time since; /* it came to the device */
	/*
	 * Copies of a multicast packet have one buffer, the original's, until the last has left:
	 * whose qpn is how many of them wait. NULL: it has its own.
	 */
	struct wf_packet *shared;
	wf_time pad[6];
};

static inline struct wf_packet_timed *wf_packet_timed(struct wf_packet *pkt)
{
	return (struct wf_packet_timed *)(void *)pkt;
}

/*
 * For the driver of a fabric whose links may become slower than the configuration says: down to
 * that rate. Before the engine is made.
 */
void wf_fabric_slow(struct wf_fabric *fabric, uint64_t rate);

static inline void wf_packet_put(struct wf_fabric_shard *shard, struct wf_packet *pkt)
{
	pkt->next = shard->free;
	shard->free = pkt;
}

#endif
