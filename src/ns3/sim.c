/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.c - builds and runs a simulation in the model of the HPCC simulator.
 */
#include "ns3/sim.h"

#include <errno.h>
#include <string.h>

#include "fabric/network.h"
#include "ns3/ns3_priv.h"
#include "ns3/order.h"

/*
 * Starts flows. In that simulator three events start the flows of one time, each of which asks for
 * the next; the first also asks for the first event of the next time at which flows start.
 */
enum { TIMER_NEXT, TIMER_BEGIN, STARTER_TIMERS };

struct starter {
	struct wf_node node; /* first: the engine's */
	struct wf_ns3_sim *sim;
	uint32_t next, end; /* flows that start now, or next */
	bool again;
};

struct wf_ns3_sim {
	const struct wf_topo *topo;
	struct wf_fabric fabric;
	struct wf_engine *engine;
	struct wf_ns3_order order;
	struct wf_network net;
	struct wf_fabric_shard *shard; /* the only one */
	struct wf_ns3_shared *shared;  /* its user's */
	struct wf_ns3_env env;
	uint32_t n_flows;
	uint32_t *list;  /* flows by host that sends them */
	uint32_t *first; /* by host: where its flows begin in list */
	uint64_t loss;
	wf_time until;
};

/*
 * What that simulator draws from. Losses have a stream of their own, of those that programs may
 * name. Marks come each from a new stream: the first that is left after those which nodes and
 * links with losses make and do not use.
 */
#define RNG_SEED 1
#define LOSS_STREAM ((UINT64_C(1) << 63) + 50)
#define STREAMS_PER_NODE 6
#define STREAMS_PER_LOSS 2

/* The classes of mask as a list: "3" or "3:1". */
static void list_classes(uint32_t mask, const char *after, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (unsigned c = 0; c < 8; c++) {
		if (!(mask >> c & 1) || n + 4 + strlen(after) > size)
			continue;
		if (n > 0)
			text[n++] = ',';
		text[n++] = (char)('0' + c);
		memcpy(text + n, after, strlen(after) + 1);
		n += strlen(after);
	}
}

int wf_ns3_fabric_cfg(struct wf_fabric_cfg *cfg, uint32_t mask, struct wf_err *err)
{
	static const char *const set[][2] = {
		{ "flowctl", "pfc" },
		{ "routing", "ecmp" },
		{ "link.phy", "0ns" },
		{ "link.gap", "0B" },
		{ "switch.cut_through", "no" },
		{ "switch.latency", "0ns" },
		{ "nic.rx", "0ns" },
		{ "classes.strict", "" },
		{ "buffer.cell", "64B" },
		{ "buffer.reserved", "4096B" },
		{ "buffer.headroom", "auto" },
		{ "buffer.alpha", "1/8" },
		{ "buffer.xon", "3072B" },
		{ "ecn.at", "dequeue" },
		{ "pfc.frame", "43B" },
		{ "pfc.reaction", "0ns" },
	};
	int ret = wf_param_defaults(wf_fabric_params, wf_fabric_n_params, cfg, err);

	for (size_t i = 0; i < WF_ARRAY_SIZE(set) && ret == 0; i++) {
		const struct wf_param *row =
			wf_param_find(wf_fabric_params, wf_fabric_n_params, set[i][0]);

		assert(row != NULL);
		ret = wf_param_set(row, cfg, set[i][1], err);
	}
	list_classes(mask, "", cfg->class_lossless, sizeof(cfg->class_lossless));
	list_classes(mask, "", cfg->class_ecn, sizeof(cfg->class_ecn));
	list_classes(mask, ":1", cfg->class_weights, sizeof(cfg->class_weights));
	return ret;
}

/* The horizon is about as long as a packet is on its way: what is due within it is in lists. */
static int make_engine(struct wf_ns3_sim *sim)
{
	struct wf_engine_cfg cfg = {
		.order = &wf_ns3_order_ops,
		.order_arg = &sim->order,
		.mem = wf_mem_heap(),
	};
	int ret;

	wf_network_engine_cfg(&sim->fabric, 1, &cfg);
	cfg.window = WF_NS;
	cfg.horizon = wf_max_time(cfg.horizon, WF_NS);
	ret = wf_engine_create(&cfg, &sim->engine);
	if (ret != 0)
		return ret;
	return wf_ns3_order_init(&sim->order, wf_engine_shard(sim->engine, 0), WF_NS, cfg.horizon);
}

/* What decides about losses: one stream for all links, but for links with a rate of their own. */
static int make_streams(struct wf_ns3_sim *sim)
{
	struct wf_mem *mem = wf_mem_heap();
	uint32_t n = sim->topo->n_links;

	sim->shared->streams = mem->alloc(mem, (n + (size_t)1) * sizeof(*sim->shared->streams));
	if (sim->shared->streams == NULL)
		return -ENOMEM;
	wf_mrg_init(&sim->shared->streams[0], RNG_SEED, LOSS_STREAM, sim->fabric.seed);
	for (uint32_t i = 1; i <= n; i++)
		sim->shared->streams[i] =
			sim->shared->streams[0]; /* that simulator's begin all with the same */
	return 0;
}

static uint32_t count_lossy(const struct wf_ns3_sim *sim)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sim->topo->n_links; i++)
		n += sim->topo->links[i].loss != 0;
	return n;
}

static void make_coins(struct wf_ns3_sim *sim)
{
	uint64_t first = (uint64_t)STREAMS_PER_NODE * sim->topo->n_nodes +
	                 (uint64_t)STREAMS_PER_LOSS * (count_lossy(sim) + 1);

	wf_mrg_row_init(&sim->shared->coins, RNG_SEED, first, sim->fabric.seed);
}

/* Sorts the flows by the host that sends them. */
static int list_flows(struct wf_ns3_sim *sim, const struct wf_ns3_flow *flows)
{
	struct wf_mem *mem = wf_mem_heap();
	uint32_t n_hosts = sim->topo->n_hosts;

	sim->list = mem->alloc(mem, ((size_t)sim->n_flows + 1) * sizeof(*sim->list));
	sim->first = mem->alloc(mem, ((size_t)n_hosts + 2) * sizeof(*sim->first));
	sim->env.qp = mem->alloc(mem, ((size_t)sim->n_flows + 1) * sizeof(struct wf_ns3_qp *));
	sim->env.rx = mem->alloc(mem, ((size_t)sim->n_flows + 1) * sizeof(*sim->env.rx));
	if (sim->list == NULL || sim->first == NULL || sim->env.qp == NULL || sim->env.rx == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < sim->n_flows; i++) {
		assert(flows[i].src < n_hosts && flows[i].dst < n_hosts);
		assert(i == 0 || flows[i].start >= flows[i - 1].start);
		assert(flows[i].start % WF_NS == 0 && flows[i].size > 0);
		sim->first[flows[i].src + 2]++;
	}
	for (uint32_t h = 1; h < n_hosts + 2; h++)
		sim->first[h] += sim->first[h - 1];
	for (uint32_t i = 0; i < sim->n_flows; i++)
		sim->list[sim->first[flows[i].src + 1]++] = i;
	return 0;
}

/* The first flow that starts later than flow n does. */
static uint32_t end_of_start(const struct wf_ns3_sim *sim, uint32_t n)
{
	uint32_t end = n;

	while (end < sim->n_flows && sim->env.flows[end].start == sim->env.flows[n].start)
		end++;
	return end;
}

static void begin(const struct wf_ns3_sim *sim, uint32_t flow, wf_time now)
{
	struct wf_device *src = wf_network_host(&sim->net, sim->env.flows[flow].src);

	wf_ns3_host_begin(wf_ns3_host_of(src), flow, now);
}

static void starter_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct starter *s = wf_container_of(node, struct starter, node);
	const struct wf_ns3_flow *flows = s->sim->env.flows;

	assert(s->next < s->sim->n_flows && flows[s->next].start == now);
	if (slot == TIMER_NEXT) {
		s->end = end_of_start(s->sim, s->next);
		s->again = true;
		wf_timer_set(node, TIMER_BEGIN, now);
		if (s->end < s->sim->n_flows)
			wf_timer_set(node, TIMER_NEXT, flows[s->end].start);
	} else if (s->again) {
		s->again = false;
		wf_timer_set(node, TIMER_BEGIN, now);
	} else {
		for (; s->next < s->end; s->next++)
			begin(s->sim, s->next, now);
	}
}

static void starter_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	(void)node;
	(void)input;
	(void)cell;
	(void)now;
}

static const struct wf_node_ops starter_ops = {
	.name = "starter",
	.rx = starter_rx,
	.timer = starter_timer,
	.warm = wf_ns3_no_warm,
};

static int make_starter(struct wf_ns3_sim *sim)
{
	struct wf_node *node = wf_engine_add_node(sim->shard->shard, &starter_ops,
	                                          sizeof(struct starter), 0, STARTER_TIMERS);

	if (node == NULL)
		return -ENOMEM;
	wf_container_of(node, struct starter, node)->sim = sim;
	if (sim->n_flows > 0)
		wf_timer_set(node, TIMER_NEXT, sim->env.flows[0].start);
	return 0;
}

static struct wf_device *make_host(void *arg, struct wf_shard *shard, uint32_t host)
{
	struct wf_ns3_sim *sim = arg;
	uint32_t first = sim->first[host];

	return wf_ns3_host_create(shard, &sim->env, host, sim->list + first,
	                          sim->first[host + 1] - first);
}

static struct wf_device *make_switch(void *arg, struct wf_shard *shard, uint32_t id)
{
	struct wf_ns3_sim *sim = arg;

	return wf_ns3_switch_create(shard, &sim->fabric, id);
}

/* Links take whole ns, and what they lose is what they say themselves, or else what all do. */
static void set_links(struct wf_ns3_sim *sim)
{
	for (uint32_t i = 0; i < 2 * sim->topo->n_links; i++) {
		const struct wf_topo_link *l = &sim->topo->links[i / 2];
		struct wf_half half = wf_network_half(&sim->net, i / 2, i % 2 == 0);

		half.out->delay = l->delay - l->delay % WF_NS;
		half.in->in_delay = half.out->delay;
		half.in->loss = l->loss != 0 ? l->loss : sim->loss;
		half.in->lossy = half.in->loss != 0;
	}
}

static int make_network(struct wf_ns3_sim *sim, const struct wf_ns3_sim_cfg *cfg)
{
	const struct wf_network_cfg net = {
		.fabric = &sim->fabric,
		.engine = sim->engine,
		.n_shards = 1,
		.mem = wf_mem_heap(),
		.shard_user = sizeof(struct wf_ns3_shared),
		.make_host = make_host,
		.make_switch = make_switch,
		.arg = sim,
	};
	int ret = wf_network_create(&sim->net, &net);

	if (ret != 0)
		return ret;
	set_links(sim);
	sim->shard = sim->net.shards[0];
	sim->shared = sim->shard->user;
	sim->shared->paths = cfg->paths;
	make_coins(sim);
	return sim->loss != 0 || count_lossy(sim) != 0 ? make_streams(sim) : 0;
}

static int build(struct wf_ns3_sim *sim, const struct wf_ns3_sim_cfg *cfg, struct wf_err *err)
{
	int ret = wf_fabric_init(&sim->fabric, cfg->fabric, NULL, cfg->topo, cfg->seed,
	                         wf_mem_heap(), err);

	if (ret != 0)
		return ret;
	sim->fabric.flowctl = &wf_ns3_pfc;
	sim->fabric.hooks = &wf_ns3_hooks;
	ret = make_engine(sim);
	if (ret == 0)
		ret = list_flows(sim, cfg->flows);
	if (ret == 0)
		ret = make_network(sim, cfg);
	if (ret == 0)
		ret = make_starter(sim);
	return ret != 0 ? ret : wf_network_start(&sim->net, err);
}

int wf_ns3_sim_create(const struct wf_ns3_sim_cfg *cfg, struct wf_ns3_sim **sim_p,
                      struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_ns3_sim *sim = mem->alloc(mem, sizeof(*sim));
	int ret;

	if (sim == NULL)
		return -ENOMEM;
	sim->topo = cfg->topo;
	sim->loss = cfg->loss;
	sim->n_flows = cfg->n_flows;
	sim->env = cfg->host;
	sim->env.fabric = &sim->fabric;
	sim->env.flows = cfg->flows;
	sim->until = cfg->until;
	ret = build(sim, cfg, err);
	if (ret != 0) {
		wf_ns3_sim_destroy(sim);
		return ret;
	}
	*sim_p = sim;
	return 0;
}

void wf_ns3_sim_destroy(struct wf_ns3_sim *sim)
{
	struct wf_mem *mem = wf_mem_heap();

	if (sim == NULL)
		return;
	if (sim->shared != NULL)
		mem->free(mem, sim->shared->streams);
	wf_network_fini(&sim->net);
	wf_engine_destroy(sim->engine);
	wf_fabric_fini(&sim->fabric);
	mem->free(mem, sim->env.qp);
	mem->free(mem, sim->env.rx);
	mem->free(mem, sim->list);
	mem->free(mem, sim->first);
	mem->free(mem, sim);
}

int wf_ns3_sim_run(struct wf_ns3_sim *sim)
{
	return wf_engine_run(sim->engine, sim->until, NULL, NULL);
}

wf_time wf_ns3_sim_end(const struct wf_ns3_sim *sim, uint32_t flow)
{
	assert(flow < sim->n_flows);
	return sim->env.qp[flow]->end;
}

int wf_ns3_sim_pauses(const struct wf_ns3_sim *sim, struct wf_ns3_pause **pauses_p, size_t *n_p)
{
	struct wf_mem *mem = wf_mem_heap();
	const struct wf_ns3_pause_log *log;
	struct wf_ns3_pause *pauses;
	size_t n = 0;

	for (log = sim->shared->pauses; log != NULL; log = log->next)
		n += log->n;
	pauses = mem->alloc(mem, (n + 1) * sizeof(*pauses));
	if (pauses == NULL)
		return -ENOMEM;
	*n_p = n;
	n = 0;
	for (log = sim->shared->pauses; log != NULL; log = log->next) {
		memcpy(&pauses[n], log->pause, log->n * sizeof(*pauses));
		n += log->n;
	}
	*pauses_p = pauses;
	return 0;
}

void wf_ns3_sim_counts(const struct wf_ns3_sim *sim, struct wf_ns3_sim_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	counts->hops = sim->shard->hops;
	for (unsigned c = 0; c < WF_MAX_CLASSES; c++)
		counts->dropped += sim->shard->tally[c].dropped;
	for (uint32_t id = 0; id < sim->topo->n_nodes; id++) {
		const struct wf_device *dev = sim->net.devices[id];

		for (unsigned k = 0; k < dev->n_ports * dev->n_queues; k++)
			counts->marked += dev->lanes[k].ecn_marked;
	}
}
