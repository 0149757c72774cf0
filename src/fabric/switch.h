/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch.h - a switch: routes, buffers, queues and sends on.
 */
#ifndef WF_FABRIC_SWITCH_H
#define WF_FABRIC_SWITCH_H

#include "fabric/buffer.h"
#include "fabric/fabric.h"

struct wf_switch {
	struct wf_device dev;
	struct wf_buffer buffer; /* pfc, none */

	const struct wf_routes *routes; /* those that it uses */
	uint32_t
		leaf; /* leaf number, WF_TOPO_NONE without hosts or where they have several ports */
	const uint16_t *set_of_leaf;
	const struct wf_route_set *sets;
	const uint16_t *set_ports;
	const uint16_t *lft;      /* by host: the one port (routing lft) */
	uint32_t *load;           /* by port: bytes that wait (routing adaptive) */
	struct wf_grades *grades; /* routing adaptive with grades */
	struct wf_agg *agg;       /* what it reduces; NULL: nothing (aggregate.h) */
	uint64_t rng_key;
	uint64_t rng_count;
	uint64_t hash_key; /* routing ecmp */
	uint32_t n_down;   /* ports that are down */
	uint32_t n_shut;   /* queues that take no packets */
	uint32_t n_odd;    /* ports for which a packet has to be looked at: these, and others */
	uint16_t ecn;      /* mask of queues whose packets are marked, at any port */
	bool ecn_by_port;  /* ports have thresholds of their own */
};

/*
 * Creates the switch for node id of the fabric's topology, in a shard. Returns NULL when there is
 * no more memory.
 */
struct wf_device *wf_switch_create(struct wf_shard *shard, const struct wf_fabric *fabric,
                                   uint32_t id) WF_MUST_USE;

/*
 * The same for a switch that is the first part of something larger, of size bytes, which handles
 * its events by itself.
 */
struct wf_device *wf_switch_create_as(struct wf_shard *shard, const struct wf_fabric *fabric,
                                      uint32_t id, const struct wf_node_ops *ops,
                                      size_t size) WF_MUST_USE;

/* Takes over routes (anew), while no node runs. */
void wf_switch_set_routes(struct wf_switch *sw, const struct wf_routes *routes);

/*
 * A switch that sends packets of its own, in a fabric that is managed or has switches that reduce,
 * has buffer for them as for what comes in by a port: so many blocks of each queue more.
 */
void wf_switch_open_own(struct wf_switch *sw, uint32_t blocks);

/* It sends one by queue of port, whose link is up. There is room: station.h, aggregate.h. */
void wf_switch_send_own(struct wf_switch *sw, unsigned port, unsigned queue, struct wf_packet *pkt,
                        wf_time now);

/*
 * A copy of one that came in by a port leaves by queue of port, whose link is up, at once or later;
 * the caller sees to the buffer that it came into. Returns whether it waits: it is the last of its
 * queue then.
 */
bool wf_switch_send_copy(struct wf_switch *sw, unsigned port, unsigned queue,
                         const struct wf_packet *pkt, wf_time now);

/* One more queue takes no packets, or one less: whoever comes is looked at while there is any. */
void wf_switch_shut(struct wf_switch *sw, int more);

/* Drops the head of a queue, or all that waits there. */
void wf_switch_drop_head(struct wf_switch *sw, struct wf_port *port, unsigned queue,
                         enum wf_drop why, wf_time now);
void wf_switch_flush(struct wf_switch *sw, struct wf_port *port, unsigned queue, enum wf_drop why,
                     wf_time now);

/* Packets of each class that wait in the switch now: for checking. */
void wf_switch_count(const struct wf_switch *sw, uint64_t *per_class);

#endif
