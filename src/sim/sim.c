/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.c - builds a simulation from topology, configuration and flows, and runs it.
 */
#include "sim/sim.h"

#include <errno.h>
#include <string.h>

#include "fabric/station.h"
#include "sim/sim_priv.h"
#include "wire/ib.h"

#define PROGRESS_EVERY 256 /* windows */
#define GATE_WINDOW (1 * WF_US)
#define GATE_WINDOWS (1 << 17)
#define GATE_DELAY_MAX (2 * WF_S)
#define GATE_RATE_MIN UINT64_C(10000000) /* bits/s that a link may be set to */
#define GATE_WIDTH_MIN (WF_RATIO_ONE / 8)
#define GATE_RETRY_TIME (100 * WF_US) /* for which links may be set to send packets again */

/*
 * Who runs a simulation by the piece wants to know when what happens next, and windows are what
 * that is known in: they are short. Links may become longer and slower than they are now, as long
 * as the wheel is not too large.
 */
static void gate_cfg(struct wf_sim *sim, struct wf_engine_cfg *cfg)
{
	wf_time slow = wf_rate_time(wf_rate_per_byte(GATE_RATE_MIN),
	                            sim->fabric.largest + sim->fabric.gap) +
	               1;
	wf_time room;

	cfg->window = wf_min_time(cfg->window, GATE_WINDOW);
	room = cfg->window * GATE_WINDOWS;
	if (cfg->horizon + slow < room) {
		cfg->horizon += slow;
		sim->fabric.slowest = wf_min_u64(sim->fabric.slowest, GATE_RATE_MIN);
		sim->fabric.narrowest = wf_min_u64(sim->fabric.narrowest, GATE_WIDTH_MIN);
	}
	if (sim->fabric.retry_time < GATE_RETRY_TIME && cfg->horizon + GATE_RETRY_TIME < room) {
		cfg->horizon += GATE_RETRY_TIME - sim->fabric.retry_time;
		sim->fabric.retry_time = GATE_RETRY_TIME;
	}
	sim->gated.delay_max = wf_min_time(wf_max_time(room - cfg->horizon, 0), GATE_DELAY_MAX);
	cfg->horizon += sim->gated.delay_max;
}

/* The window and the horizon follow from the links, and from what else joins hosts. */
static int engine_cfg(struct wf_sim *sim, const struct wf_sim_cfg *want, struct wf_engine_cfg *cfg,
                      struct wf_err *err)
{
	memset(cfg, 0, sizeof(*cfg));
	wf_network_engine_cfg(&sim->fabric, want->threads, cfg);
	cfg->mem = sim->mem;
	cfg->max_memory = want->max_memory;
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
	wf_engine_fit(cfg);
	return 0;
}

static struct wf_device *make_adapter(void *arg, struct wf_shard *shard, uint32_t host)
{
	struct wf_sim *sim = arg;
	struct wf_hca_attr attr;
	struct wf_device *dev;

	wf_hca_attr_defaults(&attr);
	sim->app[0].attr(sim->app[0].arg, host, &attr);
	for (unsigned i = 1; i < sim->n_apps; i++) {
		struct wf_hca_attr more;

		wf_hca_attr_defaults(&more);
		sim->app[i].attr(sim->app[i].arg, host, &more);
		attr.max_qp += more.max_qp;
		attr.max_mr += more.max_mr;
		attr.max_events += more.max_events;
		attr.max_cqe = attr.max_cqe > more.max_cqe ? attr.max_cqe : more.max_cqe;
	}
	dev = wf_adapter_create(shard, &sim->adapter_env, host, &attr);
	if (dev != NULL)
		sim->adapters[host] = wf_adapter_of(dev);
	return dev;
}

static struct wf_device *make_gate(void *arg, struct wf_shard *shard, uint32_t host)
{
	struct wf_sim *sim = arg;

	return wf_gate_create(shard, &sim->gated.env, host);
}

static struct wf_device *make_windowed(void *arg, struct wf_shard *shard, uint32_t host)
{
	struct wf_sim *sim = arg;
	uint32_t first = sim->windowed.first_tx[host];

	return wf_host_create(shard, &sim->windowed.env, host, first,
	                      sim->windowed.first_tx[host + 1] - first);
}

/* The devices, with the kind of host that cfg asks for. */
static int make_network(struct wf_sim *sim, const struct wf_sim_cfg *cfg)
{
	struct wf_network_cfg net = {
		.fabric = &sim->fabric,
		.engine = sim->engine,
		.n_shards = sim->n_shards,
		.mem = sim->mem,
		.shard_user = sizeof(struct wf_host_counts),
		.make_host = make_windowed,
		.arg = sim,
	};

	if (cfg->gate != NULL)
		net.make_host = make_gate;
	else if (sim->has_app)
		net.make_host = make_adapter;
	return wf_network_create(&sim->net, &net);
}

/* Gives every device its station, and hosts' stations those whom they ask for packets. */
static int make_stations(struct wf_sim *sim, const struct wf_sim_manager *manager,
                         struct wf_err *err)
{
	struct wf_store *mads;
	int ret = wf_station_make_store(sim->engine, &mads);

	for (uint32_t id = 0; id < sim->topo->n_nodes && ret == 0; id++) {
		struct wf_device *dev = sim->net.devices[id];
		uint32_t host = sim->topo->nodes[id].host;

		ret = manager->make(manager->arg, sim, dev, mads, err);
		if (ret != 0 || host == WF_TOPO_NONE)
			continue;
		if (sim->gated.env.ops != NULL)
			dev->station->pull = wf_gate_pull();
		else if (sim->has_app)
			dev->station->pull = wf_adapter_pull(sim->adapters[host]);
	}
	return ret;
}

static int make_engine(struct wf_sim *sim, const struct wf_sim_cfg *cfg, struct wf_err *err)
{
	struct wf_engine_cfg ecfg;
	int ret = engine_cfg(sim, cfg, &ecfg, err);

	if (ret != 0)
		return ret;
	sim->n_shards = ecfg.shards;
	ret = wf_engine_create(&ecfg, &sim->engine);
	if (ret == -ERANGE)
		return wf_err_say(err,
		                  "link.phy: the shortest way into a switch takes %lld ps and a "
		                  "packet on the longest link %lld ns, over a million times as "
		                  "long; make the first longer (link.phy, switch.latency, cables) "
		                  "or the other shorter (cables, rates)",
		                  (long long)ecfg.window, (long long)(ecfg.horizon / WF_NS));
	return ret;
}

static int build(struct wf_sim *sim, const struct wf_sim_cfg *cfg, struct wf_err *err)
{
	struct wf_mem *mem = sim->mem;
	uint32_t n_hosts = sim->topo->n_hosts;
	int ret = make_engine(sim, cfg, err);

	if (ret != 0)
		return ret;
	sim->windowed.first_tx =
		mem->alloc(mem, ((size_t)n_hosts + 1) * sizeof(*sim->windowed.first_tx));
	sim->adapters = mem->alloc(mem, n_hosts * sizeof(struct wf_adapter *));
	if (sim->windowed.first_tx == NULL || sim->adapters == NULL)
		return -ENOMEM;
	if (cfg->gate == NULL)
		ret = wf_sim_make_flows(sim, cfg, err);
	if (ret == 0)
		ret = make_network(sim, cfg);
	if (ret == 0 && cfg->manager != NULL)
		ret = make_stations(sim, cfg->manager, err);
	for (unsigned i = 0; i < sim->n_apps && ret == 0; i++)
		ret = sim->app[i].start(sim->app[i].arg, &sim->fabric, sim->adapters, err);
	if (ret == 0 && sim->tcp != NULL)
		ret = wf_tcp_flows_start(sim->tcp, &sim->fabric, sim->adapters);
	if (ret == 0)
		ret = wf_network_start(&sim->net, err);
	return ret == 0 ? wf_sim_make_faults(sim, cfg) : ret;
}

/* Sets up what devices share. Telemetry is there if somebody lives on it. */
static int make_fabric(struct wf_sim *sim, const struct wf_sim_cfg *cfg, struct wf_err *err)
{
	const struct wf_cc_ops *cc = cfg->cc == NULL ? NULL : wf_cc_find(cfg->cc->algorithm);
	struct wf_fabric_cfg fabric = *cfg->fabric;
	int ret;

	if (strcmp(fabric.switch_int, "auto") == 0 && cc != NULL && cc->telemetry)
		memcpy(fabric.switch_int, "int", sizeof("int"));
	ret = wf_fabric_init(&sim->fabric, &fabric, cfg->devices, cfg->topo, cfg->seed, sim->mem,
	                     err);
	if (ret == 0 && cfg->manager != NULL && !sim->fabric.flowctl->uses_credits)
		ret = wf_err_say(err, "sm: a subnet manager is InfiniBand's; this fabric is "
		                      "Ethernet");
	if (ret == 0 && cfg->manager != NULL) {
		wf_station_manage(&sim->fabric, &sim->managed);
		/* What programs outside send to groups has a global header. */
		sim->fabric.largest += cfg->gate != NULL ? WF_GRH_LEN : 0;
		sim->manager = *cfg->manager;
	}
	sim->fabric.sharp = cfg->sharp;
	sim->fabric.sharp_shut = cfg->manager != NULL && cfg->sharp != NULL;
	/* Who runs it by the piece may set a watchdog later. */
	sim->fabric.watchdogs |= cfg->gate != NULL;
	if (ret == 0 && cfg->gate != NULL && cfg->topo->host_ports > 1)
		ret = wf_err_say(err, "topology.ports: hosts of a live fabric have one port; write "
		                      "ports: 1");
	sim->gated.env = (struct wf_gate_env){ &sim->fabric, cfg->gate, cfg->gate_arg };
	if (cfg->gate != NULL) {
		sim->fabric.lost = wf_gate_lost;
		sim->fabric.copied = wf_gate_copied;
		sim->fabric.lost_arg = &sim->gated.env;
	}
	return ret;
}

int wf_sim_create(const struct wf_sim_cfg *cfg, struct wf_sim **sim_p, struct wf_err *err)
{
	struct wf_mem *mem = cfg->mem != NULL ? cfg->mem : wf_mem_heap();
	struct wf_sim *sim = mem->alloc(mem, sizeof(*sim));
	int ret;

	if (sim == NULL)
		return -ENOMEM;
	sim->mem = mem;
	sim->topo = cfg->topo;
	sim->until = cfg->until;
	wf_sim_watch_deadlocks(sim, cfg->deadlock_check, cfg->stop_at_deadlock);
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
	struct wf_mem *mem;

	if (sim == NULL)
		return;
	mem = sim->mem;
	wf_network_fini(&sim->net);
	wf_rc_destroy(sim->rc);
	wf_tcp_flows_destroy(sim->tcp);
	wf_storage_destroy(sim->storage);
	wf_engine_destroy(sim->engine);
	wf_sim_end_faults(sim);
	wf_sim_free_deadlocks(sim);
	wf_fabric_fini(&sim->fabric);
	wf_wire_check_destroy(sim->check);
	mem->free(mem, sim->adapters);
	mem->free(mem, sim->windowed.first_tx);
	mem->free(mem, sim->gated.faults);
	mem->free(mem, sim->gated.storm);
	mem->free(mem, sim->windowed.rx_of_spec);
	mem->free(mem, sim);
}

/* Flows that have come to their end, good or bad. */
static uint64_t flows_done(const struct wf_sim *sim)
{
	uint64_t done = 0;

	for (unsigned i = 0; i < sim->n_shards; i++) {
		const struct wf_host_counts *c = sim->net.shards[i]->user;

		done += c->flows_done + c->flows_failed;
	}
	return done;
}

/* As much as the application that has done least; more than all: nobody knows. */
static uint32_t app_share(const struct wf_sim *sim)
{
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; i < sim->n_apps; i++) {
		uint32_t share =
			sim->app[i].share == NULL ? UINT32_MAX : sim->app[i].share(sim->app[i].arg);

		least = share < least ? share : least;
	}
	return least;
}

/* Whether all applications are. Each is asked every time. */
static bool apps_done(const struct wf_sim *sim, wf_time now)
{
	bool done = true;

	for (unsigned i = 0; i < sim->n_apps; i++)
		done &= sim->app[i].done(sim->app[i].arg, now);
	return done;
}

uint32_t wf_sim_share(const struct wf_sim *sim)
{
	uint64_t flows = sim->n_flows, done = flows_done(sim), packets = 0;
	uint64_t share = flows > 0 ? done * WF_SIM_ALL / flows : 0;
	uint32_t app = app_share(sim);

	for (unsigned i = 0; i < sim->n_shards; i++)
		packets +=
			((const struct wf_host_counts *)sim->net.shards[i]->user)->packet_latency.n;
	if (app <= WF_SIM_ALL)
		return flows > 0 && share < app ? (uint32_t)share : app;
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
			const struct wf_tally *s = &sim->net.shards[i]->tally[c];

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
	bool dead = now >= sim->deadlocks.due && wf_sim_deadlocks_due(sim, now);

#ifndef NDEBUG
	assert_conserved(sim);
#endif
	if (sim->manager.window != NULL && sim->manager.window(sim->manager.arg, now) != 0)
		sim->failed = true;
	if (sim->tick != NULL) {
		/* A fault may cut a window in two: the rest of it is next. */
		wf_time next = wf_max_time(wf_engine_next(sim->engine), now);

		if (now >= sim->tick_at || next > sim->tick_at)
			sim->tick_at = sim->tick(sim->tick_arg, now, next);
	}
	if (sim->gated.env.ops != NULL)
		return !sim->failed && sim->gated.env.ops->go_on(sim->gated.env.arg, now);
	sim->app_done = apps_done(sim, now);
	if (sim->failed || dead || wf_sim_wire_result(sim, NULL) != 0 ||
	    (done == sim->n_flows && sim->app_done))
		return false;
	if (sim->progress != NULL && ++sim->windows_seen % PROGRESS_EVERY == 0) {
		uint64_t hops = 0;

		for (unsigned i = 0; i < sim->n_shards; i++)
			hops += sim->net.shards[i]->hops;
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
	*end_p = wf_sim_now(sim);
	return ret;
}

wf_time wf_sim_now(const struct wf_sim *sim)
{
	return wf_engine_now(sim->engine);
}

void wf_sim_rest(struct wf_sim *sim, wf_time until)
{
	wf_engine_rest(sim->engine, until);
}

uint64_t wf_sim_payload_in_use(const struct wf_sim *sim)
{
	return sim->adapter_env.payload != NULL ? wf_store_in_use(sim->adapter_env.payload) : 0;
}
