/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.c - from a topology to devices that are connected.
 */
#include "fabric/network.h"

#include <errno.h>
#include <string.h>

#include "fabric/errors.h"
#include "fabric/retry.h"
#include "fabric/switch.h"
#include "fabric/telemetry.h"

#define CUT_HEADER 64 /* bytes a cut-through switch reads before it acts */

static bool is_host(const struct wf_topo *topo, uint32_t id)
{
	return topo->nodes[id].kind == WF_TOPO_HOST;
}

void wf_network_engine_cfg(const struct wf_fabric *fabric, unsigned threads,
                           struct wf_engine_cfg *cfg)
{
	const struct wf_topo *topo = fabric->topo;

	cfg->threads = threads;
	cfg->shards = wf_engine_shards_for(threads);
	cfg->window = WF_TIME_NEVER;
	cfg->horizon = 0;
	for (uint32_t i = 0; i < topo->n_links; i++) {
		const struct wf_topo_link *l = &topo->links[i];
		wf_time slow = wf_fabric_slowest_packet(fabric, l) + fabric->retry_time;
		wf_time to_a = wf_fabric_delay(fabric, l, true);
		wf_time to_b = wf_fabric_delay(fabric, l, false);

		/* Hosts are late nodes: what is on its way to them does not count. */
		if (!is_host(topo, l->a))
			cfg->window = wf_min_time(cfg->window, to_a);
		if (!is_host(topo, l->b))
			cfg->window = wf_min_time(cfg->window, to_b);
		cfg->horizon = wf_max_time(cfg->horizon, wf_max_time(to_a, to_b) + slow);
	}
}

/* Gives each shard its pool, tallies, and what hosts count in. */
static int make_shards(struct wf_network *net, const struct wf_network_cfg *cfg)
{
	struct wf_store *records;
	int ret = wf_int_make_store(cfg->fabric, cfg->engine, &records);

	if (ret != 0)
		return ret;
	net->shards = net->mem->alloc(net->mem, net->n_shards * sizeof(struct wf_fabric_shard *));
	if (net->shards == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < net->n_shards; i++) {
		struct wf_shard *shard = wf_engine_shard(cfg->engine, i);
		struct wf_fabric_shard *fs = wf_shard_alloc(shard, sizeof(*fs));

		if (fs == NULL)
			return -ENOMEM;
		fs->shard = shard;
		fs->number = i;
		fs->records = records;
		fs->timed = cfg->fabric->managed;
		if (cfg->shard_user > 0)
			fs->user = wf_shard_alloc(shard, cfg->shard_user);
		if (cfg->shard_user > 0 && fs->user == NULL)
			return -ENOMEM;
		wf_shard_set_user(shard, fs);
		net->shards[i] = fs;
	}
	return 0;
}

static int make_device(struct wf_network *net, const struct wf_network_cfg *cfg, uint32_t id,
                       struct wf_shard *shard)
{
	struct wf_device *dev;

	if (is_host(net->topo, id))
		dev = cfg->make_host(cfg->arg, shard, net->topo->nodes[id].host);
	else if (cfg->make_switch != NULL)
		dev = cfg->make_switch(cfg->arg, shard, id);
	else
		dev = wf_switch_create(shard, net->fabric, id);
	net->devices[id] = dev;
	return dev == NULL ? -ENOMEM : 0;
}

static int make_devices(struct wf_network *net, const struct wf_network_cfg *cfg)
{
	uint32_t n = net->topo->n_nodes;
	uint32_t *order = net->mem->alloc(net->mem, 2 * (size_t)n * sizeof(*order));
	int ret = -ENOMEM;

	net->devices = net->mem->alloc(net->mem, n * sizeof(struct wf_device *));
	if (order == NULL || net->devices == NULL)
		goto out;
	ret = wf_topo_partition(net->topo, net->n_shards, order, order + n);
	for (uint32_t i = 0; i < n && ret == 0; i++)
		ret = make_device(net, cfg, order[i],
		                  wf_engine_shard(cfg->engine, order[n + order[i]]));
out:
	net->mem->free(net->mem, order);
	return ret;
}

/* A switch may cut through what comes in by a link only if no port of it is faster. */
static bool can_cut(const struct wf_network *net, uint32_t id, uint64_t rate)
{
	const struct wf_topo_node *node = &net->topo->nodes[id];

	if (node->kind == WF_TOPO_HOST || !net->devices[id]->setup->cfg.switch_cut)
		return false;
	for (uint32_t p = 0; p < node->n_ports; p++) {
		if (wf_fabric_rate(net->fabric,
		                   &net->topo->links[net->topo->ports[node->first_port + p].link]) >
		    rate)
			return false;
	}
	return true;
}

struct wf_half wf_network_half(const struct wf_network *net, uint32_t link, bool from_a)
{
	const struct wf_topo_link *l = &net->topo->links[link];
	struct wf_device *a = net->devices[l->a], *b = net->devices[l->b];
	struct wf_port *a_port = &a->ports[l->a_port], *b_port = &b->ports[l->b_port];

	if (from_a)
		return (struct wf_half){ .src = a, .dst = b, .out = a_port, .in = b_port };
	return (struct wf_half){ .src = b, .dst = a, .out = b_port, .in = a_port };
}

static int connect_half(const struct wf_network *net, uint32_t link, bool from_a)
{
	const struct wf_fabric *fabric = net->fabric;
	const struct wf_topo_link *l = &net->topo->links[link];
	const struct wf_topo_node *to;
	struct wf_half h = wf_network_half(net, link, from_a);

	to = &net->topo->nodes[h.dst->id];
	wf_port_set_rate(h.out, wf_fabric_rate(fabric, l));
	h.out->delay = wf_fabric_delay(fabric, l, !from_a);
	h.out->cut = can_cut(net, h.dst->id, h.out->rate) ? wf_narrow_u16(CUT_HEADER + fabric->gap)
	                                                  : WF_PORT_STORE;
	h.in->in_delay = h.out->delay;
	h.in->cut_in = h.out->cut;
	wf_port_set_loss(fabric, h.dst->id, h.in);
	h.in->global = net->topo->ports[to->first_port + h.in->number].global;
	h.in->maps |= h.in->global && fabric->vl_shift != 0;
	return wf_link_connect(&h.out->link, &h.src->node, &h.dst->node, h.in->number);
}

/* What both ends of a link know of its errors, each way. */
static int set_errors(const struct wf_network *net, uint32_t link, wf_time now)
{
	int ret = 0;

	for (int i = 0; i < 2 && ret == 0; i++) {
		struct wf_half h = wf_network_half(net, link, i == 0);

		ret = wf_port_errors_set(h.dst, h.in, now);
		if (ret == 0)
			ret = wf_retry_set(h.src, h.out, h.in);
	}
	return ret;
}

static int connect_links(const struct wf_network *net)
{
	int ret = 0;

	for (uint32_t i = 0; i < net->topo->n_links && ret == 0; i++) {
		ret = connect_half(net, i, true);
		if (ret == 0)
			ret = connect_half(net, i, false);
		if (ret == 0)
			ret = set_errors(net, i, 0);
	}
	return ret;
}

int wf_network_create(struct wf_network *net, const struct wf_network_cfg *cfg)
{
	int ret;

	net->fabric = cfg->fabric;
	net->topo = cfg->fabric->topo;
	net->mem = cfg->mem;
	net->n_shards = cfg->n_shards;
	ret = make_shards(net, cfg);
	if (ret == 0)
		ret = make_devices(net, cfg);
	return ret == 0 ? connect_links(net) : ret;
}

int wf_network_start(const struct wf_network *net, struct wf_err *err)
{
	int ret = 0;

	for (uint32_t id = 0; id < net->topo->n_nodes && ret == 0; id++)
		ret = net->devices[id]->ops->start(net->devices[id], err);
	return ret;
}

void wf_network_set_link(const struct wf_network *net, uint32_t link, bool up, wf_time now)
{
	struct wf_half h = wf_network_half(net, link, true);

	wf_port_fec_settle(h.out, now);
	wf_port_fec_settle(h.in, now);
	if (!up) {
		wf_port_cut(h.src, h.out, h.in);
		wf_port_cut(h.dst, h.in, h.out);
	}
	h.src->ops->set_up(h.src, h.out, up, now);
	h.dst->ops->set_up(h.dst, h.in, up, now);
}

/* The rate of a link's two directions, and what may be cut through from it. */
static void set_rate(const struct wf_network *net, uint32_t link)
{
	for (int i = 0; i < 2; i++) {
		struct wf_half h = wf_network_half(net, link, i == 0);

		wf_port_set_rate(h.out, wf_fabric_rate(net->fabric, &net->topo->links[link]));
	}
}

static void set_cut(const struct wf_network *net, uint32_t link)
{
	for (int i = 0; i < 2; i++) {
		struct wf_half h = wf_network_half(net, link, i == 0);

		h.out->cut = can_cut(net, h.dst->id, h.out->rate)
		                     ? wf_narrow_u16(CUT_HEADER + net->fabric->gap)
		                     : WF_PORT_STORE;
		h.in->cut_in = h.out->cut;
	}
}

void wf_network_changed(const struct wf_network *net, uint32_t id, wf_time now)
{
	const struct wf_topo_node *node = &net->topo->nodes[id];
	struct wf_device *dev = net->devices[id];

	dev->setup = wf_fabric_setup(net->fabric, id);
	dev->classes = &dev->setup->classes;
	for (uint32_t p = 0; p < node->n_ports; p++) {
		const struct wf_topo_port *tp = &net->topo->ports[node->first_port + p];

		wf_port_fec_settle(&dev->ports[p], now);
		wf_port_fec_settle(&net->devices[tp->peer]->ports[tp->peer_port], now);
		dev->ports[p].setup = wf_fabric_port_setup(net->fabric, id, p);
		dev->ports[p].classes = &dev->ports[p].setup->classes;
		dev->ports[p].maps |= net->fabric->maps;
		set_rate(net, tp->link);
		/* Without memory the run ends. */
		if (set_errors(net, tp->link, now) != 0)
			wf_shard_no_memory(dev->node.shard);
	}
	for (uint32_t p = 0; p < node->n_ports; p++)
		set_cut(net, net->topo->ports[node->first_port + p].link);
	dev->ops->changed(dev, now);
}

void wf_network_set_routes(const struct wf_network *net, uint32_t id,
                           const struct wf_routes *routes)
{
	if (!is_host(net->topo, id))
		wf_switch_set_routes(wf_container_of(net->devices[id], struct wf_switch, dev),
		                     routes);
}

void wf_network_fini(struct wf_network *net)
{
	if (net->mem == NULL)
		return;
	for (uint32_t id = 0; net->devices != NULL && id < net->topo->n_nodes; id++) {
		if (net->devices[id] != NULL)
			net->devices[id]->ops->fini(net->devices[id]);
	}
	net->mem->free(net->mem, net->devices);
	net->mem->free(net->mem, net->shards);
	memset(net, 0, sizeof(*net));
}
