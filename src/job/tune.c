/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.c - NCCL's tuning model; tune_graph.c has its search for channels.
 */
#include "job/tune.h"

#include <string.h>

#include "job/tune_priv.h"

#define US(us) ((uint32_t)((us)*1000.0 + 0.5)) /* constants only: ns */
#define MB(gb) ((uint32_t)((gb)*1000.0 + 0.5)) /* constants only: MB/s from GB/s */
#define N_NODES 3                              /* columns: 1, 2, more servers */
#define BLACKWELL_TREE_SIZES 24
#define TREE_SIZES 23

enum { HW_NVLINK, HW_NET, HW_KINDS };

/* NCCL's own order: of two that take equally long, the first is taken. */
static const enum wf_coll_alg order[] = { WF_ALG_TREE,    WF_ALG_RING,
	                                  WF_ALG_COLLNET, WF_ALG_COLLNET_CHAIN,
	                                  WF_ALG_NVLS,    WF_ALG_NVLS_TREE,
	                                  WF_ALG_PAT };

/* Every constant of the model; latencies in ns by (LL, LL128, Simple), bandwidths in MB/s. */
static const struct {
	uint32_t base[WF_ALGS][WF_PROTOS];
	uint32_t hop[HW_KINDS][WF_ALGS][WF_PROTOS];
	uint32_t ll_gpu[WF_GPU_GENS];      /* most that LL moves in one server, by GPU */
	uint32_t ll_cpu[WF_CPUS][N_NODES]; /* between servers, by CPU */
	uint32_t ring_ll128[WF_GPU_GENS];  /* of a channel, as all of these */
	uint32_t tree_ll128[WF_GPU_GENS][N_NODES];
	uint32_t tree[WF_GPU_GENS][N_NODES];
	uint32_t nvls_tree[WF_GPU_GENS][N_NODES];
	uint32_t nvls_percent[WF_GPU_GENS];
	uint32_t post[WF_CPUS]; /* ns to post to the network */
	uint32_t arity;         /* ns for each GPU that CollNetDirect serves */
	uint32_t threads[WF_PROTOS], per_thread[WF_PROTOS];
	uint8_t tree_tenths[WF_PROTOS][24]; /* what trees reach, by size: 64 B << i */
} T = {
	.base = { [WF_ALG_TREE] = { 0, US(6.8), US(14), US(8.4) },
	          [WF_ALG_RING] = { 0, US(6.6), US(14), US(8.4) },
	          [WF_ALG_PAT] = { 0, US(8), US(8), US(8) } },
	.hop = { [HW_NVLINK] = { [WF_ALG_TREE] = { 0, US(0.6), US(1.25), US(4) },
	                         [WF_ALG_RING] = { 0, US(0.6), US(1.9), US(3.4) },
	                         [WF_ALG_COLLNET] = { 0, 0, 0, US(3.7) },
	                         [WF_ALG_COLLNET_CHAIN] = { 0, 0, 0, US(2.8) },
	                         [WF_ALG_NVLS] = { 0, 0, 0, US(25) },
	                         [WF_ALG_NVLS_TREE] = { 0, 0, 0, US(25) },
	                         [WF_ALG_PAT] = { 0, 0, 0, US(4) } },
	         [HW_NET] = { [WF_ALG_TREE] = { 0, US(5), US(8.5), US(14) },
	                      [WF_ALG_RING] = { 0, US(2.7), US(4), US(14) },
	                      [WF_ALG_COLLNET] = { 0, 0, 0, US(31) },
	                      [WF_ALG_COLLNET_CHAIN] = { 0, 0, 0, US(30) },
	                      [WF_ALG_NVLS] = { 0, 0, 0, US(18) },
	                      [WF_ALG_NVLS_TREE] = { 0, 0, 0, US(20.9) },
	                      [WF_ALG_PAT] = { 0, 0, 0, US(14) } } },
	.ll_gpu = { MB(39), MB(87.7), MB(141), MB(282) },
	.ll_cpu = { [WF_CPU_INTEL] = { 0, MB(39), MB(20.4) },
	            [WF_CPU_AMD] = { 0, MB(22.5), MB(19) },
	            [WF_CPU_OTHER] = { 0, MB(39), MB(20.4) } },
	.ring_ll128 = { MB(20), MB(20), MB(36.7), MB(40) },
	.tree_ll128 = { { MB(20), MB(20), MB(20) },
	                { MB(20), MB(20), MB(20) },
	                { MB(36.7), MB(36.7), MB(29) },
	                { MB(55.6), MB(31.67), MB(20) } },
	.tree = { { MB(26.5), MB(18.5), MB(10) },
	          { MB(24), MB(23.6), MB(17.8) },
	          { MB(38.7), MB(41.4), MB(36) },
	          { MB(70), MB(42.8), MB(24) } },
	.nvls_tree = { { MB(26.5), MB(18.5), MB(10) },
	               { MB(24), MB(23.6), MB(17.8) },
	               { 0, MB(57.7), MB(45.5) },
	               { 0, MB(96), MB(80) } },
	.nvls_percent = { 0, 0, 85, 74 },
	.post = { [WF_CPU_INTEL] = US(1), [WF_CPU_AMD] = US(2), [WF_CPU_OTHER] = US(1) },
	.arity = US(0.4),
	.threads = { 0, 512, 640, 512 },
	.per_thread = { 0, 8, 8, 64 },
	.tree_tenths = { [WF_PROTO_LL] = { 10, 10, 10, 10, 9, 8, 7, 7,  7,  7,  6,  5,
	                                   4,  4,  5,  6,  7, 8, 9, 10, 10, 10, 10, 10 },
	                 [WF_PROTO_LL128] = { 10, 10, 10, 10, 10, 9, 8, 8, 8, 7,  6,  6,
	                                      6,  6,  6,  6,  8,  9, 9, 9, 9, 10, 10, 10 },
	                 [WF_PROTO_SIMPLE] = { 9, 9, 9, 9, 9, 9, 9, 8, 7, 6, 6, 5,
	                                       5, 5, 5, 6, 7, 8, 7, 7, 8, 9, 9, 9 } },
};

static uint32_t log2_of(uint64_t x)
{
	return 63 - (uint32_t)__builtin_clzll(x);
}

/* ---- bandwidths, in MB/s ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
	return wf_min_u64(a, b);
}

static uint64_t ring_bw(const struct wf_tune *t, enum wf_proto p, uint32_t column)
{
	const struct wf_tune_comm *c = &t->comm;
	uint64_t all = t->ring.channels * (c->nodes <= 2 ? t->ring.intra : t->ring.inter);
	uint64_t ll = c->nodes == 1 ? T.ll_gpu[c->gen] : T.ll_cpu[c->cpu][column];

	if (p == WF_PROTO_LL)
		return least(ll, all / 2);
	if (p == WF_PROTO_LL128)
		return least(all * 92 / 100, (uint64_t)t->ring.channels * T.ring_ll128[c->gen]);
	return all;
}

static uint64_t tree_bw(const struct wf_tune *t, enum wf_proto p, uint32_t column)
{
	const struct wf_tune_comm *c = &t->comm;
	uint64_t channels = t->tree.channels;
	uint64_t all = channels * (c->nodes <= 2 ? t->tree.intra : t->tree.inter);
	uint64_t ll = c->nodes == 1 ? T.ll_gpu[c->gen] : T.ll_cpu[c->cpu][column];

	all = least(all * 92 / 100, channels * T.tree[c->gen][column]);
	if (p == WF_PROTO_LL)
		all = least(all * 10 / 38, ll);
	if (p == WF_PROTO_LL128)
		all = least(c->nodes == 1 ? all * 7 / 9 : all * 120 / 128,
		            channels * T.tree_ll128[c->gen][column]);
	return t->simple_tree ? all * 85 / 100 : all;
}

/* Of a channel inside a server. */
static uint64_t nvls_inside_bw(const struct wf_tune *t, enum wf_coll_kind kind)
{
	const struct wf_tune_comm *c = &t->comm;
	uint64_t k = t->nvls.channels, bw;

	bw = t->nvls.intra * T.nvls_percent[c->gen] * (k - 1) / (100 * k);
	return kind == WF_COLL_ALL_REDUCE ? 2 * bw : bw * (c->ranks - c->nodes) / c->ranks;
}

static uint64_t nvls_bw(const struct wf_tune *t, enum wf_coll_kind kind, bool tree, uint32_t column)
{
	const struct wf_tune_comm *c = &t->comm;
	uint64_t k = t->nvls.channels, bw;

	if (k < 2)
		return 0;
	bw = nvls_inside_bw(t, kind);
	bw = least(bw, t->nvls.inter * (tree && c->nodes <= 2 ? 2 : 1));
	if (tree)
		bw = least(bw, T.nvls_tree[c->gen][column]);
	return k * bw;
}

static uint64_t direct_bw(const struct wf_tune *t)
{
	uint64_t k = t->direct.channels, gpus = t->comm.gpus;

	/* Divided by f - (f - 1) / 2, f being GPUs to a channel: 2k / (gpus + k). */
	uint64_t bw = k * t->direct.intra * 2 * k / (gpus + k);

	return t->comm.gen >= WF_GEN_HOPPER ? bw * 85 / 100 : bw;
}

/* LL128 needs data to arrive as it was written: not over PCIe of older servers that use PXN. */
static bool has_ll128(const struct wf_tune_comm *c)
{
	return c->gen >= WF_GEN_HOPPER || c->nodes == 1 || c->gpus == 1 || c->nics < c->gpus;
}

static bool is_possible(const struct wf_tune *t, enum wf_coll_kind kind, enum wf_coll_alg a,
                        enum wf_proto p)
{
	const struct wf_tune_comm *c = &t->comm;
	bool gathers = kind == WF_COLL_ALL_GATHER || kind == WF_COLL_REDUCE_SCATTER;

	if (p == WF_PROTO_LL128 && !has_ll128(c))
		return false;
	if (a == WF_ALG_RING)
		return kind != WF_COLL_ALL_TO_ALL && kind != WF_COLL_BARRIER;
	if (a == WF_ALG_TREE)
		return kind == WF_COLL_ALL_REDUCE;
	if (p != WF_PROTO_SIMPLE)
		return false;
	if (a == WF_ALG_PAT)
		return gathers && c->pat && c->ranks == c->nodes;
	if (a == WF_ALG_NVLS)
		return c->nvls && (kind == WF_COLL_ALL_REDUCE || (gathers && c->nodes == 1)) &&
		       (c->nodes == 1 || c->collnet);
	if (a == WF_ALG_NVLS_TREE)
		return c->nvls && kind == WF_COLL_ALL_REDUCE && c->nodes > 1;
	return kind == WF_COLL_ALL_REDUCE && c->collnet && c->nodes > 1;
}

static uint64_t bus_bw(const struct wf_tune *t, enum wf_coll_kind kind, enum wf_coll_alg a,
                       enum wf_proto p)
{
	uint32_t column = t->comm.nodes <= 2 ? t->comm.nodes - 1 : 2;

	if (a == WF_ALG_RING)
		return ring_bw(t, p, column);
	if (a == WF_ALG_TREE)
		return tree_bw(t, p, column);
	if (a == WF_ALG_PAT)
		return t->ring.channels * t->ring.inter * 75 / 100;
	if (a == WF_ALG_COLLNET)
		return direct_bw(t);
	if (a == WF_ALG_COLLNET_CHAIN)
		return t->chain.channels * t->chain.intra;
	return nvls_bw(t, kind, a == WF_ALG_NVLS_TREE, column);
}

/* From what the links carry to bytes of the collective's size. */
static uint64_t alg_bw(const struct wf_tune *t, enum wf_coll_kind kind, enum wf_coll_alg a,
                       uint64_t bus)
{
	uint64_t n = t->comm.ranks;
	bool around = a == WF_ALG_RING || a == WF_ALG_NVLS || a == WF_ALG_NVLS_TREE;
	uint64_t bytes = bus * 1000000;

	if (kind == WF_COLL_BROADCAST)
		return bytes;
	if (kind == WF_COLL_ALL_REDUCE)
		return around ? bytes / (2 * (n - 1)) * n : bytes / 2;
	return a == WF_ALG_RING ? bytes / (n - 1) * n : bytes;
}

/* ---- latencies, in ns ---- */

static uint64_t ring_ns(const struct wf_tune *t, enum wf_coll_kind kind, enum wf_proto p,
                        uint64_t intra, uint64_t net)
{
	const struct wf_tune_comm *c = &t->comm;
	uint64_t rounds = kind == WF_COLL_ALL_REDUCE ? 2 : 1, posting = 0;

	if (kind == WF_COLL_BROADCAST) {
		if (c->nodes == 1)
			return intra;
		return c->ranks * (uint64_t)(p == WF_PROTO_SIMPLE ? T.hop[HW_NET][WF_ALG_TREE][p]
		                                                  : T.hop[HW_NET][WF_ALG_RING][p]);
	}
	if (c->nodes > 1)
		posting = T.post[c->cpu] * (p == WF_PROTO_SIMPLE ? 3u : 1u);
	return rounds * ((c->ranks - c->nodes) * wf_max_u64(intra, posting) +
	                 (c->nodes - 1) * (c->nodes > 1 ? net : 0));
}

/* The network's step; with one GPU a server that of trees. */
static uint64_t net_ns(const struct wf_tune *t, enum wf_coll_alg a, enum wf_proto p)
{
	return T.hop[HW_NET][t->comm.ranks == t->comm.nodes ? WF_ALG_TREE : a][p];
}

static bool is_by_switches(enum wf_coll_alg a)
{
	return a == WF_ALG_NVLS || a == WF_ALG_COLLNET || a == WF_ALG_COLLNET_CHAIN;
}

static uint64_t latency_ns(const struct wf_tune *t, enum wf_coll_kind kind, enum wf_coll_alg a,
                           enum wf_proto p)
{
	const struct wf_tune_comm *c = &t->comm;
	uint64_t intra = T.hop[HW_NVLINK][a][p], base = T.base[a][p];
	uint64_t net = net_ns(t, a, p);
	uint64_t inside = c->ranks / c->nodes - 1, deep = log2_of(c->nodes);

	switch (a) {
	case WF_ALG_RING:
		return base +
		       (c->nodes == 1 && kind != WF_COLL_BROADCAST
		                ? (c->ranks - 1) * intra * (kind == WF_COLL_ALL_REDUCE ? 2 : 1)
		                : ring_ns(t, kind, p, intra, net));
	case WF_ALG_TREE:
		return base + 2 * (inside * intra + deep * net);
	case WF_ALG_COLLNET:
		return 2 * ((inside > 0 ? intra : 0) + inside * T.arity) + net;
	case WF_ALG_COLLNET_CHAIN:
		return 2 * inside * intra + net;
	case WF_ALG_NVLS:
		return intra + (c->nodes > 1 ? net : 0);
	case WF_ALG_NVLS_TREE:
		return intra + 2 * deep * net;
	case WF_ALG_PAT:
		return base + deep * net * 10 / 35 + c->ranks * (uint64_t)US(2.8);
	case WF_ALG_AUTO:
	case WF_ALG_HALVING:
	case WF_ALG_PAIRWISE:
	case WF_ALGS:
		break;
	}
	return 0;
}

/* ---- all together ---- */

void wf_tune_init(struct wf_tune *t, const struct wf_tune_comm *comm)
{
	assert(comm->ranks > 1 && comm->nodes > 0 && comm->nodes <= comm->ranks && comm->nics > 0);
	memset(t, 0, sizeof(*t));
	t->comm = *comm;
	t->comm.nvls = comm->nvls && comm->gen >= WF_GEN_HOPPER && comm->gpus > 1;
	t->comm.collnet = comm->collnet && comm->gpus <= WF_TUNE_DIRECT_GPUS;
	wf_tune_search(t);
	for (unsigned kind = 0; kind < WF_COLL_KINDS; kind++) {
		for (size_t i = 0; i < WF_ARRAY_SIZE(order); i++) {
			enum wf_coll_alg a = order[i];

			for (unsigned p = WF_PROTO_LL; p < WF_PROTOS; p++) {
				struct wf_tune_cell *cell = &t->cell[kind][a][p];

				if (!is_possible(t, (enum wf_coll_kind)kind, a, (enum wf_proto)p))
					continue;
				cell->bandwidth = alg_bw(
					t, (enum wf_coll_kind)kind, a,
					bus_bw(t, (enum wf_coll_kind)kind, a, (enum wf_proto)p));
				cell->latency = (wf_time)latency_ns(t, (enum wf_coll_kind)kind, a,
				                                    (enum wf_proto)p) *
				                WF_NS;
			}
		}
	}
}

/* What of its bandwidth a tree reaches at a size, in tenths. */
static uint64_t tree_tenths(const struct wf_tune *t, enum wf_coll_alg alg, enum wf_proto proto,
                            uint64_t bytes)
{
	uint32_t size = bytes < 64 ? UINT32_MAX : log2_of(bytes >> 6);

	if (alg == WF_ALG_TREE && size < TREE_SIZES)
		return T.tree_tenths[proto][size];
	if (alg == WF_ALG_NVLS_TREE && size < BLACKWELL_TREE_SIZES &&
	    t->comm.gen >= WF_GEN_BLACKWELL && t->comm.cpu != WF_CPU_OTHER)
		return T.tree_tenths[proto][size];
	return 10;
}

wf_time wf_tune_time(const struct wf_tune *t, enum wf_coll_kind kind, enum wf_coll_alg alg,
                     enum wf_proto proto, uint64_t bytes)
{
	const struct wf_tune_cell *cell = &t->cell[kind][alg][proto];
	unsigned __int128 moving;
	wf_time latency = cell->latency;

	if (cell->bandwidth == 0)
		return WF_TIME_NEVER;
	/* The plateau of rings between servers. */
	if (alg == WF_ALG_RING && proto == WF_PROTO_SIMPLE && t->comm.nodes > 1 &&
	    kind == WF_COLL_ALL_REDUCE && bytes / ((uint64_t)t->channels * t->comm.ranks) >= 64)
		latency = latency * (t->comm.gen < WF_GEN_AMPERE ? 19 : 14) / 10;
	moving = (unsigned __int128)bytes * (uint64_t)WF_S * 10 /
	         ((unsigned __int128)cell->bandwidth * tree_tenths(t, alg, proto, bytes));
	return latency + (wf_time)moving;
}

static uint32_t choose_channels(const struct wf_tune *t, enum wf_coll_alg alg, enum wf_proto proto,
                                uint64_t bytes)
{
	uint64_t each = (uint64_t)T.threads[proto] * T.per_thread[proto];

	switch (alg) {
	case WF_ALG_NVLS:
		return t->comm.nodes > 1 ? (uint32_t)least(t->nvls_channels, t->channels)
		                         : t->nvls_channels;
	case WF_ALG_NVLS_TREE:
		return t->nvls_channels;
	case WF_ALG_COLLNET:
	case WF_ALG_COLLNET_CHAIN:
		each = (uint64_t)T.threads[proto] * 512;
		break;
	case WF_ALG_RING:
		if (proto == WF_PROTO_LL)
			each *= t->comm.ranks;
		break;
	case WF_ALG_TREE:
	case WF_ALG_PAT:
	case WF_ALG_AUTO:
	case WF_ALG_HALVING:
	case WF_ALG_PAIRWISE:
	case WF_ALGS:
		break;
	}
	return (uint32_t)wf_max_u64(1, least(t->channels, bytes / each));
}

bool wf_tune_choose(const struct wf_tune *t, enum wf_coll_kind kind, enum wf_coll_alg alg,
                    enum wf_proto proto, uint64_t bytes, struct wf_tune_choice *choice)
{
	choice->time = WF_TIME_NEVER;
	for (size_t i = 0; i < WF_ARRAY_SIZE(order); i++) {
		for (unsigned p = WF_PROTO_LL; p < WF_PROTOS; p++) {
			wf_time time;

			if ((alg != WF_ALG_AUTO && alg != order[i]) ||
			    (proto != WF_PROTO_AUTO && (unsigned)proto != p))
				continue;
			time = wf_tune_time(t, kind, order[i], (enum wf_proto)p, bytes);
			if (time < choice->time) {
				choice->time = time;
				choice->alg = order[i];
				choice->proto = (enum wf_proto)p;
			}
		}
	}
	if (choice->time == WF_TIME_NEVER)
		return false;
	choice->base = (wf_time)T.base[choice->alg][choice->proto] * WF_NS;
	choice->latency = t->cell[kind][choice->alg][choice->proto].latency;
	choice->bandwidth = t->cell[kind][choice->alg][choice->proto].bandwidth *
	                    tree_tenths(t, choice->alg, choice->proto, bytes) / 10;
	choice->net = 0;
	choice->inside = choice->bandwidth;
	if (t->comm.nodes > 1 && is_by_switches(choice->alg))
		choice->net = (wf_time)net_ns(t, choice->alg, choice->proto) * WF_NS;
	if (choice->alg == WF_ALG_NVLS)
		choice->inside =
			alg_bw(t, kind, choice->alg, t->nvls.channels * nvls_inside_bw(t, kind));
	choice->link = t->cell[kind][WF_ALG_RING][WF_PROTO_SIMPLE].bandwidth;
	choice->channels = choose_channels(t, choice->alg, choice->proto, bytes);
	choice->chunk = wf_tune_chunk(t, kind, choice, bytes);
	return true;
}

wf_time wf_tune_post(enum wf_cpu cpu, enum wf_proto proto)
{
	return (wf_time)T.post[cpu] * WF_NS * (proto == WF_PROTO_SIMPLE ? 3 : 1);
}

wf_time wf_tune_launch(void)
{
	return (wf_time)T.base[WF_ALG_RING][WF_PROTO_LL] * WF_NS;
}
