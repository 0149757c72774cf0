/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coll.c - the table of algorithms, and which one, with which protocol, a collective takes.
 */
#include "job/coll.h"

#include <errno.h>
#include <string.h>

#include "job/coll_priv.h"

#define LL_SLOT (UINT64_C(32) << 10)     /* bytes of data in a slot of LL's buffer */
#define LL128_SLOT (UINT64_C(512) << 10) /* and LL128's, about */
#define BARRIER_BYTES 4

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

const char *wf_proto_name(enum wf_proto proto)
{
	return proto_names[proto];
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

const struct wf_gen_ops *const *wf_gens(void)
{
	static const struct wf_gen_ops *const gens[] = {
		&wf_gen_ring, &wf_gen_chain, &wf_gen_tree, &wf_gen_halving, &wf_gen_pairwise, NULL,
	};

	return gens;
}

static const struct wf_gen_ops *find_gen(enum wf_coll_alg alg, enum wf_coll_kind kind)
{
	const struct wf_gen_ops *const *g = wf_gens();

	while (*g != NULL && ((*g)->alg != alg || !((*g)->kinds >> kind & 1)))
		g++;
	return *g;
}

int wf_coll_check(const struct wf_coll *coll, struct wf_err *err)
{
	const struct wf_gen_ops *gen;

	if (coll->alg == WF_ALG_AUTO)
		return 0;
	gen = find_gen((enum wf_coll_alg)coll->alg, (enum wf_coll_kind)coll->kind);
	if (gen != NULL)
		return 0;
	for (const struct wf_gen_ops *const *g = wf_gens(); *g != NULL; g++) {
		if ((*g)->kinds >> coll->kind & 1)
			return wf_err_say(err, "algorithm: %s does not do %s; write auto or %s",
			                  alg_names[coll->alg], kind_names[coll->kind],
			                  alg_names[(*g)->alg]);
	}
	return wf_err_say(err, "algorithm: nothing does %s", kind_names[coll->kind]);
}

static enum wf_coll_alg choose_alg(const struct wf_coll_cfg *cfg, const struct wf_coll *coll)
{
	if (coll->alg != WF_ALG_AUTO)
		return (enum wf_coll_alg)coll->alg;
	if (coll->kind == WF_COLL_ALL_TO_ALL)
		return WF_ALG_PAIRWISE;
	if (coll->kind == WF_COLL_BARRIER ||
	    (coll->kind == WF_COLL_ALL_REDUCE && coll->bytes <= cfg->tree_max))
		return WF_ALG_TREE;
	return WF_ALG_RING;
}

/* nccl-tests, PERFORMANCE.md. */
void wf_coll_group(const struct wf_coll *coll, const struct wf_coll_cfg *cfg,
                   struct wf_group *group)
{
	uint32_t n = coll->comm.n;

	group->kind = kind_names[coll->kind];
	group->bytes = coll->kind == WF_COLL_BARRIER ? BARRIER_BYTES : coll->bytes;
	group->ranks = n;
	group->algorithm = alg_names[choose_alg(cfg, coll)];
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
	return cfg->channels != 0 ? cfg->channels : cluster->nics;
}

/* Small messages take the protocols with flags in the data, which need no fences. */
static enum wf_proto choose_proto(const struct wf_part *part)
{
	uint64_t each = part->bytes;

	if (part->coll.proto != WF_PROTO_AUTO)
		return (enum wf_proto)part->coll.proto;
	if (part->coll.alg == WF_ALG_RING && part->coll.kind != WF_COLL_BROADCAST)
		each /= part->coll.comm.n;
	if (part->coll.alg == WF_ALG_PAIRWISE || each > part->cfg->ll128_max)
		return WF_PROTO_SIMPLE;
	return each <= part->cfg->ll_max ? WF_PROTO_LL : WF_PROTO_LL128;
}

static void set_proto(struct wf_part *part)
{
	const struct wf_coll_cfg *cfg = part->cfg;

	part->coll.proto = (uint8_t)choose_proto(part);
	part->slices = 1;
	part->depth = cfg->steps;
	switch ((enum wf_proto)part->coll.proto) {
	case WF_PROTO_LL:
		part->chunk = LL_SLOT;
		part->step_nvlink = cfg->nvlink_ll;
		part->step_net = cfg->net_ll;
		break;
	case WF_PROTO_LL128:
		part->chunk = LL128_SLOT;
		part->step_nvlink = cfg->nvlink_ll128;
		part->step_net = cfg->net_ll128;
		break;
	case WF_PROTO_SIMPLE:
	case WF_PROTO_AUTO:
	case WF_PROTOS:
		part->chunk = cfg->buffer / cfg->steps * cfg->chunk_steps;
		part->slices = cfg->chunk_steps / cfg->slice_steps;
		part->depth = cfg->steps / cfg->slice_steps;
		part->step_nvlink = cfg->nvlink_simple;
		part->step_net = cfg->net_simple;
		break;
	}
	/* Broadcast passes on slot by slot. */
	if (part->coll.kind == WF_COLL_BROADCAST && part->coll.proto == WF_PROTO_SIMPLE) {
		part->chunk = cfg->buffer / cfg->steps;
		part->slices = 1;
		part->depth = cfg->steps;
	}
	part->slice = part->chunk / part->slices;
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
	uint32_t channels = wf_coll_channels(cfg, cluster);

	memset(part, 0, sizeof(*part));
	part->cluster = cluster;
	part->cfg = cfg;
	part->nvlink = nvlink;
	part->coll = *coll;
	part->channel = channel;
	part->pos = wf_comm_pos(&coll->comm, rank);
	assert(part->pos != UINT32_MAX);
	part->coll.alg = (uint8_t)choose_alg(cfg, coll);
	if (coll->kind == WF_COLL_BARRIER)
		part->coll.bytes = BARRIER_BYTES;
	part->active = (uint32_t)wf_min_u64(
		channels, wf_max_u64(1, part->coll.bytes / wf_max_u64(1, cfg->channel_min)));
	if (part->coll.alg == WF_ALG_PAIRWISE)
		part->active = channels;
	if (coll->comm.n < 2 || channel >= part->active)
		return NULL;
	part->bytes = wf_share(part->coll.bytes, part->active, channel);
	set_proto(part);
	if (wf_part_has_line(part))
		return line_gen(part);
	return find_gen((enum wf_coll_alg)part->coll.alg, (enum wf_coll_kind)part->coll.kind);
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
	return (wf_time)((unsigned __int128)bytes * 8 * part->active * (uint64_t)WF_S /
	                 part->cfg->reduce);
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
