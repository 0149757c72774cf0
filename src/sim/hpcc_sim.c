/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpcc_sim.c - builds and runs a simulation in the model of the HPCC simulator.
 */
#include "sim/hpcc_sim.h"

#include <errno.h>
#include <string.h>

#include "base/mrg.h"
#include "fabric/order.h"
#include "fabric/switch.h"

#define STORE (UINT32_MAX >> 1) /* cut: the whole packet */
#define MAX_SPREAD 1000000
#define TYPICAL_WIRE 44 /* ns: between a long packet and a short one at 100 Gb/s */

struct wf_hpcc_sim {
	const struct wf_topo *topo;
	struct wf_fabric fabric;
	struct wf_engine *engine;
	unsigned n_shards;
	struct wf_fabric_shard **shards;
	struct wf_device **devices; /* by node id */
	struct wf_hpcc_host **hosts;
	struct wf_hpcc_env env;
	uint32_t n_flows;
	uint32_t *list;  /* flows by host that sends them */
	uint32_t *first; /* by host: where its flows begin in list */
	uint64_t loss;
	struct wf_mrg *streams; /* NULL: no link loses packets; else of all, then of each link */
	wf_time delays[1u << WF_ORDER_DELAYS]; /* of links, ns, the longest first */
	uint32_t n_delays;
	bool in_order; /* chance is that simulator's, drawn in the order of events */
	wf_time until;
};

/*
 * What that simulator draws from. Losses have a stream of their own, of those that programs may name.
 * Marks come each from a new stream: the first that is left after those which nodes and links with
 * losses make and do not use.
 */
#define RNG_SEED 1
#define LOSS_STREAM ((UINT64_C(1) << 63) + 50)
#define STREAMS_PER_NODE 6
#define STREAMS_PER_LOSS 2

/* Runs with more packets than this do not draw in the order of events, unless links lose some. */
#define FEW_PACKETS 200000

/* Windows in the longest link, at most, of a run in the order of events. */
#define ORDER_WINDOWS 100000

static bool is_host(const struct wf_topo *topo, uint32_t id)
{
	return topo->nodes[id].kind == WF_TOPO_HOST;
}

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

int wf_hpcc_fabric_cfg(struct wf_fabric_cfg *cfg, uint32_t mask, struct wf_err *err)
{
	static const char *const set[][2] = {
		{ "flowctl", "pfc-hpcc" },      { "routing", "ecmp" },
		{ "link.phy", "0ns" },          { "link.gap", "0B" },
		{ "link.time_step", "1ns" },    { "switch.latency", "0ns" },
		{ "switch.cut_through", "no" }, { "nic.rx", "0ns" },
		{ "classes.strict", "" },       { "buffer.cell", "64B" },
		{ "buffer.reserved", "4096B" }, { "buffer.headroom", "auto" },
		{ "buffer.alpha", "1/8" },      { "buffer.xon", "3072B" },
		{ "ecn.at", "dequeue" },        { "pfc.frame", "43B" },
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

static unsigned bits_of(uint64_t x)
{
	return x == 0 ? 0 : 64 - (unsigned)__builtin_clzll(x);
}

/* Lists the delays of links, as many as there is room for. */
static void list_delays(struct wf_hpcc_sim *sim)
{
	for (uint32_t i = 0; i < sim->topo->n_links; i++) {
		wf_time delay = sim->topo->links[i].delay / WF_NS;
		uint32_t k = 0;

		while (k < sim->n_delays && sim->delays[k] > delay)
			k++;
		if (k == WF_ARRAY_SIZE(sim->delays) ||
		    (k < sim->n_delays && sim->delays[k] == delay))
			continue;
		if (sim->n_delays < WF_ARRAY_SIZE(sim->delays))
			sim->n_delays++;
		memmove(&sim->delays[k + 1], &sim->delays[k],
		        (sim->n_delays - 1 - k) * sizeof(sim->delays[0]));
		sim->delays[k] = delay;
	}
}

/* The place of a link's delay among them. */
static uint8_t delay_rank(const struct wf_hpcc_sim *sim, const struct wf_topo_link *l)
{
	uint32_t k = 0;

	while (k + 1 < sim->n_delays && sim->delays[k] > l->delay / WF_NS)
		k++;
	return (uint8_t)k;
}

/*
 * Time is what is left of 62 bits for the order of events, and a window fits the 47 bits that the
 * engine has for it. For the order within a ns, a window gives up one.
 */
static int make_engine(struct wf_hpcc_sim *sim, unsigned threads, struct wf_err *err)
{
	uint64_t bytes = sim->env.mtu + sim->env.header;
	wf_time window = WF_TIME_NEVER, horizon = 0, wire = 0, travel;
	struct wf_engine_cfg cfg = {
		.threads = threads,
		.shards = wf_engine_shards_for(threads),
		.mem = wf_mem_heap(),
	};
	unsigned bits;

	for (uint32_t i = 0; i < sim->topo->n_links; i++) {
		const struct wf_topo_link *l = &sim->topo->links[i];
		wf_time slow = (wf_time)(bytes * 8 * (uint64_t)WF_S / l->rate);

		window = wf_min_time(window, l->delay / WF_NS - 1);
		horizon = wf_max_time(horizon, (l->delay + slow) / WF_NS + 1);
		wire = wf_max_time(wire, slow / WF_NS);
	}
	if (window < 1)
		return wf_err_say(err, "topology: a link has less than 2 ns of delay; all need "
		                       "that much");
	/* What waits for a wire waits for less long than a packet travels. */
	travel = wf_max_time(window, wire);
	if (sim->in_order) {
		cfg.threads = 1;
		cfg.shards = 1;
		cfg.in_order = true;
		window = wf_min_time(window, horizon / ORDER_WINDOWS + 1);
	}
	bits = 62 - bits_of((uint64_t)(sim->until / WF_NS + horizon));
	bits = (unsigned)wf_min_u64(bits, 47 - wf_min_u64(bits_of((uint64_t)window), 30));
	assert(bits >= WF_ORDER_MIN && bits < 62);
	list_delays(sim);
	sim->fabric.order = (struct wf_order){
		.bits = (uint8_t)bits,
		.delay_bits = (uint8_t)bits_of(sim->n_delays - 1),
		.travel = (uint32_t)travel + TYPICAL_WIRE,
	};
	cfg.window = window * ((wf_time)1 << bits);
	cfg.horizon = horizon * ((wf_time)1 << bits);
	sim->n_shards = cfg.shards;
	if (wf_engine_create(&cfg, &sim->engine) == 0)
		return 0;
	if (horizon > MAX_SPREAD * window)
		return wf_err_say(err, "topology: the longest link takes over a million times as "
		                       "long as the shortest; the two must be closer");
	return -ENOMEM;
}

/* What decides about losses: one stream for all links, but for links with a rate of their own. */
static int make_streams(struct wf_hpcc_sim *sim)
{
	struct wf_mem *mem = wf_mem_heap();
	uint32_t n = sim->topo->n_links;

	sim->streams = mem->alloc(mem, (n + (size_t)1) * sizeof(*sim->streams));
	if (sim->streams == NULL)
		return -ENOMEM;
	wf_mrg_init(&sim->streams[0], RNG_SEED, LOSS_STREAM, sim->fabric.seed);
	for (uint32_t i = 1; i <= n; i++)
		sim->streams[i] = sim->streams[0]; /* that simulator's begin all with the same */
	return 0;
}

static uint32_t count_lossy(const struct wf_hpcc_sim *sim)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sim->topo->n_links; i++)
		n += sim->topo->links[i].loss != 0;
	return n;
}

/* Whether some packets are marked by chance. */
static bool has_chance(const struct wf_fabric *fabric)
{
	bool chance = false;

	for (unsigned i = 0; i < fabric->n_ecn_rates; i++) {
		const struct wf_ecn *e = &fabric->ecn_rates[i].ecn;

		chance |= e->kmin < e->kmax && e->pmax != 0;
	}
	return chance && fabric->cfg.class_ecn[0] != '\0';
}

static bool has_few_packets(const struct wf_hpcc_sim *sim)
{
	uint64_t packets = 0;

	for (uint32_t i = 0; i < sim->n_flows; i++)
		packets += sim->env.flows[i].size / sim->env.mtu + 1;
	return packets <= FEW_PACKETS;
}

/* Chance is that simulator's where draws are in the order of events, which takes time. */
static int set_chance(struct wf_hpcc_sim *sim)
{
	bool lossy = sim->loss != 0 || count_lossy(sim) != 0;

	sim->in_order = lossy || (has_chance(&sim->fabric) && has_few_packets(sim));
	return lossy ? make_streams(sim) : 0;
}

static int make_coins(struct wf_hpcc_sim *sim)
{
	struct wf_fabric_shard *shard = sim->shards[0];
	uint64_t first = (uint64_t)STREAMS_PER_NODE * sim->topo->n_nodes +
	                 (uint64_t)STREAMS_PER_LOSS * (count_lossy(sim) + 1);

	if (!sim->in_order)
		return 0;
	shard->coins = wf_shard_alloc(shard->shard, sizeof(*shard->coins));
	if (shard->coins == NULL)
		return -ENOMEM;
	wf_mrg_row_init(shard->coins, RNG_SEED, first, sim->fabric.seed);
	return 0;
}

static int make_shards(struct wf_hpcc_sim *sim)
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
		fs->grave = wf_shard_alloc(shard, sizeof(*fs->grave));
		if (fs->grave == NULL)
			return -ENOMEM;
		wf_shard_set_user(shard, fs);
		sim->shards[i] = fs;
	}
	return 0;
}

/* Sorts the flows by the host that sends them, and ranks those that start together. */
static int list_flows(struct wf_hpcc_sim *sim, struct wf_hpcc_flow *flows)
{
	struct wf_mem *mem = wf_mem_heap();
	uint32_t n_hosts = sim->topo->n_hosts, same = 0;

	sim->list = mem->alloc(mem, ((size_t)sim->n_flows + 1) * sizeof(*sim->list));
	sim->first = mem->alloc(mem, ((size_t)n_hosts + 2) * sizeof(*sim->first));
	sim->env.qp = mem->alloc(mem, ((size_t)sim->n_flows + 1) * sizeof(struct wf_hpcc_qp *));
	sim->env.rx = mem->alloc(mem, ((size_t)sim->n_flows + 1) * sizeof(struct wf_hpcc_rx *));
	if (sim->list == NULL || sim->first == NULL || sim->env.qp == NULL || sim->env.rx == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < sim->n_flows; i++) {
		same = i > 0 && flows[i].start == flows[i - 1].start ? same + 1 : 0;
		flows[i].rank = (uint16_t)same;
		sim->first[flows[i].src + 2]++;
	}
	for (uint32_t h = 1; h < n_hosts + 2; h++)
		sim->first[h] += sim->first[h - 1];
	for (uint32_t i = 0; i < sim->n_flows; i++)
		sim->list[sim->first[flows[i].src + 1]++] = i;
	return 0;
}

static int make_device(struct wf_hpcc_sim *sim, uint32_t id, struct wf_shard *shard)
{
	uint32_t host = sim->topo->nodes[id].host;

	if (is_host(sim->topo, id)) {
		uint32_t first = sim->first[host];
		struct wf_hpcc_host *h = wf_hpcc_host_create(
			shard, &sim->env, host, sim->list + first, sim->first[host + 1] - first);

		if (h == NULL)
			return -ENOMEM;
		sim->hosts[host] = h;
		sim->devices[id] = wf_hpcc_host_device(h);
	} else {
		struct wf_switch *sw = wf_switch_create(shard, &sim->fabric, id);

		if (sw == NULL)
			return -ENOMEM;
		sim->devices[id] = &sw->dev;
	}
	return 0;
}

/* Creates the nodes shard by shard, in the order in which they will run. */
static int make_devices(struct wf_hpcc_sim *sim)
{
	struct wf_mem *mem = wf_mem_heap();
	uint32_t n = sim->topo->n_nodes;
	uint32_t *order = mem->alloc(mem, 2 * (size_t)n * sizeof(*order));
	int ret = -ENOMEM;

	sim->devices = mem->alloc(mem, n * sizeof(struct wf_device *));
	sim->hosts = mem->alloc(mem, sim->topo->n_hosts * sizeof(struct wf_hpcc_host *));
	if (order == NULL || sim->devices == NULL || sim->hosts == NULL)
		goto out;
	ret = wf_topo_partition(sim->topo, sim->n_shards, order, order + n);
	for (uint32_t i = 0; i < n && ret == 0; i++)
		ret = make_device(sim, order[i], wf_engine_shard(sim->engine, order[n + order[i]]));
	for (uint32_t i = 0; i < sim->n_flows && ret == 0; i++) {
		sim->env.rx[i] = wf_hpcc_host_add_rx(sim->hosts[sim->env.flows[i].dst]);
		ret = sim->env.rx[i] == NULL ? -ENOMEM : 0;
	}
out:
	mem->free(mem, order);
	return ret;
}

/* Connects the direction of a link that leaves its end a or b. */
static int connect_half(struct wf_hpcc_sim *sim, uint32_t link, bool from_a)
{
	const struct wf_topo_link *l = &sim->topo->links[link];
	struct wf_device *src = sim->devices[from_a ? l->a : l->b];
	struct wf_device *dst = sim->devices[from_a ? l->b : l->a];
	struct wf_port *out = &src->ports[from_a ? l->a_port : l->b_port];
	struct wf_port *in = &dst->ports[from_a ? l->b_port : l->a_port];

	out->rate = l->rate;
	out->ps_q16 = (uint32_t)((UINT64_C(8) * (uint64_t)WF_S << 16) / l->rate);
	out->delay = l->delay - l->delay % WF_NS;
	out->delay_rank = delay_rank(sim, l);
	out->cut = STORE;
	in->in_delay = out->delay;
	in->loss = l->loss != 0 ? l->loss : sim->loss;
	in->lossy = in->loss != 0;
	if (in->lossy)
		in->stream = &sim->streams[l->loss != 0 ? link + 1 : 0];
	return wf_link_connect(&out->link, &src->node, &dst->node, in->number);
}

static int connect_links(struct wf_hpcc_sim *sim)
{
	for (uint32_t i = 0; i < sim->topo->n_links; i++) {
		int ret = connect_half(sim, i, true);

		if (ret == 0)
			ret = connect_half(sim, i, false);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int start_devices(struct wf_hpcc_sim *sim, struct wf_err *err)
{
	for (uint32_t id = 0; id < sim->topo->n_nodes; id++) {
		struct wf_device *dev = sim->devices[id];
		int ret = 0;

		if (is_host(sim->topo, id))
			wf_hpcc_host_start(sim->hosts[sim->topo->nodes[id].host]);
		else
			ret = wf_switch_start(wf_container_of(dev, struct wf_switch, dev), err);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int build(struct wf_hpcc_sim *sim, const struct wf_hpcc_sim_cfg *cfg, struct wf_err *err)
{
	int ret = wf_fabric_init(&sim->fabric, cfg->fabric, cfg->topo, cfg->seed, err);

	if (ret != 0)
		return ret;
	sim->fabric.pins = cfg->pins;
	sim->fabric.pause_log = true;
	sim->fabric.sched = &wf_sched_turns;
	ret = set_chance(sim);
	if (ret == 0)
		ret = make_engine(sim, cfg->threads, err);
	if (ret == 0)
		ret = make_shards(sim);
	if (ret == 0)
		ret = make_coins(sim);
	if (ret == 0)
		ret = list_flows(sim, cfg->flows);
	if (ret == 0)
		ret = make_devices(sim);
	if (ret == 0)
		ret = connect_links(sim);
	return ret != 0 ? ret : start_devices(sim, err);
}

int wf_hpcc_sim_create(const struct wf_hpcc_sim_cfg *cfg, struct wf_hpcc_sim **sim_p,
                       struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_hpcc_sim *sim = mem->alloc(mem, sizeof(*sim));
	int ret;

	if (sim == NULL)
		return -ENOMEM;
	sim->topo = cfg->topo;
	sim->loss = cfg->loss;
	sim->n_flows = cfg->n_flows;
	sim->env = cfg->host;
	sim->env.fabric = &sim->fabric;
	sim->env.flows = cfg->flows;
	/* Times inside count from the first flow's start, which leaves more bits for their order. */
	if (cfg->n_flows > 0)
		sim->env.base = cfg->flows[0].start;
	sim->until = wf_max_time(cfg->until - sim->env.base, 0);
	ret = build(sim, cfg, err);
	if (ret != 0) {
		wf_hpcc_sim_destroy(sim);
		return ret;
	}
	*sim_p = sim;
	return 0;
}

void wf_hpcc_sim_destroy(struct wf_hpcc_sim *sim)
{
	struct wf_mem *mem = wf_mem_heap();

	if (sim == NULL)
		return;
	wf_engine_destroy(sim->engine);
	wf_fabric_fini(&sim->fabric);
	mem->free(mem, sim->shards);
	mem->free(mem, sim->devices);
	mem->free(mem, sim->hosts);
	mem->free(mem, sim->env.qp);
	mem->free(mem, sim->env.rx);
	mem->free(mem, sim->list);
	mem->free(mem, sim->first);
	mem->free(mem, sim->streams);
	mem->free(mem, sim);
}

static bool after_window(void *arg, wf_time now)
{
	const struct wf_hpcc_sim *sim = arg;

	(void)now;
	for (unsigned i = 0; i < sim->n_shards; i++) {
		if (sim->shards[i]->no_memory)
			return false;
	}
	return true;
}

int wf_hpcc_sim_run(struct wf_hpcc_sim *sim)
{
	int ret = wf_engine_run(sim->engine, sim->until / WF_NS << sim->fabric.order.bits,
	                        after_window, sim);

	return ret == 0 && !after_window(sim, 0) ? -ENOMEM : ret;
}

wf_time wf_hpcc_sim_end(const struct wf_hpcc_sim *sim, uint32_t flow)
{
	wf_time end = sim->env.qp[flow]->end;

	return end == WF_TIME_NEVER ? end : end + sim->env.base;
}

static bool is_before(const struct wf_pause_note *a, const struct wf_pause_note *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	return a->node != b->node ? a->node < b->node : a->port < b->port;
}

/* Merge sort, which keeps the order of equals; half is as large as notes. */
static void sort_notes(struct wf_pause_note *notes, struct wf_pause_note *half, size_t n)
{
	size_t left = n / 2, i = 0, k = left, to = 0;

	if (n < 2)
		return;
	sort_notes(notes, half, left);
	sort_notes(notes + left, half, n - left);
	memcpy(half, notes, left * sizeof(*half));
	while (i < left && k < n)
		notes[to++] = is_before(&notes[k], &half[i]) ? notes[k++] : half[i++];
	while (i < left)
		notes[to++] = half[i++];
}

int wf_hpcc_sim_pauses(const struct wf_hpcc_sim *sim, struct wf_pause_note **notes_p, size_t *n_p)
{
	struct wf_mem *mem = wf_mem_heap();
	const struct wf_pause_log *log;
	struct wf_pause_note *notes, *half;
	size_t n = 0;

	for (unsigned i = 0; i < sim->n_shards; i++) {
		for (log = sim->shards[i]->pauses; log != NULL; log = log->next)
			n += log->n;
	}
	notes = mem->alloc(mem, (n + 1) * sizeof(*notes));
	half = mem->alloc(mem, (n / 2 + 1) * sizeof(*notes));
	if (notes == NULL || half == NULL) {
		mem->free(mem, notes);
		mem->free(mem, half);
		return -ENOMEM;
	}
	*n_p = n;
	n = 0;
	for (unsigned i = 0; i < sim->n_shards; i++) {
		for (log = sim->shards[i]->pauses; log != NULL; log = log->next) {
			memcpy(&notes[n], log->note, log->n * sizeof(*notes));
			n += log->n;
		}
	}
	for (size_t i = 0; i < n; i++)
		notes[i].at += sim->env.base;
	sort_notes(notes, half, n);
	mem->free(mem, half);
	*notes_p = notes;
	return 0;
}

void wf_hpcc_sim_counts(const struct wf_hpcc_sim *sim, struct wf_hpcc_sim_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (unsigned i = 0; i < sim->n_shards; i++) {
		counts->hops += sim->shards[i]->hops;
		for (unsigned c = 0; c < WF_MAX_CLASSES; c++)
			counts->dropped += sim->shards[i]->tally[c].dropped;
	}
	for (uint32_t id = 0; id < sim->topo->n_nodes; id++) {
		const struct wf_device *dev = sim->devices[id];

		for (unsigned k = 0; k < dev->n_ports * dev->n_queues; k++)
			counts->marked += dev->lanes[k].ecn_marked;
	}
}
