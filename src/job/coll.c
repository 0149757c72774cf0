/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coll.c - the table of algorithms, and how a collective is done: NCCL's choice (job/tune.h), as
 * operations.
 */
#include "job/coll.h"

#include <errno.h>
#include <string.h>

#include "job/coll_priv.h"
#include "job/reduce.h"

#define BARRIER_BYTES 4
#define LEAST_CHUNK UINT64_C(512)
#define USUAL_CHUNK (UINT64_C(512) << 10)
#define USUAL_NIC UINT64_C(400000000000)     /* bits/s */
#define USUAL_NVLINK UINT64_C(3600000000000) /* H100 */
#define LINK_STEP (600 * WF_NS)              /* of NVLink, which steps' delays come on top of */

static const char *const kind_names[] = {
	[WF_COLL_ALL_REDUCE] = "all-reduce", [WF_COLL_REDUCE_SCATTER] = "reduce-scatter",
	[WF_COLL_ALL_GATHER] = "all-gather", [WF_COLL_ALL_TO_ALL] = "all-to-all",
	[WF_COLL_BROADCAST] = "broadcast",   [WF_COLL_BARRIER] = "barrier",
};
static const char *const alg_names[] = {
	[WF_ALG_AUTO] = "auto",
	[WF_ALG_RING] = "ring",
	[WF_ALG_TREE] = "tree",
	[WF_ALG_HALVING] = "halving-doubling",
	[WF_ALG_PAIRWISE] = "pairwise",
	[WF_ALG_NVLS] = "nvls",
	[WF_ALG_NVLS_TREE] = "nvls-tree",
	[WF_ALG_COLLNET] = "collnet-direct",
	[WF_ALG_COLLNET_CHAIN] = "collnet-chain",
	[WF_ALG_PAT] = "pat",
};
static const char *const proto_names[] = {
	[WF_PROTO_AUTO] = "auto",
	[WF_PROTO_LL] = "ll",
	[WF_PROTO_LL128] = "ll128",
	[WF_PROTO_SIMPLE] = "simple",
};

_Static_assert(WF_ARRAY_SIZE(kind_names) == WF_COLL_KINDS, "a name for each kind");
_Static_assert(WF_ARRAY_SIZE(alg_names) == WF_ALGS, "a name for each algorithm");
_Static_assert(WF_ARRAY_SIZE(proto_names) == WF_PROTOS, "a name for each protocol");

static unsigned find(const char *const *names, unsigned n, const char *name)
{
	unsigned i = 0;

	while (i < n && strcmp(names[i], name) != 0)
		i++;
	return i;
}

const char *wf_coll_kind_name(enum wf_coll_kind kind)
{
	return kind_names[kind];
}

const char *wf_coll_alg_name(enum wf_coll_alg alg)
{
	return alg_names[alg];
}

enum wf_coll_kind wf_coll_kind_find(const char *name)
{
	return (enum wf_coll_kind)find(kind_names, WF_COLL_KINDS, name);
}

enum wf_coll_alg wf_coll_alg_find(const char *name)
{
	return (enum wf_coll_alg)find(alg_names, WF_ALGS, name);
}

enum wf_proto wf_proto_find(const char *name)
{
	return (enum wf_proto)find(proto_names, WF_PROTOS, name);
}

#define ALL_REDUCE (1u << WF_COLL_ALL_REDUCE)
#define AROUND (ALL_REDUCE | 1u << WF_COLL_REDUCE_SCATTER | 1u << WF_COLL_ALL_GATHER)

/* Which algorithm does which kinds, and how; the first that does a kind is recommended. */
static const struct {
	enum wf_coll_alg alg;
	uint32_t kinds; /* bits of enum wf_coll_kind */
	const struct wf_gen_ops *gen;
} gens[] = {
	{ WF_ALG_RING, AROUND, &wf_gen_ring },
	{ WF_ALG_RING, 1u << WF_COLL_BROADCAST, &wf_gen_chain },
	{ WF_ALG_TREE, ALL_REDUCE, &wf_gen_tree },
	{ WF_ALG_HALVING, ALL_REDUCE, &wf_gen_halving },
	{ WF_ALG_PAIRWISE, 1u << WF_COLL_ALL_TO_ALL, &wf_gen_pairwise },
	{ WF_ALG_NVLS, AROUND, &wf_gen_nvls },
	{ WF_ALG_NVLS_TREE, ALL_REDUCE, &wf_gen_nvls },
	{ WF_ALG_COLLNET, ALL_REDUCE, &wf_gen_nvls },
	{ WF_ALG_COLLNET_CHAIN, ALL_REDUCE, &wf_gen_nvls },
};

/* A barrier is a small all-reduce. */
static enum wf_coll_kind kind_of(const struct wf_coll *coll)
{
	return coll->kind == WF_COLL_BARRIER ? WF_COLL_ALL_REDUCE : (enum wf_coll_kind)coll->kind;
}

static const struct wf_gen_ops *find_gen(enum wf_coll_alg alg, enum wf_coll_kind kind)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(gens); i++) {
		if (gens[i].alg == alg && gens[i].kinds >> kind & 1)
			return gens[i].gen;
	}
	return NULL;
}

int wf_coll_check(const struct wf_coll *coll, struct wf_err *err)
{
	enum wf_coll_kind kind = kind_of(coll);

	if (coll->alg == WF_ALG_AUTO || find_gen((enum wf_coll_alg)coll->alg, kind) != NULL)
		return 0;
	for (size_t i = 0; i < WF_ARRAY_SIZE(gens); i++) {
		if (gens[i].kinds >> kind & 1)
			return wf_err_say(err, "algorithm: %s does not do %s; write auto or %s",
			                  alg_names[coll->alg], kind_names[coll->kind],
			                  alg_names[gens[i].alg]);
	}
	return wf_err_say(err, "algorithm: nothing does %s", kind_names[coll->kind]);
}

/* ---- NCCL's choice ---- */

static enum wf_gpu_gen gen_of(const char *name)
{
	return name[0] == 'v'   ? WF_GEN_VOLTA
	       : name[0] == 'a' ? WF_GEN_AMPERE
	       : name[0] == 'b' ? WF_GEN_BLACKWELL
	                        : WF_GEN_HOPPER;
}

static enum wf_cpu cpu_of(const char *name)
{
	return name[0] == 'a' ? WF_CPU_AMD : name[0] == 'o' ? WF_CPU_OTHER : WF_CPU_INTEL;
}

static uint64_t nvlink_of(const struct wf_coll_cfg *cfg)
{
	return cfg->nvlink != 0 ? cfg->nvlink : USUAL_NVLINK;
}

/* Servers that a group is in. */
static uint32_t count_nodes(const struct wf_cluster *c, const struct wf_comm *comm)
{
	uint32_t n = 1;

	if (comm->list == NULL && comm->stride >= c->gpus)
		return comm->n;
	if (comm->list == NULL)
		return wf_cluster_server(c, wf_comm_rank(comm, comm->n - 1)) -
		       wf_cluster_server(c, comm->base) + 1;
	for (uint32_t i = 1; i < comm->n; i++)
		n += !wf_cluster_local(c, comm->list[i - 1], comm->list[i]);
	return n;
}

/* Whether each of the servers has as many of a group's GPUs. */
static bool is_even(const struct wf_cluster *c, const struct wf_comm *comm, uint32_t nodes,
                    uint32_t gpus)
{
	if (comm->n != nodes * gpus)
		return false;
	if (comm->list == NULL)
		return wf_cluster_local(c, wf_comm_rank(comm, 0), wf_comm_rank(comm, gpus - 1)) &&
		       wf_cluster_local(c, wf_comm_rank(comm, comm->n - gpus),
		                        wf_comm_rank(comm, comm->n - 1));
	for (uint32_t i = 0; i < comm->n; i += gpus) {
		if (!wf_cluster_local(c, comm->list[i], comm->list[i + gpus - 1]))
			return false;
	}
	return true;
}

void wf_coll_look(const struct wf_coll_cfg *cfg, const struct wf_cluster *c,
                  const struct wf_comm *comm, struct wf_tune_comm *look)
{
	uint32_t nodes = count_nodes(c, comm), gpus = (comm->n + nodes - 1) / nodes, nics = 0,
		 last = 0;

	/* NICs that the GPUs of the first server use. */
	for (uint32_t i = 0;
	     i < comm->n && wf_cluster_local(c, wf_comm_rank(comm, 0), wf_comm_rank(comm, i));
	     i++) {
		uint32_t nic = wf_cluster_nic(c, wf_comm_rank(comm, i));

		nics += i == 0 || nic != last;
		last = nic;
	}
	*look = (struct wf_tune_comm){
		.ranks = comm->n,
		.nodes = nodes,
		.gpus = gpus,
		.nics = nics,
		.nic_rate = cfg->nic_rate != 0 ? cfg->nic_rate
		            : c->nic_rate != 0 ? c->nic_rate
		                               : USUAL_NIC,
		.pcie = cfg->pcie_rate,
		.nvlink = nvlink_of(cfg),
		.gen = (uint8_t)gen_of(cfg->generation),
		.cpu = (uint8_t)cpu_of(cfg->cpu),
		.nvls = cfg->nvls_on && is_even(c, comm, nodes, gpus),
		.collnet = cfg->collnet && is_even(c, comm, nodes, gpus) &&
		           (cfg->grants == NULL || wf_grants_has(cfg->grants, comm)),
	};
}

uint32_t wf_coll_heads(const struct wf_tune *tune)
{
	return tune->nvls.channels != 0 ? tune->nvls.channels : tune->direct.channels;
}

/* The real size of what a scaled job has. */
static uint64_t unscaled(const struct wf_coll_cfg *cfg, uint64_t bytes)
{
	return cfg->scale == 0 ? bytes
	                       : (uint64_t)((unsigned __int128)bytes * WF_RATIO_ONE / cfg->scale);
}

static uint64_t bytes_of(const struct wf_coll *coll)
{
	return coll->kind == WF_COLL_BARRIER ? BARRIER_BYTES : coll->bytes;
}

/*
 * How a collective is done: NCCL's choice among what is here and what is wished for; what NCCL does
 * not have is done as it is wished for, with Simple.
 */
static void choose(const struct wf_cluster *cluster, const struct wf_coll_cfg *cfg,
                   const struct wf_coll *coll, struct wf_part *part)
{
	struct wf_tune_choice *choice = &part->choice;
	enum wf_coll_kind kind = kind_of(coll);
	struct wf_tune_comm look;
	struct wf_tune tune;

	wf_coll_look(cfg, cluster, &coll->comm, &look);
	wf_tune_init(&tune, &look);
	part->searched = (uint32_t)wf_max_u64(1, tune.ring.channels);
	part->heads = wf_coll_heads(&tune);
	if (wf_tune_choose(&tune, kind, (enum wf_coll_alg)coll->alg, (enum wf_proto)coll->proto,
	                   unscaled(cfg, bytes_of(coll)), choice))
		return;
	/* Who was refused by the network falls back, whatever was wished for. */
	if (cfg->grants != NULL && cfg->collnet && !look.collnet &&
	    wf_tune_choose(&tune, kind, WF_ALG_AUTO, WF_PROTO_AUTO, unscaled(cfg, bytes_of(coll)),
	                   choice))
		return;
	*choice = (struct wf_tune_choice){
		.alg = coll->alg != WF_ALG_AUTO ? (enum wf_coll_alg)coll->alg : WF_ALG_PAIRWISE,
		.proto =
			coll->proto != WF_PROTO_AUTO ? (enum wf_proto)coll->proto : WF_PROTO_SIMPLE,
		.channels = tune.channels,
		.chunk = USUAL_CHUNK,
	};
}

int wf_coll_check_here(const struct wf_coll *coll, const struct wf_cluster *cluster,
                       const struct wf_coll_cfg *cfg, struct wf_err *err)
{
	struct wf_part part = { 0 };

	if (coll->comm.n < 2 ||
	    find_gen((enum wf_coll_alg)coll->alg, kind_of(coll)) != &wf_gen_nvls)
		return 0;
	choose(cluster, cfg, coll, &part);
	if (part.choice.bandwidth != 0)
		return 0;
	return wf_err_say(
		err,
		"algorithm: NCCL cannot do %s with %s here; nvls needs one server or collnet, "
		"nvls-tree several servers, both as many GPUs in each and generation hopper "
		"or later, and collnet-* needs collnet and several servers; all of them "
		"protocol simple; write auto",
		kind_names[coll->kind], alg_names[coll->alg]);
}

/* nccl-tests, PERFORMANCE.md. */
void wf_coll_group(const struct wf_coll *coll, const struct wf_cluster *cluster,
                   const struct wf_coll_cfg *cfg, struct wf_group *group)
{
	uint32_t n = coll->comm.n;
	struct wf_part part = { .choice.alg = (enum wf_coll_alg)coll->alg };

	if (n > 1)
		choose(cluster, cfg, coll, &part);
	group->kind = kind_names[coll->kind];
	group->bytes = bytes_of(coll);
	group->ranks = n;
	group->algorithm = alg_names[part.choice.alg];
	group->protocol = proto_names[part.choice.proto];
	group->channels =
		(uint32_t)wf_min_u64(part.choice.channels, wf_coll_channels(cfg, cluster));
	group->estimate = (wf_time)wf_coll_scaled(cfg, (uint64_t)part.choice.time);
	group->busbw[0] = group->busbw[1] = 1;
	switch ((enum wf_coll_kind)coll->kind) {
	case WF_COLL_ALL_REDUCE:
		group->busbw[0] = 2 * (n - 1);
		group->busbw[1] = n;
		break;
	case WF_COLL_REDUCE_SCATTER:
	case WF_COLL_ALL_GATHER:
	case WF_COLL_ALL_TO_ALL:
		group->busbw[0] = n - 1;
		group->busbw[1] = n;
		break;
	case WF_COLL_BARRIER:
		group->busbw[0] = group->busbw[1] = 0;
		break;
	case WF_COLL_BROADCAST:
	case WF_COLL_KINDS:
		break;
	}
}

uint32_t wf_coll_channels(const struct wf_coll_cfg *cfg, const struct wf_cluster *cluster)
{
	const struct wf_comm all = { .n = cluster->n_ranks, .stride = 1 };
	struct wf_tune_comm look;
	struct wf_tune tune;

	if (cfg->channels != 0 || cluster->n_ranks < 2)
		return cfg->channels != 0 ? cfg->channels : 1;
	wf_coll_look(cfg, cluster, &all, &look);
	wf_tune_init(&tune, &look);
	return tune.channels;
}

/* ---- as operations ---- */

/* Delays of a step, by kind of algorithm; LL, LL128, Simple. */
static void set_steps(struct wf_part *part)
{
	const struct wf_coll_cfg *cfg = part->cfg;
	const wf_time ring[2][WF_PROTOS] = {
		{ 0, cfg->nvlink_ll, cfg->nvlink_ll128, cfg->nvlink_simple },
		{ 0, cfg->net_ll, cfg->net_ll128, cfg->net_simple },
	};
	const wf_time tree[2][WF_PROTOS] = {
		{ 0, cfg->tree_nvlink_ll, cfg->tree_nvlink_ll128, cfg->tree_nvlink_simple },
		{ 0, cfg->tree_net_ll, cfg->tree_net_ll128, cfg->tree_net_simple },
	};
	uint32_t n = part->coll.comm.n, nodes = count_nodes(part->cluster, &part->coll.comm);
	bool is_ring = part->coll.alg == WF_ALG_RING;
	enum wf_proto p = (enum wf_proto)part->coll.proto;

	part->step_nvlink = part->coll.alg == WF_ALG_TREE ? tree[0][p] : ring[0][p];
	/* With one GPU a server nothing hides a step's delay. */
	part->step_net =
		part->coll.alg == WF_ALG_TREE || (is_ring && n == nodes) ? tree[1][p] : ring[1][p];
	if (is_ring && nodes > 1 && nodes < n) {
		wf_time post = wf_tune_post(cpu_of(cfg->cpu), p) - LINK_STEP;

		part->step_nvlink =
			wf_max_time(part->step_nvlink,
		                    (wf_time)wf_coll_scaled(cfg, (uint64_t)wf_max_time(post, 0)));
	}
}

/* Of 2^16 ps: n bytes take n times this at a rate in bytes/s. */
static uint64_t q16(uint64_t rate)
{
	return rate == 0 ? 0 : (uint64_t)(((unsigned __int128)(uint64_t)WF_S << 16) / rate);
}

/*
 * What the GPU's part takes. With Simple it reduces or copies what a message brought at the
 * memory's rate. With LL and LL128 a channel of a ring is no faster than its share of what NCCL's
 * model has for the protocol, of which it does a part while data comes in. Trees get NCCL's rate
 * where data comes into them.
 */
static void set_work(struct wf_part *part)
{
	const struct wf_tune_choice *choice = &part->choice;
	uint64_t n = part->coll.comm.n, steps = n - 1;
	bool is_ring = part->coll.alg == WF_ALG_RING && part->coll.kind != WF_COLL_BROADCAST;

	if (part->coll.alg != WF_ALG_RING)
		part->pace_q16 = part->active * q16(choice->bandwidth);
	part->inside_q16 = q16(choice->inside);
	if (part->coll.proto == WF_PROTO_SIMPLE || choice->bandwidth == 0) {
		part->work_q16 = part->active * q16(part->cfg->reduce / 8);
	} else if (is_ring) {
		if (part->coll.kind == WF_COLL_ALL_REDUCE)
			steps *= 2;
		part->work_q16 = part->active * q16(choice->bandwidth) * n / steps;
		part->work_q16 -= wf_min_u64(part->work_q16, q16(nvlink_of(part->cfg) / 8));
	}
}

/*
 * Messages of this many packets and more, unscaled, are whole packets: NCCL's chunks are slots of
 * its buffer then. Shorter ones it splits evenly, to 16 bytes.
 */
#define WHOLE_PACKETS 16

/* The data of a packet, between servers. */
static uint64_t grain_of(const struct wf_part *part)
{
	uint64_t packet = part->cfg->packet;

	if (packet == 0 || count_nodes(part->cluster, &part->coll.comm) == 1)
		return 0;
	return part->coll.proto == WF_PROTO_LL      ? packet / 2
	       : part->coll.proto == WF_PROTO_LL128 ? packet / 128 * 120
	                                            : packet;
}

static void set_proto(struct wf_part *part)
{
	const struct wf_coll_cfg *cfg = part->cfg;
	bool is_ring = part->coll.alg == WF_ALG_RING || part->choice.bandwidth == 0;
	uint64_t slot = cfg->buffer / cfg->steps;

	part->slices = 1;
	part->depth = cfg->steps;
	part->chunk = wf_max_u64(LEAST_CHUNK, wf_coll_scaled(cfg, part->choice.chunk));
	if (part->coll.proto == WF_PROTO_SIMPLE && is_ring &&
	    part->coll.kind != WF_COLL_BROADCAST) {
		part->chunk = slot * cfg->chunk_steps;
		part->slices = cfg->chunk_steps / cfg->slice_steps;
		part->depth = cfg->steps / cfg->slice_steps;
	} else if (part->coll.proto == WF_PROTO_SIMPLE) {
		part->chunk = wf_min_u64(part->chunk, slot);
	}
	part->slice = part->chunk / part->slices;
	part->late = (wf_time)wf_coll_scaled(
		cfg, (uint64_t)wf_max_time(0, part->choice.base - wf_tune_launch()));
	part->grain = grain_of(part);
	part->whole = wf_max_u64(part->grain, wf_coll_scaled(cfg, WHOLE_PACKETS * part->grain));
	set_steps(part);
	set_work(part);
}

/* As a whole: more channels would do the same. */
static bool is_calculated(enum wf_coll_alg alg)
{
	return alg == WF_ALG_NVLS || alg == WF_ALG_COLLNET || alg == WF_ALG_COLLNET_CHAIN;
}

static bool same_coll(const struct wf_coll *a, const struct wf_coll *b)
{
	return a->kind == b->kind && a->alg == b->alg && a->proto == b->proto &&
	       a->bytes == b->bytes && a->comm.n == b->comm.n && a->comm.base == b->comm.base &&
	       a->comm.stride == b->comm.stride && a->comm.list == b->comm.list;
}

/* The last GPU of a chain must leave by the head's NIC, so that one host does all of it. */
bool wf_part_has_line(const struct wf_part *part)
{
	struct wf_run run;

	if (part->nvlink == NULL || !part->cfg->pxn || part->coll.alg != WF_ALG_RING ||
	    part->coll.kind == WF_COLL_BROADCAST)
		return false;
	run = wf_part_run(part, part->pos);
	return run.end - run.first > 1 && run.end - run.first < part->coll.comm.n;
}

/* The head of a line does what all of its GPUs do. */
static const struct wf_gen_ops *line_gen(const struct wf_part *part)
{
	struct wf_run run = wf_part_run(part, part->pos);

	return part->pos == wf_run_head(&run, part->channel) ? &wf_gen_ring_line : NULL;
}

const struct wf_gen_ops *wf_part_init(struct wf_part *part, const struct wf_cluster *cluster,
                                      const struct wf_coll_cfg *cfg, const struct wf_nvlink *nvlink,
                                      const struct wf_coll *coll, uint32_t rank, uint32_t channel)
{
	uint32_t channels;

	if (coll->comm.n < 2)
		return NULL;
	if (part->cfg != cfg || !same_coll(&part->asked, coll)) {
		memset(part, 0, sizeof(*part));
		choose(cluster, cfg, coll, part);
		part->cluster = cluster;
		part->cfg = cfg;
		part->asked = *coll;
		part->coll = *coll;
		part->coll.bytes = bytes_of(coll);
		part->coll.kind = (uint8_t)kind_of(coll);
		part->coll.alg = (uint8_t)part->choice.alg;
		part->coll.proto = (uint8_t)part->choice.proto;
		channels = wf_coll_channels(cfg, cluster);
		part->active = (uint32_t)wf_min_u64(part->choice.channels, channels);
		if (part->coll.alg == WF_ALG_PAIRWISE)
			part->active = channels;
		if (is_calculated(part->choice.alg))
			part->active = 1;
		set_proto(part);
	}
	part->nvlink = nvlink;
	part->coll.root = coll->root;
	part->channel = channel;
	part->pos = wf_comm_pos(&coll->comm, rank);
	assert(part->pos != UINT32_MAX);
	if (channel >= part->active)
		return NULL;
	part->bytes = wf_part_share(part, part->coll.bytes, part->active, channel);
	if (wf_part_has_line(part))
		return line_gen(part);
	return find_gen((enum wf_coll_alg)part->coll.alg, (enum wf_coll_kind)part->coll.kind);
}

/*
 * Where part i of n begins: at the packet that is nearest, so that what is left over is spread
 * evenly.
 */
static uint64_t cut(const struct wf_part *part, uint64_t total, uint32_t n, uint32_t i)
{
	uint64_t at = total / n * i + total % n * i / n;

	return i == n ? total : (at + part->grain / 2) / part->grain * part->grain;
}

uint64_t wf_part_share(const struct wf_part *part, uint64_t total, uint32_t n, uint32_t i)
{
	if (part->grain == 0 || total / n < part->whole)
		return wf_share(total, n, i);
	return cut(part, total, n, i + 1) - cut(part, total, n, i);
}

/* LL: 4 bytes of flags with 4 of data; LL128: 8 of 128 bytes are flags. */
uint64_t wf_part_wire(const struct wf_part *part, uint64_t bytes)
{
	switch ((enum wf_proto)part->coll.proto) {
	case WF_PROTO_LL:
		return 2 * ((bytes + 7) / 8 * 8);
	case WF_PROTO_LL128:
		return (bytes + 119) / 120 * 128;
	case WF_PROTO_SIMPLE:
	case WF_PROTO_AUTO:
	case WF_PROTOS:
		break;
	}
	return bytes;
}

void wf_part_send(const struct wf_part *part, struct wf_op *op, uint32_t rank, uint64_t bytes,
                  uint32_t block)
{
	bool local = wf_cluster_local(part->cluster, wf_part_rank(part), rank);

	op->kind = WF_OP_SEND;
	op->peer = rank;
	op->bytes = wf_part_wire(part, bytes);
	op->block = block;
	op->time = local ? part->step_nvlink : part->step_net;
}

wf_time wf_part_time(const struct wf_part *part, uint64_t bytes)
{
	return wf_part_work(part->work_q16, bytes);
}

void wf_part_recv(const struct wf_part *part, struct wf_op *op, uint32_t rank, uint64_t bytes,
                  uint32_t block, bool reduces)
{
	op->kind = WF_OP_RECV;
	op->peer = rank;
	op->bytes = wf_part_wire(part, bytes);
	op->block = block;
	op->flags = reduces ? WF_OP_REDUCES : 0;
	op->unit = WF_UNIT_CHANNEL;
	op->time = wf_part_time(part, bytes);
}

/* Ranks of a communicator ascend, so those of a server are next to one another. */
struct wf_run wf_part_run(const struct wf_part *part, uint32_t pos)
{
	const struct wf_comm *comm = &part->coll.comm;
	uint32_t server = wf_cluster_server(part->cluster, wf_comm_rank(comm, pos));
	struct wf_run run = { .first = pos, .end = pos + 1 };

	while (run.first > 0 &&
	       wf_cluster_server(part->cluster, wf_comm_rank(comm, run.first - 1)) == server)
		run.first--;
	while (run.end < comm->n &&
	       wf_cluster_server(part->cluster, wf_comm_rank(comm, run.end)) == server)
		run.end++;
	return run;
}
