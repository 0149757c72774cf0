/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ns3_priv.h - what the devices of one simulation share, and the tables that they put in place of
 * the fabric's.
 */
#ifndef WF_NS3_NS3_PRIV_H
#define WF_NS3_NS3_PRIV_H

#include "fabric/switch.h"
#include "ns3/mrg.h"
#include "ns3/path.h"
#include "ns3/sim.h"

#define WF_NS3_PAUSES 254

/* Pause frames received, in their order. */
struct wf_ns3_pause_log {
	struct wf_ns3_pause_log *next;
	uint32_t n;
	struct wf_ns3_pause pause[WF_NS3_PAUSES];
};

/* What all devices share: the user pointer of the fabric's shard, of which there is one. */
struct wf_ns3_shared {
	const struct wf_ns3_paths *paths; /* NULL: flows are hashed */
	/*
	 * Losses: a stream for all links, then one for each link with a rate of its own; or NULL.
	 */
	struct wf_mrg *streams;
	/*
	 * Marks. A pause frame takes a number too; one that ends a pause, behind the packet whose
	 * leaving caused it.
	 */
	struct wf_mrg_row coins;
	uint32_t coins_owed;
	struct wf_ns3_pause_log *pauses, *last_pauses;
};

static inline struct wf_ns3_shared *wf_ns3_shared(const struct wf_device *dev)
{
	return dev->shard->user;
}

/* Whether the wire is taken: until the event that it is free has run, which there always is. */
static inline bool wf_ns3_is_busy(const struct wf_device *dev, const struct wf_port *port)
{
	return wf_timer_is_set(&dev->node, port->number);
}

/* How long bytes, at least 1, take at a rate in bits/s: whole ns (hooks.c). */
wf_time wf_ns3_time(uint64_t rate, uint32_t bytes);

extern const struct wf_fabric_hooks wf_ns3_hooks;

/* The op warm of all nodes: there are no windows, and nothing is fetched ahead. */
void wf_ns3_no_warm(const struct wf_node *node, unsigned input);

/* A switch. */
struct wf_ns3_switch {
	struct wf_switch sw; /* first: the fabric's */
	struct wf_ns3_port {
		uint32_t alpha; /* units of 2^-16: pfc.c */
		uint8_t last;   /* the queue that sent last */
	} * port;               /* by port */
};

static inline struct wf_ns3_switch *wf_ns3_switch_of(struct wf_switch *sw)
{
	return wf_container_of(sw, struct wf_ns3_switch, sw);
}

/* Creates the switch for node id in a shard. Returns NULL when there is no more memory. */
struct wf_device *wf_ns3_switch_create(struct wf_shard *shard, const struct wf_fabric *fabric,
                                       uint32_t id) WF_MUST_USE;

/*
 * Of n queues, which of those in eligible (not 0) has its turn after last: packets count, not
 * bytes.
 */
unsigned wf_ns3_turn(unsigned n, unsigned last, uint32_t eligible);

extern const struct wf_flowctl_ops wf_ns3_pfc;

#endif
