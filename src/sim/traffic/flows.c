/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.c - from a list of flows to their sending and receiving sides, laid out host by host.
 */
#include <errno.h>

#include "base/rng.h"
#include "base/sort.h"
#include "sim/sim_priv.h"
#include "sim/host/payload.h"
#include "wire/ether.h"

#define RNG_FLOW 3 /* domain of the flows' UDP source ports */

/* What one flow needs sorted: by (host, start, number in the list). */
struct item {
	uint32_t host;
	uint32_t spec;
	wf_time start;
};

static int item_order(const void *a, const void *b, const void *arg)
{
	const struct item *x = a, *y = b;

	(void)arg;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->spec < y->spec ? -1 : x->spec > y->spec;
}

static int check_flow(const struct wf_sim *sim, const struct wf_flow_spec *f, size_t i,
                      struct wf_err *err)
{
	uint64_t mtu = sim->fabric.cfg.mtu;

	if (f->src >= sim->topo->n_hosts || f->dst >= sim->topo->n_hosts || f->src == f->dst)
		return wf_err_say(err,
		                  "traffic: flow %zu goes from host %u to host %u; two different "
		                  "hosts of 0 to %u are needed",
		                  i, f->src, f->dst, sim->topo->n_hosts - 1);
	if (f->bytes == 0 || f->bytes / mtu >= UINT32_MAX / 2)
		return wf_err_say(err, "traffic: flow %zu has %llu bytes; 1 to %llu are possible",
		                  i, (unsigned long long)f->bytes,
		                  (unsigned long long)(mtu * (UINT32_MAX / 2) - 1));
	if (f->cls >= WF_MAX_CLASSES || f->start < 0)
		return wf_err_say(err, "traffic: flow %zu has a bad class or start", i);
	return 0;
}

static void fill_env(struct wf_sim *sim)
{
	const struct wf_fabric_cfg *cfg = &sim->fabric.cfg;
	struct wf_host_env *env = &sim->windowed.env;

	env->fabric = &sim->fabric;
	env->window = (uint32_t)((cfg->sender_window + cfg->mtu - 1) / cfg->mtu);
	env->ack_every = cfg->sender_ack;
	env->timeout = cfg->sender_timeout;
	env->early_bits = 0;
	if (sim->fabric.route->reorders) {
		env->early_bits = 64;
		while (env->early_bits < env->window)
			env->early_bits *= 2;
	}
}

/* RoCE v2 uses the dynamic ports for entropy; RoCE v1 has none. */
static uint16_t entropy_of(const struct wf_sim *sim, uint32_t spec)
{
	if (sim->fabric.roce1)
		return 0;
	return wf_udp_source(wf_rand_key(sim->fabric.seed, RNG_FLOW, spec));
}

static void fill_tx(struct wf_sim *sim, const struct wf_flow_spec *flows, uint32_t i, uint32_t spec)
{
	const struct wf_flow_spec *f = &flows[spec];
	const struct wf_fabric_cfg *cfg = &sim->fabric.cfg;
	struct wf_flow_tx *tx = &sim->windowed.env.tx[i];
	uint64_t mtu = cfg->mtu;

	tx->start = f->start + cfg->nic_doorbell + cfg->nic_tx +
	            (f->bytes > cfg->nic_inline ? cfg->nic_fetch : 0);
	tx->bytes = f->bytes;
	tx->dst = f->dst;
	tx->n_packets = (uint32_t)((f->bytes + mtu - 1) / mtu);
	tx->entropy = entropy_of(sim, spec);
	tx->cls = f->cls;
	tx->spec = spec;
}

static int fill_rx(struct wf_sim *sim, const struct wf_flow_spec *flows, uint32_t i, uint32_t spec)
{
	const struct wf_flow_spec *f = &flows[spec];
	struct wf_flow_rx *rx = &sim->windowed.env.rx[i];
	uint64_t mtu = sim->fabric.cfg.mtu;

	rx->posted = f->start;
	rx->done = WF_TIME_NEVER;
	rx->src = f->src;
	rx->n_packets = (uint32_t)((f->bytes + mtu - 1) / mtu);
	rx->entropy = entropy_of(sim, spec);
	rx->cls = f->cls;
	sim->windowed.rx_of_spec[spec] = i;
	if (sim->windowed.env.early_bits == 0)
		return 0;
	rx->early =
		wf_shard_alloc(wf_engine_shard(sim->engine, 0), sim->windowed.env.early_bits / 8);
	return rx->early == NULL ? -ENOMEM : 0;
}

/* Lists the flows in the order of src (by_src) or dst; behind them is room for as many items. */
static void list_items(struct item *items, const struct wf_sim_cfg *cfg, bool by_src)
{
	for (uint32_t i = 0; i < cfg->n_flows; i++) {
		items[i].host = by_src ? cfg->flows[i].src : cfg->flows[i].dst;
		items[i].spec = i;
		items[i].start = cfg->flows[i].start;
	}
	wf_sort(items, items + cfg->n_flows, cfg->n_flows, sizeof(*items), item_order, NULL);
}

static int fill_flows(struct wf_sim *sim, const struct wf_sim_cfg *cfg, struct item *items,
                      uint32_t *first_tx)
{
	uint32_t host = 0;

	list_items(items, cfg, false);
	for (uint32_t i = 0; i < sim->n_flows; i++) {
		int ret = fill_rx(sim, cfg->flows, i, items[i].spec);

		if (ret != 0)
			return ret;
	}
	list_items(items, cfg, true);
	for (uint32_t i = 0; i < sim->n_flows; i++) {
		uint32_t rx = sim->windowed.rx_of_spec[items[i].spec];

		fill_tx(sim, cfg->flows, i, items[i].spec);
		sim->windowed.env.tx[i].rx = rx;
		sim->windowed.env.rx[rx].tx = i;
		while (host <= items[i].host)
			first_tx[host++] = i;
	}
	while (host <= sim->topo->n_hosts)
		first_tx[host++] = sim->n_flows;
	return 0;
}

/* All flows use queue pairs or TCP, or none does. */
static int check_ops(const struct wf_sim_cfg *cfg, bool *rc_p, struct wf_err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < cfg->n_flows; i++)
		n += cfg->flows[i].op != WF_FLOW_WINDOW;
	*rc_p = n > 0;
	if (n != cfg->n_flows && (cfg->app != NULL || cfg->n_storage != 0))
		return wf_err_say(
			err, "traffic: beside a job or storage it goes over queue pairs or TCP; "
			     "write op: write, send, read or tcp");
	if (n != 0 && n != cfg->n_flows)
		return wf_err_say(err, "traffic: op window does not go together with write, send, "
		                       "read or tcp in one run; use one or the other");
	return 0;
}

/* Programs on adapters: the caller's come first, then those that carry the flows, and storage. */
static int make_app(struct wf_sim *sim, const struct wf_sim_cfg *cfg, struct wf_err *err)
{
	int ret = 0;

	sim->has_app = true;
	sim->adapter_env.fabric = &sim->fabric;
	if (cfg->app != NULL)
		sim->app[sim->n_apps++] = *cfg->app;
	if (cfg->n_flows != 0)
		ret = wf_rc_create(&sim->fabric, cfg->cc, cfg->flows, cfg->n_flows, &sim->rc, err);
	if (ret == 0 && wf_tcp_any(cfg->flows, cfg->n_flows))
		ret = wf_tcp_flows_create(&sim->fabric, cfg->flows, cfg->n_flows, &sim->tcp);
	if (ret == 0 && cfg->n_storage != 0)
		ret = wf_storage_create(&sim->fabric, cfg->cc, cfg->storage, cfg->n_storage,
		                        &sim->storage, err);
	if (ret != 0)
		return ret;
	sim->adapter_env.tcp =
		sim->tcp != NULL || (cfg->app != NULL && cfg->app->tcp) ||
		wf_storage_any_tcp(cfg->storage, cfg->n_storage, sim->fabric.cfg.nic_stack);
	if (sim->adapter_env.tcp && sim->topo->host_ports > 1)
		return wf_err_say(err, "topology.ports: the kernel's TCP has one port here; write "
		                       "ports: 1, or leave TCP out");
	if (sim->rc != NULL)
		wf_rc_app(sim->rc, &sim->app[sim->n_apps++]);
	if (sim->storage != NULL)
		wf_storage_app(sim->storage, &sim->app[sim->n_apps++]);
	if (cfg->app == NULL || !cfg->app->data)
		return 0;
	if (sim->n_apps > 1)
		return wf_err_say(err, "traffic: it (or storage) has no contents, and the programs "
		                       "beside it do");
	sim->fabric.lost = wf_adapter_lost;
	sim->fabric.lost_arg = &sim->adapter_env;
	sim->fabric.copied = wf_adapter_copied;
	return wf_store_create(sim->engine, sizeof(struct wf_payload), &sim->adapter_env.payload);
}

int wf_sim_make_flows(struct wf_sim *sim, const struct wf_sim_cfg *cfg, struct wf_err *err)
{
	struct wf_shard *shard = wf_engine_shard(sim->engine, 0);
	struct wf_mem *mem = sim->mem;
	struct item *items;
	bool rc;
	int ret;

	if (cfg->n_flows >= UINT32_MAX / 2)
		return wf_err_say(err, "traffic: %zu flows are too many; at most %u are possible",
		                  cfg->n_flows, UINT32_MAX / 2 - 1);
	for (size_t i = 0; i < cfg->n_flows; i++) {
		ret = check_flow(sim, &cfg->flows[i], i, err);
		if (ret != 0)
			return ret;
	}
	ret = check_ops(cfg, &rc, err);
	if (ret != 0)
		return ret;
	sim->n_flows = wf_narrow_u32(cfg->n_flows);
	if (rc || cfg->app != NULL || cfg->n_storage != 0)
		return make_app(sim, cfg, err);
	if (sim->fabric.by_port)
		return wf_err_say(err, "topology.ports: on InfiniBand a queue pair belongs to a "
		                       "port, and op window has none; write op: write, send or "
		                       "read");
	fill_env(sim);
	sim->windowed.env.tx = wf_shard_alloc(shard, cfg->n_flows * sizeof(struct wf_flow_tx));
	sim->windowed.env.rx = wf_shard_alloc(shard, cfg->n_flows * sizeof(struct wf_flow_rx));
	sim->windowed.rx_of_spec =
		mem->alloc(mem, cfg->n_flows * sizeof(*sim->windowed.rx_of_spec));
	items = mem->alloc(mem, 2 * cfg->n_flows * sizeof(*items)); /* half of it to sort in */
	if (sim->windowed.env.tx == NULL || sim->windowed.env.rx == NULL ||
	    sim->windowed.rx_of_spec == NULL || items == NULL)
		ret = -ENOMEM;
	else
		ret = fill_flows(sim, cfg, items, sim->windowed.first_tx);
	mem->free(mem, items);
	return ret;
}
