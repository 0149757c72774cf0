/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.h - the devices of a fabric on an engine, connected as the topology says.
 *
 * The one builder of everything that runs on modelled hardware: the shards' part of the fabric, a
 * device for each node of the topology, made by whoever knows what its hosts are, the links between
 * them, and what starts them. Who builds a simulation does, in this order,
 *
 *	wf_network_engine_cfg()    windows and horizon follow from the links
 *	wf_engine_create()
 *	wf_network_create()        devices, and links between them
 *	...                        programs
 *	wf_network_start()         flow control, and whatever happens at time 0
 */
#ifndef WF_FABRIC_NETWORK_H
#define WF_FABRIC_NETWORK_H

#include "fabric/fabric.h"

struct wf_network_cfg {
	const struct wf_fabric *fabric; /* borrowed for the life of the network */
	struct wf_engine *engine;       /* the same */
	unsigned n_shards;
	struct wf_mem *mem; /* for tables; must outlive the network */
	size_t shard_user;  /* bytes that wf_fabric_shard.user has, zeroed; 0: it is NULL */
	/* Makes the device of a host, in a shard; NULL when there is no more memory. */
	struct wf_device *(*make_host)(void *arg, struct wf_shard *shard, uint32_t host);
	/* Makes the device of another node; NULL: the fabric's own switch. */
	struct wf_device *(*make_switch)(void *arg, struct wf_shard *shard, uint32_t id);
	void *arg; /* of both */
};

struct wf_network {
	const struct wf_fabric *fabric;
	const struct wf_topo *topo;
	struct wf_mem *mem;
	unsigned n_shards;
	struct wf_fabric_shard **shards;
	struct wf_device **devices; /* by node id */
};

/*
 * Fills in the window, the horizon and the number of shards: what follows from links and threads.
 */
void wf_network_engine_cfg(const struct wf_fabric *fabric, unsigned threads,
                           struct wf_engine_cfg *cfg);

/*
 * Makes the devices, shard by shard in the order in which they will run, and connects them. net is
 * the caller's, zeroed. Returns 0 or -ENOMEM; what is there by then is freed by wf_network_fini().
 */
int wf_network_create(struct wf_network *net, const struct wf_network_cfg *cfg) WF_MUST_USE;

/* Starts all devices. Returns 0, -ENOMEM, or -EINVAL with err filled. */
int wf_network_start(const struct wf_network *net, struct wf_err *err) WF_MUST_USE;

/* Takes a link down or up at both its ends, now, while no node runs. */
void wf_network_set_link(const struct wf_network *net, uint32_t link, bool up, wf_time now);

/* A node, or a port of it, has another setup in the fabric now, while no node runs. */
void wf_network_changed(const struct wf_network *net, uint32_t id, wf_time now);

/* Has a node take over routes, while no node runs; nothing happens to a host. */
void wf_network_set_routes(const struct wf_network *net, uint32_t id,
                           const struct wf_routes *routes);

/* The two ports of one direction of a link: who sends, and who receives. */
struct wf_half {
	struct wf_device *src, *dst;
	struct wf_port *out, *in;
};

/* The direction of a link that leaves its end a, or else b. */
struct wf_half wf_network_half(const struct wf_network *net, uint32_t link, bool from_a);

static inline struct wf_device *wf_network_host(const struct wf_network *net, uint32_t host)
{
	return net->devices[net->topo->host_node[host]];
}

/* Frees it; the devices' memory is the engine's. A network that is zero is allowed. */
void wf_network_fini(struct wf_network *net);

#endif
