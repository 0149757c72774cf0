/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.c - builds a simulation from topology, configuration and flows, and runs it.
 */
#include "sim/sim.h"

#include <errno.h>
#include <string.h>

#include "sim/sim_priv.h"

#define CUT_HEADER 64      /* bytes a cut-through switch reads before it acts */
#define PROGRESS_EVERY 256 /* windows */
#define GATE_WINDOW (1 * WF_US)
#define GATE_WINDOWS (1 << 17)
#define GATE_DELAY_MAX (2 * WF_S)

static bool is_host(const struct wf_topo *topo, uint32_t id)
{
	return topo->nodes[id].kind == WF_TOPO_HOST;
}

static bool is_gate(const struct wf_sim *sim, uint32_t id)
{
	return sim->gate_env.ops != NULL && is_host(sim->topo, id);
}

/*
 * Who runs a simulation by the piece wants to know when what happens next, and windows are what that is
 * known in: they are short. Links may become longer than they are now, as long as the wheel is not too large.
 */
static void gate_cfg(struct wf_sim *sim, struct wf_engine_cfg *cfg)
{
	wf_time room;

	cfg->window = wf_min_time(cfg->window, GATE_WINDOW);
	room = cfg->window * GATE_WINDOWS;
	sim->delay_max = wf_min_time(wf_max_time(room - cfg->horizon, 0), GATE_DELAY_MAX);
	cfg->horizon += sim->delay_max;
}

/* The window and the horizon follow from the links. */
static int engine_cfg(struct wf_sim *sim, const struct wf_sim_cfg *want, struct wf_engine_cfg *cfg,
                      struct wf_err *err)
{
	const struct wf_topo *topo = sim->topo;
	uint64_t bytes = sim->fabric.max_wire + sim->fabric.gap;

	memset(cfg, 0, sizeof(*cfg));
	cfg->threads = want->threads;
	cfg->shards = wf_engine_shards_for(want->threads);
	cfg->mem = wf_mem_heap();
	cfg->window = WF_TIME_NEVER;
	for (uint32_t i = 0; i < topo->n_links; i++) {
		const struct wf_topo_link *l = &topo->links[i];
		wf_time slow = (wf_time)(bytes * 8 * (uint64_t)WF_S / l->rate) + 1;
		wf_time to_a = wf_fabric_delay(&sim->fabric, l, !is_host(topo, l->a));
		wf_time to_b = wf_fabric_delay(&sim->fabric, l, !is_host(topo, l->b));

		/* Hosts are late nodes: what is on its way to them does not count. */
		if (!is_host(topo, l->a))
			cfg->window = wf_min_time(cfg->window, to_a);
		if (!is_host(topo, l->b))
			cfg->window = wf_min_time(cfg->window, to_b);
		cfg->horizon = wf_max_time(cfg->horizon, wf_max_time(to_a, to_b) + slow);
	}
	if (want->app != NULL && want->app->side_delay > 0) {
		cfg->window = wf_min_time(cfg->window, want->app->side_delay);
		cfg->horizon = wf_max_time(cfg->horizon, want->app->side_delay);
	}
	if (cfg->window < 1)
		return wf_err_say(err,
		                  "link.phy: a link has no delay at all; cable length, link.phy, "
		                  "switch.latency or nic.rx must be above 0");
	if (want->gate != NULL)
		gate_cfg(sim, cfg);
	return 0;
}

/* Gives each shard its pool, tallies and host counters. */
static int make_shards(struct wf_sim *sim)
{
	struct wf_mem *mem = wf_mem_heap();

	sim->shards = mem->alloc(mem, sim->n_shards * sizeof(struct wf_fabric_shard *));
	if (sim->shards == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < sim->n_shards; i++) {
		struct wf_shard *shard = wf_engine_shard(sim->engine, i);
		struct wf_fabric_shard *fs = wf_shard_alloc(shard, sizeof(*fs));

		if (fs == NULL)
			return -ENOMEM;
		fs->shard = shard;
		fs->number = i;
		fs->grave = wf_shard_alloc(shard, sizeof(*fs->grave));
		fs->user = wf_shard_alloc(shard, sizeof(struct wf_host_counts));
		if (fs->grave == NULL || fs->user == NULL)
			return -ENOMEM;
		wf_shard_set_user(shard, fs);
		sim->shards[i] = fs;
	}
	return 0;
}

/* Whether flows run beside the application. */
static bool has_beside(const struct wf_sim *sim)
{
	return sim->beside.start != NULL;
}

static int make_adapter(struct wf_sim *sim, uint32_t id, struct wf_shard *shard)
{
	uint32_t host = sim->topo->nodes[id].host;
	struct wf_hca_attr attr;
	struct wf_adapter *a;

	wf_hca_attr_defaults(&attr);
	sim->app.attr(sim->app.arg, host, &attr);
	if (has_beside(sim)) {
		struct wf_hca_attr more;

		wf_hca_attr_defaults(&more);
		sim->beside.attr(sim->beside.arg, host, &more);
		attr.max_qp += more.max_qp;
		attr.max_mr += more.max_mr;
		attr.max_events += more.max_events;
		attr.max_cqe = attr.max_cqe > more.max_cqe ? attr.max_cqe : more.max_cqe;
	}
	a = wf_adapter_create(shard, &sim->adapter_env, host, &attr);
	if (a == NULL)
		return -ENOMEM;
	sim->adapters[host] = a;
	sim->devices[id] = wf_adapter_device(a);
	return 0;
}

static int make_device(struct wf_sim *sim, uint32_t id, struct wf_shard *shard,
                       const uint32_t *first_tx)
{
	uint32_t host = sim->topo->nodes[id].host;

	if (is_gate(sim, id)) {
		sim->gates[host] = wf_gate_create(shard, &sim->gate_env, host);
		if (sim->gates[host] == NULL)
			return -ENOMEM;
		sim->devices[id] = wf_gate_device(sim->gates[host]);
		return 0;
	}
	if (is_host(sim->topo, id) && sim->has_app)
		return make_adapter(sim, id, shard);
	if (is_host(sim->topo, id)) {
		struct wf_host *h = wf_host_create(shard, &sim->env, host, first_tx[host],
		                                   first_tx[host + 1] - first_tx[host]);

		if (h == NULL)
			return -ENOMEM;
		sim->hosts[host] = h;
		sim->devices[id] = wf_host_device(h);
	} else {
		struct wf_switch *sw = wf_switch_create(shard, &sim->fabric, id);

		if (sw == NULL)
			return -ENOMEM;
		sim->devices[id] = &sw->dev;
	}
	return 0;
}

/* Creates the nodes shard by shard, in the order in which they will run. */
static int make_devices(struct wf_sim *sim, const uint32_t *first_tx)
{
	struct wf_mem *mem = wf_mem_heap();
	uint32_t n = sim->topo->n_nodes;
	uint32_t *order = mem->alloc(mem, 2 * (size_t)n * sizeof(*order));
	int ret = -ENOMEM;

	sim->devices = mem->alloc(mem, n * sizeof(struct wf_device *));
	sim->hosts = mem->alloc(mem, sim->topo->n_hosts * sizeof(struct wf_host *));
	sim->adapters = mem->alloc(mem, sim->topo->n_hosts * sizeof(struct wf_adapter *));
	sim->gates = mem->alloc(mem, sim->topo->n_hosts * sizeof(struct wf_gate *));
	if (order == NULL || sim->devices == NULL || sim->hosts == NULL || sim->adapters == NULL ||
	    sim->gates == NULL)
		goto out;
	ret = wf_topo_partition(sim->topo, sim->n_shards, order, order + n);
	for (uint32_t i = 0; i < n && ret == 0; i++)
		ret = make_device(sim, order[i], wf_engine_shard(sim->engine, order[n + order[i]]),
		                  first_tx);
out:
	mem->free(mem, order);
	return ret;
}

/* A switch may cut through what comes in by a link only if no port of it is faster. */
static bool can_cut(const struct wf_sim *sim, uint32_t id, uint64_t rate)
{
	const struct wf_topo_node *node = &sim->topo->nodes[id];

	if (node->kind == WF_TOPO_HOST || !sim->fabric.cfg.switch_cut)
		return false;
	for (uint32_t p = 0; p < node->n_ports; p++) {
		if (sim->topo->links[sim->topo->ports[node->first_port + p].link].rate > rate)
			return false;
	}
	return true;
}

/* Connects the direction of link l that leaves node from. */
static int connect_half(struct wf_sim *sim, const struct wf_topo_link *l, bool from_a)
{
	const struct wf_fabric *fabric = &sim->fabric;
	struct wf_device *src = sim->devices[from_a ? l->a : l->b];
	struct wf_device *dst = sim->devices[from_a ? l->b : l->a];
	struct wf_port *out = &src->ports[from_a ? l->a_port : l->b_port];
	struct wf_port *in = &dst->ports[from_a ? l->b_port : l->a_port];
	bool into_switch = !is_host(sim->topo, dst->id);

	wf_port_set_rate(out, l->rate);
	out->delay = wf_fabric_delay(fabric, l, into_switch);
	out->cut = can_cut(sim, dst->id, l->rate) ? wf_narrow_u16(CUT_HEADER + fabric->gap)
	                                          : WF_PORT_STORE;
	in->in_delay = out->delay;
	in->loss = wf_min_u64(l->loss + fabric->cfg.link_loss, WF_PROB_ONE);
	in->lossy = in->loss != 0 || fabric->cfg.link_ber != 0;
	in->global = sim->topo->ports[sim->topo->nodes[dst->id].first_port + in->number].global;
	return wf_link_connect(&out->link, &src->node, &dst->node, in->number);
}

static int connect_links(struct wf_sim *sim)
{
	for (uint32_t i = 0; i < sim->topo->n_links; i++) {
		const struct wf_topo_link *l = &sim->topo->links[i];
		int ret = connect_half(sim, l, true);

		if (ret == 0)
			ret = connect_half(sim, l, false);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int start_devices(struct wf_sim *sim, struct wf_err *err)
{
	for (uint32_t id = 0; id < sim->topo->n_nodes; id++) {
		int ret = 0;

		if (is_gate(sim, id))
			wf_gate_start(sim->gates[sim->topo->nodes[id].host]);
		else if (is_host(sim->topo, id) && sim->has_app)
			wf_adapter_start(sim->adapters[sim->topo->nodes[id].host]);
		else if (is_host(sim->topo, id))
			wf_host_start(sim->hosts[sim->topo->nodes[id].host]);
		else
			ret = wf_switch_start(
				wf_container_of(sim->devices[id], struct wf_switch, dev), err);
		if (ret != 0)
			return ret;
	}
	return 0;
}

void wf_sim_set_link(struct wf_sim *sim, uint32_t link, bool up, wf_time now)
{
	const struct wf_topo_link *l = &sim->topo->links[link];
	const uint32_t ends[2] = { l->a, l->b };
	const uint16_t ports[2] = { l->a_port, l->b_port };

	sim->link_down[link] = !up;
	wf_sim_incident_link(sim, link, up, now);
	for (int i = 0; i < 2; i++) {
		struct wf_device *dev = sim->devices[ends[i]];
		struct wf_device *other = sim->devices[ends[1 - i]];

		if (!up)
			wf_port_cut(dev, &dev->ports[ports[i]], &other->ports[ports[1 - i]]);
		if (is_gate(sim, ends[i]))
			wf_gate_set_up(sim->gates[sim->topo->nodes[ends[i]].host], up, now);
		else if (is_host(sim->topo, ends[i]))
			wf_port_set_up(dev, &dev->ports[ports[i]], up, now);
		else
			wf_switch_set_up(wf_container_of(dev, struct wf_switch, dev), ports[i], up,
			                 now);
	}
}

void wf_sim_reroute(void *arg, wf_time now)
{
	struct wf_sim *sim = arg;
	struct wf_routes *routes, *old = sim->fabric.routes;

	(void)now;
	if (wf_fabric_find_routes(&sim->fabric, sim->link_down, &routes) != 0) {
		sim->failed = true;
		return;
	}
	sim->fabric.routes = routes;
	for (uint32_t id = 0; id < sim->topo->n_nodes; id++) {
		if (!is_host(sim->topo, id))
			wf_switch_set_routes(
				wf_container_of(sim->devices[id], struct wf_switch, dev));
	}
	wf_routes_destroy(old);
}

static void next_fault(void *arg, wf_time now)
{
	struct wf_sim *sim = arg;
	const struct wf_sim_fault *f = &sim->faults[sim->next_fault++];

	wf_sim_set_link(sim, f->link, f->up, now);
	if (wf_engine_at(sim->engine, now + sim->reconverge, wf_sim_reroute, sim) != 0)
		sim->failed = true;
}

static int fault_order(const struct wf_sim_fault *a, const struct wf_sim_fault *b)
{
	return a->at < b->at ? -1 : a->at > b->at;
}

static int make_faults(struct wf_sim *sim, const struct wf_sim_cfg *cfg)
{
	struct wf_mem *mem = wf_mem_heap();

	sim->reconverge = cfg->reconverge;
	sim->n_faults = cfg->n_faults;
	sim->link_down = mem->alloc(mem, sim->topo->n_links);
	sim->link_faults = mem->alloc(mem, sim->topo->n_links * sizeof(*sim->link_faults));
	sim->faults = mem->alloc(mem, cfg->n_faults * sizeof(*sim->faults));
	if (sim->link_down == NULL || sim->link_faults == NULL || sim->faults == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < cfg->n_faults; i++) {
		size_t k = i;
		int ret = wf_engine_at(sim->engine, cfg->faults[i].at, next_fault, sim);

		if (ret != 0)
			return ret;
		/* Kept in the order of time, so that each call takes the next. */
		for (; k > 0 && fault_order(&sim->faults[k - 1], &cfg->faults[i]) > 0; k--)
			sim->faults[k] = sim->faults[k - 1];
		sim->faults[k] = cfg->faults[i];
	}
	return 0;
}

static int build(struct wf_sim *sim, const struct wf_sim_cfg *cfg, struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_engine_cfg ecfg;
	uint32_t *first_tx = NULL;
	int ret;

	ret = engine_cfg(sim, cfg, &ecfg, err);
	if (ret != 0)
		return ret;
	sim->n_shards = ecfg.shards;
	ret = wf_engine_create(&ecfg, &sim->engine);
	if (ret == -ERANGE)
		return wf_err_say(err,
		                  "topology: the longest link takes over a million times as long "
		                  "as the shortest; the two must be closer");
	if (ret != 0)
		return ret;
	first_tx = mem->alloc(mem, ((size_t)sim->topo->n_hosts + 1) * sizeof(*first_tx));
	if (first_tx == NULL)
		return -ENOMEM;
	ret = make_shards(sim);
	if (ret == 0 && cfg->gate == NULL)
		ret = wf_sim_make_flows(sim, cfg, first_tx, err);
	if (ret == 0)
		ret = make_devices(sim, first_tx);
	if (ret == 0)
		ret = connect_links(sim);
	if (ret == 0 && sim->has_app)
		ret = sim->app.start(sim->app.arg, &sim->fabric, sim->adapters, err);
	if (ret == 0 && has_beside(sim))
		ret = sim->beside.start(sim->beside.arg, &sim->fabric, sim->adapters, err);
	if (ret == 0)
		ret = start_devices(sim, err);
	if (ret == 0)
		ret = make_faults(sim, cfg);
	mem->free(mem, first_tx);
	return ret;
}

/* Sets up what devices share. Telemetry is there if somebody lives on it. */
static int make_fabric(struct wf_sim *sim, const struct wf_sim_cfg *cfg, struct wf_err *err)
{
	const struct wf_cc_ops *cc = cfg->cc == NULL ? NULL : wf_cc_find(cfg->cc->algorithm);
	struct wf_fabric_cfg fabric = *cfg->fabric;
	int ret;

	if (strcmp(fabric.switch_int, "auto") == 0 && cc != NULL && cc->telemetry)
		memcpy(fabric.switch_int, "int", sizeof("int"));
	ret = wf_fabric_init(&sim->fabric, &fabric, cfg->topo, cfg->seed, err);
	sim->gate_env = (struct wf_gate_env){ &sim->fabric, cfg->gate, cfg->gate_arg };
	if (cfg->gate != NULL) {
		sim->fabric.lost = wf_gate_lost;
		sim->fabric.lost_arg = &sim->gate_env;
	}
	return ret;
}

int wf_sim_create(const struct wf_sim_cfg *cfg, struct wf_sim **sim_p, struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_sim *sim = mem->alloc(mem, sizeof(*sim));
	int ret;

	if (sim == NULL)
		return -ENOMEM;
	sim->topo = cfg->topo;
	sim->until = cfg->until;
	for (size_t i = 0; i < cfg->n_flows; i++)
		sim->packets += (cfg->flows[i].bytes + cfg->fabric->mtu - 1) / cfg->fabric->mtu;
	ret = make_fabric(sim, cfg, err);
	if (ret == 0)
		ret = build(sim, cfg, err);
	if (ret != 0) {
		wf_sim_destroy(sim);
		return ret;
	}
	*sim_p = sim;
	return 0;
}

void wf_sim_destroy(struct wf_sim *sim)
{
	struct wf_mem *mem = wf_mem_heap();

	if (sim == NULL)
		return;
	for (uint32_t i = 0; sim->adapters != NULL && i < sim->topo->n_hosts; i++) {
		if (sim->adapters[i] != NULL)
			wf_adapter_fini(sim->adapters[i]);
	}
	wf_rc_destroy(sim->rc);
	wf_payload_destroy(sim->adapter_env.payload);
	wf_engine_destroy(sim->engine);
	wf_fabric_fini(&sim->fabric);
	wf_wire_check_destroy(sim->check);
	mem->free(mem, sim->shards);
	mem->free(mem, sim->devices);
	mem->free(mem, sim->hosts);
	mem->free(mem, sim->adapters);
	mem->free(mem, sim->gates);
	mem->free(mem, sim->link_faults);
	mem->free(mem, sim->rx_of_spec);
	mem->free(mem, sim->faults);
	mem->free(mem, sim->link_down);
	mem->free(mem, sim);
}

/* Flows that have come to their end, good or bad. */
static uint64_t flows_done(const struct wf_sim *sim)
{
	uint64_t done = 0;

	for (unsigned i = 0; i < sim->n_shards; i++) {
		const struct wf_host_counts *c = sim->shards[i]->user;

		done += c->flows_done + c->flows_failed;
	}
	return done;
}

uint32_t wf_sim_share(const struct wf_sim *sim)
{
	uint64_t flows = sim->n_flows, done = flows_done(sim), packets = 0;
	uint64_t share = flows > 0 ? done * WF_SIM_ALL / flows : 0;

	for (unsigned i = 0; i < sim->n_shards; i++)
		packets += ((const struct wf_host_counts *)sim->shards[i]->user)->packet_latency.n;
	if (sim->app.share != NULL) {
		uint32_t app = sim->app.share(sim->app.arg);

		return flows > 0 && share < app ? (uint32_t)share : app;
	}
	/* What was lost on the way, and what came twice, make it less exact. */
	if (packets < sim->packets)
		share = wf_max_u64(
			share, (uint64_t)((unsigned __int128)packets * WF_SIM_ALL / sim->packets));
	return (uint32_t)share;
}

#ifndef NDEBUG
/* What was counted on the way must add up, per class. */
static void assert_conserved(const struct wf_sim *sim)
{
	for (unsigned c = 0; c < WF_MAX_CLASSES; c++) {
		struct wf_tally t = { 0 };

		for (unsigned i = 0; i < sim->n_shards; i++) {
			const struct wf_tally *s = &sim->shards[i]->tally[c];

			t.sent += s->sent;
			t.delivered += s->delivered;
			t.dropped += s->dropped;
			t.queued += s->queued;
			t.on_links += s->on_links;
		}
		assert(t.queued >= 0 && t.on_links >= 0);
		assert(t.sent ==
		       t.delivered + t.dropped + (uint64_t)t.queued + (uint64_t)t.on_links);
	}
}
#endif

static bool after_window(void *arg, wf_time now)
{
	struct wf_sim *sim = arg;
	uint64_t done = flows_done(sim);

	sim->end = now;
#ifndef NDEBUG
	assert_conserved(sim);
#endif
	for (unsigned i = 0; i < sim->n_shards; i++)
		sim->failed |= sim->shards[i]->no_memory;
	if (sim->tick != NULL) {
		/* A fault may cut a window in two: the rest of it is next. */
		wf_time next = wf_max_time(wf_engine_next(sim->engine), now);

		if (now >= sim->tick_at || next > sim->tick_at)
			sim->tick_at = sim->tick(sim->tick_arg, now, next);
	}
	if (sim->gate_env.ops != NULL)
		return !sim->failed && sim->gate_env.ops->go_on(sim->gate_env.arg, now);
	sim->app_done = !sim->has_app || sim->app.done(sim->app.arg, now);
	if (sim->failed || wf_sim_wire_result(sim, NULL) != 0 ||
	    (done == sim->n_flows && sim->app_done))
		return false;
	if (sim->progress != NULL && ++sim->windows_seen % PROGRESS_EVERY == 0) {
		uint64_t hops = 0;

		for (unsigned i = 0; i < sim->n_shards; i++)
			hops += sim->shards[i]->hops;
		return sim->progress(sim->progress_arg, now, hops, wf_sim_share(sim));
	}
	return true;
}

int wf_sim_run(struct wf_sim *sim, wf_sim_progress_fn *progress, void *arg)
{
	int ret;

	sim->progress = progress;
	sim->progress_arg = arg;
	ret = wf_engine_run(sim->engine, sim->until, after_window, sim);
	if (ret == 0 && sim->failed)
		return -ENOMEM;
	return ret == 0 ? wf_sim_wire_result(sim, NULL) : ret;
}

int wf_sim_run_until(struct wf_sim *sim, wf_time until, wf_time *end_p)
{
	int ret;

	sim->until = until;
	ret = wf_sim_run(sim, NULL, NULL);
	*end_p = sim->end;
	return ret;
}

uint64_t wf_sim_payload_in_use(const struct wf_sim *sim)
{
	return sim->adapter_env.payload != NULL ? wf_payload_in_use(sim->adapter_env.payload) : 0;
}
